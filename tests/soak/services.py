"""Faults of services: disks that fill up, processes and workers that are killed, and clocks that jump.

Each is ``discreet serve`` as a command of its own. Clients ask by the client of the library, and ask again when a
service does not answer; whatever they were told is compared with what the service says after it was started again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path

import httpx

import discreet
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError
from tests.full_disk import SmallDisk, small_disk
from tests.service.hospital import Hospital, founded
from tests.service.serve_command import ServeCommand
from tests.soak.losses import Kind, Loss, Losses

__all__ = ["SLEEP", "clock", "faketime", "fill_under_services", "jump_clocks", "kill_services"]

PRICE = Fraction(1, 2000)
_SIZE = 32 * 2**20
_MOST_ROOM = 300_000
_MOST_QUESTIONS = 300
_PATIENCE = 180.0
SLEEP = "import select, time; time.sleep = lambda seconds: select.select([], [], [], max(0, seconds)) and None"
"""Under libfaketime, clock_nanosleep fails whatever it is asked for, and Python's own sleep with it."""
Tick = Callable[[], None]


def _answer(address: str, hospital: Hospital, number: int, patience: float = _PATIENCE) -> str:
    curator = discreet.connect(address, hospital.tokens["ana"], patience=patience)
    sql = f"SELECT ward, COUNT(*) AS n FROM visits WHERE age > -{number + 1} GROUP BY ward"
    return json.dumps(curator.ask(sql, PRICE, request=f"r{number}").to_rows())


def _check(hospital: Hospital, address: str, told: dict[int, str]) -> None:
    """The service, which was started again, says the same as before, and each question was charged once."""
    for number, released in told.items():
        if _answer(address, hospital, number) != released:
            raise Loss(Kind.CHANGED, f"question {number}")
    spent = Curator(hospital.folder).budget()["visits"]["spent"].epsilon
    if spent != PRICE * len(told):
        raise Loss(Kind.DOUBLE if spent > PRICE * len(told) else Kind.FREE, f"{len(told)} questions cost {spent}")
    found = verify(hospital.folder)
    if not found.is_sound:
        raise Loss(Kind.UNSOUND, "; ".join(found.problems))


def _start(server: ServeCommand) -> float:
    try:
        return server.start()
    except AssertionError as failure:
        raise Loss(Kind.CLOSED, str(failure)[-500:]) from failure


# Disks that fill up --------------------------------------------------------------------------------------------------


def fill_under_services(folder: Path, trials: int, seed: int, tick: Tick = lambda: None) -> Losses:
    """So many services, each with another room left on its disk; needs root, to mount it."""
    chance, losses = random.Random(seed), Losses()
    template = founded(folder / "template")
    for number in range(trials):
        room = chance.randrange(_MOST_ROOM)
        with small_disk(_SIZE) as disk:
            hospital = Hospital(disk.root / "hospital", template.tokens)
            shutil.copytree(template.folder, hospital.folder)
            try:
                seconds = _filled(hospital, disk, folder / f"log{number}", room)
                losses.add(f"full {disk.kind} under a service", None, seconds)
            except Loss as loss:
                losses.add(f"full {disk.kind} under a service", loss, None, f"room {room}")
        tick()
    return losses


def _filled(hospital: Hospital, disk: SmallDisk, log: Path, room: int) -> float:
    """Seconds that the service took to start again."""
    told: dict[int, str] = {}
    with ServeCommand(hospital.folder, log, ("--no-console",)) as server:
        _start(server)
        disk.fill(room)
        refused = _asked_until_refused(server.address, hospital, told)
        if _is_ready(server.address):
            raise Loss(Kind.READY, f"{disk.free()} bytes are free")
        disk.empty()
        try:
            for number in (refused, refused + 1):
                told[number] = _answer(server.address, hospital, number)
        except DiscreetError as refusal:
            raise Loss(Kind.REFUSED, repr(refusal)) from refusal
        time.sleep(1.1)  # it looks once a second
        if not _is_ready(server.address):
            raise Loss(Kind.REFUSED, "it is not ready when there is room again")
        server.kill() if room % 2 else server.stop()
        seconds = _start(server)
        _check(hospital, server.address, told)
    return seconds


def _asked_until_refused(address: str, hospital: Hospital, told: dict[int, str]) -> int:
    for number in range(_MOST_QUESTIONS):
        try:
            told[number] = _answer(address, hospital, number, patience=0.1)
        except DiscreetError:
            return number
    raise AssertionError("the disk is large enough for all questions")


