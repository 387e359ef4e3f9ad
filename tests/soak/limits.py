"""Curators that run out of descriptors or of memory in the middle of questions, and get them back.

``python -m tests.soak.limits FOLDER TRIALS SEED``. A question may fail after its charge; then its analyst is suspended,
as the rules say, and the owner lifts that here. Nothing may be free, changed, or closed for ever.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError, EngineFailure, Suspended
from tests.soak.forked import Tell, in_child
from tests.soak.losses import Kind, Loss, Losses
from tests.soak.works import PEOPLE, PRICE, ROWS

__all__ = ["press_curators"]

ROOT = Path(__file__).parents[2]
_MOST_QUESTIONS = 3


def press_curators(folder: Path, trials: int, seed: int, tick: Callable[[], None] = lambda: None) -> Losses:
    """So many curators, every other one short of descriptors, and the others short of memory."""
    losses = Losses()
    command = [sys.executable, "-m", "tests.soak.limits", str(folder), str(trials), str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            what, room, name, words, seconds = json.loads(line)
            loss = None if name is None else Loss(Kind[name], words)
            losses.add(f"short of {what}", loss, seconds, f"{room} of {what}")
            tick()
    assert process.returncode == 0
    return losses


def main(folder: str, trials: str, seed: str) -> None:
    chance, place = random.Random(int(seed)), Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    in_child(lambda _: _protected(place / "template"))
    for number in range(int(trials)):
        what = ("descriptors", "memory")[number % 2]
        room = chance.randrange(12) if what == "descriptors" else chance.randrange(256) * 2**20
        print(json.dumps([what, room, *_trial(place, what, room)]), flush=True)


def _protected(folder: Path) -> None:
    curator = Curator(folder)
    curator.protect(ROWS, PEOPLE)
    curator.ledger.close()


def _trial(place: Path, what: str, room: int) -> tuple[str | None, str | None, float | None]:
    folder = place / "curator"
    shutil.copytree(place / "template", folder)
    try:
        told = in_child(lambda tell: _ask_in_need(folder, what, room, tell))
        began = time.monotonic()
        in_child(lambda _: _check(folder, told))
        return None, None, time.monotonic() - began
    except Loss as loss:
        return loss.kind.name, loss.words, None
    finally:
        shutil.rmtree(folder)


@contextmanager
def _short_of(what: str, room: int) -> Iterator[None]:
    which = resource.RLIMIT_NOFILE if what == "descriptors" else resource.RLIMIT_AS
    now = len(os.listdir("/proc/self/fd")) if what == "descriptors" else _held()
    soft, hard = resource.getrlimit(which)
    resource.setrlimit(which, (now + room, hard))
    try:
        yield
    finally:
        resource.setrlimit(which, (soft, hard))


def _held() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _ask_in_need(folder: Path, what: str, room: int, tell: Tell) -> None:
    curator = Curator(folder)
    with _short_of(what, room):
        for number in range(_MOST_QUESTIONS):
            with suppress(DiscreetError, OSError, MemoryError):
                tell(_answer(curator, number))
    _lift(curator)
    for number in range(_MOST_QUESTIONS):
        try:
            tell(_answer(curator, number, again=True))
        except (DiscreetError, OSError) as refusal:
            raise Loss(Kind.REFUSED, repr(refusal)) from refusal


def _lift(curator: Curator) -> None:
    for suspension in curator.suspensions():
        curator.lift(suspension.record, "there is enough again")


def _answer(curator: Curator, number: int, *, again: bool = False) -> str:
    """Under its own id; one whose question failed stands for that, so it is asked without an id then."""
    sql = f"SELECT COUNT(*) AS n FROM people WHERE id > -{number}"
    try:
        rows = curator.ask(sql, PRICE, request=f"r{number}").to_rows()
    except (EngineFailure, Suspended):
        if not again:
            raise
        rows = curator.ask(sql, PRICE).to_rows()
    return json.dumps([number, rows])


def _check(folder: Path, told: Sequence[str]) -> None:
    try:
        curator = Curator(folder)
    except DiscreetError as refusal:
        raise Loss(Kind.CLOSED, str(refusal)) from refusal
    _lift(curator)
    for line in told:
        if _answer(curator, json.loads(line)[0], again=True) != line:
            raise Loss(Kind.CHANGED, line)
    bodies = [entry.body for entry in curator.ledger.entries()]
    charges = sum(body["kind"] == "charge" and bool(body["prices"]) for body in bodies)
    ends = sum(body["kind"] in ("answer", "failure", "return") for body in bodies)
    returned = sum(body["kind"] == "return" for body in bodies)
    answered = len({json.loads(line)[0] for line in told})
    if curator.budget()["people"]["spent"].epsilon != PRICE * (charges - returned) or answered > charges:
        raise Loss(Kind.FREE, f"{charges} charges, {answered} answers")
    if ends > charges:
        raise Loss(Kind.DOUBLE, f"{charges} charges, {ends} ends")
    curator.ledger.close()
    found = verify(folder)
    if not found.is_sound:
        raise Loss(Kind.UNSOUND, "; ".join(found.problems))


if __name__ == "__main__":
    main(*sys.argv[1:])
