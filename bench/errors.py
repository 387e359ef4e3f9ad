"""How far off the answers are: the same table, bounds and ε for every curator, the answers repeated.

The error is the mean absolute one over groups and repetitions, against two truths: the exact answer over all rows, and
the exact answer with people over the bound counted as the bound, which is what the noise is added to. Truncation keeps
some of a person's rows and weights keep all a little; both have the second truth as their mean.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import duckdb
from rich.table import Table

from bench.peers import ask
from bench.sides.asking import COLUMNS, LOWER, UPPER
from bench.tables import skewed

__all__ = ["error_table", "measured_errors"]

GROUPS = 20
BOUNDS = (5, 10)
REPEATS = 20
SELDOM = {"Tumult average": 4} | {f"PipelineDP {question}": 5 for question in COLUMNS}  # they take long
Errors = dict[tuple[int, str, str], dict[str, tuple[float, float]]]
"""(rows per unit, question, column) → side → error against the bounded and against the whole truth."""


def measured_errors(folder: Path, sides: list[str]) -> Errors:
    """The errors of all sides."""
    file = skewed(folder)
    errors: Errors = {}
    for side in sides:
        for bound in BOUNDS:
            often = {question: SELDOM.get(f"{side} {question}", REPEATS) for question in COLUMNS}
            said = ask(side, "answers", file, GROUPS, "person", bound, often)
            for question, answers in said.items():
                truths = exact(file, bound), exact(file, None)
                for place, column in enumerate(COLUMNS[question]):
                    found = tuple(mean_error(answers, place, column, truth) for truth in truths)
                    errors.setdefault((bound, question, column), {})[side] = found
    return errors


def exact(file: Path, bound: int | None) -> dict[str, dict[int, float]]:
    """Column → group → the answer without noise, of all rows or of people weighted down to the bound."""
    weight = "1e0" if bound is None else f"least(1e0, {bound} / count(*) OVER (PARTITION BY person))"
    with duckdb.connect() as database:
        rows = database.sql(
            f"SELECT grp, sum(w), sum(w * value), sum(w * value) / sum(w) FROM (SELECT *, {weight} AS w FROM '{file}') "
            "GROUP BY grp"
        ).fetchall()
    return {name: {row[0]: row[place] for row in rows} for place, name in enumerate(COLUMNS["all"], start=1)}


def mean_error(
    answers: list[dict[str, list[float]]], place: int, column: str, truth: dict[str, dict[int, float]]
) -> float:
    """The mean over groups and repetitions, after what is public about the column was put in for everybody."""
    low, high = (LOWER, UPPER) if column == "average" else (0, float("inf"))
    return fmean(
        abs(min(max(answer[str(group)][place], low), high) - value)
        for answer in answers
        for group, value in truth[column].items()
    )


def error_table(errors: Errors, sides: list[str]) -> Table:
    """One line per question and number; the target is to be no worse than the best peer, told from it by the noise."""
    title = f"Mean absolute error at ε = 1 per person in {GROUPS} groups: of the noise / of noise and bounding together"
    table = Table(title=title, caption=f"{REPEATS} repetitions; fewer: {SELDOM}")
    for column in ("rows per person", "asked", "error of", *sides, "best peer / ours", "no worse"):
        table.add_column(column, justify="right")
    for (bound, question, column), found in errors.items():
        ours = found["Discreet"][0]
        best = min(error for side, (error, _) in found.items() if side != "Discreet")
        shown = [f"{noise:,.4g} / {both:,.4g}" for noise, both in (found[side] for side in sides)]
        said = "hit" if best >= ours * (1 - SLACK) else "[red]missed[/]"
        table.add_row(str(bound), question, column, *shown, f"{best / ours:.2f}", said)
    return table


SLACK = 0.15
"""Three standard errors of a mean of 400 absolute Laplace draws: within it, nobody can tell who is better."""
