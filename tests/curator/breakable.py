"""An engine with real rows whose runs go wrong when a test wants them to, and processes that die in a run."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from discreet.curator.curator import Curator
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.manifest import Manifest
from discreet.engines.duckdb.snapshot import DuckDBSnapshot, Settings
from discreet.engines.engine import OwnerFile, Unsent, shield_errors
from discreet.engines.parameters import ParameterValue

Fault = Callable[[], None]


class Breaker:
    """What happens before a run, and before a run is tried; nothing by default."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.is_down = False
        self.runs = 0


class _BreakableSnapshot(DuckDBSnapshot):
    breaker: Breaker

    def reach(self) -> None:
        def call() -> None:
            if self.breaker.is_down:
                raise Unsent from ConnectionRefusedError("at 10.0.0.7")

        shield_errors(call, self.owner_log)

    def _run(self, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        self.breaker.runs += 1
        if self.breaker.fault is not None:
            self.breaker.fault()
        return super()._run(statement, values)


class BreakableEngine(DuckDBEngine):
    """Rows in files; what `Breaker` says goes wrong before the statement is sent."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, owner_log=OwnerFile(folder))
        self.breaker = Breaker()

    def _connected(self, manifest: Manifest, settings: Settings) -> DuckDBSnapshot:
        snapshot = _BreakableSnapshot(manifest, self.store.root, settings, self.timeout, self.owner_log)
        snapshot.breaker = self.breaker
        return snapshot


def unsent() -> None:
    """The server was lost after it had been reached and before the statement was sent."""
    raise Unsent from ConnectionResetError("lost")


def killed(folder: Path, sql: str, analyst: str = "", request: str = "", step: str = "") -> None:
    """A process that asks a question, and dies by SIGKILL in the middle of its run or before a step of the ledger's."""
    forking = multiprocessing.get_context("forkserver")  # which loads libraries once
    forking.set_forkserver_preload([__name__])
    process = forking.Process(target=_ask_and_die, args=(folder, sql, analyst, request, step))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def _ask_and_die(folder: Path, sql: str, analyst: str, request: str, step: str) -> None:
    engine = BreakableEngine(folder)
    curator = Curator(folder, engine=engine)

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if step:
        setattr(curator.ledger, step, die)
    else:
        engine.breaker.fault = die
    curator.ask(sql, "0.5", analyst=analyst or None, request=request or None)
