"""A service that was started from a checkpoint verifies all of the ledger later, and answers nothing if it is wrong."""

from __future__ import annotations

import fcntl
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from discreet.curator.ledger import open as opening
from discreet.curator.ledger import verify as verification
from discreet.curator.ledger.open import verify_alone
from discreet.curator.ledger.verify import verify
from discreet.service.monitoring import Health
from tests.service.hospital import Hospital, client_of

_SECONDS = 60
QUESTION = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"}


@pytest.fixture
def checked(hospital: Hospital, monkeypatch: pytest.MonkeyPatch) -> Hospital:
    """A hospital whose short ledger has a checkpoint."""
    for module in (opening, verification):
        monkeypatch.setattr(module, "WORTH_A_CHECKPOINT", 1)
    assert verify(hospital.folder).is_sound
    return hospital


def forge(folder: Path) -> None:
    """Change the first record, far before the checkpoint."""
    with closing(sqlite3.connect(folder / "ledger.db")) as database, database:
        (made,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_stay'").fetchone()
        database.execute("DROP TRIGGER entries_stay")
        text = "replace(CAST(body AS TEXT), 'start', 'stort')"
        database.execute(f"UPDATE entry SET body = CAST({text} AS BLOB) WHERE position = 1")
        database.execute(made)


def test_a_change_before_the_checkpoint_ends_the_answers(checked: Hospital) -> None:
    service = checked.service()
    assert not service.curator.opened.is_whole
    client = client_of(service, checked.tokens["ana"])
    assert client.post("/api/v1/ask", json=QUESTION).status_code == 200
    service.close()
    verify(checked.folder)  # a checkpoint behind what was asked
    forge(checked.folder)
    service = checked.service()
    client = client_of(service, checked.tokens["ana"])
    end = time.monotonic() + _SECONDS
    while Health(service).is_ready() and time.monotonic() < end:
        time.sleep(0.01)
    assert client.get("/health/ready").status_code == 503
    answer = client.post("/api/v1/ask", json=QUESTION | {"epsilon": "0.2"})
    assert answer.status_code == 503
    assert "record 1 does not follow" in (checked.folder / "owner.log").read_text()
    service.close()


def test_one_process_verifies_for_all(checked: Hospital) -> None:
    with (checked.folder / "ledger.verifying").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert verify_alone(checked.folder) is None
    found = verify_alone(checked.folder)
    assert found is not None
    assert found.is_sound
