"""One protocol for every side that answers a question over a table, so that all are asked alike.

A side is a class: made from a `Table`, it holds the rows; ``plan(question)`` returns a call that answers it, as
{group: (number, …)}. The task comes as JSON on the command line, the results go out as JSON.
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
COLUMNS = {
    "count": ("count",),
    "sum": ("sum",),
    "average": ("average",),
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


class Side(Protocol):
    """Holds a table and answers questions about it."""

    def __init__(self, table: Table) -> None: ...

    def plan(self, question: str) -> Callable[[], Answer]: ...


def tree_cpu() -> float:
    """CPU seconds of this process and of all its descendants, also of those that have ended and were waited for."""
    spent, children = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        children.setdefault(int(fields[1]), []).append(int(name))
        spent[int(name)] = sum(int(field) for field in fields[11:15])
    total, below = 0, list(children.get(os.getpid(), []))
    while below:
        process = below.pop()
        total += spent[process]
        below += children.get(process, [])
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system + total / os.sysconf("SC_CLK_TCK")


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
    found = {question: work(held, question, repeats) for question, repeats in task["questions"].items()}
    print(json.dumps(found), flush=True)
