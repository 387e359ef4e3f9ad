"""A process that asks a curator and dies on the way: ``python -m tests.soak.crashing_ask FOLDER STEP NUMBER``.

It kills itself when it is about to call the step, or right after. Every answer it gets is printed: that is its release.
Two steps are special: ``never`` asks one question after the other and waits to be killed; ``forgetful`` has a planted
bug: it releases an answer without storing it, and dies.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from discreet.curator import answering
from discreet.curator.curator import Curator
from discreet.curator.ledger import chain as ledger_records
from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.curator.ledger.witness import Witness

__all__ = ["FORGETFUL", "PRICE", "STEPS", "question"]

PRICE = "1/1000"
PLACES: dict[str, tuple[Any, str]] = {
    "charge": (Ledger, "charge"),
    "append": (ledger_records, "append"),
    "measure": (answering, "measure"),
    "settle": (Ledger, "settle"),
    "attest": (Witness, "attest"),
    "sync": (os, "fdatasync"),
}
STEPS = [f"{when} {place}" for place in PLACES for when in ("before", "after")]


FORGETFUL = "forgetful"


def question(number: int) -> str:
    """A question of its own for every number."""
    return f"SELECT ward, COUNT(*) AS n FROM visits WHERE age > -{number + 1} GROUP BY ward"


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def _rig(step: str) -> None:
    when, place = step.split()
    owner, name = PLACES[place]
    real: Callable[..., Any] = getattr(owner, name)

    def rigged(*arguments: Any, **named: Any) -> Any:
        if when == "before":
            _die()
        real(*arguments, **named)
        return _die()

    setattr(owner, name, rigged)


def _forget() -> None:
    def settle(ledger: Ledger, request: str, answer: bytes) -> Receipt:
        position, head = ledger.head()
        known = ledger.look_up(request, request.removeprefix("plan:").encode())
        assert known is not None
        return replace(known, answer=answer, position=position, head=head)

    setattr(Ledger, "settle", settle)  # noqa: B010


def main(folder: str, step: str, number: str) -> None:
    curator = Curator(folder)
    if step == FORGETFUL:
        _forget()
    elif step != "never":
        _rig(step)
    print("ready", flush=True)
    for k in itertools.count(int(number)):
        rows = curator.ask(question(k), PRICE).to_rows()
        print("released", k, json.dumps(rows), sep="|", flush=True)
        if step == FORGETFUL:
            _die()


if __name__ == "__main__":
    main(*sys.argv[1:])
