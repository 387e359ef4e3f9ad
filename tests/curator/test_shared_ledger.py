"""One ledger and many threads: each sees what is durable, and nothing fails for being done at once."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path

import pytest

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import Allowance, BudgetMeasure, price_in_units
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded
from discreet.privacy.loss import Pure
from discreet.storage.database import Database
from tests.threads import in_threads

HUNDREDTH = price_in_units(Pure("1/100"), BudgetMeasure.PURE)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path)
    made.open_account("visits", Allowance.of(Pure(1)))
    made.open_account("visits/ann", Allowance.of(Pure("1/2")))
    return made


def test_no_thread_sees_what_another_has_not_made_durable(ledger: Ledger) -> None:
    before = (ledger.accounts(), ledger.head(), list(ledger.entries()))
    seen = []

    def look() -> None:
        seen.append((ledger.accounts(), ledger.head(), list(ledger.entries())))
        seen.append(ledger.look_up("r", b""))
        seen.append(ledger.affords({"visits": HUNDREDTH}))

    def take_back(database: Database) -> None:
        database.execute("UPDATE account_2 SET spent = cap")
        database.execute("INSERT INTO entry (position, body, hash) VALUES (4, x'7b7d', x'00')")
        database.execute("INSERT INTO request (id, body_hash, charge) VALUES ('r', x'00', 4)")
        failed.extend(in_threads(look))
        look()  # also the thread that writes reads what is durable
        raise RuntimeError

    failed: list[BaseException] = []
    with pytest.raises(RuntimeError):
        ledger.storage.write(take_back)
    assert not failed
    assert seen == [before, None, True] * 2


def test_sixteen_threads_read_and_write_one_ledger_in_threads(ledger: Ledger) -> None:
    released, refused = [], []
    done = threading.Event()

    def ask(name: int) -> None:
        for k in range(25):
            try:
                ledger.charge(f"{name}-{k}", b"", {"visits": HUNDREDTH}, {})
                released.append(ledger.settle(f"{name}-{k}", b"answer"))
            except BudgetExceeded:
                refused.append(k)

    def look() -> None:
        while not done.is_set():
            accounts = ledger.accounts()
            assert accounts["visits"].spent % HUNDREDTH.loss == 0
            assert ledger.affords({"visits": HUNDREDTH}) in (True, False)
            positions = [entry.position for entry in ledger.entries()]
            assert positions == list(range(1, len(positions) + 1))
            assert ledger.head()[0] >= len(positions)
            ledger.look_up("1-1", b"")

    def ask_all(names: range) -> None:
        failed = in_threads(*[partial(ask, name) for name in names])
        done.set()
        assert not failed

    failed = in_threads(partial(ask_all, range(8)), *[look] * 8)
    assert not failed
    assert (len(released), len(refused)) == (100, 100)
    assert verify(ledger.path.parent).is_sound


def test_records_that_are_looked_through_slowly_hold_nobody_up(ledger: Ledger) -> None:
    for k in range(40):
        ledger.charge(f"r{k}", b"", {"visits": HUNDREDTH}, {})
    slowly = ledger.entries()
    next(slowly)
    ledger.charge("later", b"", {"visits": HUNDREDTH}, {})
    assert ledger.accounts()["visits"].spent == 41 * HUNDREDTH.loss
    assert [entry.position for entry in slowly] == list(range(2, 45))
    assert [entry.position for entry in ledger.entries(43)] == [43, 44]
    assert list(ledger.entries(45)) == []
    assert ledger.entry(45) is None


def test_a_forked_child_opens_the_ledger_for_itself(ledger: Ledger) -> None:
    ledger.charge("parent", b"", {"visits": HUNDREDTH}, {})
    ledger.accounts()
    child = os.fork()
    if child == 0:
        ledger.charge("child", b"", {"visits": HUNDREDTH}, {})
        ledger.settle("child", b"answer")
        os._exit(0 if ledger.accounts()["visits"].spent == 2 * HUNDREDTH.loss else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ledger.accounts()["visits"].spent == 2 * HUNDREDTH.loss
    ledger.charge("parent again", b"", {"visits": HUNDREDTH}, {})
    assert verify(ledger.path.parent).is_sound
