"""The ledger: charge first, answer once, never overspend, never forget."""

from __future__ import annotations

import resource
import shutil
import signal
import sqlite3
import threading
from pathlib import Path

import apsw
import pytest

from discreet.curator.ledger import ledger as ledger_module
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.remaining import LastPrices
from discreet.curator.ledger.units import LOSS_UNITS, Allowance, BudgetMeasure, LedgerPrice, price_in_units
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, InvalidInput, LedgerError, RequestConflict
from discreet.privacy.loss import Pure
from discreet.storage import sqlite
from tests.soak.double_spend import spend_together
from tests.soak.killed_ledger import kill_askers
from tests.thoroughness import many

TENTH = price_in_units(Pure("0.1"), BudgetMeasure.PURE)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path)
    made.open_account("visits", Allowance.of(Pure(1)))
    return made


# Charging.


def test_ten_tenths_fill_the_budget_and_the_eleventh_is_refused_for_free(ledger: Ledger) -> None:
    for k in range(10):
        ledger.charge(f"r{k}", b"", {"visits": TENTH}, {})
    before = ledger.head()
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        ledger.charge("r10", b"", {"visits": LedgerPrice(1)}, {})
    assert ledger.head() == before
    assert ledger.accounts()["visits"].left == Pure(0)


def test_all_accounts_are_charged_or_none(ledger: Ledger) -> None:
    ledger.open_account("visits/ann", Allowance.of(Pure("0.05")))
    with pytest.raises(BudgetExceeded):
        ledger.charge("r", b"", {"visits": TENTH, "visits/ann": TENTH}, {})
    assert ledger.accounts()["visits"].spent == 0


def test_the_tables_cap_holds_over_all_analysts(ledger: Ledger) -> None:
    for name in ("ann", "bob"):
        ledger.open_account(f"visits/{name}", Allowance.of(Pure(1)))
    for k in range(10):
        ledger.charge(f"r{k}", b"", {"visits": TENTH, f"visits/{'ann' if k % 2 else 'bob'}": TENTH}, {})
    with pytest.raises(BudgetExceeded):
        ledger.charge("more", b"", {"visits": TENTH, "visits/ann": TENTH}, {})


def test_deltas_are_held_too(ledger: Ledger) -> None:
    ledger.open_account("keys", Allowance(BudgetMeasure.CONCENTRATED, LOSS_UNITS, delta_cap=5))
    ledger.charge("r1", b"", {"keys": LedgerPrice(1, 5)}, {})
    with pytest.raises(BudgetExceeded):
        ledger.charge("r2", b"", {"keys": LedgerPrice(1, 1)}, {})


def test_the_database_itself_refuses_to_overspend_refund_or_rewrite(ledger: Ledger) -> None:
    ledger.charge("r", b"", {"visits": TENTH}, {})
    ledger.settle("r", b"answer")
    for statement in (
        "UPDATE account_2 SET spent = cap + 1",
        "UPDATE account_2 SET spent = 0",
        "DELETE FROM account_2",
        "UPDATE entry SET body = body",
        "DELETE FROM entry",
        "DELETE FROM request",
        "UPDATE request SET bytes = x'00'",
    ):
        with pytest.raises(apsw.ConstraintError):
            ledger.database.execute(statement)
    assert verify(ledger.path.parent).is_sound


def test_refuses_unknown_accounts_and_taken_names(ledger: Ledger) -> None:
    with pytest.raises(InvalidInput):
        ledger.charge("r", b"", {"nobody": TENTH}, {})
    with pytest.raises(InvalidInput):
        ledger.open_account("visits", Allowance.of(Pure(1)))
    with pytest.raises(InvalidInput):
        ledger.settle("never charged", b"answer")


# One request, one charge, one answer.


def test_a_retry_gets_the_same_bytes_and_no_second_charge(ledger: Ledger) -> None:
    ledger.charge("r", b"body", {"visits": TENTH}, {})
    first = ledger.settle("r", b"noisy")
    again = ledger.charge("r", b"body", {"visits": TENTH}, {})
    assert again.answer == b"noisy"
    assert ledger.settle("r", b"other noise").answer == b"noisy"
    assert ledger.accounts()["visits"].spent == TENTH.loss
    assert ledger.look_up("r", b"body") == first


def test_the_same_id_with_another_question_is_refused(ledger: Ledger) -> None:
    ledger.charge("r", b"body", {"visits": TENTH}, {})
    with pytest.raises(RequestConflict):
        ledger.charge("r", b"another body", {"visits": TENTH}, {})
    with pytest.raises(RequestConflict):
        ledger.look_up("r", b"another body")
    assert ledger.look_up("unknown", b"") is None


