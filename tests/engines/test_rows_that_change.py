"""Rows on a server change between two readings: whoever was in one part before may be in another one now."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.errors import BudgetExceeded
from discreet.privacy.loss import Pure
from tests.engines.test_postgres import as_reader, load
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401

WARDS = ("a", "b", "c")
VISITS = Table("visits", (Column("ward", ColumnType.TEXT, keys=WARDS),), budget=Budget(1))
ANN = pa.table({"ward": ["a"]})


@pytest.fixture
def there(postgres_url: str, tmp_path: Path) -> Curator:  # noqa: F811
    load(postgres_url, VISITS, ANN)
    curator = Curator(tmp_path / "there", rows=as_reader(postgres_url))
    curator.protect("public.visits", VISITS)
    return curator


def spent(curator: Curator) -> object:
    return curator.budget()["visits"]["spent"]


def about(ward: str) -> str:
    return f"SELECT COUNT(*) FROM visits WHERE ward = '{ward}'"


def test_who_moves_from_ward_to_ward_is_not_asked_about_in_each_for_one_price(
    there: Curator,
    postgres_url: str,  # noqa: F811
) -> None:
    there.ask(about("a"), epsilon="0.6")
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("UPDATE visits SET ward = 'b'")
    with pytest.raises(BudgetExceeded):
        there.ask(about("b"), epsilon="0.6")
    there.ask(about("b"), epsilon="0.4")
    assert spent(there) == Pure(1)


def test_parts_of_one_question_that_are_read_one_after_the_other_share_its_price(there: Curator) -> None:
    plans = there._planner.question(f"SELECT ({about('a')}) AS a, ({about('b')}) AS b", "0.5").plans
    assert sum((plan.loss.epsilon for plan in plans if isinstance(plan.loss, Pure)), Fraction(0)) == Fraction(1, 2)
    assert all(plan.block.restriction is None for plan in plans)


def test_rows_that_were_taken_in_stay_where_they_are_so_that_parts_cost_the_largest(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(ANN, VISITS)
    for ward in WARDS:
        curator.ask(about(ward), epsilon="0.6")
    assert spent(curator) == Pure("0.6")
    curator.protect(pa.table({"ward": ["b"]}), VISITS)
    with pytest.raises(BudgetExceeded):
        curator.ask(about("b"), epsilon="0.6")
