"""Processes that die while a table grows: ``python -m tests.engines.crashing_growth FOLDER PART PARTS MOST``.

A child goes through a history and kills itself right before or right after a write to the disk. The next one sees to it
that every period is there as a whole or not at all, and goes through the same history again, as a nightly job would.
What is there at the end of each is printed, one line of JSON per write. Of the writes, every PARTS-th is tried, from
PART on; at most MOST of them, where a run is not thorough.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.workbench import Build
from tests.engines.growth import FIRST, Row, as_source, period, shown, table
from tests.thoroughness import some

VISITS = table("person")
LOTS: dict[str, list[Row]] = {
    "1": [(k, k % 5, FIRST + timedelta(k % 3), "a") for k in range(30)],
    "2": [(100 + k, k % 7, FIRST + timedelta(k % 4), "b") for k in range(30)],
    "3": [(200 + k, k % 7, FIRST + timedelta(k % 3), "c") for k in range(30)],
}
FORGOTTEN = 3


def grow(engine: DuckDBEngine) -> None:
    """Go through the history; what is done already is not done again."""
    engine.begin(VISITS)
    engine.append(VISITS, as_source(LOTS["1"]), id="1")
    engine.append(VISITS, as_source(LOTS["2"]), id="2")
    _close(engine, 0)
    if len(engine.stored("visits").periods) < 2 and engine.closing("visits") is None:
        engine.forget("visits", FORGOTTEN)
    _close(engine, 1)
    engine.append(VISITS, as_source(LOTS["3"]), id="3")
    _close(engine, 2)


def _close(engine: DuckDBEngine, place: int) -> None:
    name = period(place).name
    if name in [one.name for one in engine.stored("visits").periods]:
        return
    root = engine.prepare_close(VISITS, period(place))
    if engine.prepare_close(VISITS, period(place)) != root or engine.closing("visits") != (name, root):
        raise AssertionError("a period that is prepared has one root")
    engine.finish_close("visits", period(place))
    if engine.root("visits") != root:
        raise AssertionError("the root is that of the close")


class Deaths:
    """Writes to the disk, of which the one at a place is the last; without a place they are counted."""

    def __init__(self, place: int | None) -> None:
        self.place, self.seen = place, 0

    def rig(self) -> None:
        """Look at every write from here on."""
        for owner, name in ((os, "fsync"), (os, "replace"), (os, "unlink")):
            setattr(owner, name, self._rigged(getattr(owner, name), lambda *_: True))
        writes = ("COMMIT", "CHECKPOINT", "DETACH")
        run: Any = self._rigged(Build.run, lambda _, statement, *__: statement.startswith(writes))
        Build.run = run  # type: ignore[method-assign]

    def _rigged(self, real: Callable[..., Any], is_write: Callable[..., bool]) -> Callable[..., Any]:
        def rigged(*arguments: Any, **named: Any) -> Any:
            if not is_write(*arguments):
                return real(*arguments, **named)
            self._pass()
            found = real(*arguments, **named)
            self._pass()
            return found

        return rigged

    def _pass(self) -> None:
        if self.seen == self.place:
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        self.seen += 1


def _in_child(work: Callable[[], object]) -> tuple[int, str]:
    """How a child ended that did some work, and what it printed. The parent has no database, so that it can fork."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            said = work()
            os.write(writing, json.dumps(said).encode())
        except BaseException as failure:
            os.write(writing, json.dumps(f"{type(failure).__name__}: {failure}").encode())
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    return os.waitpid(child, 0)[1], said


def _die(folder: Path, place: int | None) -> int:
    deaths = Deaths(place)
    deaths.rig()
    with DuckDBEngine(folder, threads=1) as engine:
        grow(engine)
    return deaths.seen


def _go_on(folder: Path) -> dict[str, Any]:
    with DuckDBEngine(folder, threads=1) as engine:
        manifest = engine.store.manifest()
        before = shown(engine) if manifest.growing else {}
        if manifest.growing:
            engine.verify_files("visits")
        grow(engine)
        engine.store.forget_unused()
        files = {path.name for path in engine.store.root.iterdir() if path.name.startswith(("rows-", "open-"))}
        if files != engine.store.manifest().files():
            raise AssertionError(f"files that nothing names must go, got {files}")
        return {"before": before, "after": shown(engine), "versions": len(engine.stored("visits").periods)}


if __name__ == "__main__":
    place, part, parts, most = Path(sys.argv[1]), *map(int, sys.argv[2:])
    _, counted = _in_child(lambda: _die(place / "counted", None))
    for write in some(range(part, int(counted), parts), most):
        status, said = _in_child(lambda folder=place / str(write), last=write: _die(folder, last))  # type: ignore[misc]
        if os.WIFSIGNALED(status):
            _, said = _in_child(lambda folder=place / str(write): json.dumps(_go_on(folder), default=str))  # type: ignore[misc]
        print(json.dumps([write, os.WIFSIGNALED(status), json.loads(said)]), flush=True)
