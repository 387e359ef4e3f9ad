"""A process that takes in a table and dies on the way: ``python -m tests.engines.crashing_ingest FOLDER STEP``.

The step is the name of a function of the ingest; the process kills itself when it is about to call it, or right after.
The step ``stream`` reads a source that never ends, and waits to be killed or interrupted from outside.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.engines.duckdb import ingest as ingest_module
from discreet.engines.duckdb import unit_ids as units
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.engines.duckdb.manifest import Manifest
from discreet.engines.duckdb.store import TableFiles
from discreet.engines.duckdb.workbench import Build
from tests.engines.people import PEOPLE, people

PLACES: dict[str, tuple[Any, str]] = {
    "load": (ingest_module, "stage_rows"),
    "number": (units.ByKey, "prepare"),
    "sort": (ingest_module, "sort_rows"),
    "verify": (ingest_module, "verify"),
    "commit": (units.ByKey, "commit"),
    "finish": (Build, "finish"),
    "publish": (TableFiles, "publish"),
    "manifest": (Manifest, "write"),
    "replace": (Path, "replace"),
    "sync": (os, "fsync"),
}
STEPS = [f"{when} {place}" for place in PLACES for when in ("before", "after")]


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def _rig(step: str) -> None:
    when, place = step.split()
    owner, name = PLACES[place]
    real: Callable[..., Any] = getattr(owner, name)

    def rigged(*arguments: Any, **named: Any) -> Any:
        if place == "manifest" and arguments[1].name == "earlier.json":  # which says what is kept besides
            return real(*arguments, **named)
        if when == "before":
            _die()
        real(*arguments, **named)
        return _die()

    setattr(owner, name, rigged)


def _endless() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        print("reading", flush=True)
        while True:
            yield from people(range(1000)).to_batches()
            time.sleep(0.01)

    return pa.RecordBatchReader.from_batches(people(range(1)).schema, batches())


if __name__ == "__main__":
    place, how = sys.argv[1:]
    if how != "stream":
        _rig(how)
    ingest(DuckDBEngine(place, threads=2), PEOPLE, _endless() if how == "stream" else people(range(5, 25)))
