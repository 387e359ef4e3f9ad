"""What people of several kinds lose together, and accounts whose policy is gone."""

from __future__ import annotations

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
    budget=Budget("0.5"),
)
NURSES = Table("nurses", (Column("number", INTEGER),), unit="number", budget=Budget(2))


def test_linked_tables_share_a_budget_and_that_of_strangers_adds_up(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(pa.table({"id": [1, 2]}), PATIENTS)
    alone = curator.ask("SELECT COUNT(*) FROM patients", epsilon="0.1")
    assert alone.certificate["granted"].keys() == {"patients"}
    curator.protect(pa.table({"patient": [1, 1, 2], "age": [30, 31, 60]}), VISITS)
    assert curator.budget().notes() == []
    for sql in ("SELECT COUNT(*) FROM patients", "SELECT AVG(age) FROM visits"):
        stated = curator.ask(sql, epsilon="0.2").certificate["granted"]
        assert {name: one["exact"] for name, one in stated.items()} == {"/patients.id": "1"}
    curator.protect(pa.table({"number": [7]}), NURSES)
    everything = "Whoever is among nurses.number and patients.id at once loses at most ε 2 + 1 = 3."
    assert curator.budget().notes() == [everything]


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
