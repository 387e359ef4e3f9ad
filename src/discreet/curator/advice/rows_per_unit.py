"""How many rows of a person should count: one paid histogram of rows per person, with one row for each person.

Every person lies in one bin, so the noise is that of counting people and does not depend on how many rows they have.
What a limit costs is then weighed: people over it are counted in part, which makes answers too small, and a higher
limit makes their noise larger.

How many people and values the limits of a policy touch: one paid question.

People with more than rows_per_unit rows count in part, and values outside the bounds of their column are moved to the
nearest one. Of people with more than groups_per_unit unlisted keys so many count. All three make answers too small or
too large by an amount that no error bar shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.catalog.column import Column
from discreet.catalog.table import Table
from discreet.curator.advice.bounds import find_range, together
from discreet.curator.advice.histogram import (
    AS_TAKEN_IN,
    Offers,
    bins_of_counts,
    count_people,
    drop_bounds,
    find_protected_table,
    literal,
    planning_with,
    the_column,
)
from discreet.curator.answers.answer import Answer
from discreet.engines.parameters import quote
from discreet.errors import InvalidValue
from discreet.exact.rational import Number

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = [
    "Estimate",
    "LeftOut",
    "SuggestedRows",
    "Touched",
    "TradeOff",
    "left_out",
    "suggest_rows_per_unit",
    "touched",
]


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
    policy = find_protected_table(curator.catalog, table)
    people = count_people(curator.catalog, policy)
    if people is None:
        rule = f"{policy.name}: every row is a person of its own, so rows_per_unit is 1"
        raise InvalidValue(rule, table, "name the column of the person as unit")
    bins = bins_of_counts()
    counts = f"SELECT COUNT(*) AS n FROM {people[0]} GROUP BY {people[1]}"  # noqa: S608
    sql = f"SELECT {bins.sql('n')} AS bin, COUNT(*) AS n FROM ({counts}) p GROUP BY bin"  # noqa: S608
    answer = curator.ask(sql, epsilon, confidence=together(bins), analyst=analyst)
    within = curator.explain(sql, epsilon, confidence=together(bins), analyst=analyst).errors[0].within or 0.0
    seen = find_range(answer)
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
    sql = f"SELECT COUNT(*) FROM {quote(table.name)}"  # noqa: S608
    error = planned.explain(sql, epsilon, analyst=analyst).errors[0].within
    return TradeOff(limit, sum(over.values()) / sum(seen.values()), lost, error or 0.0)


def _usual_rows(place: int) -> float:
    """The middle of a bin: 1, 2, 3 to 4, 5 to 8, …"""
    return (1.0, 2.0)[place] if place < 2 else (2.0 ** (place - 1) + 1 + 2.0**place) / 2


_MANY = 0.05


@dataclass(frozen=True)
class Estimate:
    """A noisy number and the interval that it lies in, at the answer's confidence."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:,.0f} ({self.low:,.0f} to {self.high:,.0f})"


@dataclass(frozen=True)
class Touched:
    """What the limits of a policy touch."""

    table: Table
    """The table and its policy."""
    people: Estimate
    """How many people there are; rows, where every row is a person."""
    over: Estimate | None
    """How many people have more than rows_per_unit rows; None where every row is a person."""
    moved: Mapping[str, Estimate]
    """Per column with bounds, how many values are moved; of one person at most rows_per_unit are counted."""
    answer: Answer
    """The paid answer."""
    offers: Offers = Offers.PYTHON
    """How further questions are named."""

    @property
    def policy(self) -> str:
        """What in the policy to think about; nothing where little is touched."""
        most, table = _MANY * self.people.value, self.table.name
        advice = []
        if self.over is not None and self.over.low > most:
            advice.append(f"rows_per_unit is low: see {self.offers.rows(table)}")
        for name, moved in self.moved.items():
            if moved.low > most:
                advice.append(f"the bounds of {name} are narrow: see {self.offers.bounds(table, name)}")
        return "\n".join(advice)

    def __str__(self) -> str:
        lines = [f"people: {self.people}"]
        if self.over is not None:
            most = self.table.rows_per_unit
            lines.append(f"with more than {most:,} row{'s' * (most > 1)}: {self.over}")
        lines += [f"values of {name} outside its bounds: {moved}" for name, moved in self.moved.items()]
        return "\n".join([*lines, self.policy or "Little is touched: the policy can stay as it is."])


