"""What trust is worth: the error of a count with a curator and without one, for the same ε.

With a curator the noise is that of one Laplace draw, of the order 1/ε whatever the number of people. Without one
everybody adds noise of her own, and the sum of n such noises is of the order √n/ε. Mixing the reports lies between:
everybody may tell the truth more often, and what is published still costs ε, with a small δ.

>>> found = compare(1_000_000, 1)
>>> row = found.rows[-1]
>>> round(row.local), round(row.central, 2), round(row.ratio)
(960, 1.36, 707)
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from html import escape

from discreet.errors import InvalidValue
from discreet.exact.rational import Number, integer, positive
from discreet.local.shuffling import MOST_PEOPLE, largest_local
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.law import open_probability
from discreet.pages.line_chart import Series, line_chart
from discreet.pages.page import headline, page, quiet, section, table

__all__ = ["Comparison", "Row", "compare"]

_LEAST_DIGITS = 2
_LARGEST = 100


@dataclass(frozen=True)
class Row:
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
class Comparison:
    """Errors with and without a curator for growing crowds."""

    epsilon: Fraction
    """What everybody pays, in each of the models."""
    delta: Fraction | None
    """The δ of mixed reports; None where they are not compared."""
    rows: tuple[Row, ...]
    """One for each number of people, growing."""

    @property
    def summary(self) -> str:
        """The comparison in a sentence."""
        last = self.rows[-1]
        return (
            f"Among {last.n:,} people and with ε = {float(self.epsilon):g}, a count is off by {_shown(last.local)}"
            f" without a curator and by {_shown(last.central)} with one: {_shown(last.ratio)} times as much."
        )

    def to_json(self) -> str:
        """All figures."""
        rows = [asdict(row) | {"ratio": row.ratio} for row in self.rows]
        delta = None if self.delta is None else str(self.delta)
        return json.dumps({"epsilon": str(self.epsilon), "delta": delta, "rows": rows}, indent=1)

    def table(self) -> str:
        """The figures for a terminal."""
        grid = [self._header(), *map(self._cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        lines = ["   ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)) for cells in grid]
        return "\n".join([*lines, "Standard deviations, in people.", self.summary])

    def __str__(self) -> str:
        return self.table()

    def chart(self) -> str:
        """The errors over the number of people, both as powers of ten, as a figure for a page."""
        lines = {"without a curator": [row.local for row in self.rows]}
        if self.delta is not None:
            lines["mixed reports"] = [row.mixed or 1.0 for row in self.rows]
        lines["with a curator"] = [row.central for row in self.rows]
        people = [float(row.n) for row in self.rows]
        return line_chart(
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

    def to_html(self) -> str:
        """A page that stands alone."""
        cells = [[escape(cell) for cell in self._cells(row)] for row in self.rows]
        words = (
            "Without a curator everybody adds noise of her own, and n noises together grow with √n. A curator adds"
            " noise once. So a survey without trust needs about the square of the number of people for the same share."
        )
        parts = [headline(self.summary), self.chart(), section("Figures", table(self._header(), cells), quiet(words))]
        return page("What trust is worth", parts)

    def _header(self) -> list[str]:
        mixed = [] if self.delta is None else [f"mixed, δ {float(self.delta):.0e}"]
        return ["people", "without curator", *mixed, "with curator", "ratio"]

    def _cells(self, row: Row) -> list[str]:
        mixed = [] if row.mixed is None else [_shown(row.mixed)]
        return [f"{row.n:,}", _shown(row.local), *mixed, _shown(row.central), _shown(row.ratio)]


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


def _row(n: int, epsilon: Fraction, delta: Fraction | None) -> Row:
    mixed = None
    if delta is not None:
        mixed = RandomizedResponse(largest_local(n, epsilon, delta).epsilon).standard_deviation(n)
    local = RandomizedResponse(epsilon).standard_deviation(n)
    return Row(n, local, mixed, math.sqrt(Laplace(epsilon).law.variance))


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
