"""Which frequency oracle to use: the one with the least variance, and what the others would cost.

>>> best_randomizer(epsilon=1, domain_size=100).kind
'subset'
>>> best_randomizer(epsilon=1, domain_size=100, most_bytes=1).kind
'hadamard'

What trust is worth is the error of a count with a curator and without one, for the same ε. With a curator the noise is
that of one Laplace draw, of the order 1/ε whatever the number of people. Without one everybody adds noise of her own,
and the sum of n such noises is of the order √n/ε. Mixing the reports lies between: everybody may tell the truth more
often, and what is published still costs ε, with a small δ.

>>> found = compare(1_000_000, 1)
>>> row = found.rows[-1]
>>> round(row.local), round(row.central, 2), round(row.ratio)
(960, 1.36, 707)

Terms lead back to the randomizer that has them, by its kind.

>>> from discreet.local.randomized_response import GeneralizedResponse
>>> randomizer_of(GeneralizedResponse(1, ["red", "green", "blue"]).terms)
GeneralizedResponse(Pure(ε=1, replace-one), 3 categories)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

from discreet.errors import InvalidType, InvalidValue, OutOfReach
from discreet.exact.rational import Number, integer, positive
from discreet.local.frequency import FrequencyOracle
from discreet.local.hadamard import HadamardResponse
from discreet.local.local_hashing import LocalHashing
from discreet.local.randomized_response import GeneralizedResponse
from discreet.local.randomizer import Randomizer
from discreet.local.shuffling import MOST_PEOPLE, largest_local
from discreet.local.subset_selection import SubsetSelection
from discreet.local.terms import MOST_CATEGORIES, Categories, Terms
from discreet.local.unary import OptimalUnary, SymmetricUnary
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.law import open_probability
from discreet.reports.document import Document, DocumentBlock, Headline, LineChart, Quiet, Section, Series, TableBlock
from discreet.reports.report import Report

__all__ = ["KINDS", "Candidate", "Choice", "Comparison", "ComparisonRow", "best_randomizer", "compare", "randomizer_of"]


# In the order that breaks ties: the simpler one first.
_ORACLES: dict[type[FrequencyOracle], tuple[str, str]] = {
    GeneralizedResponse: ("generalised randomized response", "a count each"),
    HadamardResponse: ("Hadamard response", "a count each, a transform"),
    LocalHashing: ("local hashing", "k additions each"),
    OptimalUnary: ("optimal unary encoding", "k/8 counts each"),
    SymmetricUnary: ("symmetric unary encoding", "k/8 counts each"),
    SubsetSelection: ("subset selection", "k/8 counts each"),
}
_SAME = 1e-9  # variances closer than this are equal: they are computed in floats


@dataclass(frozen=True)
class Candidate:
    """One oracle at this ε and number of categories."""

    oracle: type[FrequencyOracle]
    """The class."""
    name: str
    """What it is called."""
    variance: float
    """n times the variance of the estimated share of a rare category."""
    bytes_each: int
    """Bytes of one report."""
    work: str
    """What a server does with them."""

    @property
    def kind(self) -> str:
        """Its name in reports."""
        return self.oracle.kind


@dataclass(frozen=True)
class Choice:
    """The best oracle, the others, and why."""

    epsilon: Fraction
    """The price of a report."""
    domain_size: int
    """How many categories there are."""
    candidates: tuple[Candidate, ...]
    """All of them, the best first, those whose reports are too long last."""
    most_bytes: int | None = None
    """How long a report may be; None for any length."""

    @property
    def best(self) -> Candidate:
        """The one to use."""
        return self.candidates[0]

    @property
    def kind(self) -> str:
        """The kind of the best."""
        return self.best.kind

    def randomizer(self, categories: Iterable[Hashable]) -> FrequencyOracle:
        """The best oracle for these categories, as many as were asked for."""
        named = Categories.named(categories)
        integer(len(named), "the number of categories", least=self.domain_size, most=self.domain_size)
        return self.best.oracle(self.epsilon, named)

    @property
    def why(self) -> str:
        """The reason in words."""
        best = self.best
        first = f"{best.name.capitalize()} has the least variance: {best.variance:.3g}/n for a rare category."
        if self.most_bytes is not None:
            first = first.replace(":", f" among reports of at most {_bytes(self.most_bytes)}:")
        return " ".join([first, *self._rivals(), self._rule()])

    def _rivals(self) -> list[str]:
        """What a smaller report would cost, where there is one."""
        smaller = [one for one in self.candidates[1:] if one.bytes_each < self.best.bytes_each]
        if not smaller:
            return []
        near = smaller[0]
        more = near.variance / self.best.variance
        times = f"{more:.1f} times as much" if more >= 2 else f"{max(100 * (more - 1), 0.1):.1f} % more"
        said = f"{near.name.capitalize()} would need {_bytes(near.bytes_each)} in place of {self.best.bytes_each}"
        return [f"{said} and have {times}."]

    def _rule(self) -> str:
        turn = 3 * math.exp(min(float(self.epsilon), 700.0)) + 2
        so = "so here" if self.domain_size < turn else "so not here"
        rule = f"beats unary encoding where there are fewer than 3e^ε + 2 = {turn:.3g} categories"
        return f"Generalised randomized response {rule}, {so}: there are {self.domain_size}."

    def table(self) -> str:
        """All candidates, for a terminal."""
        width = max(len(one.name) for one in self.candidates)
        lines = [f"{'':<{width}}  n·variance  bytes  server"]
        for one in self.candidates:
            lines += [f"{one.name:<{width}}  {one.variance:10.4g}  {one.bytes_each:5d}  {one.work}"]
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.why}\n\n{self.table()}"


def best_randomizer(epsilon: Number, domain_size: int, *, most_bytes: int | None = None) -> Choice:
    """The oracle with the least variance for a rare category, perhaps among those with reports this short."""
    price = positive(epsilon, "epsilon")
    size = integer(domain_size, "domain_size", least=2, most=MOST_CATEGORIES)
    limit = None if most_bytes is None else integer(most_bytes, "most_bytes", least=1)
    categories = Categories.named(range(size))
    found = [_candidate(oracle, price, categories) for oracle in _ORACLES]
    found.sort(key=lambda one: (one.variance, one.bytes_each))
    least = min((one.variance for one in found if _fits(one, limit)), default=None)
    if least is None:
        shortest = min(one.bytes_each for one in found)
        raise OutOfReach(f"reports must have at least {shortest} bytes", limit, f"most_bytes={shortest}")
    best = min((one for one in found if _fits(one, limit) and one.variance <= least * (1 + _SAME)), key=_simplicity)
    rest = [one for one in found if one is not best]
    return Choice(price, size, (best, *sorted(rest, key=lambda one: not _fits(one, limit))), limit)


def _candidate(oracle: type[FrequencyOracle], epsilon: Fraction, categories: Categories) -> Candidate:
    name, work = _ORACLES[oracle]
    randomizer = oracle(epsilon, categories)
    return Candidate(oracle, name, randomizer.estimator.variance(1), randomizer.terms.bytes_each, work)


def _fits(one: Candidate, limit: int | None) -> bool:
    return limit is None or one.bytes_each <= limit


def _simplicity(one: Candidate) -> tuple[int, int]:
    return one.bytes_each, list(_ORACLES).index(one.oracle)


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


_LEAST_DIGITS = 2
_LARGEST = 100


@dataclass(frozen=True)
class ComparisonRow:
    """The standard deviation of a count among ``n`` people, in people."""

    n: int
    """How many people there are."""
    local: float
    """Everybody randomizes her own answer: e^(ε/2)/(e^ε - 1) · √n."""
    mixed: float | None
    """The same with the larger ε that mixing the reports allows; None where no δ was given."""
    central: float
    """A curator adds discrete Laplace noise once."""

    @property
    def ratio(self) -> float:
        """How many times the error without a curator is larger."""
        return self.local / self.central


@dataclass(frozen=True)
class Comparison(Report):
    """Errors with and without a curator for growing crowds."""

    epsilon: Fraction
    """What everybody pays, in each of the models."""
    delta: Fraction | None
    """The δ of mixed reports; None where they are not compared."""
    rows: tuple[ComparisonRow, ...]
    """One for each number of people, growing."""

    @property
    def headline(self) -> str:
        """The comparison in a sentence."""
        last = self.rows[-1]
        return (
            f"Among {last.n:,} people and with ε = {float(self.epsilon):g}, a count is off by {_format(last.local)}"
            f" without a curator and by {_format(last.central)} with one: {_format(last.ratio)} times as much."
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures; ε and δ exactly, as texts."""
        rows = [asdict(row) | {"ratio": row.ratio} for row in self.rows]
        return {"epsilon": str(self.epsilon), "delta": None if self.delta is None else str(self.delta), "rows": rows}

    def document(self) -> Document:
        """The comparison in a sentence, a chart and figures."""
        words = (
            "Standard deviations, in people. Without a curator everybody adds noise of her own, and n noises together"
            " grow with √n. A curator adds noise once. So a survey without trust needs about the square of the number"
            " of people for the same share."
        )
        header = self._header()
        figures = TableBlock(header, [self._cells(row) for row in self.rows], "r" * len(header))
        blocks: list[DocumentBlock] = [
            Headline(self.headline),
            self.chart(),
            Section("Figures", [figures, Quiet(words)]),
        ]
        return Document("What trust is worth", blocks)

    def chart(self) -> LineChart:
        """The errors over the number of people, both as powers of ten."""
        lines = {"without a curator": [row.local for row in self.rows]}
        if self.delta is not None:
            lines["mixed reports"] = [row.mixed or 1.0 for row in self.rows]
        lines["with a curator"] = [row.central for row in self.rows]
        people = [float(row.n) for row in self.rows]
        return LineChart(
            [
                Series(name, list(zip(people, map(math.log10, errors), strict=True)), marks=True)
                for name, errors in lines.items()
            ],
            title=f"How far a count is off, at ε = {float(self.epsilon):g}",
            x_label="people",
            y_label="standard deviation in people, as a power of ten",
            log_x=True,
            y_holds=(0,),
        )

    def _header(self) -> list[str]:
        mixed = [] if self.delta is None else [f"mixed, δ {float(self.delta):.0e}"]
        return ["people", "without curator", *mixed, "with curator", "ratio"]

    def _cells(self, row: ComparisonRow) -> list[str]:
        mixed = [] if row.mixed is None else [_format(row.mixed)]
        return [f"{row.n:,}", _format(row.local), *mixed, _format(row.central), _format(row.ratio)]


