"""A fault at every single write of a piece of work, one trial for each: then all is opened again, checked and redone.

The work is counted once without a fault. Then, for each kind of fault and each of its writes, a fresh copy of the
folder meets the fault in a process of its own, and another process looks at what is left. Both are forked from one
process that has imported everything and started no thread:
``python -m tests.soak.every_write FOLDER FAULTS WORK:STRIDE …``.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.soak.faults import Fault, Faults
from tests.soak.forked import Tell, in_child
from tests.soak.losses import Kind, Loss, Losses
from tests.soak.works import WORKS, Work

__all__ = ["EVERY", "fault_at_every_write"]

ROOT = Path(__file__).parents[2]
EVERY = tuple(fault for fault in Fault if fault is not Fault.NONE)


def fault_at_every_write(
    folder: Path,
    strides: Mapping[str, int],
    tick: Callable[[], None] = lambda: None,
    faults: Sequence[Fault] = EVERY,
    size: Callable[[int], object] = lambda _: None,
) -> Losses:
    """Every so many writes of these works, for each of the faults; ``size`` hears how many trials there will be."""
    losses = Losses()
    words = [",".join(fault.name for fault in faults), *(f"{work}:{stride}" for work, stride in strides.items())]
    command = [sys.executable, "-m", "tests.soak.every_write", str(folder), *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        size(int(process.stdout.readline()))
        for line in process.stdout:
            work, fault, at, kind, said, seconds = json.loads(line)
            loss = None if kind is None else Loss(Kind[kind], said)
            losses.add(Fault[fault].value, loss, seconds, f"{work}, write {at} {Fault[fault].value}")
            tick()
    assert process.returncode == 0
    return losses


def main(folder: str, faults: str, *works: str) -> None:
    gc.freeze()  # what was imported stays, so that children copy little of it
    strides = {name: int(stride) for name, stride in (work.split(":") for work in works)}
    trials = [
        (name, Fault[fault], at)
        for name, stride in strides.items()
        for writes in [_prepared(Path(folder) / name, WORKS[name])]
        for fault in faults.split(",")
        for at in (*range(1, writes + 1, stride), writes + 1)
    ]
    print(len(trials), flush=True)
    for name, fault, at in trials:
        found = _trial(WORKS[name], Path(folder) / name, fault, at)
        print(json.dumps([name, fault.name, at, *found]), flush=True)
    os._exit(0)  # what is frozen would be told of as leaked


def _prepared(place: Path, work: Work) -> int:
    """How many writes it takes, from a folder that is prepared once."""
    template, counting = place / "template", place / "counted"
    template.mkdir(parents=True)
    in_child(lambda _: work.prepare(template))
    shutil.copytree(template, counting)

    def counted(tell: Tell) -> None:
        faults = Faults()
        work.act(counting, faults, lambda _: None)
        tell(str(faults.count))

    found = int(in_child(counted)[-1])
    in_child(lambda _: work.check(counting, []))  # before faults are looked for, the check itself must pass
    return found


def _met(work: Work, folder: Path, faults: Faults, tell: Tell) -> None:
    work.act(folder, faults, tell)
    faults.happens()  # when all is done and told, as after the last write


def _trial(work: Work, place: Path, fault: Fault, at: int) -> tuple[str | None, str | None, float | None]:
    folder = place / f"{fault.name}-{at}"
    shutil.copytree(place / "template", folder)
    try:
        told = in_child(lambda tell: _met(work, folder, Faults(fault, at), tell))
        began = time.monotonic()
        in_child(lambda _: work.check(folder, told))
        return None, None, time.monotonic() - began
    except Loss as loss:
        return loss.kind.name, loss.words, None
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
