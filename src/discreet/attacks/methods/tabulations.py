"""Rebuild the people of a small block from the tables that were published about it, and say whether others fit too.

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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import and_
from statistics import median
from typing import Any

from discreet.attacks.methods.tabulations_program import BlockProgram, Tabulated
from discreet.errors import InvalidValue, OutOfReach

__all__ = ["Block", "Record", "Tabulated", "reconstruct_block"]

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