def test_a_charge_without_an_answer_is_completed_without_a_second_charge(ledger: Ledger) -> None:
    """The process died between charge and answer: nobody saw anything, so a new draw under the same charge is due."""
    ledger.charge("r", b"body", {"visits": TENTH}, {})
    reopened = Ledger(ledger.path.parent)
    receipt = reopened.charge("r", b"body", {"visits": TENTH}, {})
    assert receipt.answer is None
    assert reopened.settle("r", b"noisy").answer == b"noisy"
    assert reopened.accounts()["visits"].spent == TENTH.loss


def test_two_at_once_with_one_id_agree(ledger: Ledger) -> None:
    answers: list[bytes | None] = []

    def ask(noise: bytes) -> None:
        mine = Ledger(ledger.path.parent)
        mine.charge("r", b"body", {"visits": TENTH}, {})
        answers.append(mine.settle("r", noise).answer)

    threads = [threading.Thread(target=ask, args=(bytes([k]),)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert len(set(answers)) == 1
    assert ledger.accounts()["visits"].spent == TENTH.loss


def test_threads_that_share_a_ledger_spend_exactly_what_there_is(ledger: Ledger) -> None:
    released, refused, failed = [], [], []

    def ask(name: int) -> None:
        for k in range(50):
            try:
                ledger.charge(f"{name}-{k}", b"", {"visits": price_in_units(Pure("1/100"), BudgetMeasure.PURE)}, {})
                released.append(ledger.settle(f"{name}-{k}", b"answer"))
            except BudgetExceeded:
                refused.append(k)
            except Exception as error:
                failed.append(error)

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert (len(released), len(refused)) == (100, 300)
    assert verify(ledger.path.parent).is_sound


# Many processes, sudden death.


def test_many_processes_spend_exactly_what_there_is(tmp_path: Path) -> None:
    requests, processes = many(500, 10_000), many(4, 16)
    found = spend_together(tmp_path, requests, processes, 100, lambda: None)
    assert found == f"100 released, {requests - 100:,} refused, chain sound"


def test_what_was_released_was_charged_however_the_process_died(tmp_path: Path) -> None:
    kill_askers(tmp_path, many(3, 12), lambda: None)


# Faults of the disk: no answer, nothing half-written.


def charge_many(ledger: Ledger) -> None:
    for k in range(100):
        ledger.charge(f"r{k}", bytes(100), {"visits": LedgerPrice(1)}, {"sql": "x" * 1000})


def test_a_full_disk_fails_closed(ledger: Ledger) -> None:
    ledger.charge("before", b"", {"visits": TENTH}, {})
    size = sum(f.stat().st_size for f in ledger.path.parent.iterdir())
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (min(size, 4096), old[1]))
        with pytest.raises(LedgerError, match="nothing was released"):
            charge_many(ledger)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    reopened = Ledger(ledger.path.parent)
    assert reopened.accounts()["visits"].spent >= TENTH.loss
    assert verify(ledger.path.parent).problems == []


def test_an_unwritable_witness_releases_nothing(ledger: Ledger) -> None:
    ledger.charge("r", b"", {"visits": TENTH}, {})
    ledger.witness.path.unlink()
    ledger.witness.path.mkdir()
    with pytest.raises(LedgerError, match="nothing was released"):
        ledger.settle("r", b"answer")


def test_a_lock_that_is_never_freed_fails_closed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "SQLITE_BUSY", 0.05)
    impatient = Ledger(ledger.path.parent)
    ledger.database.execute("BEGIN IMMEDIATE")
    for request in ("r", "s"):
        with pytest.raises(LedgerError, match="nothing was released"):
            impatient.charge(request, b"", {"visits": TENTH}, {})
    ledger.database.execute("ROLLBACK")
    assert impatient.accounts()["visits"].spent == 0
    impatient.charge("r", b"", {"visits": TENTH}, {})


def test_a_lock_that_is_freed_is_waited_for(ledger: Ledger) -> None:
    other = Ledger(ledger.path.parent)
    other.database.execute("BEGIN IMMEDIATE")
    threading.Timer(0.1, other.database.execute, ["ROLLBACK"]).start()
    ledger.charge("r", b"", {"visits": TENTH}, {})
    assert ledger.accounts()["visits"].spent == TENTH.loss


def test_missing_and_existing_ledgers_are_told_apart(tmp_path: Path, ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="start one"):
        Ledger(tmp_path / "nowhere")
    with pytest.raises(LedgerError, match="must not hold"):
        Ledger.create(ledger.path.parent)


# Tampering.


@pytest.fixture
def story(ledger: Ledger) -> Path:
    for k in range(5):
        ledger.charge(f"r{k}", b"", {"visits": TENTH}, {})
        ledger.settle(f"r{k}", f"answer {k}".encode())
    ledger.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger.close()
    folder = ledger.path.parent
    assert verify(folder).is_sound
    return folder


