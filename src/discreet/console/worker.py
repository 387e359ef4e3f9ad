"""Heavy work in a process of its own: the pages stay quick, one can look how far it is, and it can be stopped."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from discreet.errors import DiscreetError

__all__ = ["ProgressRelay", "SeparateWork", "Stopped", "WorkFailed"]


T = TypeVar("T")
_POLITE = 10
"""How far the work steps back for the server, which has people waiting."""
_BETWEEN_WORDS = 0.1  # seconds: a search can say thousands of times how far it is


class Stopped(Exception):
    """The work was stopped."""


class WorkFailed(Exception):
    """The work ended without a result, for a reason that is no refusal."""


class SeparateWork(Generic[T]):
    """One piece of work: ``task(said)``, where ``said`` tells how far it is and shows parts. All of it must pickle."""

    def __init__(self, task: Callable[[ProgressRelay], T]) -> None:
        self.share = 0.0
        self.words = ""
        self.shown: list[Any] = []
        self._task = task
        self._process: multiprocessing.process.BaseProcess | None = None
        self._is_stopped = False

    async def result(self) -> T:
        """Do the work and wait for what it gives; a refusal of the work is raised here."""
        found: T = await asyncio.to_thread(self._waited)
        return found

    def stop(self) -> None:
        """End it wherever it is."""
        self._is_stopped = True
        if self._process is not None and self._process.is_alive():
            self._process.terminate()

    def _waited(self) -> Any:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(theirs, self._task), daemon=True)
        self._process.start()
        theirs.close()
        try:
            if self._is_stopped:
                self.stop()
            return self._receive(ours)
        finally:
            ours.close()
            self._process.terminate()
            self._process.join()

    def _receive(self, ours: Connection) -> Any:
        """What the process says last."""
        while True:
            try:
                kind, content = ours.recv()
            except (EOFError, OSError):
                raise (Stopped if self._is_stopped else WorkFailed)("the work ended without a result") from None
            if kind == "progress":
                self.share, self.words = content
                continue
            if kind == "shown":
                self.shown.append(content)
                continue
            if kind == "done":
                return content
            raise content if kind == "refused" else WorkFailed(content)


def _work(theirs: Connection, task: Callable[[ProgressRelay], Any]) -> None:
    """What the process does."""
    os.nice(_POLITE)
    said = ProgressRelay(theirs)
    try:
        theirs.send(("done", task(said)))
    except DiscreetError as refusal:
        theirs.send(("refused", refusal))
    except Exception as fault:  # the words of a fault may hold values of rows; its kind does not
        theirs.send(("failed", type(fault).__name__))


class ProgressRelay:
    """Passes on how far it is, not more often than people can read."""

    def __init__(self, theirs: Connection) -> None:
        self._theirs = theirs
        self._next = 0.0

    def __call__(self, share: float, words: str) -> None:
        """Say that a share is done, and what comes next."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _BETWEEN_WORDS
            self._theirs.send(("progress", (share, words)))

    def show(self, part: Any) -> None:
        """Hand over a part of the result, which nobody has to wait for."""
        self._theirs.send(("shown", part))
