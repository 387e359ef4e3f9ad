"""The grammar that questions are read in: DuckDB's, and the spellings of other dialects that mean nothing else in it.

One text has one meaning. `QuestionDialect` gives every name one reading: where dialects order arguments differently, a
unit of time (day, 'month', HOUR) says which order it is, and a call that can be read both ways is left unread, to be
refused. `AskedTop` also knows SELECT TOP 5; it is tried only where `QuestionDialect` cannot read the text, so a column
may be called top.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import ParseError, TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.parsers.duckdb import DuckDBParser

from discreet.query.parse.places import mark_as_generated

__all__ = ["DATE_PARTS", "SPELLINGS", "AskedTop", "QuestionDialect", "is_date_part", "part_name", "unit_named"]


_UNIT_SPELLINGS = {
    **dict.fromkeys(("year", "years", "yyyy", "yy", "yr", "y"), "year"),
    **dict.fromkeys(("quarter", "quarters", "qq", "q"), "quarter"),
    **dict.fromkeys(("month", "months", "mm", "mon", "mons"), "month"),
    **dict.fromkeys(("week", "weeks", "isoweek", "wk", "ww", "w"), "week"),
    **dict.fromkeys(("day", "days", "dd", "d"), "day"),
    **dict.fromkeys(("hour", "hours", "hh", "h"), "hour"),
    **dict.fromkeys(("minute", "minutes", "mi", "min", "mins"), "minute"),
    **dict.fromkeys(("second", "seconds", "ss", "sec", "secs", "s"), "second"),
}


def unit_named(word: str) -> str | None:
    """The unit that a word of any dialect stands for."""
    return _UNIT_SPELLINGS.get(word.casefold())


DATE_PARTS: dict[str, tuple[int, int] | None] = {
    "year": None,
    "isoyear": None,
    "decade": None,
    "century": None,
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "yearweek": None,
    "day": (1, 31),
    "dayofweek": (0, 6),
    "isodow": (1, 7),
    "dayofyear": (1, 366),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 60),
    "epoch": None,
}
"""Parts of a date that can be taken, with the values they have where these do not depend on the date."""


_PART_SPELLINGS = {
    "dow": "dayofweek",
    "day_of_week": "dayofweek",
    "weekday": "dayofweek",
    "dw": "dayofweek",
    "dayofweek_iso": "isodow",
    "dayofweekiso": "isodow",
    "doy": "dayofyear",
    "day_of_year": "dayofyear",
    "dy": "dayofyear",
    "dayofmonth": "day",
    "day_of_month": "day",
    "weekofyear": "week",
    "isoweek": "week",
    "yyyy": "year",
    "yy": "year",
    "qq": "quarter",
    "mm": "month",
    "dd": "day",
    "hh": "hour",
    "mi": "minute",
    "ss": "second",
}


def is_date_part(word: str) -> bool:
    """Whether a word names a part of a date, in any dialect."""
    return part_name(word.casefold()) in DATE_PARTS


def part_name(word: str) -> str:
    """The part of a date that a word stands for, if it does for one."""
    return _PART_SPELLINGS.get(word, word.removesuffix("s"))


Arguments = list[exp.Expr]
Build = Callable[[Arguments], exp.Expr]


def _is_unit(node: exp.Expr) -> bool:
    """Whether an argument is a word that names a unit of time, without quotes."""
    is_word = isinstance(node, exp.Column) and not node.table and not node.this.quoted
    return (is_word or isinstance(node, exp.Var)) and len(node.name) > 1 and unit_named(node.name) is not None


def _place_of_unit(first: exp.Expr, last: exp.Expr) -> int | None:
    """Where the unit stands, 0 or 1: a text in quotes is the unit, else the one word that names one."""
    in_quotes = [isinstance(node, exp.Literal) and node.is_string for node in (first, last)]
    if in_quotes[0] or in_quotes[1]:
        return 0 if in_quotes[0] and not (in_quotes[1] and unit_named(first.name) is None) else 1
    named = [_is_unit(first), _is_unit(last)]
    if first == last and named[0]:
        return 0  # the same word twice: a column of that name and the unit, whichever is which
    return None if named[0] == named[1] else named.index(True)


def _unread(name: str, arguments: Arguments) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=arguments)


def _difference(name: str, node: type[exp.Func]) -> Build:
    """(unit, first, last), as in DuckDB and T-SQL; (last, first, unit), as in BigQuery; (last, first) in days."""

    def build(arguments: Arguments) -> exp.Expr:
        if len(arguments) == 2:
            return node(this=arguments[0], expression=arguments[1], unit=exp.Var(this="DAY"))
        place = _place_of_unit(arguments[0], arguments[2]) if len(arguments) == 3 else None
        if place is None:
            return _unread(name, arguments)
        first, middle, last = arguments
        unit, later = (first, last) if place == 0 else (last, first)
        return node(this=later, expression=middle, unit=exp.Var(this=unit.name.upper()))

    return build


def _move(name: str, node: type[exp.Func]) -> Build:
    """(date, INTERVAL 3 DAY), as in BigQuery; (date, 3) in days, as in Spark; (unit, 3, date), as in T-SQL."""

    def build(arguments: Arguments) -> exp.Expr:
        if len(arguments) == 2:
            return node(this=arguments[0], expression=arguments[1])
        if len(arguments) != 3 or not (_is_unit(arguments[0]) or isinstance(arguments[0], exp.Literal)):
            return _unread(name, arguments)
        return node(this=arguments[2], expression=arguments[1], unit=exp.Var(this=arguments[0].name.upper()))

    return build


def _subtract(arguments: Arguments) -> exp.Expr:
    """DuckDB's date_sub('month', first, last) counts whole units; elsewhere it moves a date back."""
    if len(arguments) == 3:
        return _difference("DATE_SUB", exp.TimestampDiff)(arguments)
    return _move("DATE_SUB", exp.DateSub)(arguments)


