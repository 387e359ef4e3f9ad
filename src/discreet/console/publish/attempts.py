"""Attempts at a publication: each method, once or with larger k, and the candidates that they give.

A candidate says how much it loses, what it changed, column by column in words and with rows of both tables to look at,
and how likely people are found, held against a limit: a gauge as a drawing, and each attacker in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from discreet.anonymize.loss.release_loss import mean_loss
from discreet.anonymize.methods import METHODS, CheckedRows, RecodingJob, checked_report, release_of
from discreet.anonymize.models.registry import RequestedModels
from discreet.anonymize.report.report import TableReport
from discreet.anonymize.risk.risk import Risks
from discreet.anonymize.roles import Role
from discreet.anonymize.table import label_of
from discreet.console.publish.plan import Brought, Plans, hierarchies_of, roles_of
from discreet.errors import DiscreetError, InvalidValue
from discreet.reports.format import share

__all__ = [
    "METHOD_WORDS",
    "Attempt",
    "ColumnChange",
    "ReleaseCandidate",
    "ReleaseCandidates",
    "ReleaseGoals",
    "RiskLine",
    "Said",
    "attempts_of",
    "column_changes",
    "gauge_svg",
    "risk_lines",
    "spread_rows",
    "tried",
    "verdict",
]


METHOD_WORDS = {
    "optimal": "One level for each column, the best of all, with a proof. May leave rows out.",
    "local": "Searches again for the rows that the best level would leave out. Less loss.",
    "taxonomy": "Splits along the hierarchies, class by class. Often the least loss.",
    "mondrian": "Cuts at medians; cells become ranges and sets, hierarchies are not used.",
    "microaggregate": "Averages near rows; numbers stay numbers. Needs columns of numbers.",
}
"""What each method does, in a sentence or two."""
_WITH_HIERARCHIES = ("optimal", "local", "taxonomy")
_SEARCHES = ("optimal", "local")
_STRICTER = (2, 4)


@dataclass(frozen=True)
class ReleaseGoals:
    """What an owner asks for, whatever the table is."""

    wanted: RequestedModels = field(default_factory=lambda: RequestedModels(k=5, l=2))
    """The models."""
    suppression: float = 0.02
    """The largest share of rows that a search may leave out."""
    methods: tuple[str, ...] = ("optimal", "local", "taxonomy", "mondrian")
    """Which methods to try."""
    also_stricter: bool = False
    """Whether to try twice and four times the k as well."""
    seconds: float = 60.0
    """How long one search may take."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """One thing to try."""

    title: str
    """What it is called in lists and charts."""
    method: str
    """The method."""
    job: RecodingJob
    """What is to be done."""


def attempts_of(brought: Brought, plans: Plans, asked: ReleaseGoals) -> list[Attempt]:
    """The attempts, in the order of the methods; each method gets what it understands and nothing else."""
    if not asked.methods:
        raise InvalidValue("there must be a method to try", "<none>", "choose one, optimal for example")
    roles = roles_of(plans)
    whole = RecodingJob(brought.table, roles, (), hierarchies_of(brought.table, plans))
    return [
        Attempt(title, method, _narrow(replace(whole, models=tuple(wanted.models(roles))), method, asked))
        for method in METHODS
        if method in asked.methods
        for title, wanted in _variants(method, asked)
    ]


def _variants(method: str, asked: ReleaseGoals) -> Iterator[tuple[str, RequestedModels]]:
    yield method, asked.wanted
    k = asked.wanted.k
    for times in _STRICTER if asked.also_stricter and k is not None else ():
        yield f"{method}, k = {times * (k or 1)}", replace(asked.wanted, k=times * (k or 1))


def _narrow(job: RecodingJob, method: str, asked: ReleaseGoals) -> RecodingJob:
    """The job as one method takes it."""
    if not job.models:
        raise InvalidValue("a table must be published under a model", "<none>", "k = 5 is the least")
    if method not in _WITH_HIERARCHIES:
        job = replace(job, hierarchies={})
    return replace(job, suppression=asked.suppression, seconds=asked.seconds) if method in _SEARCHES else job


Said = Callable[[float, str], None]
"""What is told on the way: the share that is done, and what is being tried."""


@dataclass(frozen=True, eq=False)
class ReleaseCandidate:
    """A release that could be published; it met its models when it was checked again."""

    title: str
    """What it is called."""
    method: str
    """How it was made."""
    release: CheckedRows
    """The rows, and a sentence about them."""
    report: TableReport
    """What there is to say about it."""

    @property
    def loss(self) -> float:
        """How much of the quasi-identifiers is lost, from 0 to 1."""
        compared = self.report.comparison
        return 0.0 if compared is None else mean_loss(compared.losses, "normalised") or 0.0

    @property
    def highest_risk(self) -> float:
        """The risk of the row that is easiest to find."""
        return self.report.risks.prosecutor.highest

    @property
    def average_risk(self) -> float:
        """The mean risk of a row."""
        return self.report.risks.prosecutor.average

    @property
    def left_out(self) -> int:
        """How many rows are not released."""
        return 0 if self.report.comparison is None else self.report.comparison.suppressed

    @property
    def needs_reference(self) -> bool:
        """Whether the models can be checked beside the original alone: they compare with rows that are left out."""
        compared = any(one.model.compares_with_table for one in self.report.checked.verdicts)
        return compared and self.left_out > 0

    @property
    def count_error(self) -> float:
        """How far 95 % of random counts are off at most, in rows."""
        return 0.0 if self.report.comparison is None else self.report.comparison.query_error.absolute_95


@dataclass(frozen=True, eq=False)
class ReleaseCandidates:
    """What came of all attempts."""

    candidates: tuple[ReleaseCandidate, ...] = ()
    """Those that gave a release, the least loss first."""
    refusals: dict[str, str] = field(default_factory=dict)
    """Why the others gave none, by their titles."""

    @property
    def best(self) -> ReleaseCandidate | None:
        """The one that loses least."""
        return self.candidates[0] if self.candidates else None


def tried(attempts: Sequence[Attempt], name: str, said: Said) -> ReleaseCandidates:
    """Try all attempts; one that is refused does not keep the others from being tried."""
    candidates: list[ReleaseCandidate] = []
    refusals: dict[str, str] = {}
    for number, attempt in enumerate(attempts):
        try:
            candidates.append(_try(attempt, name, _part(said, number, len(attempts), attempt.title)))
        except DiscreetError as refusal:
            refusals[attempt.title] = str(refusal)
    return ReleaseCandidates(tuple(sorted(candidates, key=lambda one: (one.loss, one.average_risk))), refusals)


def _try(attempt: Attempt, name: str, progress: Callable[[float], None]) -> ReleaseCandidate:
    progress(0.0)
    release = release_of(attempt.method, attempt.job, progress)
    return ReleaseCandidate(attempt.title, attempt.method, release, checked_report(attempt.job, release, name=name))


def _part(said: Said, number: int, count: int, title: str) -> Callable[[float], None]:
    """Progress of one attempt as a part of all of them."""

    def progress(share: float) -> None:
        said((number + min(max(share, 0.0), 1.0)) / count, title)

    return progress


_LONGEST = 60


@dataclass(frozen=True)
class ColumnChange:
    """What happened to one column."""

    name: str
    """The column."""
    role: Role
    """What it says about a person."""
    words: str
    """What happened, in words."""
    loss: float
    """How much of it is lost, from 0 to 1."""


def column_changes(candidate: ReleaseCandidate, columns: Sequence[str]) -> list[ColumnChange]:
    """What a candidate did to the columns of its table, in their order."""
    roles = candidate.report.checked.roles
    compared = candidate.report.comparison
    losses = {one.column: one.normalised for one in compared.losses} if compared is not None else {}
    return [_change(name, roles.role_of(name), losses.get(name, 0.0)) for name in columns]


def _change(name: str, role: Role, loss: float) -> ColumnChange:
    match role:
        case Role.IDENTIFYING:
            return ColumnChange(name, role, "left out", 1.0)
        case Role.QUASI_IDENTIFYING:
            words = "as it is" if not loss else f"coarser: {share(loss)} of it is lost"
            return ColumnChange(name, role, words, loss)
        case Role.SENSITIVE:
            return ColumnChange(name, role, "kept; the models are about it", 0.0)
        case Role.INSENSITIVE:
            return ColumnChange(name, role, "released as it is", 0.0)


def spread_rows(table: pa.Table, count: int) -> list[tuple[str, ...]]:
    """Some rows from everywhere in a table, as they are written.

    >>> spread_rows(pa.table({"a": [1, 2, 3, 4, 5], "b": ["x", None, "y", "z", "w"]}), 3)
    [('1', 'x'), ('3', 'y'), ('5', 'w')]
    """
    rows = table.num_rows
    last = max(min(count, rows) - 1, 1)
    places = range(rows) if rows <= count else [round(number * (rows - 1) / last) for number in range(count)]
    chosen = table.take(pa.array(list(places), type=pa.int64()))
    return [tuple(_short(label_of(cell)) for cell in row.values()) for row in chosen.to_pylist()]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_RADIUS = 80
_BROAD = 16


@dataclass(frozen=True)
class RiskLine:
    """One figure of risk."""

    name: str
    """Who attacks, and which figure it is."""
    words: str
    """What the attacker knows or wants."""
    value: float
    """The risk, from 0 to 1."""
    is_within: bool
    """Whether it is at most the limit."""


def risk_lines(risks: Risks, limit: float) -> list[RiskLine]:
    """The figures, the worst first."""
    figures = [
        ("Prosecutor, highest", "knows that a person is in the table; the row that is easiest to find",
         risks.prosecutor.highest),
        ("Prosecutor, average", "the same, over all rows", risks.prosecutor.average),
        ("Journalist, highest", "does not know who is in the table"
         + ("" if risks.has_population else "; without a population he is the prosecutor"), risks.journalist.highest),
        ("Marketer", "wants many people at once: the share that is right", risks.marketer),
    ]  # fmt: skip
    return [RiskLine(name, words, value, value <= limit) for name, words, value in figures]


def verdict(risks: Risks, limit: float) -> str:
    """Whether the row that is easiest to find is within the limit, in a sentence."""
    highest = risks.prosecutor.highest
    if highest <= limit:
        return f"Within the limit: nobody is found with more than {share(highest)}, and {share(limit)} is allowed."
    return (
        f"Above the limit: the row that is easiest to find is found with {share(highest)}; {share(limit)} is allowed."
    )


def gauge_svg(value: float, limit: float) -> str:
    """A half circle from 0 to 100 %, the part above the limit marked, with a needle at the value."""
    label = f"Highest risk {share(value)}, limit {share(limit)}"
    x, y = _point(value, _RADIUS - _BROAD / 2 - 4)
    return (
        f'<svg class="risk-gauge" viewBox="-105 -98 210 122" role="img" aria-label="{label}">'
        f"{_arc(0, limit, 'allowed')}{_arc(limit, 1, 'too-high')}"
        f'<line class="needle" x1="0" y1="0" x2="{x:.2f}" y2="{y:.2f}"/><circle class="hub" r="5"/>'
        f"{_limit_mark(limit)}"
        f'<text x="-80" y="16">0 %</text><text x="80" y="16">100 %</text>'
        f'<text class="value" x="0" y="22">{share(value)}</text></svg>'
    )


def _limit_mark(limit: float) -> str:
    inner, outer = _point(limit, _RADIUS - _BROAD), _point(limit, _RADIUS + _BROAD - 4)
    return f'<line class="limit" x1="{inner[0]:.2f}" y1="{inner[1]:.2f}" x2="{outer[0]:.2f}" y2="{outer[1]:.2f}"/>'


def _arc(start: float, end: float, kind: str) -> str:
    (x1, y1), (x2, y2) = _point(start, _RADIUS), _point(end, _RADIUS)
    return f'<path class="{kind}" d="M{x1:.2f} {y1:.2f} A{_RADIUS} {_RADIUS} 0 0 1 {x2:.2f} {y2:.2f}"/>'


def _point(value: float, radius: float) -> tuple[float, float]:
    angle = math.pi * (1 - min(max(value, 0.0), 1.0))
    return radius * math.cos(angle), -radius * math.sin(angle)
