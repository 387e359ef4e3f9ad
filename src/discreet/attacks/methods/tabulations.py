"""Rebuild people from published tables: a small block from its statistics, and secrets from tables of two columns.

A census publishes counts, medians and means of many groups in a block. Each of them is a linear demand on how many
people have each combination of values, so a solver for whole numbers finds a block that fits; forbidding what was found
and solving again finds another or proves that there is none.

>>> heads = Tabulated({}, count=2, mean=30)
>>> women = Tabulated({"sex": "F"}, count=1, mean=20)
>>> block = reconstruct_block([heads, women], {"age": range(100), "sex": "FM"}, measured="age")
>>> block.certain
((20, 'F'), (40, 'M'))
>>> print(block)
One block fits: every record is certain.

Tables of two columns are put together until they show single people, as was done to a census. No table tells the secret
of anybody: each counts two columns at a time. But the outsider knows who has which quasi-identifiers, so what is
unknown is how many people of each combination have each secret, and every table is a linear demand on these numbers.
The numbers with the least total error fit exact tables exactly, and noisy ones best.

People with the same values are counted and not told apart, so no block is found twice in another order.

The tables cross a few columns each, as offices publish them, and none has more cells than anybody would print.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from operator import and_
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Attack, Counts, Guesses, Knowledge, View
from discreet.attacks.methods.solvers import IntegerProgram
from discreet.attacks.people import Codes
from discreet.attacks.queries import TableQuery, Value
from discreet.errors import InvalidValue, OutOfReach
from discreet.exact.rational import Number, integer, rational
from discreet.noise.experiment import Chance
from discreet.time_limits import CENSUS_PROGRAM

__all__ = ["MOST_CELLS", "Block", "BlockProgram", "Record", "Tabulated", "TwoWayTables", "crossed", "reconstruct_block"]


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


Record = tuple[Any, ...]
"""One person: a value of every attribute, in the order of the domain."""


@dataclass(frozen=True)
class Block:
    """The people who fit what was published."""

    solutions: tuple[tuple[Record, ...], ...]
    """Every block that was found."""
    complete: bool
    """Whether there is no other one."""

    @property
    def is_unique(self) -> bool:
        """Whether exactly one block fits."""
        return self.complete and len(self.solutions) == 1

    @property
    def certain(self) -> tuple[Record, ...]:
        """The records that are in all blocks that were found; a fact about the people where the search is complete."""
        common = reduce(and_, (Counter(records) for records in self.solutions))
        return tuple(common.elements())

    def __str__(self) -> str:
        if self.is_unique:
            return "One block fits: every record is certain."
        found = f"{len(self.solutions)} blocks fit" if self.complete else f"At least {len(self.solutions)} blocks fit"
        shared = f"{len(self.certain)} of {len(self.solutions[0])} records are in all"
        return f"{found}; {shared} of them." if self.complete else f"{found}; {shared} that were found."


def reconstruct_block(
    statistics: Sequence[Tabulated],
    domain: Mapping[str, Sequence[Any]],
    measured: str | None = None,
    most: int = 10,
) -> Block:
    """Every block of people, up to ``most``, that has these statistics.

    ``domain`` names the attributes and what they can be; ``measured`` is the one, of whole numbers, that medians and
    means are of. The number of people in the block must be among the statistics: a `Tabulated` with no group.
    """
    if most < 1:
        raise InvalidValue("most must be at least 1", most)
    program = BlockProgram(statistics, domain, measured)
    solutions: list[tuple[Record, ...]] = []
    while len(solutions) < most:
        found = program.next_block()
        if found is None:
            break
        _check(found, statistics, list(domain), measured)
        solutions.append(found)
    if not solutions:
        rule = "the statistics must be those of some people; no people have all of them"
        raise InvalidValue(rule, None, "noise, swapping or a typing error makes tables contradict each other")
    return Block(tuple(solutions), len(solutions) < most)


def _check(block: Sequence[Record], statistics: Sequence[Tabulated], names: list[str], measured: str | None) -> None:
    """Compute every statistic again without the solver and its floating point."""
    people = [dict(zip(names, record, strict=True)) for record in block]
    for one in statistics:
        group = [person for person in people if all(person[name] == value for name, value in one.group.items())]
        if not _holds(one, len(group), [person[measured] for person in group] if measured else []):
            raise OutOfReach("the solver's block must have the statistics exactly", f"<not for {dict(one.group)}>")


def _holds(one: Tabulated, count: int, numbers: list[int]) -> bool:
    has_count = one.count is None or count == one.count
    has_most = one.most is None or count <= one.most
    has_median = one.median is None or median(map(Fraction, numbers)) == one.exact_median
    has_mean = one.mean is None or one.least_sum <= sum(numbers) <= one.greatest_sum
    return has_count and has_most and has_median and has_mean


MOST_CELLS = 20_000
"""A table with more cells is not asked for: a curator answers all of them, and nobody reads it."""


def crossed(columns: Sequence[Value], count: int) -> list[tuple[Value, ...]]:
    """Every choice of so many columns that has few enough cells."""
    chosen = combinations(columns, count)
    return [parts for parts in chosen if math.prod(part.size for part in parts) <= MOST_CELLS]


_LEAST_PRESENCE = 0.5


class TwoWayTables(Attack):
    """Tables of every two columns, and a linear program that finds the people behind them."""

    name = "two-way tables"
    needs = "The quasi-identifiers of everybody who may be in the table; each question counts two columns."
    claims = "A person has the secret that the people behind all tables have."
    most_people = 200

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Find the people who fit all tables best, and claim their secrets."""
        combined = _Combined.of(known)
        quasi = [Value(name, coded.values) for name, coded in known.quasi.items()]
        pairs = crossed([*quasi, Value(known.secret, known.values)], 2)
        answers = views[0].counts([TableQuery(by=pair) for pair in pairs])
        if all(np.isnan(answer).all() for answer in answers):
            return Guesses(np.full(len(known.targets), -1), "No table was answered.")
        held = combined.fitted(pairs, answers)[combined.of_person[known.targets]]
        is_there = held.sum(axis=1) > _LEAST_PRESENCE
        return Guesses(np.where(is_there, held.argmax(axis=1), -1).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Combined:
    """The combinations of quasi-identifiers that somebody has."""

    columns: dict[str, Codes]
    """For every quasi-identifier the value in each combination."""
    people: Codes
    """How many people have each."""
    of_person: Codes
    """Which one every person has."""
    secret: str
    """The name of the secret column."""
    secrets: int
    """How many values it has."""

    @classmethod
    def of(cls, known: Knowledge) -> _Combined:
        """Those of the outside list."""
        codes = np.stack([coded.codes for coded in known.quasi.values()], axis=1)
        rows, of_person, people = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        columns = {name: rows[:, place] for place, name in enumerate(known.quasi)}
        return cls(columns, people, of_person.reshape(-1), known.secret, len(known.values))

    def fitted(self, pairs: Sequence[tuple[Value, ...]], answers: Sequence[Counts]) -> npt.NDArray[np.float64]:
        """For every combination how many people in the table have each secret."""
        program = IntegerProgram()
        held = program.variables(len(self.people) * self.secrets, math.inf, whole=False)
        held = held.reshape(len(self.people), self.secrets)
        for places, most in zip(held, self.people, strict=True):
            program.between(0, float(most), places)
        for pair, answer in zip(pairs, answers, strict=True):
            self._demand(program, held, pair, answer)
        found = program.least_cost(CENSUS_PROGRAM)
        return np.zeros(held.shape) if found is None else found[held]

    def _demand(self, program: IntegerProgram, held: Codes, pair: tuple[Value, ...], answer: Counts) -> None:
        """Every cell of a table has the people that it counts, but for an error that is paid for."""
        cells = self._cells(pair)
        order = np.argsort(cells, axis=None, kind="stable")
        starts = np.flatnonzero(np.diff(cells.reshape(-1)[order], prepend=-1))
        for places in np.split(order, starts[1:]):
            count = answer[cells.reshape(-1)[places[0]]]
            if np.isfinite(count):
                over, under = program.variables(2, math.inf, cost=1.0, whole=False)
                factors = [*np.ones(len(places)), -1.0, 1.0]
                program.between(count, count, [*held.reshape(-1)[places], over, under], factors)

    def _cells(self, pair: tuple[Value, ...]) -> Codes:
        """For every combination and secret the cell of the table that counts it."""
        first, second = (self._codes(part) for part in pair)
        cells = first * pair[1].size + second
        return np.broadcast_to(cells, (len(self.people), self.secrets))

    def _codes(self, part: Value) -> Codes:
        if part.column == self.secret:
            return np.arange(self.secrets)[None, :]
        return self.columns[part.column][:, None]
