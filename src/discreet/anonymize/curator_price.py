"""What the same question would cost through the curator: the ε at which its answers err as little as the release.

The release tells each count with an error that depends on the rows and with no promise to anybody. The curator adds
noise to the true count; at the ε given here 95 % of its answers are as close, and ε bounds what they tell about a
person, whatever else an attacker knows.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass

from discreet.anonymize.coded import label_of
from discreet.anonymize.publication import Publication
from discreet.anonymize.query_error import CountQuery

__all__ = ["CuratorPrice", "epsilon_within", "price_of_counts", "price_of_release"]

_FAILURE = 0.05


@dataclass(frozen=True)
class CuratorPrice:
    """A question, and what it costs."""

    sql: str
    """The question."""
    within: int
    """How far 95 % of the answers are off at most, in rows."""
    epsilon: float
    """What one answer costs, for people with one row each."""
    commands: tuple[str, ...]
    """What to type."""

    @property
    def questions(self) -> int:
        """How many such questions a budget of ε = 1 answers."""
        return math.floor(1 / self.epsilon)


def epsilon_within(error: float) -> float:
    """The ε, rounded up to three digits, at which 95 % of noisy counts are off by at most ``error``.

    Laplace noise of scale 1/ε exceeds ln(20)/ε with probability 5 %; the curator's is no larger.

    >>> epsilon_within(3), epsilon_within(30)
    (0.999, 0.1)
    """
    return math.ceil(math.log(1 / _FAILURE) / error * 1000) / 1000


def price_of_release(publication: Publication, query: CountQuery, error: float, table: str, file: str) -> CuratorPrice:
    """The price of one of the questions of ``query_error`` at the error that the release has, in whole rows."""
    return _priced(_sql(publication, query, table), max(math.ceil(error), 1), table, file)


def price_of_counts(column: str, rows: int, table: str, file: str) -> CuratorPrice:
    """The price of counting every value of a column within a hundredth of the rows.

    A person is in one group, so that all counts together cost what one costs.
    """
    name = _name(column)
    sql = f"SELECT {name}, COUNT(*) AS people FROM {_name(table)} GROUP BY {name}"  # noqa: S608  it is shown, never run
    return _priced(sql, max(math.ceil(rows / 100), 3), table, file)


def _priced(sql: str, within: int, table: str, file: str) -> CuratorPrice:
    commands = (
        shlex.join(["discreet", "init", file]),
        shlex.join(["discreet", "protect", file, f"{table}.yaml"]),
        f"discreet ask {_quoted(sql)} --within {within}",
    )
    return CuratorPrice(sql, within, epsilon_within(within), commands)


def _quoted(sql: str) -> str:
    """The question as a shell takes it, in double quotes where that can be read."""
    return shlex.quote(sql) if set(sql) & set('"$`\\\\!') else f'"{sql}"'


def _sql(publication: Publication, query: CountQuery, table: str) -> str:
    parts = [_between(publication, *one) for one in query.ranges]
    if query.sensitive is not None:
        name, place = query.sensitive
        parts.append(_equals(name, publication.before[name].values[place]))
    return f"SELECT COUNT(*) AS people FROM {_name(table)} WHERE {' AND '.join(parts)}"  # noqa: S608  it is shown, never run


def _between(publication: Publication, name: str, first: int, last: int) -> str:
    values = [value for value in publication.coverings[name].domain[first:last] if value is not None]
    if not values:
        return f"{_name(name)} IS NULL"
    if len(values) == 1:
        return _equals(name, values[0])
    return f"{_name(name)} BETWEEN {_literal(values[0])} AND {_literal(values[-1])}"


def _equals(name: str, value: object) -> str:
    return f"{_name(name)} IS NULL" if value is None else f"{_name(name)} = {_literal(value)}"


def _name(column: str) -> str:
    return column if column.isidentifier() else '"' + column.replace('"', '""') + '"'


def _literal(value: object) -> str:
    if isinstance(value, (int, float)):
        return label_of(value)
    return "'" + label_of(value).replace("'", "''") + "'"
