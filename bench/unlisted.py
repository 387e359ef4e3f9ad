"""Groups that nobody listed: how many of the true ones each curator shows, and how far off the numbers in them are.

Two thousand groups, most of them rare; a person is in one group, or in up to ten, with one row in each, which everybody
is told. Every answer is (ε, δ)-private for a person, with the kind of noise with which the peer shows most groups:
Laplace for one group, Gaussian for ten where it offers that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import fmean

from rich.table import Table

from bench.errors import Task, answered, exact, silences, within
from bench.figure import Figure, verdict
from bench.peers import ANSWERERS, about
from bench.sides.asking import DELTA, EPSILON
from bench.sides.asking import Table as Facts
from bench.tables import rare
from discreet.accounting.filter import ConcentratedFilter
from discreet.privacy.loss import Approximate

__all__ = ["REPEATS", "Found", "measured_unlisted", "unlisted_figures", "unlisted_table"]

KEYS = 2_000
REPEATS = 10
NOISE = {1: "laplace", 10: "gaussian"}
"""Groups of a person → the kind of noise that suits."""
ASKED = {1: ("count",), 10: ("count", "sum", "average", "median")}
"""Groups of a person → what is asked."""
SLACK = 0.02
"""What two runs of the same side differ by in groups."""
ERROR_SLACK = 0.15
"""And in errors."""


@dataclass(frozen=True)
class Kept:
    """What the repeated answers of one side show."""

    groups: float
    """True groups that are shown, on average."""
    error: float
    """Mean absolute error in the groups that are shown."""
    strangers: int
    """Groups that were shown and that nobody is in, in all repetitions."""


Found = dict[tuple[int, str], dict[str, Kept | str]]
"""(groups per person, question) → side → what it shows, or why it shows nothing."""


def measured_unlisted(folder: Path, tell: Callable[[str], object], repeats: int = REPEATS) -> Found:
    """All sides."""
    files = {most: rare(folder, most) for most in ASKED}
    truths = {most: exact(file, None) for most, file in files.items()}
    tasks = [
        Task(side, most, _facts(files[most], most), questions, repeats)
        for side in ANSWERERS
        for most, questions in ASKED.items()
    ]
    found: Found = {}
    for task, question, answers in answered(tasks, tell):
        truth = truths[task.bound][question]
        kept = answers if isinstance(answers, str) else _kept(answers, question, truth)
        found.setdefault((task.bound, question), {})[task.side] = kept
    return found


def _facts(file: Path, most: int) -> Facts:
    return about(file, KEYS, "person", most, groups_per_unit=most, noise=NOISE[most], rho=_rho())


def _rho() -> float:
    """The ρ that implies ε with half of δ: what Discreet spends, for others who count in ρ."""
    return float(ConcentratedFilter(Approximate(Fraction(EPSILON), Fraction(DELTA) / 2)).rho)


def _kept(answers: list[dict[str, list[float]]], question: str, truth: dict[int, float]) -> Kept:
    shown = [{int(key): values[0] for key, values in answer.items()} for answer in answers]
    errors = [
        abs(within(question, value) - truth[key]) for answer in shown for key, value in answer.items() if key in truth
    ]
    strangers = sum(key not in truth for answer in shown for key in answer)
    return Kept(fmean(len(answer.keys() & truth.keys()) for answer in shown), fmean(errors or [0.0]), strangers)


def unlisted_table(found: Found, repeats: int) -> Table:
    """One line per question: groups shown and the error in them."""
    title = (
        f"Groups that nobody listed: of {KEYS:,} true groups those that are shown / the mean absolute error in them, "
        f"ε = {EPSILON:g}, δ = {DELTA:g}. {repeats} repetitions."
    )
    table = Table(title=title, caption=silences(found))
    for column in (
        "groups per person",
        "asked",
        *ANSWERERS,
        "groups: ours / best peer",
        "no fewer",
        "error: best peer / ours",
        "no worse",
    ):
        table.add_column(column, justify="right")
    for (most, question), sides in found.items():
        groups, error = _groups("", sides), _error("", sides)
        judged = [groups.ratio, verdict(groups), error.ratio, verdict(error)]
        table.add_row(str(most), question, *(_shown(sides[side]) for side in ANSWERERS), *judged)
    return table


def unlisted_figures(found: Found) -> list[Figure]:
    """The same as targets for the top of the page."""
    return [
        figure
        for (most, question), sides in found.items()
        for figure in (
            _groups(f"groups shown that nobody listed, {most} per person, asked for {question}", sides),
            _error(f"error in groups that nobody listed, {most} per person, asked for {question}", sides),
        )
    ]


def _error(measure: str, sides: dict[str, Kept | str]) -> Figure:
    """The error beside the least one of those who show no fewer groups: small groups are harder."""
    kept = {side: one for side, one in sides.items() if not isinstance(one, str)}
    ours = kept.pop("Discreet", None)
    errors = {side: one.error for side, one in kept.items() if ours and one.groups >= ours.groups * (1 - SLACK)}
    if ours is None or not errors:
        return Figure(measure, "" if ours is None else f"{ours.error:,.4g}", "nobody shows as many groups")
    who = min(errors, key=lambda side: errors[side])
    ratio, met = f"{errors[who] / max(ours.error, 1e-12):.2f}×", errors[who] >= ours.error * (1 - ERROR_SLACK)
    return Figure(measure, f"{ours.error:,.4g}", f"{who} {errors[who]:,.4g}", ratio, "≤ that peer's", met)


def _groups(measure: str, sides: dict[str, Kept | str]) -> Figure:
    """The groups that are shown beside those of the best peer."""
    groups = {side: one.groups for side, one in sides.items() if not isinstance(one, str)}
    ours = groups.pop("Discreet", None)
    if ours is None or not groups:
        return Figure(measure, "" if ours is None else f"{ours:,.1f}", "nobody to compare with")
    who = max(groups, key=lambda side: groups[side])
    ratio = f"{ours / groups[who]:.2f}×" if groups[who] else ""
    met = ours >= groups[who] * (1 - SLACK)
    return Figure(measure, f"{ours:,.1f}", f"{who} {groups[who]:,.1f}", ratio, "≥ the best peer's", met)


def _shown(kept: Kept | str) -> str:
    if isinstance(kept, str):
        return "no answer"
    strangers = f" ({kept.strangers} that do not exist)" if kept.strangers else ""
    return f"{kept.groups:,.1f} / {kept.error:,.4g}{strangers}"
