"""Before the door opens, what the first principals would wait for is done, and nothing is read, charged or kept."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.curator.curator import Curator
from discreet.service.server import warm
from discreet.service.settings import Settings
from discreet.service.state import ServiceState
from tests.service.hospital import Hospital

FIRST_PRINCIPAL = """
import sys
from pathlib import Path
from discreet.service.state import ServiceState
from discreet.service.settings import Settings
from discreet.service.server import warm

service = ServiceState(Settings.model_validate({"folder": Path(sys.argv[1])}))
if sys.argv[2] == "warm":
    warm(service)
before = set(sys.modules)
service.curator.ask("SELECT ward, AVG(age) AS age, COUNT(*) AS n FROM visits GROUP BY ward", 1, analyst="ana")
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
service.close()
"""


@pytest.fixture(autouse=True)
def _unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_nothing_is_read_charged_or_kept(hospital: Hospital) -> None:
    service = hospital.service()
    before = (service.curator.budget(), len(list(service.curator.ledger.entries())))
    warm(service)
    assert (service.curator.budget(), len(list(service.curator.ledger.entries()))) == before
    assert service.requests.page("ana", 10, None) == []
    service.close()


def test_what_stays_is_not_looked_through_for_garbage(hospital: Hospital) -> None:
    service = hospital.service()
    gc.unfreeze()
    warm(service)
    assert gc.get_freeze_count() > 10_000
    service.close()


def test_a_service_without_tables_and_one_whose_rows_are_gone_are_opened_all_the_same(
    hospital: Hospital, tmp_path: Path
) -> None:
    Curator(tmp_path / "empty").ledger.close()
    for folder in (tmp_path / "empty", hospital.folder):
        for file in folder.glob("**/rows-*.duckdb"):
            file.unlink()
        service = ServiceState(Settings.model_validate({"folder": folder}))
        warm(service)
        service.close()


def test_the_first_principal_waits_for_no_library(hospital: Hospital) -> None:
    def loaded(how: str) -> set[str]:
        command = [sys.executable, "-c", FIRST_PRINCIPAL, str(hospital.folder), how]
        return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())

    assert loaded("cold")
    assert loaded("warm") == set()
