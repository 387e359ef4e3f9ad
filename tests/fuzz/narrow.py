"""Random SQL about what a planner leaves out: groups that WHERE excludes, pairs that no public row has, and FILTERs.

It is a grammar of its own, so that worlds in which planted bugs are known to show stay where they are. Conditions are
about one column and a few constants, so that some exclude each other, some do so but for an end or a missing value, and
some do not at all.
"""

from __future__ import annotations

from tests.fuzz.grammar import BOOLEAN, DATE, INTEGER, REAL, TEXT, Grammar, Seen, Source, written
from tests.fuzz.hostile_values import ORDINARY

__all__ = ["NarrowGrammar"]

_TESTS = (
    "{x} = {c}", "{x} = {c}", "{x} IN ({c}, {c})", "{x} < {c}", "{x} <= {c}", "{x} > {c}", "{x} >= {c}", "{x} <> {c}",
    "{x} BETWEEN {c} AND {c}", "NOT ({x} < {c})", "{x} IS NULL", "({x} = {c} OR {x} > {c})", "({x} = {c}) IS NOT TRUE",
)  # fmt: skip


class NarrowGrammar(Grammar):
    """Draws questions whose groups and conditions the planner looks at."""

    def question(self) -> str:
        """One question."""
        self._aliases = 0
        source = self._with_public() if self._is(0.5) else self._base() if self._is(0.7) else self._projected()
        self.seen = source.seen
        keys = self._keys(source)
        where = f" WHERE {self._narrowing(keys)}" if keys and self._is(0.8) else self._where()
        aggregates = self._filtered() if self._is(0.5) else [self._plain_aggregate(), "COUNT(*)"]
        named = [*(f"{key} AS k{k}" for k, key in enumerate(keys)), *(f"{a} AS a{k}" for k, a in enumerate(aggregates))]
        grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join(named)} FROM {source.text}{where}{grouped}"

    def _keys(self, source: Source) -> list[str]:
        """Columns with public values, often several of one public table, or what is computed from them."""
        public = [one for one in source.seen if one.is_public]
        listed = [one for one in source.seen if (one.is_listed or one.is_bounded) and not one.is_unit]
        able = public if public and self._is(0.6) else [*listed, *public]
        able = [one for one in able if one.kind in (INTEGER, TEXT, DATE) or one.is_public]
        count = min(self._pick((0, 1, 1, 2, 2)), len(able))
        return list(dict.fromkeys(self._of_key(one) for one in self.chance.sample(able, count)))

    def _of_key(self, one: Seen) -> str:
        if self._is(0.75):
            return one.name
        ways = {TEXT: "upper({})", DATE: "date_trunc('month', {})", INTEGER: "({} // 2)", REAL: "({} > 1)"}
        return ways[one.kind].format(one.name)

    def _narrowing(self, keys: list[str]) -> str:
        """What keys must be: alternatives of tests about them, and perhaps about something else."""
        about = [one for one in self.seen if any(one.name in key for key in keys) and one.kind in ORDINARY]
        others = [one for one in self.seen if not one.is_unit and one.kind in (INTEGER, REAL, TEXT, DATE)]
        if not about:
            return self.of(BOOLEAN, 1)
        alternatives = []
        for _ in range(self._pick((1, 1, 2, 3))):
            tests = [self._about(one) for one in about if self._is(0.8)]
            tests += [self._about(self._pick(others))] if others and self._is(0.3) else []
            alternatives.append(" AND ".join(tests) or "TRUE")
        joined = " OR ".join(f"({one})" for one in alternatives)
        return f"NOT ({joined})" if self._is(0.1) else joined

    def _filtered(self) -> list[str]:
        """Aggregates under conditions about one column."""
        able = [one for one in self.seen if not one.is_unit and one.kind in (INTEGER, REAL, TEXT, DATE)]
        if not able:
            return ["COUNT(*)"]
        one = self._pick(able)
        found = [self._under(self._about(one)) for _ in range(self._pick((2, 2, 3)))]
        return found + (["COUNT(*)"] if self._is(0.3) else [])

    def _under(self, test: str) -> str:
        value = self._bounded(self._pick((INTEGER, REAL)))
        ways = (
            f"COUNT(*) FILTER (WHERE {test})", f"COUNT(*) FILTER (WHERE {test})", f"COUNT_IF({test})",
            f"SUM({value}) FILTER (WHERE {test})", f"AVG({value}) FILTER (WHERE {test})",
            f"SUM(CASE WHEN {test} THEN {value} ELSE 0 END)", f"COUNT(CASE WHEN {test} THEN 1 END)",
        )  # fmt: skip
        return str(self._pick(ways))

    def _about(self, one: Seen) -> str:
        text = str(self._pick(_TESTS))
        while "{c}" in text:
            text = text.replace("{c}", written(self._pick(ORDINARY[one.kind][:4])), 1)
        return text.replace("{x}", one.name)
