"""Processes that charge a ledger die by kill -9 at random moments: what was released was charged, once, as released."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import Allowance, BudgetMeasure, price_in_units
from discreet.curator.ledger.verify import verify
from discreet.privacy.loss import Pure
from tests.soak.double_spend import asking, released

__all__ = ["kill_askers"]

PRICE = Fraction(1, 100_000)


def kill_askers(
    folder: Path, kills: int, tick: Callable[[], None], start: Callable[[Path], Ledger] = Ledger.create
) -> str:
    """One life after the other on one ledger; says what was found."""
    chance = random.Random(20)
    start(folder).open_account("visits", Allowance.of(Pure(1)))
    seen: dict[str, str] = {}
    for life in range(kills):
        with asking(folder, f"life{life}", 10_000, str(PRICE)) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(chance.uniform(0.0, 0.12))
            process.send_signal(signal.SIGKILL)
            seen |= released(process.stdout.read())
        tick()
    return _checked(folder, seen)


def _checked(folder: Path, seen: dict[str, str]) -> str:
    ledger = Ledger(folder)
    charges = [entry.body["request"] for entry in ledger.entries() if entry.body["kind"] == "charge"]
    assert seen
    assert seen.keys() <= set(charges)
    assert len(charges) == len(set(charges))
    for request, answer in seen.items():
        stored = ledger.look_up(request, request.encode())
        assert stored is not None
        assert stored.answer == answer.encode()
    price = price_in_units(Pure(PRICE), BudgetMeasure.PURE).loss
    assert ledger.accounts()["visits"].spent == len(charges) * price
    assert verify(folder).problems == []
    return f"{len(seen):,} released, {len(charges):,} charged, chain sound"
