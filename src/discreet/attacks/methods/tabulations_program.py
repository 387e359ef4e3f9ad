"""What was published about a block, as demands on how many people have each combination of values.

People with the same values are counted and not told apart, so no block is found twice in another order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.attacks.methods.integer_program import IntegerProgram
from discreet.attacks.people import Codes
from discreet.errors import InvalidValue, OutOfReach
from discreet.exact.rational import Number, integer, rational

__all__ = ["BlockProgram", "Tabulated"]

_MOST_CELLS = 200_000


@dataclass(frozen=True)
class Tabulated:
    """What was published about one group of people."""

    group: Mapping[str, Any]
    """The values that the people of the group have; empty for everybody."""
    count: int | None = None
    """How many they are."""
    most: int | None = None
    """How many they are at most, where the count was withheld for being small."""
    median: Number | None = None
    """The median of the measured attribute; of an even number of people the mean of the two in the middle."""
    mean: Number | None = None
    """The mean of the measured attribute, rounded."""
    decimals: int = 1
    """To how many decimals the mean was rounded."""

    def __post_init__(self) -> None:
        for name, whole in (("count", self.count), ("most", self.most), ("decimals", self.decimals)):
            if whole is not None:
                integer(whole, name, least=0)
        for name, number in (("median", self.median), ("mean", self.mean)):
            if number is not None:
                rational(number, name)
        if self._is_measured and not self.count:
            rule = "a median or a mean must come with the number of its people, at least one"
            raise InvalidValue(rule, self.count, "give count= as well")

    @property
    def _is_measured(self) -> bool:
        return self.median is not None or self.mean is not None

    @property
    def exact_median(self) -> Fraction:
        """The median as a fraction."""
        return rational(self.median or 0, "median")

    @property
    def least_sum(self) -> int:
        """The least sum of whole numbers whose mean is rounded to this one."""
        return math.ceil((self.count or 0) * (rational(self.mean or 0, "mean") - self._half))

    @property
    def greatest_sum(self) -> int:
        """The greatest one."""
        return math.floor((self.count or 0) * (rational(self.mean or 0, "mean") + self._half))

    @property
    def _half(self) -> Fraction:
        return Fraction(1, 2 * 10**self.decimals)


class BlockProgram:
    """Blocks that have all statistics, one after the other."""

    def __init__(
        self, statistics: Sequence[Tabulated], domain: Mapping[str, Sequence[Any]], measured: str | None
    ) -> None:
        """Write down the demands of all statistics."""
        _check_domain(domain, measured)
        self._records = list(product(*domain.values()))
        self._columns = {name: [record[place] for record in self._records] for place, name in enumerate(domain)}
        self._measures = np.array(self._columns[measured] if measured else [], np.int64)
        self._people = _people(statistics)
        self._program = IntegerProgram()
        self._cells = self._program.variables(len(self._records), self._people)
        for one in statistics:
            self._demand(one)

    def next_block(self) -> tuple[tuple[Any, ...], ...] | None:
        """A block that was not found before; None where there is no other."""
        found = self._program.solved()
        if found is None:
            return None
        counts = found[: len(self._records)]
        self._forbid(counts)
        return tuple(self._records[cell] for cell in np.flatnonzero(counts) for _ in range(counts[cell]))

    def _demand(self, one: Tabulated) -> None:
        members = self._members(one.group)
        if one.count is not None:
            self._program.between(one.count, one.count, members)
        if one.most is not None:
            self._program.between(0, one.most, members)
        if one.mean is not None:
            self._program.between(one.least_sum, one.greatest_sum, members, self._measured(members))
        if one.median is not None:
            self._demand_median(members, one.count or 0, one.exact_median)

    def _demand_median(self, members: Codes, count: int, middle: Fraction) -> None:
        """In order, the two people in the middle, or the one, have the median as their mean."""
        values, place = self._measured(members), count // 2
        if count % 2:
            self._program.between(place + 1, count, members[values <= float(middle)])
            self._program.between(0, place, members[values < float(middle)])
            return
        levels = np.unique(values)
        pairs = [(low, 2 * middle - low) for low in levels if low <= middle and 2 * middle - low in levels]
        chosen = self._program.variables(len(pairs), 1)
        self._program.between(1, 1, chosen)
        upto = self._running_counts(members, values, levels, count)
        for place_from_0, ends in ((place - 1, [low for low, _ in pairs]), (place, [high for _, high in pairs])):
            self._demand_at_place(place_from_0, count, chosen, np.array(ends, np.float64), (levels, upto))

    def _demand_at_place(
        self, place: int, count: int, chosen: Codes, ends: npt.NDArray[np.float64], running: tuple[Codes, Codes]
    ) -> None:
        """Whoever stands at ``place``, counted from 0, has the value in ``ends`` that is chosen.

        For every level v: where the chosen value is at most v, more than ``place`` people have at most v, and where it
        is greater, at most ``place`` people do.
        """
        for level, upto in zip(*running, strict=True):
            reached = chosen[ends <= level]
            ones = np.ones(len(reached))
            self._program.between(0, math.inf, [upto, *reached], [1, *(-(place + 1) * ones)])
            self._program.between(-math.inf, place, [upto, *reached], [1, *((place - count) * ones)])

    def _running_counts(self, members: Codes, values: Codes, levels: Codes, count: int) -> Codes:
        """For every level the number of people with at most that value, as variables."""
        upto = self._program.variables(len(levels), count)
        for place, level in enumerate(levels):
            cells = members[values == level]
            before = upto[place - 1 : place] if place else upto[:0]
            factors = [*np.ones(len(cells)), *np.ones(len(before)), -1]
            self._program.between(0, 0, [*cells, *before, upto[place]], factors)
        return upto

    def _forbid(self, counts: Codes) -> None:
        """Demand that some cell that has people has fewer: another block of as many people has to."""
        held = np.flatnonzero(counts)
        fewer = self._program.variables(len(held), 1)
        self._program.between(1, math.inf, fewer)
        for cell, choice in zip(held, fewer, strict=True):
            self._program.between(0, self._people, [cell, choice], [1, self._people - counts[cell] + 1])

    def _members(self, group: Mapping[str, Any]) -> Codes:
        """The cells of a group."""
        chosen = np.ones(len(self._records), np.bool_)
        for name, value in group.items():
            if name not in self._columns:
                raise InvalidValue(f"a group must be of {', '.join(self._columns)}", name)
            chosen &= [held == value for held in self._columns[name]]
        return np.asarray(np.flatnonzero(chosen))

    def _measured(self, members: Codes) -> Codes:
        if not self._measures.size:
            raise InvalidValue("medians and means need measured=", None, "name the attribute that they are of")
        return np.asarray(self._measures[members])


def _people(statistics: Sequence[Tabulated]) -> int:
    """How many people there are in the block."""
    totals = [one.count for one in statistics if not one.group and one.count is not None]
    if not totals:
        rule = "the number of people in the block must be known"
        raise InvalidValue(rule, "<no statistic without a group>", "add Tabulated({}, count=...)")
    return totals[0]


def _check_domain(domain: Mapping[str, Sequence[Any]], measured: str | None) -> None:
    cells = math.prod(len(values) for values in domain.values())
    if not 1 <= cells <= _MOST_CELLS:
        raise OutOfReach(f"combinations of values must be 1 to {_MOST_CELLS:,}", cells, "group values together")
    if measured is None:
        return
    if measured not in domain:
        raise InvalidValue(f"measured must be one of {', '.join(domain)}", measured)
    if not all(isinstance(value, int | np.integer) for value in domain[measured]):
        raise InvalidValue(f"'{measured}' must have whole numbers to have a median or a mean", "<other values>")
