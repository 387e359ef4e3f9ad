"""The fuzzer for as long as there is time: other worlds in every run, on every engine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from tests.fuzz.fuzzer import fuzz
from tests.fuzz.run import ENGINES, opened_places, summary, told

__all__ = ["SECONDS", "fuzz_everywhere"]

SECONDS = float(os.environ.get("FUZZ_SECONDS", "3600"))
"""How long, all engines together; ``FUZZ_SECONDS=36000 make soak`` takes a night."""
_SHARES = {"duckdb": 0.6, "postgres": 0.25, "spark": 0.15}


def fuzz_everywhere(seconds: float, tick: Callable[[], None]) -> str:
    """Ask on every engine for its share of the time, from worlds that no run before began with."""
    first, said = int(time.time()), []
    for engine in ENGINES:
        with opened_places(engine) as places:
            tally = fuzz(places, first, sys.maxsize, seconds=seconds * _SHARES[engine])
        said.append(f"{engine}: {summary(tally)}")
        assert not tally.cases, "\n".join([*said, *(told(case) for case in tally.cases[:5])])
        tick()
    return "; ".join(said)