def _truncate(name: str) -> Build:
    """(unit, date), or (date, unit) as in BigQuery and Spark."""

    def build(arguments: Arguments) -> exp.Expr:
        place = _place_of_unit(arguments[0], arguments[1]) if len(arguments) == 2 else None
        if place is None:
            return _unread(name, arguments)
        return exp.TimestampTrunc(this=arguments[1 - place], unit=exp.Var(this=arguments[place].name.upper()))

    return build


def _truncated_number(arguments: Arguments) -> exp.Expr:
    """TRUNC(day, 'MM') of a date, TRUNC(x) and TRUNC(x, 2) of a number."""
    if len(arguments) == 2 and isinstance(arguments[1], exp.Literal) and arguments[1].is_string:
        return _truncate("TRUNC")(arguments)
    if len(arguments) not in (1, 2):
        return _unread("TRUNC", arguments)
    return exp.Trunc(this=arguments[0], decimals=arguments[1] if len(arguments) > 1 else None)


def _part(name: str) -> Build:
    """DATE_PART('year', day), DATEPART(year, day)."""

    def build(arguments: Arguments) -> exp.Expr:
        if len(arguments) != 2 or not is_date_part(arguments[0].name):
            return _unread(name, arguments)
        return exp.Extract(this=exp.Var(this=arguments[0].name.upper()), expression=arguments[1])

    return build


def _of_one(name: str, node: Callable[[exp.Expr], exp.Expr]) -> Build:
    return lambda arguments: node(arguments[0]) if len(arguments) == 1 else _unread(name, arguments)


def _of_two(name: str, node: Callable[[exp.Expr, exp.Expr], exp.Expr]) -> Build:
    return lambda arguments: node(*arguments) if len(arguments) == 2 else _unread(name, arguments)


def _clamp(arguments: Arguments) -> exp.Expr:
    """CLAMP(x, low, high): what lies outside is moved to the end, and what is missing stays missing."""
    if len(arguments) != 3:
        return _unread("CLAMP", arguments)
    x, low, high = arguments
    is_below = mark_as_generated(exp.LT(this=x.copy(), expression=low.copy()))
    is_above = mark_as_generated(exp.GT(this=x.copy(), expression=high.copy()))
    ifs = [exp.If(this=is_below, true=low), exp.If(this=is_above, true=high)]
    return exp.Case(ifs=[mark_as_generated(each) for each in ifs], default=x)


def _not_here(arguments: Arguments) -> exp.Expr:
    """TOP (5) is no function; another grammar reads it."""
    raise ParseError("TOP is no function")


