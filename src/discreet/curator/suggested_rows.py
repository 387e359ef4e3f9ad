"""How many rows of a person should count: one paid histogram of rows per person, with one row for each person.

Every person lies in one bin, so the noise is that of counting people and does not depend on how many rows they have.
What a limit costs is then weighed: people over it are counted in part, which makes answers too small, and a higher
limit makes their noise larger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.catalog.table import Table
from discreet.curator.answer import Answer
from discreet.curator.bins import bins_of_counts
from discreet.curator.suggested_bounds import seen_in, together
from discreet.curator.suggestions import people_of, planning_with, protected_table
from discreet.engines.identifier import quoted
from discreet.errors import InvalidValue
from discreet.exact.rational import Number

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = ["SuggestedRows", "TradeOff", "suggest_rows_per_unit"]

_COVERED = 0.95


@dataclass(frozen=True)
class TradeOff:
    """What one choice of rows_per_unit would mean."""

    rows_per_unit: int
    """The choice."""
    people_over: float
    """The share of the people who have more rows than that, about."""
    rows_lost: float
    """By how much COUNT(*) would be too small, about."""
    error: float
    """The error of COUNT(*) that noise makes, at the price that was paid here."""


@dataclass(frozen=True)
class SuggestedRows:
    """The rows_per_unit that counts about 95 % of the people in full, and what other choices would mean."""

    rows_per_unit: int | None
    """The suggestion, a power of two; None where nothing could be told from noise."""
    least: float
    """How many people a bin must hold to be told from noise."""
    trade_offs: tuple[TradeOff, ...]
    """From one row to as many as somebody was seen to have."""
    answer: Answer
    """The paid answer: people per bin."""

    @property
    def policy(self) -> str:
        """What to write into the policy; nothing where nothing was found."""
        return "" if self.rows_per_unit is None else f"rows_per_unit: {self.rows_per_unit}"

    def __str__(self) -> str:
        if self.rows_per_unit is None:
            return f"No bin can be told from noise; it takes about {self.least:,.0f} people. Spend more."
        head = f"{'rows_per_unit':>13}  {'people over':>11}  {'rows lost':>9}  {'noise':>9}"
        lines = [
            f"{one.rows_per_unit:>13,}  {one.people_over:>11.1%}  {one.rows_lost:>9,.0f}  {'±':>2}{one.error:>7,.0f}"
            for one in self.trade_offs
        ]
        why = "Lost rows and noise are those of COUNT(*) at this price; about 95 % of the people are counted in full."
        return "\n".join([self.policy, head, *lines, why])


def suggest_rows_per_unit(curator: Curator, table: str, epsilon: Number, analyst: str | None = None) -> SuggestedRows:
    """Ask how many rows people have and weigh what each limit would mean."""
    policy = protected_table(curator.catalog, table)
    people = people_of(curator.catalog, policy)
    if people is None:
        rule = f"{policy.name}: every row is a person of its own, so rows_per_unit is 1"
        raise InvalidValue(rule, table, "name the column of the person as unit")
    bins = bins_of_counts()
    counts = f"SELECT COUNT(*) AS n FROM {people[0]} GROUP BY {people[1]}"  # noqa: S608
    sql = f"SELECT {bins.sql('n')} AS bin, COUNT(*) AS n FROM ({counts}) p GROUP BY bin"  # noqa: S608
    answer = curator.ask(sql, epsilon, confidence=together(bins), analyst=analyst)
    within = curator.explain(sql, epsilon, confidence=together(bins), analyst=analyst).errors[0].within or 0.0
    seen = seen_in(answer)
    if not seen:
        return SuggestedRows(None, within, (), answer)
    found = tuple(_weighed(curator, policy, epsilon, seen, power, analyst) for power in range(max(seen) + 1))
    enough = next(one.rows_per_unit for one in found if one.people_over <= 1 - _COVERED)
    return SuggestedRows(enough, within, found, answer)


def _weighed(
    curator: Curator, table: Table, epsilon: Number, seen: Mapping[int, float], power: int, analyst: str | None
) -> TradeOff:
    limit = 2**power
    over = {place: people for place, people in seen.items() if place > power}
    lost = sum(people * (_usual_rows(place) - limit) for place, people in over.items())
    planned = planning_with(curator, replace(table, rows_per_unit=limit))
    sql = f"SELECT COUNT(*) FROM {quoted(table.name)}"  # noqa: S608
    error = planned.explain(sql, epsilon, analyst=analyst).errors[0].within
    return TradeOff(limit, sum(over.values()) / sum(seen.values()), lost, error or 0.0)


def _usual_rows(place: int) -> float:
    """The middle of a bin: 1, 2, 3 to 4, 5 to 8, …"""
    return (1.0, 2.0)[place] if place < 2 else (2.0 ** (place - 1) + 1 + 2.0**place) / 2