def forged(folder: Path, *statements: str) -> None:
    """Change the file with another tool, triggers removed first and put back afterwards."""
    with sqlite3.connect(folder / "ledger.db") as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for trigger, _ in triggers:
            database.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            database.execute(statement)
        for _, made in triggers:
            database.execute(made)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), 'charge', 'chorge') AS BLOB) WHERE position = 3",
        "DELETE FROM entry WHERE position = 4",
        "DELETE FROM entry WHERE position > 6",
        "UPDATE account_2 SET spent = 0",
        "UPDATE account_2 SET cap = cap * 2",
        "UPDATE request SET bytes = x'00' WHERE id = 'r2'",
        "UPDATE request SET answer = NULL, bytes = NULL WHERE id = 'r4'",
        "DELETE FROM request WHERE id = 'r1'",
        "INSERT INTO account_2 (name, measure, places, cap, delta_cap) VALUES ('mine', 'pure', 1, 1, 0)",
    ],
)
def test_a_changed_ledger_is_not_believed(story: Path, statement: str) -> None:
    forged(story, "PRAGMA foreign_keys = OFF", statement)
    assert verify(story).problems


def test_swapped_records_are_not_believed(story: Path) -> None:
    forged(
        story,
        "PRAGMA foreign_keys = OFF",
        "UPDATE entry SET position = 1000 WHERE position = 3",
        "UPDATE entry SET position = 3 WHERE position = 4",
        "UPDATE entry SET position = 4 WHERE position = 1000",
    )
    assert verify(story).problems


def test_flipping_any_byte_of_a_record_is_seen(story: Path) -> None:
    """Every byte that matters: positions inside the stored bodies and answers."""
    data = (story / "ledger.db").read_bytes()
    marks = [data.find(word) for word in (b'"charge"', b'"request":"r2"', b"answer 3", b'"prices"')]
    for mark in marks:
        assert mark > 0
        (story / "ledger.db").write_bytes(data[: mark + 2] + bytes([data[mark + 2] ^ 1]) + data[mark + 3 :])
        assert verify(story).problems
    (story / "ledger.db").write_bytes(data)
    assert verify(story).is_sound


@pytest.mark.parametrize("kept", [0, 100, 5000])
def test_a_truncated_file_is_not_believed(story: Path, kept: int) -> None:
    data = (story / "ledger.db").read_bytes()
    (story / "ledger.db").write_bytes(data[:kept])
    assert verify(story).problems


def test_an_older_copy_put_back_is_not_believed(story: Path, tmp_path: Path) -> None:
    shutil.copy(story / "ledger.db", tmp_path / "old.db")
    ledger = Ledger(story)
    ledger.charge("later", b"", {"visits": TENTH}, {})
    ledger.settle("later", b"answer")
    ledger.close()
    for file in story.glob("ledger.db*"):
        file.unlink()
    shutil.copy(tmp_path / "old.db", story / "ledger.db")
    assert any("witness" in problem for problem in verify(story).problems)


def test_an_emptied_or_missing_witness_is_not_believed(story: Path) -> None:
    witness = story / "ledger.witness"
    saved = witness.read_bytes()
    witness.write_bytes(b"")
    assert verify(story).problems
    witness.unlink()
    assert verify(story).problems
    witness.write_bytes(saved + b"12 abc")  # a line cut short by a crash attests nothing
    assert verify(story).is_sound


# Reading.


def test_records_are_read_from_the_newest_on_as_far_as_somebody_reads(ledger: Ledger) -> None:
    ledger.open_account("rare", Allowance.of(Pure(1)))
    ledger.charge("seldom", b"", {"rare": TENTH}, {})
    for k in range(150):
        ledger.charge(f"r{k}", b"", {"visits": LedgerPrice(1 + k)}, {"name": f"number {k}"})
    forth = [one.position for one in ledger.entries()]
    assert [one.position for one in ledger.entries_back()] == forth[::-1]
    assert [one.position for one in ledger.entries_back(30)] == forth[28::-1]
    (found,) = ledger.entries_back(holding=b'"number 17"')
    assert found.body["request"] == "r17"


def test_the_last_prices_are_found_without_reading_all(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.open_account("never", Allowance.of(Pure(1)))
    for k in range(100):
        ledger.charge(f"r{k}", b"", {"visits": LedgerPrice(1 + k)}, {})
    read: list[int] = []
    usual = ledger_module.entry_of_row
    monkeypatch.setattr(ledger_module, "entry_of_row", lambda row: read.append(row[0]) or usual(row))
    prices = LastPrices(ledger)
    assert prices.now() == {"visits": LedgerPrice(100)}
    assert len(read) < 5
    ledger.charge("more", b"", {"visits": LedgerPrice(7)}, {})
    assert prices.now() == {"visits": LedgerPrice(7)}
    assert len(read) < 10
