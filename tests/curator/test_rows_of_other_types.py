"""A policy whose columns are not those of the stored rows: refused before anything is charged, whatever they hold."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.curator.curator import Curator
from discreet.errors import StoreError
from discreet.privacy.loss import Pure
from tests.curator.test_attacks import with_old_policies

DIFFERS = "must have been taken in under the policy that is used, but the type of {} differs"
QUESTIONS = ("SELECT COUNT(*) FROM people WHERE smoker", "SELECT smoker, COUNT(*) FROM people GROUP BY smoker")


def people(kind: ColumnType) -> Table:
    return Table("people", (Column("who", ColumnType.TEXT), Column("smoker", kind)), unit="who", budget=Budget(9))


def refused(curator: Curator, question: str, column: str) -> None:
    for attempt in (curator.explain, curator.ask):
        with pytest.raises(StoreError, match=DIFFERS.format(column)):
            attempt(question, epsilon=1)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("more", [[], ["Ann, who would not be a truth value"]])
@pytest.mark.some(2)
def test_rows_that_another_curator_took_in_with_other_types(question: str, more: list[str], tmp_path: Path) -> None:
    rows = {"who": ["a", "b"], "smoker": [True, False]}
    Curator(tmp_path).protect(pa.table(rows), people(ColumnType.BOOLEAN))
    mine, other = with_old_policies(Curator(tmp_path)), Curator(tmp_path)
    given = pa.table({"who": ["a", "b", *("c" for _ in more)], "smoker": ["yes", "no", *more]})
    other.protect(given, people(ColumnType.TEXT))
    mine.is_pinned = True  # as if it had planned before that
    with pytest.raises(StoreError, match=DIFFERS.format("smoker")):
        mine.ask(question, epsilon=1)
    assert mine.budget()["people"]["spent"] == Pure(0)


def test_a_policy_that_somebody_edited(tmp_path: Path) -> None:
    Curator(tmp_path).protect(pa.table({"who": ["a"], "smoker": ["Ann"]}), people(ColumnType.TEXT))
    (file,) = (tmp_path / "policies").glob("*.yaml")
    text = file.read_text("utf-8")
    file.write_text(text + "  weight: {type: integer, lower: 0, upper: 200}\n", "utf-8")
    refused(Curator(tmp_path), "SELECT SUM(weight) FROM people", "weight")
    file.write_text(text.replace("smoker: {type: text}", "smoker: {type: boolean}"), "utf-8")
    for question in QUESTIONS:
        refused(Curator(tmp_path), question, "smoker")
    assert Curator(tmp_path).budget()["people"]["spent"] == Pure(0)


def test_nobody_is_two_people_by_two_types_of_a_name(tmp_path: Path) -> None:
    def tables(kind: ColumnType) -> tuple[Table, Table]:
        column = Column("x", ColumnType.INTEGER, lower=0, upper=10)
        first = Table("a", (Column("id", kind), column), unit="id", budget=Budget(9))
        keys = (ForeignKey("pid", "a", "id"),)
        return first, Table("b", (Column("pid", kind), column), unit="pid", budget=Budget(9), foreign_keys=keys)

    curator = Curator(tmp_path)
    for table, name in zip(tables(ColumnType.INTEGER), ("id", "pid"), strict=True):
        curator.protect(pa.table({name: [7], "x": [1]}), table)
    for file in (tmp_path / "policies").glob("*.yaml"):
        file.write_text(file.read_text("utf-8").replace("id: {type: integer}", "id: {type: real}"), "utf-8")
    curator = Curator(tmp_path)
    curator.protect(pa.table({"pid": [7.0], "x": [1]}), tables(ColumnType.REAL)[1])
    refused(curator, "SELECT COUNT(*) FROM (SELECT x FROM a UNION ALL SELECT x FROM b) t", "id")


def test_public_rows_of_other_types_are_not_shown(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(pa.table({"name": ["a"]}), Table("wards", (Column("name", ColumnType.TEXT),), public=True))
    (file,) = (tmp_path / "policies").glob("*.yaml")
    file.write_text(file.read_text("utf-8").replace("type: text", "type: integer"), "utf-8")
    with pytest.raises(StoreError, match=DIFFERS.format("name")):
        Curator(tmp_path).ask("SELECT name FROM wards", epsilon=1)