SPELLINGS: dict[str, Build] = {
    "DATE_DIFF": _difference("DATE_DIFF", exp.DateDiff),
    "DATEDIFF": _difference("DATEDIFF", exp.DateDiff),
    "DATETIME_DIFF": _difference("DATETIME_DIFF", exp.DateDiff),
    "TIMESTAMPDIFF": _difference("TIMESTAMPDIFF", exp.TimestampDiff),
    "TIMESTAMP_DIFF": _difference("TIMESTAMP_DIFF", exp.TimestampDiff),
    "DATESUB": _difference("DATESUB", exp.TimestampDiff),
    "DATE_SUB": _subtract,
    "DATE_ADD": _move("DATE_ADD", exp.DateAdd),
    "DATEADD": _move("DATEADD", exp.DateAdd),
    "DATETIME_ADD": _move("DATETIME_ADD", exp.DateAdd),
    "TIMESTAMPADD": _move("TIMESTAMPADD", exp.DateAdd),
    "TIMESTAMP_ADD": _move("TIMESTAMP_ADD", exp.DateAdd),
    "DATETIME_SUB": _move("DATETIME_SUB", exp.DateSub),
    "TIMESTAMP_SUB": _move("TIMESTAMP_SUB", exp.DateSub),
    "DATE_TRUNC": _truncate("DATE_TRUNC"),
    "DATETRUNC": _truncate("DATETRUNC"),
    "DATETIME_TRUNC": _truncate("DATETIME_TRUNC"),
    "TIMESTAMP_TRUNC": _truncate("TIMESTAMP_TRUNC"),
    "TRUNC": _truncated_number,
    "DATE_PART": _part("DATE_PART"),
    "DATEPART": _part("DATEPART"),
    "WEEKDAY": _of_one("WEEKDAY", lambda day: exp.DayOfWeek(this=day)),
    "EOMONTH": _of_one("EOMONTH", lambda day: exp.LastDay(this=day)),
    "TO_DATE": _of_one("TO_DATE", lambda day: exp.TryCast(this=day, to=exp.DataType.build("date"))),
    "FORMAT_DATE": _of_two("FORMAT_DATE", lambda pattern, day: exp.TimeToStr(this=day, format=pattern)),
    "FORMAT_TIMESTAMP": _of_two("FORMAT_TIMESTAMP", lambda pattern, day: exp.TimeToStr(this=day, format=pattern)),
    "ISNULL": _of_two("ISNULL", lambda value, other: exp.Coalesce(this=value, expressions=[other])),
    "ZEROIFNULL": _of_one("ZEROIFNULL", lambda x: exp.Coalesce(this=x, expressions=[exp.Literal.number(0)])),
    "SQUARE": _of_one("SQUARE", lambda x: exp.Pow(this=x, expression=exp.Literal.number(2))),
    "CLAMP": _clamp,
    "REGEXP_CONTAINS": _of_two("REGEXP_CONTAINS", lambda text, pattern: exp.RegexpLike(this=text, expression=pattern)),
    "MEAN": _of_one("MEAN", lambda x: exp.Avg(this=x)),
    "VAR": _of_one("VAR", lambda x: exp.Variance(this=x)),
    "VARP": _of_one("VARP", lambda x: exp.VariancePop(this=x)),
    "STDEVP": _of_one("STDEVP", lambda x: exp.StddevPop(this=x)),
    "PERCENTILE": _of_two("PERCENTILE", lambda x, share: exp.Quantile(this=x, quantile=share)),
    "PERCENTILE_APPROX": _of_two("PERCENTILE_APPROX", lambda x, share: exp.ApproxQuantile(this=x, quantile=share)),
    "APPROX_PERCENTILE": _of_two("APPROX_PERCENTILE", lambda x, share: exp.ApproxQuantile(this=x, quantile=share)),
    "TOP": _not_here,
}
"""Names that are read in one way whatever dialect they come from."""


class QuestionDialect(DuckDB):
    """DuckDB's grammar with names in backticks and the functions of other dialects."""

    class Tokenizer(DuckDB.Tokenizer):
        """Backticks quote names, and BigQuery's name of a real number is known."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
        KEYWORDS: ClassVar[dict[str, TokenType]] = {**DuckDB.Tokenizer.KEYWORDS, "FLOAT64": TokenType.DOUBLE}

    class Parser(DuckDBParser):
        """One reading of every name."""

        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {**DuckDBParser.FUNCTIONS, **SPELLINGS}


class AskedTop(QuestionDialect):
    """The same with SELECT TOP 5."""

    class Tokenizer(QuestionDialect.Tokenizer):
        """TOP is a word of the language, not a name."""

        KEYWORDS: ClassVar[dict[str, TokenType]] = {**QuestionDialect.Tokenizer.KEYWORDS, "TOP": TokenType.TOP}
