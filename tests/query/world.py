"""A small world for queries: a catalog, and databases in memory with whatever rows a test wants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.engines.parameters import bind_parameter
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.aggregate import PlannedSelection
from discreet.query.answer.intervals import noisy_table
from discreet.query.answer.sandbox import post_process
from discreet.query.bind.public_tables import PublicMultiplicity, PublicValues
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion, prepare
from discreet.query.run.measure import Groups, Measured, exact_sums, public_groups

FIXTURES = Path(__file__).parent / "fixtures"
INTEGER, REAL, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT, ColumnType.BOOLEAN
DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
ROWS_PER_UNIT = 3

_VISIT = (
    Column("patient_id", INTEGER, nullable=True),
    Column("ward", TEXT, keys=("a", "b", "it's", "Ω"), nullable=True),
    Column("age", INTEGER, lower=0, upper=110, nullable=True),
    Column("cost", REAL, lower=0, upper=1000, nullable=True),
    Column("score", REAL, nullable=True),
    Column("big", INTEGER, nullable=True),
    Column("day", DATE, lower=date(2020, 1, 1), upper=date(2021, 12, 31), nullable=True),
    Column("seen", TIMESTAMP, nullable=True),
    Column("flag", BOOLEAN, nullable=True),
    Column("note", TEXT, nullable=True),
    Column("kind", TEXT, keys=("x", "y"), default="x", nullable=True),
    Column("met", TIMESTAMP, lower=datetime(2021, 1, 1), upper=datetime(2021, 3, 31, 12), nullable=True),
)


def _visits(name: str, neighbours: Neighbours, keys: tuple[ForeignKey, ...] = ()) -> Table:
    return Table(
        name,
        _VISIT,
        unit="patient_id",
        budget=Budget(3),
        rows_per_unit=ROWS_PER_UNIT,
        neighbours=neighbours,
        foreign_keys=keys,
    )


CATALOG = Catalog(
    [
        _visits("visits", Neighbours.ADD_REMOVE_ONE, (ForeignKey("patient_id", "patients", "id"),)),
        _visits("swaps", Neighbours.REPLACE_ONE),
        Table(
            "patients",
            (
                Column("id", INTEGER),
                Column("born", INTEGER, lower=1900, upper=2020, nullable=True),
                Column("sex", TEXT, keys=("f", "m", None)),
            ),
            unit="id",
            budget=Budget(3),
            rows_per_unit=ROWS_PER_UNIT,
        ),
        Table(
            "survey",
            (Column("age", INTEGER, lower=0, upper=110, nullable=True), Column("ok", BOOLEAN, nullable=True)),
            budget=Budget(3),
        ),
        Table(
            "wards",
            (Column("name", TEXT, keys=("a", "b", "it's", "Ω")), Column("floor", INTEGER, lower=0, upper=5)),
            public=True,
        ),
        Table(
            "sites",
            (
                Column("ward", TEXT),
                Column("region", TEXT),
                Column("opened", DATE, lower=date(1990, 1, 1), upper=date(2030, 1, 1)),
                Column("rate", REAL, lower=0, upper=2, default=1),
            ),
            public=True,
        ),
    ]
)
WARDS = [(0, ("a", 1)), (0, ("b", 2)), (0, ("b", 3)), (0, ("it's", 2))]  # b stands twice: a join repeats its rows
SITES = [
    (0, ("a", "north", date(1980, 5, 5), 0.5)),
    (0, ("b", "south", date(2001, 2, 3), 7.0)),
    (0, ("it's", None, None, None)),
    (0, ("zz", "north", date(2020, 1, 1), math.nan)),
]
_PUBLIC = {"wards": WARDS, "sites": SITES}
_TYPES = {INTEGER: "BIGINT", REAL: "DOUBLE", TEXT: "VARCHAR", BOOLEAN: "BOOLEAN", DATE: "DATE", TIMESTAMP: "TIMESTAMP"}
_ARROW = {
    INTEGER: pa.int64(),
    REAL: pa.float64(),
    TEXT: pa.string(),
    BOOLEAN: pa.bool_(),
    DATE: pa.date32(),
    TIMESTAMP: pa.timestamp("us"),
}

Row = tuple[Any, ...]
Rows = Mapping[str, Iterable[tuple[int, Row]]]
"""Per table, rows with the number of the unit they belong to; what a short row leaves out is missing."""


def nothing_measured(plan: AggregationPlan) -> Measured:
    """The shape of what a block will release, with zeros for values; no row is read."""
    nobody = pa.table({f"k{k}": pa.array([], pa.null()) for k in range(len(plan.block.keys))})
    groups = public_groups(plan) if plan.rule is None else Groups.shown(plan.block.keys, nobody)
    zeros = np.zeros(len(groups), np.int64)
    if plan.top is not None:
        return Measured(plan, groups, [], [zeros])
    return Measured(plan, groups, [[zeros] * priced.part.size for priced in plan.parts], [zeros for _ in plan.choices])


class World:
    """A database with these rows, which stay as they are; ``run`` is what an engine would do, once per statement."""

    def __init__(self, rows: Rows) -> None:
        self._found: dict[str, pa.Table] = {}
        self.database = duckdb.connect(":memory:", config={"threads": 1})
        for table in CATALOG:
            given = list(rows.get(table.name, _PUBLIC.get(table.name, ())))
            self._fill(table, given)

    def _fill(self, table: Table, rows: list[tuple[int, Row]]) -> None:
        columns = {"_unit": pa.array([unit for unit, _ in rows], pa.int64())}
        for k, column in enumerate(table.columns):
            columns[column.name] = pa.array([row[k] if k < len(row) else None for _, row in rows], _ARROW[column.type])
        self.database.register("given", pa.table(columns))
        self.database.execute(f'CREATE TABLE "{table.name}" AS SELECT * FROM given')
        self.database.unregister("given")

    def run(self, text: str, parameters: list[object]) -> pa.Table:
        asked = repr((text, parameters))
        if asked not in self._found:
            values = [bind_parameter(value) for value in parameters]
            table = self.database.sql(text, params=values).to_arrow_table() if values else self.plain(text)
            self._found[asked] = table
        return self._found[asked]

    def plain(self, text: str) -> pa.Table:
        return self.database.sql(text).to_arrow_table()

    def public(self, question: PlannedQuestion) -> dict[str, pa.Table]:
        return {name: self.plain(f'SELECT * EXCLUDE (_unit) FROM "{name}"') for name in question.split.public_tables}


def answer_without_noise(question: PlannedQuestion, world: World) -> pa.Table:
    """What the question would answer if all noise happened to be zero."""
    tables = {}
    for block, plan in zip(question.split.blocks, question.plans, strict=True):
        groups = public_groups(plan)
        chosen = [np.zeros(len(groups), np.int64) for _ in plan.choices]
        measured = Measured(plan, groups, exact_sums(plan, groups, world.run), chosen)
        tables[block.name] = noisy_table(measured, 0.95, raw=True, block=block)
    return post_process(question.split.above, tables | world.public(question))


PUBLIC_VALUES = PublicValues(CATALOG, World({}).run, lambda _: "1")
COUNT_ALIKE = PublicMultiplicity(CATALOG, World({}).run, lambda _: "1")


def prepared(query: str, price: Pure | ZeroConcentrated) -> PlannedQuestion:
    """The planned query; public tables hold what they hold in every world that does not say otherwise."""
    return prepare(query, CATALOG, price, public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE)


def read_pairs(name: str) -> list[tuple[str, str]]:
    """The pairs of a fixture: a query, and what is expected of it, written by hand."""
    queries = read_queries(name)
    return list(zip(queries[::2], queries[1::2], strict=True))


def read_queries(name: str) -> list[str]:
    """The queries of a fixture, one per paragraph."""
    paragraphs = (FIXTURES / name).read_text(encoding="utf-8").split(";\n")
    texts = ["\n".join(line for line in p.splitlines() if not line.startswith("--")).strip() for p in paragraphs]
    return [text for text in texts if text]


def sharpen(choice: PlannedSelection, by: int) -> PlannedSelection:
    """A planted bug: the same choice at the same claimed price, by a mechanism that multiplies scores by more."""
    mechanism: Any = copy(choice.mechanism)
    mechanism.factor *= by
    return replace(choice, mechanism=mechanism)
