"""The grammar that questions are read in: DuckDB's, and the spellings of other dialects that mean nothing else in it.

One text has one meaning. `Asked` gives every name one reading: where dialects order arguments differently, a unit of
time (day, 'month', HOUR) says which order it is, and a call that can be read both ways is left unread, to be refused.
`AskedTop` also knows SELECT TOP 5; it is tried only where `Asked` cannot read the text, so a column may be called top.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlglot import ParseError, TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.parsers.duckdb import DuckDBParser

from discreet.query.calendar import unit_named
from discreet.query.dates import is_date_part

__all__ = ["Asked", "AskedTop"]

Arguments = list[exp.Expr]
Build = Callable[[Arguments], exp.Expr]


def _unit_of(node: exp.Expr) -> exp.Var | None:
    """The unit of time that an argument names, as a word or in quotes."""
    is_word = isinstance(node, exp.Column) and not node.table and not node.this.quoted
    is_text = isinstance(node, exp.Literal) and node.is_string
    if (is_word or is_text or isinstance(node, exp.Var)) and unit_named(node.name) is not None:
        return exp.Var(this=node.name.upper())
    return None


def _unread(name: str, arguments: Arguments) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=arguments)


def _apart(arguments: Arguments) -> tuple[exp.Var, exp.Expr, exp.Expr] | None:
    """The unit of three arguments, then the earlier and the later date; None where the unit is not clear."""
    first, middle, last = arguments
    units = _unit_of(first), _unit_of(last)
    in_quotes = [isinstance(node, exp.Literal) for node in (first, last)]
    if units[0] is not None and (units[1] is None or in_quotes == [True, False]):
        return units[0], middle, last
    if units[1] is not None and (units[0] is None or in_quotes == [False, True]):
        return units[1], middle, first
    return None


def _difference(name: str, node: type[exp.Func]) -> Build:
    """(unit, first, last), as in DuckDB and T-SQL; (last, first, unit), as in BigQuery; (last, first) in days."""

    def build(arguments: Arguments) -> exp.Expr:
        if len(arguments) == 2:
            return node(this=arguments[0], expression=arguments[1], unit=exp.Var(this="DAY"))
        found = _apart(arguments) if len(arguments) == 3 else None
        if found is None:
            return _unread(name, arguments)
        unit, earlier, later = found
        return node(this=later, expression=earlier, unit=unit)

    return build


def _moved(name: str, node: type[exp.Func]) -> Build:
    """(date, INTERVAL 3 DAY), as in BigQuery; (date, 3) in days, as in Spark; (unit, 3, date), as in T-SQL."""

    def build(arguments: Arguments) -> exp.Expr:
        if len(arguments) == 2:
            return node(this=arguments[0], expression=arguments[1])
        unit = _unit_of(arguments[0]) if len(arguments) == 3 else None
        if unit is None:
            return _unread(name, arguments)
        return node(this=arguments[2], expression=arguments[1], unit=unit)

    return build


def _subtracted(arguments: Arguments) -> exp.Expr:
    """DuckDB's date_sub('month', first, last) counts whole units; elsewhere it moves a date back."""
    if len(arguments) == 3:
        return _difference("DATE_SUB", exp.TimestampDiff)(arguments)
    return _moved("DATE_SUB", exp.DateSub)(arguments)


def _truncated(name: str) -> Build:
    """(unit, date), or (date, unit) as in BigQuery and Spark."""

    def build(arguments: Arguments) -> exp.Expr:
        units = [_unit_of(argument) for argument in arguments]
        if len(arguments) != 2 or units == [None, None]:
            return _unread(name, arguments)
        in_quotes = [isinstance(argument, exp.Literal) for argument in arguments]
        if None not in units and in_quotes[0] == in_quotes[1]:
            return _unread(name, arguments)
        place = 0 if units[1] is None or in_quotes[0] else 1
        return exp.TimestampTrunc(this=arguments[1 - place], unit=units[place])

    return build


def _truncated_number(arguments: Arguments) -> exp.Expr:
    """TRUNC(day, 'MM') of a date, TRUNC(x) and TRUNC(x, 2) of a number."""
    if len(arguments) == 2 and isinstance(arguments[1], exp.Literal) and arguments[1].is_string:
        return _truncated("TRUNC")(arguments)
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
    "DATE_SUB": _subtracted,
    "DATE_ADD": _moved("DATE_ADD", exp.DateAdd),
    "DATEADD": _moved("DATEADD", exp.DateAdd),
    "DATETIME_ADD": _moved("DATETIME_ADD", exp.DateAdd),
    "TIMESTAMPADD": _moved("TIMESTAMPADD", exp.DateAdd),
    "TIMESTAMP_ADD": _moved("TIMESTAMP_ADD", exp.DateAdd),
    "DATETIME_SUB": _moved("DATETIME_SUB", exp.DateSub),
    "TIMESTAMP_SUB": _moved("TIMESTAMP_SUB", exp.DateSub),
    "DATE_TRUNC": _truncated("DATE_TRUNC"),
    "DATETRUNC": _truncated("DATETRUNC"),
    "DATETIME_TRUNC": _truncated("DATETIME_TRUNC"),
    "TIMESTAMP_TRUNC": _truncated("TIMESTAMP_TRUNC"),
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


class Asked(DuckDB):
    """DuckDB's grammar with names in backticks and the functions of other dialects."""

    class Tokenizer(DuckDB.Tokenizer):
        """Backticks quote names, and BigQuery's name of a real number is known."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
        KEYWORDS: ClassVar[dict[str, TokenType]] = {**DuckDB.Tokenizer.KEYWORDS, "FLOAT64": TokenType.DOUBLE}

    class Parser(DuckDBParser):
        """One reading of every name."""

        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {**DuckDBParser.FUNCTIONS, **SPELLINGS}


class AskedTop(Asked):
    """The same with SELECT TOP 5."""

    class Tokenizer(Asked.Tokenizer):
        """TOP is a word of the language, not a name."""

        KEYWORDS: ClassVar[dict[str, TokenType]] = {**Asked.Tokenizer.KEYWORDS, "TOP": TokenType.TOP}
