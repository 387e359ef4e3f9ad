"""One protocol for every side that answers a question over a table, so that all are asked alike.

A side is a class: made from a `Table`, it holds the rows; ``plan(question)`` returns a call that answers it, as
{group: (number, …)}. The task comes as JSON on the command line, the results go out as JSON; a question that a side
does not answer goes out as what it said.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

LOWER, UPPER = 0, 100
EPSILON = 1.0
DELTA = 1e-6
"""For groups that nobody listed."""
COLUMNS = {
    "count": ("count",),
    "sum": ("sum",),
    "average": ("average",),
    "median": ("median",),
    "all": ("count", "sum", "average"),
}
"""The numbers per group that a question asks for, in order."""
Answer = dict[int, tuple[float, ...]]


@dataclass(frozen=True)
class Table:
    """A Parquet file with the columns person, grp and value, and what is public about it."""

    file: str
    rows: int
    groups: int
    unit: str
    """"row" or "person"."""
    rows_per_unit: int
    groups_per_unit: int = 0
    """How many groups a unit can make visible, with one row in each; zero when the groups are public."""
    noise: str = "laplace"
    """Or "gaussian", for groups that nobody listed."""
    rho: float = 0.0
    """What a side with Gaussian noise may spend, so that half of δ is left for the groups."""


class Side(Protocol):
    """Holds a table and answers questions about it."""

    def __init__(self, table: Table) -> None: ...

    def plan(self, question: str) -> Callable[[], Answer]: ...


def descendants() -> dict[int, int]:
    """The processes that this one started, directly or not, and the ticks of CPU time that each of them took."""
    spent, children = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        children.setdefault(int(fields[1]), []).append(int(name))
        spent[int(name)] = sum(int(field) for field in fields[11:15])
    found, below = {}, list(children.get(os.getpid(), []))
    while below:
        process = below.pop()
        found[process] = spent[process]
        below += children.get(process, [])
    return found


def tree_cpu() -> float:
    """CPU seconds of this process and of all its descendants, also of those that have ended and were waited for."""
    running, ended = sum(descendants().values()), os.times()
    return time.process_time() + ended.children_user + ended.children_system + running / os.sysconf("SC_CLK_TCK")


def timed(side: Side, question: str, repeats: int) -> dict[str, float]:
    """The least CPU time of a whole ask, its part before any row is read, and the time from the start of the process
    to the first answer."""
    asks, plans, first = [], [], 0.0
    for _ in range(repeats):
        start = tree_cpu()
        ask = side.plan(question)
        planned = tree_cpu()
        ask()
        end = tree_cpu()
        first = first or end
        plans.append(planned - start)
        asks.append(end - start)
    return {"cpu": min(asks), "plan": min(plans), "first": first}


def repeated(side: Side, question: str, repeats: int) -> list[Answer]:
    """Independent answers to one question that is planned once."""
    ask = side.plan(question)
    return [ask() for _ in range(repeats)]


def serve(side: type[Side]) -> None:
    """Do the task on the command line and print the results."""
    task = json.loads(sys.argv[1])
    held = side(Table(**task["table"]))
    work = timed if task["what"] == "time" else repeated
    found = {question: attempt(work, held, question, repeats) for question, repeats in task["questions"].items()}
    print(json.dumps(found), flush=True)


def attempt(work: Callable[[Side, str, int], object], held: Side, question: str, repeats: int) -> object:
    """The result, or why there is none."""
    try:
        return work(held, question, repeats)
    except Exception as problem:  # whatever a peer raises is its answer
        said = " ".join(str(problem).split()).replace("|", "/")
        return {"failed": f"{type(problem).__name__}: {said}"[:160]}
