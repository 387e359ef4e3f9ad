"""Discreet: rows in the curator's own store.

Where nobody listed the groups, a table of its own is protected for every answer, with a budget of exactly ε and δ. For
one group of a person all of δ is for the groups, and noise is Laplace's; for many it is half, and noise is Gaussian.
"""

import tempfile
from fractions import Fraction
from itertools import count
from pathlib import Path

from asking import DELTA, EPSILON, LOWER, UPPER, serve

import discreet as dp
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table as Policy

SPELLED = {
    "count": "COUNT(*)",
    "sum": "SUM(value)",
    "average": "AVG(value)",
    "median": "MEDIAN(value)",
    "all": "COUNT(*), SUM(value), AVG(value)",
}
FRESH = (Fraction(EPSILON) + Fraction(k, 10**9) for k in count())
"""The same question at the same price is answered from the ledger, so every ask pays a billionth more."""


class Discreet:
    def __init__(self, table):
        self.folder = tempfile.TemporaryDirectory()
        self.curator = dp.Curator(Path(self.folder.name) / "curator")
        self.table, self.names = table, (f"t{k}" for k in count())
        if not table.groups_per_unit:
            self.curator.protect(table.file, self.policy("t", dp.Budget(10**6), lower=0, upper=table.groups - 1))

    def policy(self, name, budget, **groups):
        columns = (
            Column("person", ColumnType.INTEGER),
            Column("grp", ColumnType.INTEGER, nullable=False, **groups),
            Column("value", ColumnType.REAL, lower=LOWER, upper=UPPER, nullable=False),
        )
        if self.table.unit == "row":
            return Policy(name, columns, budget=budget)
        bounds = {"rows_per_unit": self.table.rows_per_unit, "groups_per_unit": self.table.groups_per_unit or 1}
        return Policy(name, columns, unit="person", budget=budget, **bounds)

    def plan(self, question):
        if self.table.groups_per_unit:
            return lambda: self.from_nobodys_list(question)
        sql = f"SELECT grp, {SPELLED[question]} FROM t GROUP BY grp"
        return lambda: self.answer(sql, next(FRESH))

    def from_nobodys_list(self, question):
        name, asked = next(self.names), "COUNT(DISTINCT person)" if question == "count" else SPELLED[question]
        budget = dp.Budget(EPSILON, delta=DELTA, delta_for_keys=DELTA / (1 if self.table.groups_per_unit == 1 else 2))
        self.curator.protect(self.table.file, self.policy(name, budget, rows_per_key=1))
        return self.answer(f"SELECT grp, {asked} FROM {name} GROUP BY grp", EPSILON)

    def answer(self, sql, epsilon):
        found = self.curator.ask(sql, epsilon=epsilon)
        return {key: tuple(map(float, values)) for key, *values in map(dict.values, found.to_rows())}


serve(Discreet)