def compare(n: int, epsilon: Number, *, delta: Number | None = None) -> Comparison:
    """Compare a count without a curator with one that a curator releases, for crowds up to ``n`` people.

    With ``delta``, mixed reports that cost (``epsilon``, ``delta``) in the end are compared, too.
    """
    people = integer(n, "n", least=1, most=MOST_PEOPLE)
    price = positive(epsilon, "epsilon")
    if price > _LARGEST:
        raise InvalidValue(f"epsilon must be at most {_LARGEST} to be compared", epsilon, "there is no noise left")
    slack = None if delta is None else open_probability(delta, "delta")
    return Comparison(price, slack, tuple(_row(size, price, slack) for size in _sizes(people)))


def _sizes(n: int) -> list[int]:
    """Powers of ten from 100, or from 1 where there are few, and n itself."""
    most = len(str(n)) - 1
    return sorted({10**power for power in range(min(_LEAST_DIGITS, most), most + 1)} | {n})


def _row(n: int, epsilon: Fraction, delta: Fraction | None) -> ComparisonRow:
    mixed = None
    if delta is not None:
        mixed = RandomizedResponse(largest_local(n, epsilon, delta).epsilon).standard_deviation(n)
    local = RandomizedResponse(epsilon).standard_deviation(n)
    return ComparisonRow(n, local, mixed, math.sqrt(Laplace(epsilon).law.variance))


