"""Discreet: rows in the curator's own store."""

import tempfile
from fractions import Fraction
from itertools import count
from pathlib import Path

from asking import EPSILON, LOWER, UPPER, serve

import discreet as dp
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table as Policy

SPELLED = {
    "count": "COUNT(*)",
    "sum": "SUM(value)",
    "average": "AVG(value)",
    "all": "COUNT(*), SUM(value), AVG(value)",
}
FRESH = (Fraction(EPSILON) + Fraction(k, 10**9) for k in count())
"""The same question at the same price is answered from the ledger, so every ask pays a billionth more."""


class Discreet:
    def __init__(self, table):
        self.folder = tempfile.TemporaryDirectory()
        self.curator = dp.Curator(Path(self.folder.name) / "curator")
        columns = (
            Column("person", ColumnType.INTEGER),
            Column("grp", ColumnType.INTEGER, lower=0, upper=table.groups - 1, nullable=False),
            Column("value", ColumnType.REAL, lower=LOWER, upper=UPPER, nullable=False),
        )
        unit = "person" if table.unit == "person" else None
        rows = table.rows_per_unit if unit else 1
        self.curator.protect(table.file, Policy("t", columns, unit=unit, budget=dp.Budget(10**6), rows_per_unit=rows))

    def plan(self, question):
        sql = f"SELECT grp, {SPELLED[question]} FROM t GROUP BY grp"
        return lambda: self.answer(sql)

    def answer(self, sql):
        found = self.curator.ask(sql, epsilon=next(FRESH))
        return {key: tuple(map(float, values)) for key, *values in map(dict.values, found.to_rows())}


serve(Discreet)
