"""Contribution: how many rows one unit can have in a relation, known before any row is read.

A unit may have any number of rows N in a table. Filters keep no more of them, UNION ALL adds, GROUP BY of the unit
makes one of them, and a join multiplies: so before a join in which rows of both sides can be many, rows are left out
until the unit has no more than count by the policy (`discreet.query.bind.truncation`). What a unit becomes by joins is
then a number that follows from the text, the policies and public tables.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ONE_ROW",
    "ContributionBound",
    "Truncation",
    "as_often",
    "bound_referencing_rows",
    "needing_truncation",
    "pair_bounds",
]


@dataclass(frozen=True)
class ContributionBound:
    """A unit has at most ``times`` · N + ``plus`` rows, where N is the most that it has in one of the tables."""

    times: int
    """How often a row of a table can stand in the relation; zero where rows are bounded whatever the tables hold."""
    plus: int
    """How many rows there can be besides; all of them where ``times`` is zero."""
    usual: int
    """The most rows of a unit that has no more in any table than its policy counts."""

    @classmethod
    def stored(cls, rows_per_unit: int) -> ContributionBound:
        """Of a table: as many as the unit has there."""
        return cls(1, 0, rows_per_unit)

    @property
    def most(self) -> int | None:
        """The most rows that any unit can have; None where that depends on the tables."""
        return None if self.times else self.plus

    @property
    def truncated(self) -> ContributionBound:
        """After rows beyond the usual number were left out."""
        return ContributionBound(0, self.usual, self.usual)

    def __add__(self, other: ContributionBound) -> ContributionBound:
        return ContributionBound(self.times + other.times, self.plus + other.plus, self.usual + other.usual)


@dataclass(frozen=True)
class Truncation:
    """What was left out before a join."""

    tables: frozenset[str]
    """Of which tables the rows are."""
    most: int
    """How many of a unit were kept."""
    key: str = ""
    """The column with the same value in so many; empty where so many were kept in all."""


ONE_ROW = ContributionBound(0, 1, 1)
"""Every unit has one row at most."""


def needing_truncation(left: ContributionBound, right: ContributionBound, *, spare_left: bool) -> tuple[bool, bool]:
    """Which sides of a join of two relations of a unit are truncated first, so that one of the factors is a number.

    A side with one row per unit multiplies nothing, so the other may then be as it is. Where either of two could be
    truncated to one row, ``spare_left`` says which is not.
    """
    if 1 in (left.most, right.most):
        return False, False
    if left.most is not None or right.most is not None or (left.usual > 1 and right.usual > 1):
        return left.most is None, right.most is None
    if left.usual == right.usual:
        return not spare_left, spare_left
    return left.usual == 1, right.usual == 1


def pair_bounds(left: ContributionBound, right: ContributionBound, *, is_full: bool) -> ContributionBound:
    """Of the pairs of a unit's rows; one side is bounded, by one row where the other is not.

    With l and r rows a unit has l·r pairs at most. An outer join that keeps one side has max(1, r) for each of l rows.
    One that keeps both has the l + r rows themselves where none of them meet, and no more than max(l·r, l + r): with
    i of the l and j of the r rows in pairs it has i·j + (l - i) + (r - j) at most, which grows with i and with j.
    """
    if left.most is None or right.most is None:
        many = right if left.most == 1 else left
        return many + ONE_ROW if is_full else many
    rows = left.plus * right.plus
    return _bounded(max(rows, left.plus + right.plus) if is_full else rows)


def bound_referencing_rows(leading: ContributionBound, key: ContributionBound, *, keeps_key: bool) -> ContributionBound:
    """Of rows that a foreign key leads to one row each, and of the rows that none leads to where they are kept."""
    return leading + key if keeps_key else leading


def as_often(rows: ContributionBound, multiplicity: int) -> ContributionBound:
    """Of bounded rows that each meet so many public ones, or of any rows that meet one."""
    return rows if multiplicity == 1 else _bounded(rows.plus * multiplicity)


def _bounded(rows: int) -> ContributionBound:
    return ContributionBound(0, rows, rows)
