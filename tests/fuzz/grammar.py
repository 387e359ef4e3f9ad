"""Random SQL: questions that are mostly answered, with constants and functions that break careless arithmetic.

Everything is drawn from productions over the columns that can be seen. What an attacker would do is among them:
conditions about one person, constants that together just fit a word, terms that cancel, keys that equal each other
and are spelled differently, joins that repeat rows.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from discreet.catalog.column import ColumnType
from discreet.catalog.table import Table
from tests.fuzz.hostile_values import ORDINARY, VALUES, WHOLE_ENDS
from tests.fuzz.worlds import FuzzWorld

__all__ = ["Grammar"]

INTEGER, REAL, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT, ColumnType.BOOLEAN
DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
_NAMES = {INTEGER: "BIGINT", REAL: "DOUBLE", TEXT: "VARCHAR", BOOLEAN: "BOOLEAN", DATE: "DATE", TIMESTAMP: "TIMESTAMP"}
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_PARTS = ("year", "isoyear", "decade", "century", "quarter", "month", "week", "yearweek", "day", "dow", "isodow", "doy",
          "hour", "second", "epoch")  # fmt: skip
_CONSTANTS = ("0.1", "0.5", "3.0", "1e46", "0.0000000000000000000000000000000000001", "1e308", "1e-300",
              "4611686018427388417.0", "9223372036854775295e0", "9007199254740993.0", "-2.5", "1e18",
              "0.30000000000000001", "5e-324", "9999999999999999999999999999999999999.9")  # fmt: skip
"""Real numbers, and decimals up to the first and the last of 38 digits."""

_SLOT = re.compile(r"\{(\w+)\}")
_KINDS = {"i": INTEGER, "r": REAL, "s": TEXT, "b": BOOLEAN, "d": DATE, "w": TIMESTAMP}
_CHOICES: dict[str, Sequence[str]] = {
    "op": ("+", "-", "*"),
    "pm": ("+", "-"),
    "cmp": ("=", "<>", "<", "<=", ">", ">="),
    "unit": _UNITS,
    "days": _UNITS[:5],
    "part": _PARTS,
    "whole": ("floor", "ceil", "round", "trunc"),
    "pow": ("2", "3", "0.5", "-1"),
    "sizes": ("4, 2", "38, 0", "18, 3", "12, 12"),
    "digits": ("0", "2", "12"),
    "tenth": ("0.3", "0.30", "-0.7", "1", "2.50", "0.05"),
    "exact": ("0.1", "0.25", "-0.05", "1.0"),
    "function": ("sqrt", "ln", "log10", "log2", "exp", "cbrt"),
}
_CALENDAR = ("{pm} INTERVAL ({i}) {unit}", "{pm} INTERVAL ({ci}) {unit}", "{pm} INTERVAL 3 {unit}")

TEMPLATES: dict[ColumnType, tuple[str, ...]] = {
    INTEGER: (
        "({i} {op} {i})", "({i} {op} {i})", "GREATEST({i}, {i})", "LEAST({i}, {i})", "COALESCE({i}, {i})", "abs({i})",
        "(-{i})", "CAST({r} AS BIGINT)", "{whole}({r})", "length({s})", "extract({part} FROM {dated})",
        "NULLIF({i}, {i})",
        "CASE WHEN {b} THEN {i} ELSE {i} END", "sign({r})", "strpos({s}, 'a')",
    ),
    REAL: (
        "({r} {op} {r})", "({r} {op} {r})", "({r} / 4.0)", "CAST({i} AS DOUBLE)", "GREATEST({r}, {r})",
        "LEAST({r}, {r})",
        "COALESCE({r}, {r})", "abs({r})", "(-{r})", "({i} / 2)", "({r} + {i})", "CASE WHEN {b} THEN {r} ELSE {i} END",
    ),
    TEXT: (
        "({s} || {s})", "COALESCE({s}, {s})", "upper({s})", "lower({s})", "trim({s})", "substring({s}, 1, 2)",
        "CASE WHEN {b} THEN {s} ELSE {s} END", "replace({s}, 'a', '')", "left({s}, 1)", "reverse({s})",
    ),
    BOOLEAN: (
        "{i} {cmp} {i}", "{r} {cmp} {r}", "{s} {cmp} {s}", "{d} {cmp} {d}", "{i} {cmp} {r}", "{any} IS NULL",
        "{any} IS NOT NULL", "{i} BETWEEN {i} AND {ci}", "{r} BETWEEN {cr} AND {r}", "{i} IN ({i}, {ci})",
        "{r} IN ({ci}, {cr})", "{s} IN ({cs}, {cs})", "{d} IN ({cd}, {cd})", "({b} AND {b})", "({b} OR {b})",
        "NOT ({b})",
        "{i} IS DISTINCT FROM {i}", "{s} LIKE 'a%'", "contains({s}, 'a')", "starts_with({s}, 'a')",
    ),
    DATE: (
        "date_trunc('{days}', {d})", "CAST({w} AS DATE)", "COALESCE({d}, {d})", "last_day({d})", "GREATEST({d}, {d})",
    ),
    TIMESTAMP: ("date_trunc('{unit}', {w})", "CAST({d} AS TIMESTAMP)", "LEAST({w}, {w})"),
}  # fmt: skip
"""What is answered, and means to a plain database what it means here."""

EXACT_TEMPLATES: dict[ColumnType, tuple[str, ...]] = {
    INTEGER: ("CAST({m} AS BIGINT)", "{whole}({m})", "CAST(round({m}, 1) * 10 AS BIGINT)"),
    REAL: ("{m}", "({m} {op} {m})", "round({m}, 1)", "GREATEST({m}, {i})", "COALESCE({m}, {r})", "({m} / 3)"),
    TEXT: ("CAST({m} AS VARCHAR)",),
    BOOLEAN: (
        "{m} {cmp} {tenth}", "{m} {cmp} {m}", "{m} IN ({tenth}, {tenth})", "{m} % 0.3 {cmp} {tenth}",
        "{r} BETWEEN 0.06 - 0.01 AND {tenth} + 0.2",
    ),
}  # fmt: skip
"""Decimals, where answers are held against a plain database; elsewhere they are among the hostile constants."""

HOSTILE_TEMPLATES: dict[ColumnType, tuple[str, ...]] = {
    INTEGER: (
        "{end}", "{end}", "{end}", "(GREATEST({li}, -9223372036854775000) - {few})", "({i} // {i})", "({i} % {i})",
        "CAST({b} AS BIGINT)", "CAST({s} AS BIGINT)", "date_diff('{unit}', {dated}, {dated})", "({d} - {d})",
        "date_sub('{unit}', {w}, {w})", "CASE WHEN {b} THEN {i} END", "CAST({cancelled} AS BIGINT)", "({ci} {op} {i})",
    ),
    REAL: (
        "({r} / {r})", "({i} / {i})", "round({r}, {digits})", "{function}({r})", "{function}({r})", "pow({r}, {pow})",
        "pow({r}, {r})",
        "CAST({r} AS DECIMAL({sizes}))", "{cancelled}", "{cancelled}", "CAST({s} AS DOUBLE)",
        "extract(epoch FROM {dated})",
        "NULLIF({r}, {r})", "{nan}", "(-{nan})", "CASE WHEN {about} THEN {r1} ELSE -{r1} END", "({cr} {op} {r})",
    ),
    TEXT: (
        "CAST({any} AS VARCHAR)", "strftime({dated}, '%Y-%m')", "GREATEST({s}, {s})", "monthname({dated})",
        "concat({s}, {any})",
    ),
    BOOLEAN: ("{about}", "{about}", "{w} {cmp} {w}", "{r} IS DISTINCT FROM {r}", "{i} NOT IN ({i}, {ci})"),
    DATE: (
        *(f"({{d}} {way})" for way in (w.replace("{unit}", "{days}") for w in _CALENDAR)), "({d} + {i})",
        "make_date({i}, 2, 1)", "make_date({i}, {i}, 31)", "CAST({s} AS DATE)",
    ),
    TIMESTAMP: (*(f"({{w}} {way})" for way in _CALENDAR), "({d} + INTERVAL ({i}) HOUR)", "CAST({s} AS TIMESTAMP)"),
}  # fmt: skip
"""What breaks where something is careless, or means something of its own."""

SPELLINGS = (
    "{nan}", "CASE WHEN {b} THEN {nan1} ELSE -{nan1} END", "CASE WHEN {about} THEN {nan1} ELSE -{nan1} END",
    "CASE WHEN {b} THEN {r1} ELSE -{r1} END",
    "CASE WHEN {b} THEN 0.0 ELSE -0.0 END", "({r} * 0.0)", "(-{r})", "{s}",
    "CASE WHEN {b} THEN {s1} ELSE upper({s1}) END",
    "CAST({r} AS DECIMAL({sizes}))", "CASE WHEN {b} THEN {i1} ELSE CAST({i1} AS DOUBLE) END",
)  # fmt: skip
"""Keys that can be spelled in several ways."""

LISTABLE = (
    "CASE WHEN {b} THEN 'x' ELSE 'y' END",
    "({b})",
    "CASE WHEN {i1} > 3 THEN 1 WHEN {i1} IS NULL THEN 2 ELSE 0 END",
    "GREATEST(0, LEAST(3, {i}))",
    "sign({r})",
)
"""Keys of which all values follow from the text."""


@dataclass(frozen=True)
class Seen:
    """A column that a query can name where it stands."""

    name: str
    kind: ColumnType
    is_unit: bool = False
    is_bounded: bool = False
    is_listed: bool = False
    is_public: bool = False


@dataclass(frozen=True)
class Source:
    """Something to read rows from, and what can be named of it."""

    text: str
    seen: tuple[Seen, ...]


class Grammar:
    """Draws questions about a world; in a plain world, such as mean the same to a plain database."""

    def __init__(self, world: FuzzWorld, chance: random.Random) -> None:
        self.world, self.chance, self.plain = world, chance, world.is_plain
        self.seen: Sequence[Seen] = ()
        self._aliases = 0

    # Questions.

    def question(self) -> str:
        """One question."""
        self._aliases = 0
        if not self.plain and self._is(0.06):
            return self._top()
        if not self.plain and self._is(0.08):
            return self._two_blocks()
        return self._block(with_above=not self.plain)

    def _block(self, with_above: bool = True) -> str:
        source = self._from()
        self.seen = source.seen
        where = self._where()
        keys = [self._key() for _ in range(self._pick((0, 0, 1, 1, 1, 2)))]
        aggregates = [self._aggregate() for _ in range(self._pick((1, 1, 2, 3)))]
        named = [*(f"{key} AS k{k}" for k, key in enumerate(keys)), *(f"{a} AS a{k}" for k, a in enumerate(aggregates))]
        text = f"SELECT {', '.join(named)} FROM {source.text}{where}"
        if keys:
            text += f" GROUP BY {', '.join(keys)}"
        if with_above and keys and self._is(0.2):
            text += self._pick(
                (" HAVING COUNT(*) > 1", " ORDER BY a0 DESC", " ORDER BY k0 LIMIT 3", " HAVING a0 > 0 OR k0 IS NULL")
            )
        return text

    def _top(self) -> str:
        source = self._from()
        self.seen = source.seen
        key = self._key()
        return f"SELECT {key} AS k0 FROM {source.text}{self._where()} GROUP BY {key} ORDER BY COUNT(*) DESC LIMIT 1"

    def _two_blocks(self) -> str:
        first, second = self._block(with_above=False), self._block(with_above=False)
        way = self._pick(("union", "with", "outer"))
        if way == "union":
            return " UNION ALL ".join(f"SELECT COUNT(*) AS n FROM {self._table_text()}" for _ in range(2))
        if way == "with":
            return f"WITH one AS ({first}), two AS ({second}) SELECT one.a0 AS x, two.a0 AS y FROM one, two"
        return f"SELECT COUNT(*) AS n, MAX(a0) AS most FROM ({first}) q"

    def _table_text(self) -> str:
        return self._pick(self.world.protected).name

    # Rows.

    def _from(self) -> Source:
        ways: list[tuple[int, Callable[[], Source]]] = [
            (8, self._base),
            (3, self._projected),
            (3, self._with_public),
            (2, self._per_unit),
            (1, self._united),
        ]
        if len(self.world.protected) > 1:
            ways.append((4, self._joined))
        ways.append((1, self._self_joined))
        if not self.plain:
            ways.append((1, self._chain))
        (way,) = self.chance.choices([way for _, way in ways], [weight for weight, _ in ways])
        return way()

    def _base(self, table: Table | None = None) -> Source:
        return self._table(table or self._pick(self.world.protected))

    def _alias(self) -> str:
        self._aliases += 1
        return f"q{self._aliases}"

    def _table(self, table: Table) -> Source:
        alias = self._alias()
        seen = tuple(
            Seen(
                f"{alias}.{column.name}",
                column.type,
                is_unit=column.name in ("person", "visit"),
                is_bounded=column.bounds is not None,
                is_listed=column.keys is not None,
                is_public=table.public,
            )
            for column in table.columns
        )
        return Source(f"{table.name} {alias}", seen)

    def _projected(self, count: int | None = None, kinds: Sequence[ColumnType] | None = None) -> Source:
        inner = self._base() if self._is(0.6) else self._with_public()
        outside, self.seen = self.seen, inner.seen
        units = [one for one in inner.seen if one.is_unit][:1]
        wanted = kinds or [self._pick((INTEGER, REAL, TEXT, BOOLEAN, DATE)) for _ in range(self.chance.randint(2, 4))]
        made = [(self.of(kind, 1), kind) for kind in wanted]
        alias = self._alias()
        columns = [
            *(f"{one.name} AS person" for one in units),
            *(f"{text} AS c{k}" for k, (text, _) in enumerate(made)),
        ]
        text = f"(SELECT {', '.join(columns)} FROM {inner.text}{self._where()}) {alias}"
        seen = [*(Seen(f"{alias}.person", INTEGER, is_unit=True) for _ in units)]
        seen += [Seen(f"{alias}.c{k}", kind) for k, (_, kind) in enumerate(made)]
        self.seen = outside
        return Source(text, tuple(seen))

    def _united(self) -> Source:
        kinds = [self._pick((INTEGER, REAL, TEXT)) for _ in range(2)]
        tables = [self._pick(self.world.protected)] * 2
        parts, alias = [], self._alias()
        for table in tables:
            inner = self._table(table)
            self.seen = inner.seen
            columns = ", ".join(f"{self.of(kind, 1)} AS c{k}" for k, kind in enumerate(kinds))
            parts.append(f"SELECT {columns} FROM {inner.text}{self._where()}")
        seen = tuple(Seen(f"{alias}.c{k}", kind) for k, kind in enumerate(kinds))
        return Source(f"({' UNION ALL '.join(parts)}) {alias}", seen)

    def _per_unit(self) -> Source:
        named = [table for table in self.world.protected if table.column("person") is not None]
        if not named:
            return self._base()
        inner = self._table(self._pick(named)) if self._is(0.7) else self._with_public(self._pick(named))
        self.seen = inner.seen
        unit = next(one for one in inner.seen if one.is_unit)
        alias, further = self._alias(), [self._key() for _ in range(self._pick((0, 0, 0, 1)))]
        numbers = []
        for _ in range(self.chance.randint(1, 2)):
            name, kind = self._pick(("COUNT", "SUM", "AVG", "MIN", "MAX")), self._pick((INTEGER, REAL))
            value = "*" if name == "COUNT" else self._bounded(kind)
            shown = INTEGER if name == "COUNT" else REAL if name == "AVG" else kind
            numbers.append((f"{name}({value})", shown))
        columns = [f"{unit.name} AS person", *(f"{key} AS f{k}" for k, key in enumerate(further))]
        columns += [f"{text} AS c{k}" for k, (text, _) in enumerate(numbers)]
        having = " HAVING COUNT(*) > 1" if self._is(0.2) else ""
        grouped = ", ".join([unit.name, *further])
        text = f"(SELECT {', '.join(columns)} FROM {inner.text}{self._where()} GROUP BY {grouped}{having}) {alias}"
        seen = [Seen(f"{alias}.person", INTEGER, is_unit=True)]
        seen += [Seen(f"{alias}.c{k}", kind) for k, (_, kind) in enumerate(numbers)]
        return Source(text, tuple(seen))

    def _publics(self) -> list[Table]:
        return [table for table in self.world.catalog if table.public]

    def _with_public(self, table: Table | None = None) -> Source:
        left, right = self._base(table), self._table(self._pick(self._publics()))
        pairs = [
            (one.name, two.name)
            for one in left.seen
            for two in right.seen
            if one.kind is two.kind or {one.kind, two.kind} == {INTEGER, REAL}
        ]
        pairs = [pair for pair in pairs if not pair[0].endswith("person")] or pairs
        one, two = self._pick(pairs)
        test = f"{one} = {two}"
        if self._is(0.2):
            self.seen = (*left.seen, *right.seen)
            test += f" AND {self.of(BOOLEAN, 1)}"
        if self._is(0.15):
            text = f"{right.text} {self._pick(('JOIN', 'RIGHT JOIN'))} {left.text} ON {test}"
        else:
            text = f"{left.text} {self._pick(('JOIN', 'LEFT JOIN'))} {right.text} ON {test}"
        return Source(text, (*left.seen, *right.seen))

    def _joined(self) -> Source:
        first, second = self.chance.sample(self.world.protected, 2)
        names = [{column.name for column in table.columns} for table in (first, second)]
        shared = [name for name in ("visit", "person") if name in names[0] & names[1]]
        if not shared:
            return self._base()
        left, right = self._source_of(first), self._source_of(second)
        name = self._pick(shared)
        return self._pair(left, right, name)

    def _source_of(self, table: Table) -> Source:
        """A table, or one row per person from it."""
        return self._table(table)

    def _pair(self, left: Source, right: Source, name: str) -> Source:
        one, two = (next(s.name for s in side.seen if s.name.endswith(f".{name}")) for side in (left, right))
        test = f"{one} = {two}"
        if self._is(0.6):
            self.seen = (*left.seen, *right.seen)
            test += f" AND {self._test() if self._is(0.5) else self.of(BOOLEAN, 1)}"
        kind = self._pick(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "FULL JOIN"))
        return Source(f"{left.text} {kind} {right.text} ON {test}", (*left.seen, *right.seen))

    def _self_joined(self) -> Source:
        """A person's rows with their own, or one row per person from two subqueries."""
        named = [table for table in self.world.protected if table.unit is not None]
        if not named:
            return self._base()
        table = self._pick(named)
        if self._is(0.5):
            return self._pair(self._table(table), self._table(table), "person")
        return self._pair(self._one_row_each(table), self._one_row_each(table), "person")

    def _one_row_each(self, table: Table) -> Source:
        inner, alias = self._table(table), self._alias()
        self.seen = inner.seen
        unit = next(one for one in inner.seen if one.name.endswith(".person"))
        value = self._bounded(INTEGER)
        columns = f"{unit.name} AS person, COUNT(*) AS c0, MAX({value}) AS c1"
        text = f"(SELECT {columns} FROM {inner.text} GROUP BY {unit.name}) {alias}"
        return Source(
            text,
            (
                Seen(f"{alias}.person", INTEGER, is_unit=True),
                Seen(f"{alias}.c0", INTEGER),
                Seen(f"{alias}.c1", INTEGER),
            ),
        )

    def _chain(self) -> Source:
        """Joined again and again: whoever matches becomes many rows."""
        left = self._base()
        text, seen, times = left.text, left.seen, self._pick((2, 3, 14, 14))
        unit = next((one for one in left.seen if one.name.endswith(".person")), None)
        if unit is not None and self._is(0.3):
            table = self.world.catalog.table(left.text.split()[0])
            for _ in range(min(times, 8)):
                right = self._table(table)
                other = next(one.name for one in right.seen if one.name.endswith(".person"))
                text += f" JOIN {right.text} ON {unit.name} = {other}"
            return Source(text, seen)
        public = self._pick(self._publics())
        kinds = [column for column in public.columns if any(one.kind is column.type for one in left.seen)]
        column = self._pick(kinds)
        mine = self._pick([one.name for one in left.seen if one.kind is column.type])
        for _ in range(times):
            right = self._table(public)
            text += f" JOIN {right.text} ON {mine} = {right.text.split()[1]}.{column.name}"
        return Source(text, seen)

    def _where(self) -> str:
        tests = []
        if self._is(0.35):
            tests.append(self.of(BOOLEAN, 2))
        if not self.plain and self._is(0.12):
            tests.append(self._about_one())
        if self._is(0.15):
            tests.append(self._member())
        return f" WHERE {' AND '.join(f'({test})' if ' OR ' in test else test for test in tests)}" if tests else ""

    def _member(self) -> str:
        public = self._pick(self._publics())
        column = self._pick([column for column in public.columns if column.type is not DATE])
        kinds = (INTEGER, REAL) if column.type in (INTEGER, REAL) else (column.type,)
        mine = [one.name for one in self.seen if one.kind in kinds and not one.is_unit]
        if not mine:
            return "TRUE"
        return f"{self._pick(mine)} IN (SELECT {column.name} FROM {public.name})"

    def _about_one(self) -> str:
        """A condition that holds for rows of the unit in question alone, perhaps."""
        units = [one for one in self.seen if one.name.endswith(".person")]
        known = f"{self._pick(units).name} = {self.world.target}" if units and self.world.target is not None else None
        other = self.of(BOOLEAN, 0)
        return other if known is None else self._pick((known, f"{known} AND {other}"))

    # Keys and aggregates.

    def _key(self) -> str:
        """What rows are grouped by; the identifier of a unit cannot be in it."""
        outside, self.seen = self.seen, [one for one in self.seen if not one.name.endswith(".person")]
        text = self._any_key()
        self.seen = outside
        return text

    def _any_key(self) -> str:
        listed = [one.name for one in self.seen if one.is_listed or (one.is_bounded and one.kind is DATE)]
        if listed and self._is(0.4):
            return self._pick(listed)
        if self.plain or self._is(0.5):
            return self._public_key()
        if self._is(0.4):
            return self._pick([one.name for one in self.seen if not one.is_unit] or ["TRUE"])
        if self._is(0.4):
            return self._filled(self._pick(SPELLINGS), 1)
        return self.of(self._pick((REAL, REAL, TEXT, INTEGER, DATE, TIMESTAMP)), 2)

    def _public_key(self) -> str:
        dates = [one.name for one in self.seen if one.kind is DATE]
        if dates and self._is(0.2):
            return f"extract({self._pick(('month', 'dow', 'quarter', 'week'))} FROM {self._pick(dates)})"
        return self._filled(self._pick(LISTABLE), 1)

    def _aggregate(self) -> str:
        text = self._plain_aggregate()
        return f"{text} FILTER (WHERE {self.of(BOOLEAN, 1)})" if self._is(0.15) else text

    def _plain_aggregate(self) -> str:
        units = [one.name for one in self.seen if one.name.endswith(".person")]
        dates = [one.name for one in self.seen if one.kind in (DATE, TIMESTAMP) and one.is_bounded]
        listed = [one.name for one in self.seen if one.is_listed]
        ways = ["COUNT(*)", "COUNT(*)", "count", "SUM", "SUM", "AVG", "VARIANCE", "COUNT_IF", "distinct"]
        ways += ["people"] if units else []
        ways += (
            [] if self.plain else ["MIN", "MAX", "MEDIAN", "QUANTILE", "STDDEV", "MODE", *(["dates"] if dates else [])]
        )
        written: dict[str, Callable[[], str]] = {
            "COUNT(*)": lambda: "COUNT(*)",
            "count": lambda: f"COUNT({self.of(self._any_kind(), 1)})",
            "COUNT_IF": lambda: f"COUNT_IF({self.of(BOOLEAN, 1)})",
            "distinct": lambda: f"COUNT(DISTINCT {self.of(self._any_kind(), 1)})",
            "people": lambda: f"COUNT(DISTINCT {self._pick(units)})",
            "dates": lambda: f"{self._pick(('MIN', 'MAX', 'MEDIAN'))}({self._pick(dates)})",
            "MODE": lambda: f"MODE({self._pick(listed) if listed and self._is(0.5) else self._public_key()})",
            "QUANTILE": lambda: f"QUANTILE({self._bounded(REAL)}, {self._pick(('0.25', '0.9', '0.333'))})",
        }
        name = self._pick(ways)
        return written[name]() if name in written else f"{name}({self._bounded(self._pick((INTEGER, REAL)))})"

    def _any_kind(self) -> ColumnType:
        return self._pick((INTEGER, REAL, TEXT, DATE, BOOLEAN))

    def _bounded(self, kind: ColumnType) -> str:
        """A number with public bounds."""
        bounded = [one.name for one in self.seen if one.is_bounded and one.kind is kind]
        if bounded and self._is(0.4):
            return self._pick(bounded)
        if self._is(0.35) and not self.plain:  # bounds that follow from what it is made of
            outside = self.seen
            self.seen = [one for one in outside if one.is_bounded or one.kind not in (INTEGER, REAL)]
            text = self.of(kind, 2)
            self.seen = outside
            return text
        ends = [("0", "10"), ("-1", "1"), ("-64", "64")]
        if not self.plain:
            ends += [("0", "1"), ("-9223372036854775807", "9223372036854775807"), (str(2**62), str(2**62 + 700)),
                     ("0.1", "0.3"), ("-1e46", "1e46"), ("9007199254740993", "9007199254740995")]  # fmt: skip
        low, high = self._pick(ends)
        return f"GREATEST({low}, LEAST({high}, {self.of(kind, 2)}))"

    # Expressions.

    def of(self, kind: ColumnType, depth: int) -> str:
        """An expression of a type."""
        if depth <= 0 or self._is(0.25):
            return self._leaf(kind)
        if not self.plain and self._is(0.12):
            return self._chosen(kind, depth)
        return self._filled(self._pick(self._templates(kind)), depth - 1)

    def _templates(self, kind: ColumnType) -> Sequence[str]:
        more = EXACT_TEMPLATES.get(kind, ()) if self.plain else HOSTILE_TEMPLATES[kind]
        return (*TEMPLATES[kind], *more)

    def _filled(self, template: str, depth: int) -> str:
        """The template with something in each of its slots; slots with one number hold the same."""
        known: dict[str, str] = {}

        def fill(found: re.Match[str]) -> str:
            slot = found[1]
            if slot not in known or not slot[-1].isdigit():
                known[slot] = self._slot(slot.rstrip("0123456789"), depth)
            return known[slot]

        return _SLOT.sub(fill, template)

    def _slot(self, slot: str, depth: int) -> str:
        if slot in _KINDS:
            return self.of(_KINDS[slot], depth)
        if slot in _CHOICES:
            return self._pick(_CHOICES[slot])
        ways: dict[str, Callable[[], str]] = {
            "m": lambda: self._filled("({li} * {exact})", depth),
            "dated": lambda: self.of(self._pick((DATE, TIMESTAMP)), depth),
            "any": lambda: self.of(self._any_kind(), depth),
            "end": lambda: self._at_the_end(depth),
            "cancelled": self._cancelled,
            "nan": lambda: self._filled("({lr1} * 1e308 * 1e308 - {lr1} * 1e308 * 1e308)", depth),
            "about": self._about_one,
            "li": lambda: self._leaf(INTEGER),
            "lr": lambda: self._leaf(REAL),
            "ci": lambda: self._constant(INTEGER),
            "cr": lambda: self._constant(REAL),
            "cs": lambda: self._constant(TEXT),
            "cd": lambda: self._constant(DATE),
            "few": lambda: str(self.chance.randint(0, 2000)),
        }
        return ways[slot]()

    def _leaf(self, kind: ColumnType) -> str:
        if kind is BOOLEAN and self._is(0.7):
            return self._test()
        names = [one.name for one in self.seen if one.kind is kind and not one.is_unit]
        return self._pick(names) if names and self._is(0.75) else self._constant(kind)

    def _test(self) -> str:
        """Something that holds for some rows and not for others."""
        simple = [one for one in self.seen if not one.is_unit and one.kind in (INTEGER, REAL, TEXT, DATE)]
        if not simple:
            return self._constant(BOOLEAN)
        one = self._pick(simple)
        if self._is(0.2):
            return f"{one.name} IS NULL"
        return f"{one.name} {self._pick(_CHOICES['cmp'])} {written(self._pick(ORDINARY[one.kind]))}"

    def _constant(self, kind: ColumnType) -> str:
        hostile = not self.plain and self._is(0.5)
        if hostile and kind is INTEGER:
            return str(self._pick((1, -1)) * (self._pick(WHOLE_ENDS) - self.chance.randint(0, 1030)))
        if hostile and kind is REAL and self._is(0.4):
            return f"{self._pick(WHOLE_ENDS) + self.chance.randint(-1030, 0)}e0"
        if hostile and kind is REAL:
            return self._pick(_CONSTANTS)
        return written(self._pick((VALUES if hostile else ORDINARY)[kind]))

    def _chosen(self, kind: ColumnType, depth: int) -> str:
        """A value that hangs on a condition, as an attacker writes it."""
        test = self._about_one() if self._is(0.6) else self.of(BOOLEAN, depth - 1)
        other = "" if self._is(0.15) else f" ELSE {self.of(kind, depth - 1)}"
        return f"CASE WHEN {test} THEN {self.of(kind, depth - 1)}{other} END"

    def _at_the_end(self, depth: int) -> str:
        """Two numbers that fit a word together, or just do not: by how a real number is rounded, for example."""
        sign = self._pick((1, 1, -1))
        first = self._pick((2**62, 2**62, 2**53)) + self.chance.randint(-600, 1100)
        second = 2**63 - 1 - first - self.chance.randint(0, 3)
        condition = self._about_one() if self._is(0.6) else self.of(BOOLEAN, depth)
        number = f"CASE WHEN {condition} THEN {sign * first}{'e0' if self._is(0.7) else ''} ELSE 0 END"
        if self._is(0.8):
            number = f"CAST({number} AS BIGINT)"
        return f"({number} {'+' if sign > 0 else '-'} {second})"

    def _cancelled(self) -> str:
        """Terms that cancel in real numbers and leave something in floating point."""
        big, few = self._pick(("1e46", "1e30", "1e23", "1e17", "1e-1")), self._pick((3, 7, 9))
        return f"({big} * {few}.0 - {big.replace('1e', f'{few}e')})"

    # Chance.

    def _is(self, probability: float) -> bool:
        return self.chance.random() < probability

    def _pick(self, options: Sequence[Any]) -> Any:
        return options[int(self.chance.random() * len(options))]


def written(value: object) -> str:
    """A constant as it stands in SQL."""
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
