"""A stage: a store of made-up rows in a folder of its own, for questions that must not touch anybody's data.

It is opened with policies and, for public tables, their rows; it never sees the store of a curator. Tables are taken in
when a plan reads them, in the way in which real rows are.
"""

from __future__ import annotations

from dataclasses import replace
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

import pyarrow as pa

from discreet.catalog.table import Table
from discreet.curator.preconditions import use_stored_columns
from discreet.curator.rehearsal.synthetic_rows import MadeUpRows
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from discreet.noise.source import ReplayableSource
from discreet.query.plan.sensitivity import AggregationPlan

__all__ = ["NOTE", "SyntheticStore", "as_whole"]


NOTE = "A rehearsal: these rows are made up from the policy alone. Nothing was read and nothing was spent."


def as_whole(table: Table) -> Table:
    """A table that grows as one that is taken in whole, where each question reads all of its rows."""
    return replace(table, time=None, unit_per=None, budget_per=None, lifetime=None, closed=())


class SyntheticStore:
    """Made-up rows that statements can be run on; the folder is gone afterwards."""

    def __init__(self, rows: MadeUpRows) -> None:
        self._made_up = rows
        self._folder = TemporaryDirectory(prefix="discreet-rehearsal-")
        self._engine = DuckDBEngine(self._folder.name, threads=1)
        self._engine.store.share("rehearsal")
        self._there: set[str] = set()
        # Noise that can be foretold hides nothing, and here is nothing to hide: a notebook shows the same twice.
        self.source = ReplayableSource("rehearsal")

    def prepared(self, plan: AggregationPlan) -> AggregationPlan:
        """The plan for made-up rows as they are kept, once its tables are taken in."""
        for name in sorted(plan.tables):
            self._take_in(self._made_up.catalog.table(name))
        return use_stored_columns(plan, self._engine)

    def run(self, statement: str, parameters: list[object]) -> pa.Table:
        """The result of one SELECT on the made-up rows."""
        return self._engine.run(statement, parameters)

    def _take_in(self, table: Table) -> None:
        if table.name in self._there:
            return
        path = self._made_up.catalog.unit_path(table.name)
        if path is not None and path.steps:
            self._take_in(self._made_up.catalog.table(path.steps[0].table))  # its people are found there
        rows = self._made_up.of(table.name)
        ingest(self._engine, as_whole(table), rows, catalog=self._made_up.catalog)
        self._there.add(table.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.close()
        self._folder.cleanup()
