"""One corpus for every engine: the same plans on the same hostile rows give the same integers everywhere.

To add an engine: subclass `SameEverywhere`, and say how tables get to the server and what it refuses. DuckDB, whose
language plans are written in, is what the others are held against.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import ColumnType
from discreet.catalog.table import Table
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.engine import TableStore
from discreet.errors import EngineFailure, QueryRefused
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.bind.names import collect_names, table_rows
from discreet.query.bind.relation import Names, Relation
from discreet.query.expressions.expression import Expression, Statement
from discreet.query.expressions.read import read
from discreet.query.passes import split
from discreet.query.question import PlannedQuestion, prepare, prepare_all
from discreet.query.run.contribution_bounds import write_statements
from tests.query import few_rows, test_totality, test_unlisted_keys
from tests.query.hostile import DATES, REALS, TIMES, WHOLE, WORDS
from tests.query.world import _ARROW, CATALOG, COUNT_ALIKE, PUBLIC_VALUES, SITES, WARDS, read_pairs, read_queries
from tests.thoroughness import some

MORE_WORDS = ("Straße", "ÉCLAIR", "éclair", "İstanbul", "ǅ", "ﬁ", "日本", "🦆", "e\u0301", " a ", "\ta\n", "-5", "5.0",
              "1e3", "t", "yes", "2021-02-30", "2021-02-03 04:05:06", "b\\", "_", "a_b", "x" * 300)  # fmt: skip
MORE_DATES = (
    date(2020, 12, 28),
    date(2021, 1, 3),
    date(2020, 3, 31),
    date(1, 1, 1),
    date(2000, 1, 1),
    date(1900, 2, 28),
)
MORE_TIMES = (
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2021, 1, 31, 23, 30),
    datetime(2021, 3, 31, 11, 59, 59),
)
ROWS = 260


@dataclass(frozen=True)
class Case:
    """One statement of the corpus."""

    query: str
    """The question that it belongs to."""
    statement: str
    """In the language of plans."""
    parameters: list[object]
    """What is bound beside it."""


@cache
def cases() -> list[Case]:
    """Every different statement that the corpus of queries becomes."""
    queries = [*read_queries("answers.sql"), *read_queries("measured.sql")]
    queries += [query for name in ("spelled.sql", "weighted.sql") for query, _ in read_pairs(name)]
    questions = [
        (query, prepare(query, CATALOG, Pure(1), public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE))
        for query in dict.fromkeys(queries)
    ]
    for groups, unlisted in ((1, test_unlisted_keys.QUERIES[:3]), (2, test_unlisted_keys.QUERIES)):
        few = Catalog([replace(t, groups_per_unit=groups) if t.unit == "patient_id" else t for t in CATALOG])
        price, delta = ZeroConcentrated(1), Fraction(1, 10**6)
        questions += [(query, prepare(query, few, price, delta=delta)) for query in unlisted]
    questions += [
        (query, prepare(query, few_rows.catalog_with(1), ZeroConcentrated(1), delta=Fraction(1, 10**6)))
        for query in (*few_rows.LISTED, *few_rows.UNLISTED)
    ]
    questions += [(query, _of_rows_that_change(query)) for query in queries if " JOIN " in query]
    found = {
        (statement, repr(parameters)): Case(query, statement, parameters)
        for query, question in questions
        for plan in question.plans
        for statement, parameters in write_statements(plan)
    }
    return list(found.values())


def few_of_every_kind(wanted: Container[str] = (), refused: Container[str] = (), others: int = 0) -> list[Case]:
    """Statements of the wanted questions, some that hold every kind of part between them, and so many others.

    Functions of expressions that are not refused are left to those: there, every value is compared.
    """
    chosen, seen = [], _parts_of(shown([text for text in expressions()[1] if text not in refused])[0])
    for parts, case in sorted(((_parts_of(case.statement), case) for case in cases()), key=lambda pair: -len(pair[0])):
        if case.query in wanted:
            chosen.append(case)
        elif not parts <= seen:
            chosen.append(case)
            seen |= parts
    return [*chosen, *some((case for case in cases() if case not in chosen), others)]


@cache
def _parts_of(statement: str) -> frozenset[str]:
    """The kinds of parts that a statement is made of."""
    return frozenset(
        f"{type(node).__name__} {node.name if isinstance(node, exp.Anonymous) else ''} {node.args.get('side') or ''}"
        for node in sqlglot.parse_one(statement, read="duckdb").walk()
    )


def _of_rows_that_change(query: str) -> PlannedQuestion:
    """The question as it is planned for a server, where public rows can become more after they were counted."""
    parts = split(query, CATALOG, at_rest=False, count_alike=COUNT_ALIKE)
    return prepare_all([parts], Pure(1), public_values=PUBLIC_VALUES)[0]


def tables(*, nul: bool = True) -> dict[str, pa.Table]:
    """The worst rows there can be, in every table; without the character NUL where an engine's text cannot hold it."""
    words = [word for word in (*WORDS, *MORE_WORDS) if nul or "\x00" not in word]
    lists: list[list[Any]] = [
        [None, *words[:4], *words],
        [None, *WHOLE, *range(0, 100, 9)],
        [None, *REALS, *(k * 53.25 for k in range(12)), 0.5, 1.5, 2.5, -2.5, 1e-200, -1e-200],
        [None, *REALS, *(k * 1.5 - 20 for k in range(12)), 1e200, -1e200, 1e-300, 3.0],
        [None, *WHOLE, *range(-20, 20, 3), 2**32, 3037000500],
        [None, *DATES, *MORE_DATES],
        [None, *TIMES, *MORE_TIMES],
        [None, True, False],
        [None, *words],
        [None, "x", "y", "z"],
        [None, *TIMES, *MORE_TIMES, datetime(2021, 2, 14, 12, 34, 56, 789)],
    ]
    visits = [
        (k * k % 71, *(values[(k * step + k // 7) % len(values)] for step, values in zip(count(1), lists)))
        for k in range(ROWS)
    ]
    patients = [(k, (1950 + k, None, 2**60, 1899)[k % 4], ("f", "m", "x", None)[k % 4]) for k in range(60)]
    survey = [(WHOLE[k % len(WHOLE)] if k % 3 else k, (True, False, None)[k % 3]) for k in range(50)]
    rows: dict[str, list[tuple[Any, ...]]] = {"visits": visits, "swaps": visits, "patients": patients, "survey": survey}
    rows |= {"wards": [row for _, row in WARDS], "sites": [row for _, row in SITES]}
    return {table.name: _arrow(table, rows[table.name]) for table in CATALOG}


def _arrow(table: Table, rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table({c.name: pa.array([row[k] for row in rows], _ARROW[c.type]) for k, c in enumerate(table.columns)})


@cache
def expressions() -> tuple[Relation, dict[str, Expression]]:
    """The rows, and every expression that is tried for totality, by its text."""
    rows = table_rows(CATALOG.table("visits"), CATALOG, Names())
    names = collect_names([("visits", rows)])
    return rows, {text: read(test_totality._parsed(dialect, text), names) for dialect, text in test_totality.ALL}


def shown(texts: Sequence[str]) -> tuple[str, list[object]]:
    """A statement that shows the values of expressions for every row, which no plan does."""
    rows, known = expressions()
    statement, columns = Statement(), []
    for k, text in enumerate(texts):
        written = known[text].write(statement)
        if known[text].type in (ColumnType.DATE, ColumnType.TIMESTAMP):  # Python has no others than these
            first, last = (statement.bind(end, ColumnType.TIMESTAMP) for end in (datetime.min, datetime.max))
            written = f"CASE WHEN {written} BETWEEN {first} AND {last} THEN {written} END"
        columns.append(f"{written} AS v{k}")
    return f"SELECT {', '.join(columns)} FROM ({rows.write(statement)}) r", statement.parameters


def comparable(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows in an order of their own, and numbers as numbers."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value)
    return "nan" if isinstance(value, float) and math.isnan(value) else value


class SameEverywhere(ABC):
    """What an engine must do like DuckDB."""

    holds_nul: ClassVar[bool] = True
    """Whether text may hold the character NUL."""
    at_once: ClassVar[int] = 40
    """How many expressions one statement shows."""
    most: ClassVar[int] = 2000
    """How many expressions have their values compared in a quick run, spread evenly."""
    refused: ClassVar[dict[str, str]] = {}
    """Per question of the corpus that the engine refuses, a few words of its refusal."""
    refused_expressions: ClassVar[dict[str, str]] = {}
    """Likewise per expression."""

    @classmethod
    def corpus(cls) -> list[Case]:
        """The statements that are run; an engine that takes long to plan one may take fewer."""
        return few_of_every_kind(cls.refused, cls.refused_expressions, others=12)

    @pytest.fixture(scope="class")
    @classmethod
    def place(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TableStore]:
        """The engine with all tables protected."""
        with cls().opened(tmp_path_factory.mktemp("place"), tables(nul=cls.holds_nul)) as place:
            yield place

    @pytest.fixture(scope="class")
    @classmethod
    def reference(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TableStore]:
        """DuckDB with the same tables."""
        with DuckDBEngine(tmp_path_factory.mktemp("reference"), threads=1) as place:
            given = tables(nul=cls.holds_nul)
            for table in CATALOG:
                place.take_in(table, given[table.name], catalog=CATALOG)
            yield place

    @abstractmethod
    def opened(self, folder: Path, given: dict[str, pa.Table]) -> TableStore:
        """The engine, with these tables brought to its server and protected under the policies of the catalog."""

    def test_every_statement_gives_the_same_integers_or_is_refused_before_anything_is_read(
        self, place: TableStore, reference: TableStore
    ) -> None:
        wrong, refused = [], {}
        for case in self.corpus():
            try:
                place.check(case.statement, case.parameters)
            except QueryRefused as refusal:
                refused[case.query] = str(refusal)
                continue
            try:
                found = comparable(place.run(case.statement, case.parameters))
            except EngineFailure:
                wrong.append(f"{case.query}\n  failed: {case.statement}")
                continue
            wanted = comparable(reference.run(case.statement, case.parameters))
            if found != wanted:
                wrong.append(f"{case.query}\n  {case.statement}\n  wanted {wanted}\n  found  {found}")
        assert not wrong, f"{len(wrong)} of {len(self.corpus())}:\n" + "\n".join(wrong)
        for query, words in self.refused.items():
            assert words in refused.pop(query)
        assert not refused, refused

    def test_every_expression_has_the_same_values_or_is_refused(self, place: TableStore, reference: TableStore) -> None:
        wrong, refused = [], {}
        for text in self.refused_expressions:
            refused |= _refusals(place, [text])
        allowed = [text for text in expressions()[1] if text not in refused]
        for start in range(0, len(allowed), self.at_once):
            refused |= _refusals(place, allowed[start : start + self.at_once])
        allowed = some((text for text in allowed if text not in refused), self.most)
        for start in range(0, len(allowed), self.at_once):
            wrong += _differences(place, reference, allowed[start : start + self.at_once])
        assert not wrong, f"{len(wrong)} of {len(allowed)}:\n" + "\n".join(wrong)
        for text, words in self.refused_expressions.items():
            assert words in refused.pop(text)
        assert not refused, refused


def _refusals(place: TableStore, texts: Sequence[str]) -> dict[str, str]:
    """The expressions that are refused, and the words; several are tried at once, and by themselves where one is."""
    try:
        place.check(*shown(texts))
    except QueryRefused as refusal:
        half = len(texts) // 2
        if half == 0:
            return {texts[0]: str(refusal)}
        return _refusals(place, texts[:half]) | _refusals(place, texts[half:])
    return {}


def _differences(place: TableStore, reference: TableStore, texts: Sequence[str]) -> list[str]:
    wanted = reference.run(*shown(texts))
    try:
        found = place.run(*shown(texts))
    except EngineFailure:
        half = len(texts) // 2
        if half == 0:
            return [f"{texts[0]}\n  failed: {shown(texts)}"]
        return _differences(place, reference, texts[:half]) + _differences(place, reference, texts[half:])
    wrong = []
    for text, mine, theirs in zip(texts, found.columns, wanted.columns, strict=True):
        pairs = zip(_ordered(mine), _ordered(theirs), strict=True)
        if unlike := [(one, two) for one, two in pairs if not _is_close(one, two)]:
            wrong.append(f"{text}\n  {shown([text])[0]}\n  found and wanted {unlike[:5]}")
    return wrong


def _ordered(column: pa.ChunkedArray) -> list[Any]:
    return sorted(map(_plain, column.to_pylist()), key=lambda value: (type(value).__name__, value is None or value))


def _is_close(one: Any, two: Any) -> bool:
    """Equal, or real numbers of which mathematical libraries round the last digits differently."""
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=1e-12, abs_tol=1e-300)
    return type(one) is type(two) and bool(one == two)