def _format(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


KINDS = {
    "rr": "randomized_response.BinaryResponse",
    "grr": "randomized_response.GeneralizedResponse",
    "sue": "unary.SymmetricUnary",
    "oue": "unary.OptimalUnary",
    "olh": "local_hashing.LocalHashing",
    "hadamard": "hadamard.HadamardResponse",
    "subset": "subset_selection.SubsetSelection",
    "permanent": "longitudinal.PermanentResponse",
    "duchi": "mean_mechanisms.DuchiMean",
    "piecewise": "mean_mechanisms.PiecewiseMean",
    "hybrid": "mean_mechanisms.HybridMean",
    "binned": "histogram.BinnedNumbers",
    "heavy_hitters": "heavy_hitters.HeavyHitters",
}
"""Where the class of each kind is."""


def randomizer_of(terms: Terms) -> Randomizer[Any]:
    """The randomizer with these terms: what a server needs to read the reports that carry them."""
    if not isinstance(terms, Terms):
        raise InvalidType("these must be terms", f"<a {type(terms).__name__}>", "every batch of reports has them")
    if terms.kind not in KINDS:
        raise InvalidValue(f"the kind of randomizer must be one of {', '.join(KINDS)}", terms.kind)
    file, name = KINDS[terms.kind].split(".")
    found: Randomizer[Any] = getattr(import_module(f"discreet.local.{file}"), name).from_terms(terms)
    return found
