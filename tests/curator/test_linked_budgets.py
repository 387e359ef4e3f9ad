"""Budgets of tables about the same people add up, and everything that people read says so."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pyarrow as pa

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.curator.curator import Curator

INTEGER = ColumnType.INTEGER
PATIENTS = Table("patients", (Column("id", INTEGER),), unit="id", budget=Budget(1))
VISITS = Table(
    "visits",
    (Column("patient", INTEGER), Column("age", INTEGER, lower=0, upper=100)),
    foreign_keys=(ForeignKey("patient", "patients", "id"),),
    budget=Budget("0.5", "1e-6"),
)
NURSES = Table("nurses", (Column("number", INTEGER),), unit="number", budget=Budget(2))


def test_linked_tables_are_summed_and_strangers_are_told_of_the_rest(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(pa.table({"id": [1, 2]}), PATIENTS)
    assert curator.budget().notes() == []
    alone = curator.ask("SELECT COUNT(*) FROM patients", epsilon="0.1")
    assert "granted_together" not in alone.certificate
    curator.protect(pa.table({"patient": [1, 1, 2], "age": [30, 31, 60]}), VISITS)
    linked = "patients and visits granted ε 1 + 0.5 = 1.5 and δ 1e-06 for everything about one of patients.id"
    assert curator.budget().notes() == [f"Budgets of linked tables add up: {linked}."]
    for sql in ("SELECT COUNT(*) FROM patients", "SELECT AVG(age) FROM visits"):
        stated = curator.ask(sql, epsilon="0.2").certificate["granted_together"]
        assert stated["tables"] == 2
        assert (Fraction(stated["epsilon"]["exact"]), Fraction(stated["delta"]["exact"])) == (
            Fraction(3, 2),
            Fraction(1, 10**6),
        )
    curator.protect(pa.table({"number": [7]}), NURSES)
    everything = "All 3 tables granted ε 2 + 1 + 0.5 = 3.5 and δ 1e-06 for whoever has rows in each."
    assert curator.budget().notes()[1:] == [everything]


def test_an_account_without_a_policy_is_named_because_it_was_spent(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(pa.table({"id": [1, 2]}), PATIENTS)
    curator.protect(pa.table({"number": [7]}), NURSES)
    curator.ask("SELECT COUNT(*) FROM nurses", epsilon=1)
    other = Curator(tmp_path)
    (file,) = (path for path in tmp_path.rglob("*.yaml") if "nurses" in path.read_text())
    file.unlink()
    for one in (curator, other):
        assert one.budget().notes() == [
            "No policy says whose rows these were: nurses. What was spent there counts as well."
        ]
