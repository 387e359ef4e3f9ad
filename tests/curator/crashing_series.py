"""A process that closes a week and dies by kill -9: ``python -m tests.curator.crashing_series FOLDER STEP``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import discreet as dp
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.series import steps
from tests.curator.clinic import WEEKS

STEPS = ["before the charge", "after the charge", "after the draw", "after it was stored"]


def main(folder: str, step: str) -> None:
    curator = dp.Curator(Path(folder))
    charge, measure, settle = Ledger.charge, steps.measure_period, Ledger.settle

    def dying(name: str, work: Callable[..., Any], *, first: bool) -> Callable[..., Any]:
        def done(*given: Any, **named: Any) -> Any:
            if step == name and first:
                _die()
            found = work(*given, **named)
            if step == name and not first:
                _die()
            return found

        return done

    Ledger.charge = dying("after the charge", dying("before the charge", charge, first=True), first=False)  # type: ignore[method-assign]
    steps.measure_period = dying("after the draw", measure, first=False)
    Ledger.settle = dying("after it was stored", settle, first=False)  # type: ignore[method-assign]
    curator.close("visits", through=WEEKS[0])


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
