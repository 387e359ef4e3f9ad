"""The clock of a question: CURRENT_DATE and its kin are a moment that whoever asks has named, never the machine's.

Two askers around midnight would else be charged for two questions, and what is explained would not be what is asked.
The moment becomes a constant of the question before anything else is made of it, so that it is in the plan, in its
fingerprint and in the records, and the same question about the same moment is free when it is asked again.

>>> from discreet.query.parse.parser import parse
>>> query = parse("SELECT COUNT(*) FROM visits WHERE day > CURRENT_DATE - 30 AND seen < NOW()", "duckdb")
>>> print(set_clock(query, AsOf.of("2026-02-16")).sql("duckdb").partition(" WHERE ")[2])
day > CAST('2026-02-16' AS DATE) - 30 AND seen < CAST('2026-02-16 00:00:00' AS TIMESTAMP)
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlglot import exp

from discreet.errors import InvalidValue
from discreet.query.parse.alternatives import called, is_clock
from discreet.query.parse.places import replacing

__all__ = ["AsOf", "AsOfStated", "asks_clock", "set_clock"]


_DAYS = frozenset({"CURRENT_DATE", "TODAY", "CURDATE", "UTC_DATE"})
_TIMES = frozenset({"CURRENT_TIME", "CURTIME", "LOCALTIME", "UTC_TIME", "TIMEOFDAY"})
"""A time without a day stays refused: there is no such type here."""
_NODES = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime, exp.Localtimestamp, exp.UtcDate, exp.UtcTimestamp)
AsOfStated = str | date | datetime
"""A day or a moment: ``"2026-02-16"``, ``"2026-02-16 09:00"``, a date, or a datetime in UTC."""


@dataclass(frozen=True)
class AsOf:
    """A moment, in UTC."""

    moment: datetime
    """Without a time zone."""

    @classmethod
    def of(cls, stated: AsOfStated) -> AsOf:
        """The moment that somebody named; a day means its first moment."""
        if isinstance(stated, date) and not isinstance(stated, datetime):
            return cls(datetime(stated.year, stated.month, stated.day))
        try:
            found = stated if isinstance(stated, datetime) else datetime.fromisoformat(stated.strip())
        except (ValueError, AttributeError):
            rule = "as_of must be a day or a moment"
            raise InvalidValue(rule, stated, "write 2026-02-16, or 2026-02-16 09:00 for a moment in UTC") from None
        return cls(found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None))

    def __str__(self) -> str:
        is_day = self.moment.time() == datetime.min.time()
        return self.moment.date().isoformat() if is_day else self.moment.isoformat(sep=" ")

    def constant(self, *, is_day: bool) -> exp.Expr:
        """The day, or the moment, as SQL has it."""
        text = self.moment.date().isoformat() if is_day else self.moment.isoformat(sep=" ")
        return exp.cast(exp.Literal.string(text), "DATE" if is_day else "TIMESTAMP", dialect="duckdb")


def set_clock(tree: exp.Query, as_of: AsOf | None) -> exp.Query:
    """The query, in which everything that asks the clock is a constant; as it is where no moment was named."""
    if as_of is None:
        return tree
    for node in [one for one in tree.walk() if _asks(one)]:
        moment = replacing(node, as_of.constant(is_day=_is_day(node)))
        is_output = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
        node.replace(exp.alias_(moment, _name(node), quoted=True) if is_output else moment)
    return tree


def asks_clock(tree: exp.Query) -> bool:
    """Whether something in a query stands for the present moment."""
    return any(_asks(one) for one in tree.walk())


def _name(node: exp.Expr) -> str:
    """What an output is called that shows the clock as it is."""
    return (called(node) or node.key).lower()


def _asks(node: exp.Expr) -> bool:
    """Whether a node stands for the present moment, and for no zone or precision of its own."""
    if isinstance(node, exp.Anonymous):
        return not node.expressions and is_clock(node.name) and node.name.upper() not in _TIMES
    return isinstance(node, _NODES) and node.args.get("this") is None


def _is_day(node: exp.Expr) -> bool:
    return isinstance(node, (exp.CurrentDate, exp.UtcDate)) or node.name.upper() in _DAYS