@dataclass(frozen=True)
class LeftOut:
    """How many of the groups that people are in are left out, where nobody listed the keys."""

    table: Table
    """The table and its policy."""
    by: tuple[str, ...]
    """The columns of GROUP BY."""
    people: Estimate
    """How many people there are."""
    held: Estimate
    """The groups of each person, added up over all people; of one person at most twice groups_per_unit are counted."""
    lost: Estimate
    """How many of those are left out."""
    answer: Answer
    """The paid answer."""

    @property
    def share(self) -> float:
        """The share of what is held that is left out; about so much is missing from every group."""
        return min(self.lost.value / self.held.value, 1.0) if self.held.value else 0.0

    @property
    def policy(self) -> str:
        """What in the policy to think about; nothing where little is left out."""
        if self.lost.low <= _MANY * self.held.value:
            return ""
        return f"groups_per_unit is low: of all groups that people are in, about {self.share:.0%} are left out"

    def __str__(self) -> str:
        most = self.table.most_groups
        lines = [
            f"people: {self.people}",
            f"groups by {', '.join(self.by)}, added up over people: {self.held}",
            f"of these beyond {most:,} of a person, and left out: {self.lost}, about {self.share:.1%}",
        ]
        return "\n".join([*lines, self.policy or "Little is left out: the policy can stay as it is."])


def left_out(
    curator: Curator, table: str, by: str | Sequence[str], epsilon: Number, analyst: str | None = None
) -> LeftOut:
    """Ask how much of GROUP BY these columns is left out; one question."""
    policy = find_protected_table(curator.catalog, table)
    columns = [the_column(policy, name) for name in ([by] if isinstance(by, str) else by)]
    people = count_people(curator.catalog, policy)
    if people is None or not columns:
        rule = f"{policy.name}: every row is a person of its own, or no column is named, so nothing is left out"
        raise InvalidValue(rule, table)
    answer = curator.ask(_of_groups(policy, columns, people), epsilon, analyst=analyst)
    people_there, held, lost = (_estimate(answer, name) for name in ("people", "held", "lost"))
    return LeftOut(policy, tuple(column.name for column in columns), people_there, held, lost, answer)


def _of_groups(table: Table, columns: list[Column], people: tuple[str, str]) -> str:
    """One row per person and group, then one per person with how many they are."""
    most, person = table.most_groups, f"{people[1]} AS person"
    keys = [f"t0.{quote(column.name)}" for column in columns]
    groups = f"SELECT {person} FROM {people[0]} GROUP BY {', '.join([people[1], *keys])}"  # noqa: S608
    each = f"SELECT COUNT(*) AS g FROM ({groups}) h GROUP BY person"  # noqa: S608
    held, lost = f"SUM(LEAST(g, {2 * most})) AS held", f"SUM(LEAST(GREATEST(g - {most}, 0), {most})) AS lost"
    return f"SELECT COUNT(*) AS people, {held}, {lost} FROM ({each}) p"  # noqa: S608


def touched(curator: Curator, table: str, epsilon: Number, analyst: str | None = None) -> Touched:
    """Ask how much is touched; one question, with a count for each limit."""
    policy = find_protected_table(curator.catalog, table)
    bounded = [column for column in policy.columns if column.bounds is not None]
    people = count_people(curator.catalog, policy)
    if people is None and not bounded:
        raise InvalidValue(f"{policy.name}: nothing is limited, so nothing is touched", table)
    sql = AS_TAKEN_IN + (_of_rows(policy, bounded) if people is None else _of_people(policy, bounded, people))
    answer = drop_bounds(curator, policy, bounded).ask(sql, epsilon, analyst=analyst)
    moved = {column.name: _estimate(answer, f"moved_{place}") for place, column in enumerate(bounded)}
    over = None if people is None else _estimate(answer, "people_over")
    return Touched(policy, _estimate(answer, "people"), over, moved, answer, curator.offers)


def _is_moved(column: Column) -> str:
    low, high = (literal(end) for end in column.bounds or ())
    return f"t0.{quote(column.name)} NOT BETWEEN {low} AND {high}"


def _of_rows(table: Table, bounded: list[Column]) -> str:
    parts = [f"COUNT(*) FILTER (WHERE {_is_moved(column)}) AS moved_{k}" for k, column in enumerate(bounded)]
    return f"SELECT {', '.join(['COUNT(*) AS people', *parts])} FROM {quote(table.name)} t0"  # noqa: S608


def _of_people(table: Table, bounded: list[Column], people: tuple[str, str]) -> str:
    """One row per person below, so that a person counts once above, or with rows_per_unit moved values at most."""
    inner = [f"COUNT(CASE WHEN {_is_moved(column)} THEN 1 END) AS m{k}" for k, column in enumerate(bounded)]
    outer = [f"SUM(LEAST(m{k}, {table.rows_per_unit})) AS moved_{k}" for k in range(len(bounded))]
    over = f"COUNT(*) FILTER (WHERE n > {table.rows_per_unit}) AS people_over"
    rows = f"SELECT {', '.join(['COUNT(*) AS n', *inner])} FROM {people[0]} GROUP BY {people[1]}"  # noqa: S608
    return f"SELECT {', '.join(['COUNT(*) AS people', over, *outer])} FROM ({rows}) p"  # noqa: S608


def _estimate(answer: Answer, name: str) -> Estimate:
    [value], [interval] = answer.table[name].to_pylist(), answer.error[name]
    low, high = interval or (0.0, float("inf"))
    return Estimate(max(float(value), 0.0), max(float(low), 0.0), max(float(high), 0.0))
