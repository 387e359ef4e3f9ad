"""Work in a forked process: what it told before it ended, or was killed, and the loss that it found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from tests.soak.losses import Kind, Loss

__all__ = ["Tell", "in_child"]

Tell = Callable[[str], None]


def in_child(work: Callable[[Tell], object]) -> list[str]:
    """What a forked process told while it worked; it may be killed on the way. Its loss is raised here.

    The process that calls this has started no thread.
    """
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(here)
        _work_and_exit(work, there)
    os.close(there)
    with open(here, encoding="utf-8") as told:
        lines = list(_whole_lines(told))
    os.waitpid(child, 0)  # by which signal it died, if it did, is all the same
    if lines and lines[-1].startswith("LOSS "):
        kind, words = json.loads(lines[-1].removeprefix("LOSS "))
        raise Loss(Kind[kind], words)
    return lines


def _whole_lines(told: Any) -> Iterator[str]:
    """What a process that is killed did not tell to the end, it did not tell."""
    for line in told:
        if line.endswith("\n"):
            yield line.removesuffix("\n")


def _work_and_exit(work: Callable[[Tell], object], there: int) -> None:
    def tell(text: str) -> None:
        os.write(there, f"{text}\n".encode())

    try:
        work(tell)
    except Loss as loss:
        tell("LOSS " + json.dumps([loss.kind.name, loss.words]))
    except BaseException as failure:
        tell("LOSS " + json.dumps([Kind.REFUSED.name, repr(failure)]))
    os._exit(0)
