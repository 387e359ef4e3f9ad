"""A ledger on PostgreSQL, and faults of the server: killed at every statement, at random, and frozen.

The server is a real one of its own. It is killed as by a power cut of its processes, and started again; it is frozen by
SIGSTOP of all its processes, as a host that hangs. Whoever asks is not told.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg

from discreet import Curator
from discreet.curator.ledger.move import move
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError
from discreet.storage.postgres import PostgresStorage, _Statements
from tests.servers.postgres import PostgresServer
from tests.servers.stopping import stop_processes
from tests.soak.losses import Kind, Loss, Losses
from tests.soak.works import PEOPLE, PRICE, ROWS, check_one_charge

__all__ = ["freeze_postgres", "kill_postgres_at_every_statement", "kill_postgres_at_random"]

Tick = Callable[[], None]
_PATIENCE = 120.0
_CALLS: dict[str, tuple[Any, str]] = {
    "begin": (PostgresStorage, "begin"),
    "statement": (_Statements, "execute"),
    "commit": (PostgresStorage, "commit"),
}


@contextmanager
def _server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


def _on_server(folder: Path, server: PostgresServer, database: str) -> Curator:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}".encode())
    curator = Curator(folder)
    curator.protect(ROWS, PEOPLE)
    curator.ledger.close()
    move(folder, server.url.replace("/postgres?", f"/{database}?"))
    return Curator(folder)


# At every statement --------------------------------------------------------------------------------------------------


class _Trigger:
    """Does something at the n-th call to the server: before it, or after it."""

    def __init__(self) -> None:
        self.count, self.at, self.is_after = 0, 0, False
        self.do: Callable[[], object] = lambda: None

    def watching(self) -> ExitStack:
        stack = ExitStack()
        for owner, name in _CALLS.values():
            real = getattr(owner, name)
            stack.callback(setattr, owner, name, real)
            setattr(owner, name, self._watched(real))
        return stack

    def _watched(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            self.count += 1
            is_here = self.count == self.at
            if is_here and not self.is_after:
                self.do()
            found = real(*arguments, **named)
            if is_here and self.is_after:
                self.do()
            return found

        return called


def kill_postgres_at_every_statement(
    folder: Path, stride: int, tick: Tick = lambda: None, size: Callable[[int], object] = lambda _: None
) -> Losses:
    """One question for each statement that it sends: the server dies there, and is back at once."""
    losses = Losses()
    with _server() as server:
        curator = _on_server(folder, server, "every")
        trigger = _Trigger()
        with trigger.watching():
            _answer(curator, 0)
            calls, asked = trigger.count, 1
            trials = [(at, is_after) for at in range(1, calls + 1, stride) for is_after in (False, True)]
            size(len(trials))
            trigger.do = lambda: (server.kill(), server.start())
            for at, is_after in trials:
                trigger.count, trigger.at, trigger.is_after = 0, at, is_after
                _one_killed(curator, asked, trigger, losses, f"{'after' if is_after else 'before'} call {at}")
                asked += 1
                tick()
        _check_all(folder, curator, asked, losses)
    return losses


def _one_killed(curator: Curator, number: int, trigger: _Trigger, losses: Losses, where: str) -> None:
    before, told = _spent(curator), []
    with suppress(DiscreetError):  # it is asked again below
        told.append(_answer(curator, number))
    trigger.at = 0
    began = time.monotonic()
    try:
        check_one_charge(lambda: _answer(curator, number), lambda: _spent(curator) - before, told, PRICE)
        losses.add("PostgreSQL killed at a statement", None, time.monotonic() - began)
    except Loss as loss:
        losses.add("PostgreSQL killed at a statement", loss, None, where)


def _answer(curator: Curator, number: int) -> str:
    sql = f"SELECT COUNT(*) AS n FROM people WHERE id > -{number}"
    return json.dumps(curator.ask(sql, PRICE, request=f"r{number}").to_rows())


def _spent(curator: Curator) -> Fraction:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return curator.budget()["people"]["spent"].epsilon
        except DiscreetError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _check_all(folder: Path, curator: Curator, asked: int, losses: Losses) -> None:
    spent, found = _spent(curator), verify(folder)
    if spent != asked * PRICE:
        kind = Kind.DOUBLE if spent > asked * PRICE else Kind.FREE
        losses.found[kind.value] += 1
        losses.told.append(f"{asked} questions cost {spent}")
    if not found.is_sound:
        losses.found[Kind.UNSOUND.value] += 1
        losses.told.append("; ".join(found.problems))


# At random, and frozen -----------------------------------------------------------------------------------------------


def kill_postgres_at_random(folder: Path, kills: int, seed: int, tick: Tick = lambda: None) -> Losses:
    """Threads ask one question after the other while the server dies and comes back."""
    chance = random.Random(seed)

    def kill(server: PostgresServer) -> None:
        time.sleep(chance.uniform(0.2, 1.5))
        server.kill()
        server.start()

    return _disturbed(folder, kills, kill, "PostgreSQL killed at random", tick)


def freeze_postgres(folder: Path, times: int, seconds: float, tick: Tick = lambda: None) -> Losses:
    """The same, while the server is frozen for a while, again and again."""

    def freeze(server: PostgresServer) -> None:
        time.sleep(0.5)
        frozen = [server.process, *_children(server.process)]
        stop_processes(frozen)
        time.sleep(seconds)
        for process in frozen:
            os.kill(process, signal.SIGCONT)

    return _disturbed(folder, times, freeze, f"PostgreSQL frozen for {seconds:g} s", tick)


def _children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _disturbed(folder: Path, times: int, disturb: Callable[[PostgresServer], None], fault: str, tick: Tick) -> Losses:
    losses, done, numbers = Losses(), threading.Event(), iter(range(10**9))
    told: dict[int, str] = {}
    waits: list[float] = []
    with _server() as server:
        curator = _on_server(folder, server, "disturbed")

        def ask() -> None:
            while not done.is_set():
                number = next(numbers)
                began = time.monotonic()
                told[number] = _asked_until_answered(curator, number)
                waits.append(time.monotonic() - began)

        with ThreadPoolExecutor(3) as pool:
            askers = [pool.submit(ask) for _ in range(3)]
            try:
                for _ in range(times):
                    disturb(server)
                    losses.add(fault, None)
                    tick()
            finally:
                done.set()
            for asker in askers:
                asker.result()
        losses.recovery = [max(waits)]
        _compare(curator, told, losses)
        _check_all(folder, curator, len(told), losses)
    return losses


def _asked_until_answered(curator: Curator, number: int) -> str:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return _answer(curator, number)
        except DiscreetError as refusal:
            if time.monotonic() > end:
                raise Loss(Kind.UNANSWERED, repr(refusal)) from refusal
            time.sleep(0.1)


def _compare(curator: Curator, told: dict[int, str], losses: Losses) -> None:
    for number, released in told.items():
        if _answer(curator, number) != released:
            losses.found[Kind.CHANGED.value] += 1
            losses.told.append(f"question {number}")
