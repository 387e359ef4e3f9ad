"""Tables that grow, behind a service and beside us: the same calls, with the same outcomes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.curator.curator import Curator
from discreet.errors import InvalidType, InvalidValue, NotAllowed, NotFound
from discreet.privacy.loss import Pure
from tests.client.conftest import Served
from tests.service.growing import STAYS, begin_stays
from tests.service.hospital import Hospital
from tests.service.served import free_port, served

MONTHS = "SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM stays GROUP BY 1"


@pytest.fixture(scope="module")
def growing(first_hospital: Hospital, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A hospital whose stays grow, behind a real server."""
    folder = tmp_path_factory.mktemp("growing") / "hospital"
    shutil.copytree(first_hospital.folder, folder)
    hospital, port = Hospital(folder, dict(first_hospital.tokens)), free_port()
    begin_stays(hospital)
    shutil.copytree(folder, folder.with_name("beside us"))
    with served(hospital, port):
        yield Served(hospital, f"http://127.0.0.1:{port}")


def walked(curator: Any, folder: Path) -> list[Any]:
    """What comes of a month of a table that grows, through any curator."""
    (folder / "february.csv").write_bytes(STAYS)
    frame = pa.table({"patient": [7], "ward": ["A"], "day": pa.array(["2026-02-07"]).cast(pa.date32())})
    done = [curator.append("stays", folder / "february.csv", id="first") for _ in range(2)]
    done.append(curator.append("stays", frame, id="second"))
    curator.forget("stays", 7)
    closed = curator.close("stays", through="2026-02")
    answer = curator.ask(MONTHS, "1/2")
    periods = curator.periods("stays")
    return [done, closed, answer.charged, periods[:2], periods[2].state, curator.close("stays", through="2026-02")]


def test_a_month_is_the_same_behind_a_service(growing: Served, tmp_path: Path) -> None:
    remote = growing.remote()
    local = Curator(growing.hospital.folder.with_name("beside us"))
    found, expected = walked(remote, tmp_path), walked(local, tmp_path)
    assert found == expected
    assert found[0][1].is_repeated
    assert found[0][0].set_aside == {"late": 1, "no date": 1, "no person": 1}
    assert [(one.state, one.spent, one.left) for one in found[3]] == [("closed", Pure("1/2"), Pure("3/2"))] * 2
    remote.close()
    local.ledger.close()


def test_who_may_not_is_told_so(growing: Served, tmp_path: Path) -> None:
    ward, ana = growing.remote("ward"), growing.remote("ana")
    (tmp_path / "rows.csv").write_bytes(STAYS)
    assert ward.append("stays", tmp_path / "rows.csv").rows <= 2
    for refused in (
        lambda: ana.append("stays", tmp_path / "rows.csv"),
        lambda: ana.close("stays", through="2026-03"),
        lambda: ana.forget("stays", 7),
        lambda: ward.periods("stays"),
        ward.budget,
    ):
        with pytest.raises(NotAllowed):
            refused()
    with pytest.raises(NotFound):
        ward.append("nowhere", tmp_path / "rows.csv")
    for one in (ward, ana):
        one.close()


def test_what_is_no_table_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    nobody = discreet.connect("https://nowhere.invalid", "token", patience=0)
    with pytest.raises(InvalidValue, match="a file that can be read"):
        nobody.append("stays", tmp_path / "gone.csv")
    with pytest.raises(InvalidType, match="Arrow can read"):
        nobody.append("stays", 7)
    with pytest.raises(InvalidValue, match="through a period"):
        nobody.close("stays")
    nobody.close()