def _is_ready(address: str) -> bool:
    return httpx.get(f"{address}/health/ready", timeout=30).is_success


# Processes that are killed -------------------------------------------------------------------------------------------


def kill_services(folder: Path, kills: int, seed: int, tick: Tick = lambda: None) -> Losses:
    """A service of two workers; at random moments one of them is killed, or the process that started them."""
    chance, losses, hospital = random.Random(seed), Losses(), founded(folder / "hospital")
    told: dict[int, str] = {}
    numbers, done = count(), threading.Event()
    with ServeCommand(hospital.folder, folder / "log", ("--no-console", "--workers", "2")) as server:
        _start(server)

        def ask() -> None:
            while not done.is_set():
                number = next(numbers)
                told[number] = _answer(server.address, hospital, number)

        with ThreadPoolExecutor(3) as pool:
            askers = [pool.submit(ask) for _ in range(3)]
            try:
                for _ in range(kills):
                    time.sleep(chance.uniform(0.5, 4.0))
                    _kill_one(server, chance, losses)
                    tick()
            finally:
                done.set()
            for asker in askers:
                _heard(asker.result, losses)
        _heard(lambda: _check(hospital, server.address, told), losses)
    return losses


def _kill_one(server: ServeCommand, chance: random.Random, losses: Losses) -> None:
    workers = _children(server.process.pid)
    if workers and chance.random() < 0.7:
        os.kill(chance.choice(workers), signal.SIGKILL)
        losses.add("a worker killed", None)
        return
    server.kill()
    _wait_for_end(workers)
    try:
        losses.add("a service killed", None, _start(server))
    except Loss as loss:
        losses.add("a service killed", loss)
        raise


def _wait_for_end(workers: list[int]) -> None:
    """Until the workers of a process that was killed have noticed it, and its port is free."""
    end = time.monotonic() + _PATIENCE
    while any(Path(f"/proc/{one}").exists() for one in workers):
        if time.monotonic() > end:
            raise Loss(Kind.CLOSED, "its workers hold the port")
        time.sleep(0.05)


def _children(process: int) -> list[int]:
    """The workers; a process that multiprocessing has beside them answers no question."""
    found = [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return [pid for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def _heard(work: Callable[[], object], losses: Losses, kind: Kind = Kind.UNANSWERED) -> None:
    try:
        work()
    except Loss as loss:
        losses.add("at the end", loss)
    except DiscreetError as refusal:
        losses.add("at the end", Loss(kind, repr(refusal)))


# Clocks that jump ----------------------------------------------------------------------------------------------------


def faketime() -> Path | None:
    """The library that shows processes another clock; None where it is not installed (Debian: libfaketime)."""
    named = os.environ.get("FAKETIME_LIBRARY")
    found = [Path(named)] if named else sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return next((path for path in found if path.exists()), None)


def clock(library: Path, offset: Path) -> dict[str, str]:
    """Variables of a process whose clock on the wall is off by the seconds that a file says, at every moment."""
    found = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_NO_CACHE": "1"}
    return found | {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def jump_clocks(folder: Path, jumps: int, seed: int, tick: Tick = lambda: None) -> Losses:
    """A service whose clock jumps by up to ten days, forth and back, between questions and in the middle of them."""
    library = faketime()
    assert library is not None, "install libfaketime, or name it in FAKETIME_LIBRARY"
    chance, losses, hospital = random.Random(seed), Losses(), founded(folder / "hospital")
    offset = folder / "offset"
    offset.write_text("+0")
    moved = clock(library, offset)
    told: dict[int, str] = {}
    before = {name: os.environ.get(name) for name in moved}
    with ServeCommand(hospital.folder, folder / "log", ("--no-console",), first=SLEEP) as server:
        os.environ.update(moved)
        try:
            _start(server)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        for number in range(jumps):
            _jump(offset, chance.randrange(-10 * 86400, 10 * 86400))
            began = time.monotonic()
            _heard(partial(_ask, server.address, hospital, number, told), losses, Kind.REFUSED)
            losses.add("the clock jumped", None, time.monotonic() - began)
            tick()
        server.kill()
        _start(server)
        _heard(lambda: _check(hospital, server.address, told), losses)
    return losses


def _jump(offset: Path, seconds: int) -> None:
    """In one step, for the clock is read at every moment."""
    draft = offset.with_suffix(".new")
    draft.write_text(f"{seconds:+d}")
    draft.replace(offset)


def _ask(address: str, hospital: Hospital, number: int, told: dict[int, str]) -> None:
    told[number] = _answer(address, hospital, number)
