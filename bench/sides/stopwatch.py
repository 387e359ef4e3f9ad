"""CPU time of a call, the least of a few, as every side reports it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable


def cpu(call: Callable[[], object], repeats: int = 3, per: float = 1.0) -> dict[str, float]:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return {"cpu": min(times) / per}


def report(results: dict[str, dict[str, float]]) -> None:
    print(json.dumps(results))
