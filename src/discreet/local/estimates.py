"""How many gave each answer, from private reports: unbiased, with deviations and intervals that cover as stated.

The number of reports that support a category is a sum of two binomial variables, one of those who hold it and one of
the others, so intervals are exact tests of that law turned around. Proof sheet: ``frequency.md``.

The nearest shares that could be true have none negative and are 1 all together.

>>> nearest_shares(np.array([0.7, 0.4, -0.1])).round(3).tolist()
[0.65, 0.35, 0.0]
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact.grid import Integers
from discreet.exact.rational import Number
from discreet.local.terms import Category
from discreet.mechanisms.randomized_response import Debias
from discreet.noise.law import Floats, open_probability

__all__ = ["Estimates", "nearest_shares"]


def nearest_shares(shares: Floats) -> Floats:
    """The point of the simplex that is nearest to ``shares``: all lowered by one amount, and none below 0."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    kept = np.flatnonzero(falling > excess)[-1]
    return np.asarray(np.maximum(shares - excess[kept], 0.0), np.float64)


_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimated share and number of those who hold each category."""

    categories: tuple[Category, ...]
    """Every category, in the order of all arrays here."""
    supports: Integers
    """How many reports support each category."""
    n: int
    """How many reports there were."""
    rates: Debias
    """How often a report supports a category that its sender holds, or does not hold."""

    @cached_property
    def shares(self) -> Floats:
        """The share of each category; unbiased, so some may be below 0 or above 1."""
        return np.asarray(self.counts / self.n, np.float64)

    @cached_property
    def counts(self) -> Floats:
        """How many hold each category; unbiased, so some may be below 0 or above n."""
        return np.asarray((self.supports - self.n * self.rates.no) / self.rates.gap, np.float64)

    @cached_property
    def deviations(self) -> Floats:
        """The standard deviation of each share, with the estimated share in place of the true one."""
        likely = np.clip(self.shares, 0, 1)
        yes, no = self.rates.yes, self.rates.no
        spread = likely * yes * (1 - yes) + (1 - likely) * no * (1 - no)
        return np.asarray(np.sqrt(spread / self.n) / self.rates.gap, np.float64)

    def share(self, category: Category) -> float:
        """The estimated share of one category."""
        return float(self.shares[self._place(category)])

    def intervals(self, confidence: Number = 0.95, *, together: bool = False) -> Floats:
        """Two columns, low and high: the share of each category among those who answered.

        Each covers the truth with at least this confidence, whatever the truth. With ``together`` all of them cover at
        once, by the union bound.
        """
        each = self._each(confidence, together)
        known = {int(seen): self.rates.interval(int(seen), self.n, each) for seen in set(self.supports.tolist())}
        return np.asarray([known[seen] for seen in self.supports.tolist()], np.float64) / self.n

    def population_intervals(self, confidence: Number = 0.95, *, together: bool = False) -> Floats:
        """The same for the population that the respondents were drawn from independently."""
        each = self._each(confidence, together)
        return np.asarray([self.rates.population_interval(seen, self.n, each) for seen in self.supports.tolist()])

    def projected(self) -> Floats:
        """The nearest shares that could be true: none negative, summing to 1.

        Nearer to the truth in mean square than `shares`, and no longer unbiased: rare categories come out too high on
        average. Sums and differences of many shares are better taken from `shares`.
        """
        return nearest_shares(self.shares)

    def to_arrow(self, confidence: Number = 0.95, *, together: bool = False) -> Any:
        """A `pyarrow.Table` with a row per category: category, share, deviation, low, high, count."""
        import pyarrow as pa  # noqa: PLC0415  heavy, and not everybody wants a table

        ends = self.intervals(confidence, together=together)
        named = self.categories if len({type(name) for name in self.categories}) == 1 else map(str, self.categories)
        columns = {"category": list(named), "share": self.shares, "deviation": self.deviations}
        return pa.table(columns | {"low": ends[:, 0], "high": ends[:, 1], "count": self.counts})

    def table(self, confidence: Number = 0.95, *, together: bool = False, most: int = _SHOWN) -> str:
        """The largest shares with their intervals, for a terminal."""
        order = np.argsort(-self.shares, kind="stable")
        first = order[:most]
        ends = self.intervals(confidence, together=together)
        names = [str(self.categories[k]) for k in first]
        width = max(map(len, [*names, "category"]))
        lines = [f"{'category':<{width}}   share        interval"]
        for name, k in zip(names, first, strict=True):
            low, high = 100 * ends[k]
            lines.append(f"{name:<{width}}  {100 * self.shares[k]:5.1f} %  {low:5.1f} to {high:5.1f} %")
        rest = [f"… {len(order) - most} more"] if len(order) > most else []
        held = "all intervals hold together" if together else "each interval holds"
        said = f"{self.n:,} reports; {held} with confidence {float(open_probability(confidence)):g}"
        return "\n".join([*lines, *rest, said])

    def __str__(self) -> str:
        return self.table()

    def _each(self, confidence: Number, together: bool) -> Fraction:
        wanted = open_probability(confidence, "confidence")
        return 1 - (1 - wanted) / len(self.categories) if together else wanted

    def _place(self, category: Category) -> int:
        if category not in self.categories:
            raise InvalidValue("the category must be one that was asked for", category)
        return self.categories.index(category)
