"""Disks that fill up under curators: asked until refused, freed, asked again, opened again.

``python -m tests.soak.full_disks FOLDER TRIALS SEED`` runs them, each in processes of its own. The disk is a real one
of a few megabytes where one can be mounted (ext4 in a file, or tmpfs); elsewhere files are limited in size.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

from discreet import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError
from tests.full_disk import SmallDisk, can_mount, files_of_at_most, small_disk
from tests.soak.forked import Tell, in_child
from tests.soak.losses import Kind, Loss, Losses
from tests.soak.works import PEOPLE, PRICE, ROWS

__all__ = ["fill_under_curators"]

ROOT = Path(__file__).parents[2]
_SIZE = 12 * 2**20
_MOST_ROOM = 400_000
_MOST_QUESTIONS = 300


def fill_under_curators(folder: Path, trials: int, seed: int, tick: Callable[[], None] = lambda: None) -> Losses:
    """So many curators, each with another room left on its disk when it starts to ask."""
    losses = Losses()
    command = [sys.executable, "-m", "tests.soak.full_disks", str(folder), str(trials), str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            kind, room, name, words, seconds = json.loads(line)
            losses.add(f"full {kind}", None if name is None else Loss(Kind[name], words), seconds, f"room {room}")
            tick()
    assert process.returncode == 0
    return losses


def main(folder: str, trials: str, seed: str) -> None:
    chance, place = random.Random(int(seed)), Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    template = place / "template"
    in_child(lambda _: _protected(template))
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(_SIZE)) if can_mount() else None
        for _ in range(int(trials)):
            room = chance.randrange(_MOST_ROOM)
            found = _trial(template, place, disk, room)
            print(json.dumps([disk.kind if disk else "RLIMIT_FSIZE", room, *found]), flush=True)


def _protected(folder: Path) -> None:
    curator = Curator(folder)
    curator.protect(ROWS, PEOPLE)
    curator.ledger.close()


def _trial(
    template: Path, place: Path, disk: SmallDisk | None, room: int
) -> tuple[str | None, str | None, float | None]:
    folder = (disk.root if disk else place) / "curator"
    shutil.copytree(template, folder)
    try:
        told = in_child(lambda tell: _ask_until_refused(folder, disk, room, tell))
        began = time.monotonic()
        in_child(lambda _: _check(folder, told))
        return None, None, time.monotonic() - began
    except Loss as loss:
        return loss.kind.name, loss.words, None
    finally:
        if disk is not None:
            disk.empty()
        shutil.rmtree(folder)


def _ask_until_refused(folder: Path, disk: SmallDisk | None, room: int, tell: Tell) -> None:
    curator = Curator(folder)
    with ExitStack() as full:
        if disk is not None:
            disk.fill(room)
            full.callback(disk.empty)
        else:
            full.enter_context(files_of_at_most(room + max(file.stat().st_size for file in folder.glob("ledger.*"))))
        refused = next(number for number in range(_MOST_QUESTIONS) if not _is_answered(curator, number, tell))
        _is_answered(curator, refused, tell)  # and once more
    if not _is_answered(curator, refused, tell):
        raise Loss(Kind.REFUSED, f"question {refused} when there was room again")
    if not _is_answered(curator, refused + 1, tell):
        raise Loss(Kind.REFUSED, "the next question")
    if room % 2:
        curator.ledger.close()
    os._exit(0)  # and others are killed


def _is_answered(curator: Curator, number: int, tell: Tell) -> bool:
    try:
        tell(_answer(curator, number))
    except (DiscreetError, OSError):
        return False
    return True


def _answer(curator: Curator, number: int) -> str:
    sql = f"SELECT COUNT(*) AS n FROM people WHERE id > -{number}"
    return json.dumps([number, curator.ask(sql, PRICE, request=f"r{number}").to_rows()])


def _check(folder: Path, told: Sequence[str]) -> None:
    try:
        curator = Curator(folder)
    except DiscreetError as refusal:
        raise Loss(Kind.CLOSED, str(refusal)) from refusal
    asked = {json.loads(line)[0] for line in told}
    for line in told:
        if _answer(curator, json.loads(line)[0]) != line:
            raise Loss(Kind.CHANGED, line)
    _answer(curator, len(asked) + 1)
    spent: Fraction = curator.budget()["people"]["spent"].epsilon
    if spent != PRICE * (len(asked) + 1):
        raise Loss(Kind.DOUBLE if spent > PRICE * len(asked) else Kind.FREE, f"{len(asked) + 1} questions cost {spent}")
    curator.ledger.close()
    found = verify(folder)
    if not found.is_sound:
        raise Loss(Kind.UNSOUND, "; ".join(found.problems))


if __name__ == "__main__":
    main(*sys.argv[1:])
