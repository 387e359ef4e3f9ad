"""More random SQL: the functions and clauses that the first grammar leaves out.

It is a grammar of its own, so that worlds in which planted bugs are known to show stay where they are: functions of
texts and patterns, other spellings of choices, joins of subqueries with computed columns (two zeros, numbers that are
none), members of lists that are computed, and USING.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.catalog.column import ColumnType
from discreet.catalog.table import Table
from tests.fuzz.grammar import BOOLEAN, DATE, INTEGER, REAL, SPELLINGS, TEXT, TIMESTAMP, Grammar, Seen, Source

__all__ = ["WiderGrammar"]

_WIDER: dict[ColumnType, tuple[str, ...]] = {
    INTEGER: (
        "instr({s}, {s})", "char_length({s})", "IF({b}, {i}, {ci})", "zeroifnull({i})", "NVL2({any}, {i}, {i})",
        "IFNULL({i}, {i})", "signum({r})", "truncate({r})", "datediff('{unit}', {dated}, {dated})", "year({dated})",
        "week({dated})", "dayofweek({dated})", "isodow({dated})", "CAST({zero} AS BIGINT)",
    ),
    REAL: (
        "safe_divide({r}, {r})", "square({r})", "IF({b}, {r}, {i})", "zeroifnull({r})", "pow({zero}, -1)", "{zero}",
        "GREATEST({zero}, {zero})", "COALESCE({zero}, {r})", "NULLIF({r}, {zero})", "epoch({dated})", "({r} / {zero})",
        "CAST(CAST({r} AS VARCHAR) AS DOUBLE)",
    ),
    TEXT: (
        "ltrim({s})", "rtrim({s})", "trim({s}, 'a')", "right({s}, 2)", "left({s}, -1)", "substring({s}, -2, 1)",
        "substring({s}, 0)", "substring({s}, 2, -1)", "dayname({dated})", "replace({s}, 'aa', 'b')", "concat({s}, {s})",
        "strftime({dated}, '%j %V %G %u %H:%M:%S')", "CAST({zero} AS VARCHAR)", "IFNULL({s}, {cs})",
    ),
    BOOLEAN: (
        "{s} ILIKE '%A_'", "{s} NOT LIKE '_%'", "{s} LIKE '%a%b%'", "regexp_matches({s}, '^[a-z]{1,3}')",
        "regexp_full_match({s}, '.?')", "ends_with({s}, 'a')", "contains({s}, {s})", "({b}) IS TRUE",
        "({b}) IS NOT FALSE", "{d} BETWEEN {cd} AND {d}", "{w} BETWEEN {w} AND {w}", "{r} IS NOT DISTINCT FROM {zero}",
        "{zero} = {zero}", "pow({zero}, -1) > 0", "{s} IN ({s}, {cs})", "CAST({s} AS BOOLEAN)",
    ),
    DATE: (
        "add_months({d}, {i})", "dateadd('day', {i}, {d})", "IF({b}, {d}, {cd})", "CAST(CAST({d} AS VARCHAR) AS DATE)",
    ),
    TIMESTAMP: ("timestampadd(SECOND, {i}, {w})", "COALESCE({w}, {w})", "CASE WHEN {b} THEN {w} END"),
}  # fmt: skip
_ZEROS = (
    "(({lr1} - {lr1}) * (-1.0))",
    "({lr1} - {lr1})",
    "({lr} * 0.0)",
    "CASE WHEN {b} THEN -({lr1} * 0.0) ELSE {lr1} * 0.0 END",
)


class WiderGrammar(Grammar):
    """Draws from more productions."""

    def _templates(self, kind: ColumnType) -> Sequence[str]:
        return super()._templates(kind) if self._is(0.4) else _WIDER[kind]

    def _slot(self, slot: str, depth: int) -> str:
        return self._filled(self._pick(_ZEROS), 0) if slot == "zero" else super()._slot(slot, depth)

    def _from(self) -> Source:
        if self._is(0.3):
            return self._of_computed()
        return self._using() if self._is(0.1) else super()._from()

    def _of_computed(self) -> Source:
        """A person's computed rows with their own."""
        named = [table for table in self.world.protected if table.column("person") is not None]
        if not named:
            return super()._from()
        table = self._pick(named)
        return self._pair(self._computed(table), self._computed(table), "person")

    def _computed(self, table: Table) -> Source:
        inner, alias = self._table(table), self._alias()
        self.seen = inner.seen
        unit = next(one.name for one in inner.seen if one.name.endswith(".person"))
        self.seen = [one for one in inner.seen if not one.name.endswith(".person")]
        first = self._filled(self._pick((*SPELLINGS[:5], "{zero}", "{zero}", "{zero}")), 1)
        second = "1" if self._is(0.5) else self.of(INTEGER, 1)  # where nothing else differs, rows can be equal
        columns = f"{unit} AS person, {first} AS c0, {second} AS c1"
        seen = (Seen(f"{alias}.person", INTEGER, is_unit=True), Seen(f"{alias}.c0", REAL), Seen(f"{alias}.c1", INTEGER))
        return Source(f"(SELECT {columns} FROM {inner.text}) {alias}", seen)

    def _where(self) -> str:
        """Now and then, a function that tells two zeros apart."""
        zeros = [one.name for one in self.seen if one.name.endswith(".c0") and one.kind is REAL]
        return f" WHERE pow({self._pick(zeros)}, -1) > 0" if zeros and self._is(0.4) else super()._where()

    def _using(self) -> Source:
        left, right = self._base(), self._table(self._pick(self._publics()))
        kinds = {one.name.partition(".")[2]: one.kind for one in left.seen}
        shared = [name for one in right.seen if kinds.get(name := one.name.partition(".")[2]) is one.kind]
        if not shared:
            return left
        name = self._pick(shared)
        kept = tuple(one for one in (*left.seen, *right.seen) if not one.name.endswith(f".{name}"))
        return Source(f"{left.text} {self._pick(('JOIN', 'LEFT JOIN'))} {right.text} USING ({name})", kept)

    def _member(self) -> str:
        """A value that a public table lists, or that is computed from its rows."""
        if self._is(0.4):
            return super()._member()
        kind = self._pick((INTEGER, REAL, REAL, TEXT))
        value, outside, listed = self.of(kind, 1), self.seen, self._table(self._pick(self._publics()))
        self.seen = listed.seen
        text = self._filled(self._pick(SPELLINGS[:5]), 0) if kind is REAL else self.of(kind, 1)
        self.seen = outside
        return f"{value} IN (SELECT {text} FROM {listed.text})"
