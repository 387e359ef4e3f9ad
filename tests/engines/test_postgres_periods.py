"""Tables of PostgreSQL that grow by periods: who a unit is, what is read, and what it costs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from discreet.catalog.column import Column
from discreet.catalog.period import Every
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.errors import BudgetExceeded, InvalidValue, QueryRefused, StoreError
from discreet.privacy.loss import Pure
from tests.engines.same_periods import check_same, close_all, embedded, growing, measured, questions, rows
from tests.engines.test_postgres import as_reader, load
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401

FAR = {
    "date": ["infinity", "-infinity", "0044-03-15 BC", "2026-01-01 BC", "9999-12-31", "5874897-12-31"],
    "timestamp": ["infinity", "-infinity", "2026-01-15 12:00:00 BC", "294276-12-31"],
    "timestamptz": ["infinity", "-infinity", "2026-01-15 12:00:00 BC", "2026-03-01 01:00:00+00"],
    "text": ["2026-02-30", "2026-01", "today", "infinity", "", "2026-01-15 BC", "2026-01-15 25:00", "20260115"],
}
"""Dates that are in no closed period, or are none."""


MONTHS = ("2025-12", "2026-01", "2026-02")


def units(curator: Curator, periods: str) -> int:
    """How many units have rows in some periods."""
    ids = f'SELECT DISTINCT _unit FROM "visits@{periods}"'
    (found,) = curator.engine.run(f"SELECT COUNT(*) AS n FROM ({ids}) AS u").to_pylist()
    return int(found["n"])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rows that are set aside
        yield


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        for statement in statements:
            owner.execute(statement.encode())


def served(folder: Path, url: str, table: Table, given: pa.Table) -> Curator:
    """A curator for the rows on a server, with the periods closed."""
    load(url, table, given)
    curator = Curator(folder, rows=as_reader(url))
    curator.protect("public.visits", table)
    close_all(curator, table)
    return curator


@pytest.mark.parametrize("every", Every)
@pytest.mark.some(2)
def test_periods_of_every_length_have_the_same_integers_as_in_a_folder(
    tmp_path: Path,
    postgres_url: str,  # noqa: F811
    every: Every,
) -> None:
    table = growing("timestamp", every)
    given = rows(table)
    there = served(tmp_path / "there", postgres_url, table, given)
    check_same(there, embedded(tmp_path / "here", table, given), table)


@pytest.mark.parametrize("native", FAR)
@pytest.mark.parametrize("kind", ["date", "timestamp"])
@pytest.mark.some(3)
def test_rows_that_are_in_no_period_are_not_read_and_make_nothing_fail(
    tmp_path: Path,
    postgres_url: str,  # noqa: F811
    kind: str,
    native: str,
) -> None:
    table = growing(kind, person="text")
    given = rows(table)
    there = served(tmp_path / "there", postgres_url, table, given)
    here = embedded(tmp_path / "here", table, given)
    far = ", ".join(f"('{k % 9}', 'A', '{value}'::{native}, 50)" for k, value in enumerate(FAR[native]))
    execute(
        postgres_url,
        f"SET timezone = 'UTC'; ALTER TABLE visits ALTER admitted TYPE {native} USING admitted::{native}",
        f"INSERT INTO visits VALUES {far}, (NULL, 'A', '2026-01-15', 50), ('1', 'A', NULL, 50)",
    )
    there.protect("public.visits", table)
    check_same(there, here, table, questions(table)[2:6])


def test_a_row_that_is_moved_is_read_in_its_new_period_alone(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    table = growing()
    there = served(tmp_path, postgres_url, table, rows(table))
    execute(postgres_url, "DELETE FROM visits", "INSERT INTO visits VALUES (1, 'A', '2025-12-31', 1)")
    assert [units(there, period) for period in MONTHS] == [1, 0, 0]
    execute(postgres_url, "UPDATE visits SET admitted = '2026-01-01'")
    assert [units(there, period) for period in MONTHS] == [0, 1, 0]


def test_the_same_person_in_two_periods_is_two_units_in_one_question(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    table = growing(rows_per_unit=1)
    there = served(tmp_path, postgres_url, table, rows(table))
    days = "SELECT 1, 'A', d, 1 FROM unnest('{2025-12-05,2026-01-05,2026-01-06,2026-02-05}'::date[]) d"
    execute(postgres_url, "DELETE FROM visits", f"INSERT INTO visits {days}")
    assert [units(there, several) for several in ("2025-12..2026-01", "2025-12..2026-02", "2025-12,2026-02")] == [
        2,
        3,
        2,
    ]
    apart = measured(there, "SELECT COUNT(*) FROM visits")
    execute(postgres_url, "UPDATE visits SET admitted = '2026-01-07'")
    assert apart != measured(there, "SELECT COUNT(*) FROM visits")


def test_periods_share_the_price_and_wards_of_one_period_do_not(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    table = growing()
    there = served(tmp_path, postgres_url, table, rows(table))
    january = "SELECT COUNT(*) FROM visits WHERE admitted >= '2026-01-01' AND admitted < '2026-02-01' AND ward = '{}'"
    there.ask(january.format("A"), epsilon="0.6")
    assert [one.spent for one in there.periods("visits")][:3] == [Pure(0), Pure("0.6"), Pure(0)]
    with pytest.raises(BudgetExceeded, match="visits in 2026-01"):
        there.ask(january.format("B"), epsilon="0.6")
    there.ask("SELECT COUNT(*) FROM visits WHERE admitted < '2026-01-01'", epsilon=1)
    monthly = "SELECT date_trunc('month', admitted) AS t, COUNT(*) AS n FROM visits GROUP BY 1"
    with pytest.raises(BudgetExceeded):
        there.ask(monthly, epsilon="0.4")
    assert there.ask(monthly.replace("GROUP", "WHERE admitted >= '2026-01-01' GROUP"), epsilon="0.4").charged


def test_a_new_month_pays_for_itself_and_a_repeated_question_is_free(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    table = growing()
    there = served(tmp_path, postgres_url, table, rows(table))
    monthly = "SELECT date_trunc('month', admitted) AS t, COUNT(*) AS n FROM visits GROUP BY 1"
    assert there.ask(monthly, epsilon=1).table.num_rows == 3
    there.close("visits", through="2026-03")
    answer = there.ask(monthly, epsilon=1)
    assert (answer.table.num_rows, answer.charged) == (4, True)
    again = Curator(tmp_path, rows=as_reader(postgres_url))
    assert not again.ask(monthly, epsilon=1).charged
    assert [one.spent for one in again.periods("visits")][:4] == [Pure(1)] * 4


def test_to_protect_again_changes_what_columns_are_and_no_period(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    table = growing()
    there = served(tmp_path, postgres_url, table, rows(table))
    before = there.engine.root("visits")
    execute(postgres_url, "ALTER TABLE visits ALTER age TYPE smallint")
    there.protect("public.visits", table)
    assert there.engine.root("visits") == before
    there.ask("SELECT SUM(age) FROM visits", epsilon=1)
    with pytest.raises(InvalidValue, match="must stay as it was when the table began"):
        there.engine.begin(growing(every=Every.YEAR), "public.visits")


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({"unit": None, "rows_per_unit": 1}, "a row can be moved to another period"),
        ({}, "nobody sees to it that the rows of closed periods stay as they are"),
    ],
)
def test_rows_and_whole_people_are_refused_with_what_works(
    tmp_path: Path,
    postgres_url: str,  # noqa: F811
    stated: dict[str, object],
    why: str,
) -> None:
    table = growing(**{"unit_per": None, "budget": 1, **stated})
    load(postgres_url, table, rows(table))
    curator = Curator(tmp_path, rows=as_reader(postgres_url))
    with pytest.raises(InvalidValue, match=f"{why}.*per: month"):
        curator.protect("public.visits", table)
    assert curator.catalog.find("visits") is None


def test_what_only_a_folder_can_do_is_refused(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    table = growing()
    there = served(tmp_path, postgres_url, table, rows(table))
    for attempt in (lambda: there.append("visits", "public.visits", id="1"), lambda: there.forget("visits", 1)):
        with pytest.raises(InvalidValue, match="visits: rows that stay on a server are added, changed and removed"):
            attempt()
    with pytest.raises(QueryRefused, match="somebody could change them"):
        there.subscribe(questions(table)[2], epsilon="0.1", periods=3)
    with pytest.raises(InvalidValue, match="stays so"):
        there.engine.take_in(Table("visits", (Column("age", "integer"),), budget=1), "public.visits")


def test_a_folder_from_before_a_close_is_not_asked(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    table = growing()
    there = served(tmp_path, postgres_url, table, rows(table))
    manifest = tmp_path / "store" / "manifest.json"
    earlier = manifest.read_bytes()
    there.close("visits", through="2026-03")
    manifest.write_bytes(earlier)
    with pytest.raises(StoreError, match="the store must hold what was closed, up to 2026-03"):
        Curator(tmp_path, rows=as_reader(postgres_url)).ask("SELECT COUNT(*) FROM visits", epsilon="0.1")
