"""A ledger can be checked while others write to it: the check sees one moment of it."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import Allowance, LedgerPrice
from discreet.curator.ledger.verify import verify
from discreet.privacy.loss import Pure

_CHECKS = 40


def test_a_ledger_that_is_written_to_is_found_sound_at_every_moment(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path)
    ledger.open_account("visits", Allowance.of(Pure(1000)))
    is_over = Event()

    def write() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            ledger.charge(f"plan:{number}", b"", {"visits": LedgerPrice(1)}, {})
            ledger.settle(f"plan:{number}", b"answer")

    writer = Thread(target=write)
    writer.start()
    try:
        found = [verify(tmp_path) for _ in range(_CHECKS)]
    finally:
        is_over.set()
        writer.join()
    assert [one.problems for one in found] == [[]] * _CHECKS
    assert found[-1].entries > found[0].entries
