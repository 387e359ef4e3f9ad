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

from bench.errors import answered, exact, seldom, silences, within
from bench.figure import Figure, verdict
from bench.peers import ANSWERERS, about
from bench.sides.asking import DELTA, EPSILON
from bench.tables import rare
from discreet.accounting.filter import ConcentratedFilter
from discreet.privacy.loss import Approximate

__all__ = ["REPEATS", "Found", "measured_unlisted", "unlisted_figures", "unlisted_table"]

KEYS = 2_000
REPEATS = 10
SELDOM = {f"Tumult {question}": 2 for question in ("sum", "average", "median")}
"""They take long."""
NOISE = {1: "laplace", 10: "gaussian"}
"""Groups of a person → the kind of noise that suits."""
ASKED = {1: ("count",), 10: ("count", "sum", "average", "median")}
"""Groups of a person → what is asked."""
SLACK = 0.02
"""What two runs of the same side differ by."""


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
    found: Found = {}
    for side in ANSWERERS:
        for most, questions in ASKED.items():
            tell(f"{side}, groups that nobody listed, {most} per person …")
            file = rare(folder, most)
            truth = exact(file, None)
            often = {name: min(SELDOM.get(f"{side} {name}", repeats), repeats) for name in questions}
            facts = {"groups_per_unit": most, "noise": NOISE[most], "rho": _rho()}
            for question, answers in answered(side, about(file, KEYS, "person", most, **facts), often).items():
                kept = answers if isinstance(answers, str) else _kept(answers, question, truth[question])
                found.setdefault((most, question), {})[side] = kept
    return found


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
        f"ε = {EPSILON:g}, δ = {DELTA:g}. {repeats} repetitions; {seldom(SELDOM)}."
    )
    table = Table(title=title, caption=silences(found))
    for column in ("groups per person", "asked", *ANSWERERS, "groups: ours / best peer", "no fewer"):
        table.add_column(column, justify="right")
    for ((most, question), sides), one in zip(found.items(), unlisted_figures(found), strict=True):
        table.add_row(str(most), question, *(_shown(sides[side]) for side in ANSWERERS), one.ratio, verdict(one))
    return table


def unlisted_figures(found: Found) -> list[Figure]:
    """The same as targets for the top of the page."""
    return [
        _figure(f"groups shown that nobody listed, {most} per person, asked for {question}", sides)
        for (most, question), sides in found.items()
    ]


def _figure(measure: str, sides: dict[str, Kept | str]) -> Figure:
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
