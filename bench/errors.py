"""How far off the answers are: the same table, bounds and ε for every curator, the answers repeated.

The error is the mean absolute one over groups and repetitions, against two truths: the exact answer over all rows, and
the exact answer with people over the bound counted as the bound, which is what the noise is added to. Truncation keeps
some of a person's rows and weights keep all a little; both have the second truth as their mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import duckdb
from rich.table import Table

from bench.environments import PeerFailed
from bench.figure import Figure, verdict
from bench.peers import ANSWERERS, about, ask
from bench.sides.asking import COLUMNS, LOWER, UPPER
from bench.sides.asking import Table as Facts
from bench.tables import skewed

__all__ = [
    "REPEATS",
    "Task",
    "answered",
    "error_figures",
    "error_table",
    "exact",
    "measured_errors",
    "seldom",
    "silences",
    "within",
]

GROUPS = 20
BOUNDS = (5, 10)
REPEATS = 20
SELDOM = {"OpenDP": 10, "Tumult": 5, "PipelineDP": 5}
"""Who takes long is asked less often."""
SLACK = 0.15
"""Three standard errors of a mean of 400 absolute Laplace draws: within it, nobody can tell who is better."""
Errors = dict[tuple[int, str, str], dict[str, tuple[float, float] | str]]
"""(rows per unit, question, column) → side → error against the bounded and against the whole truth, or why not."""


def measured_errors(folder: Path, tell: Callable[[str], object], repeats: int = REPEATS) -> Errors:
    """The errors of all sides."""
    whole, real = skewed(folder), skewed(folder, whole=False)
    files = {tuple(name for name in COLUMNS if name != "median"): whole, ("median",): real}
    tasks = [
        Task(side, bound, about(file, GROUPS, "person", bound), questions, min(SELDOM.get(side, repeats), repeats))
        for side in ANSWERERS
        for bound in BOUNDS
        for questions, file in files.items()
    ]
    errors: Errors = {}
    for task, question, answers in answered(tasks, tell):
        file = files[task.questions]
        truths = exact(file, task.bound), exact(file, None)
        for place, column in enumerate(COLUMNS[question]):
            found = answers if isinstance(answers, str) else _both(answers, place, column, truths)
            errors.setdefault((task.bound, question, column), {})[task.side] = found
    return errors


@dataclass(frozen=True)
class Task:
    """Questions about one table to one side, repeated."""

    side: str
    bound: int
    """Rows, or groups, that a person counts with."""
    table: Facts
    questions: tuple[str, ...]
    repeats: int


Answers = list[dict[str, list[float]]]


def answered(tasks: list[Task], tell: Callable[[str], object]) -> Iterator[tuple[Task, str, Answers | str]]:
    """Every question with its answers, or why there are none: several at once, since nothing is timed here."""

    def run(task: Task) -> dict[str, Any]:
        try:
            found = ask(task.side, "answers", task.table, dict.fromkeys(task.questions, task.repeats))
        except PeerFailed as problem:
            found = {question: {"failed": str(problem)} for question in task.questions}
        tell(f"{task.side}, at most {task.bound} per person, {task.repeats} times: {', '.join(task.questions)}")
        return found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for task, found in zip(tasks, pool.map(run, tasks), strict=True):
            for question, said in found.items():
                yield task, question, str(said["failed"]) if isinstance(said, dict) else said


def exact(file: Path, bound: int | None) -> dict[str, dict[int, float]]:
    """Column → group → the answer without noise, of all rows or of people weighted down to the bound."""
    weight = "1e0" if bound is None else f"least(1e0, {bound} / count(*) OVER (PARTITION BY person))"
    with duckdb.connect() as database:
        rows = database.sql(
            f"""WITH weighted AS (SELECT *, {weight} AS w FROM '{file}'),
                     ranked AS (SELECT *, sum(w) OVER (PARTITION BY grp ORDER BY value, person, w) AS below,
                                       sum(w) OVER (PARTITION BY grp) AS whole FROM weighted)
                SELECT grp, sum(w), sum(w * value), sum(w * value) / sum(w), min(value) FILTER (below >= whole / 2)
                FROM ranked GROUP BY grp"""
        ).fetchall()
    names = ("count", "sum", "average", "median")
    return {name: {row[0]: row[place] for row in rows} for place, name in enumerate(names, start=1)}


def within(column: str, value: float) -> float:
    """A number after what is public about its column was put in, for everybody."""
    low, high = (LOWER, UPPER) if column in ("average", "median") else (0, float("inf"))
    return min(max(value, low), high)


def _both(answers: Any, place: int, column: str, truths: tuple[Any, Any]) -> tuple[float, float]:
    bounded, whole = (
        fmean(
            abs(within(column, answer[str(group)][place]) - value)
            for answer in answers
            for group, value in truth[column].items()
        )
        for truth in truths
    )
    return bounded, whole


def error_table(errors: Errors, repeats: int) -> Table:
    """One line per question and number; the target is to be no worse than the best peer, told from it by the noise."""
    title = (
        f"Public keys: mean absolute error at ε = 1 per person in {GROUPS} groups, of the noise / of noise and "
        f"bounding together. {repeats} repetitions; {seldom(SELDOM)}."
    )
    table = Table(title=title, caption=silences(errors))
    for column in ("rows per person", "asked", "error of", *ANSWERERS, "best peer / ours", "no worse"):
        table.add_column(column, justify="right")
    for ((bound, question, column), found), one in zip(errors.items(), error_figures(errors), strict=True):
        shown = [_shown(found[side]) for side in ANSWERERS]
        table.add_row(str(bound), question, column, *shown, one.ratio, verdict(one))
    return table


def error_figures(errors: Errors) -> list[Figure]:
    """The same as targets for the top of the page."""
    return [
        _figure(f"error of the {column}, {bound} rows per person, asked for {question}", found)
        for (bound, question, column), found in errors.items()
    ]


def seldom(often: dict[str, int]) -> str:
    """Who was asked less often, because it takes long."""
    return "at most " + ", ".join(f"{times} of {side}" for side, times in often.items())


def silences(found: dict[Any, dict[str, Any]]) -> str:
    """Who did not answer what, and what it said."""
    said = {(side, key[1], one) for key, sides in found.items() for side, one in sides.items() if isinstance(one, str)}
    return "; ".join(f"{side} does not answer {question}: {why}" for side, question, why in sorted(said))


def _figure(measure: str, found: dict[str, tuple[float, float] | str]) -> Figure:
    """The error of the noise beside that of the best peer."""
    errors = {side: one[0] for side, one in found.items() if not isinstance(one, str)}
    ours = errors.pop("Discreet", None)
    if ours is None or not errors:
        return Figure(measure, "" if ours is None else f"{ours:,.4g}", "nobody to compare with")
    who = min(errors, key=lambda side: errors[side])
    met = errors[who] >= ours * (1 - SLACK)
    ratio = f"{errors[who] / ours:.2f}×" if ours else ""
    return Figure(measure, f"{ours:,.4g}", f"{who} {errors[who]:,.4g}", ratio, "≤ the best peer's", met)


def _shown(found: tuple[float, float] | str) -> str:
    return "no answer" if isinstance(found, str) else f"{found[0]:,.4g} / {found[1]:,.4g}"
