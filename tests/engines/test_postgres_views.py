"""Views on PostgreSQL: what differs from reading to reading is refused, and what might is read once."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.catalog.catalog import Catalog
from discreet.engines.postgres.connections import ServerConnection
from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.postgres.tables import is_plain
from discreet.errors import EngineUnavailable, InvalidValue
from discreet.privacy.loss import Pure
from discreet.query.question import prepare
from discreet.query.run.contribution_bounds import write_statements
from tests.engines.same_everywhere import comparable, few_of_every_kind, tables
from tests.engines.test_postgres import REFUSED, as_reader, load, quoted
from tests.engines.test_postgres_server import VISITS, as_owner, counted, heard, protect, url  # noqa: F401
from tests.query.world import CATALOG
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401
from tests.thoroughness import some

DRAWN = {
    "SELECT * FROM visits WHERE random() < 0.5": "<the function random>",
    "SELECT patient, ward, age, (gen_random_uuid())::text AS note FROM visits": "<the function gen_random_uuid>",
    "SELECT * FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.age > v.age * random())": "random",
    "SELECT * FROM visits LIMIT 100": "<LIMIT or OFFSET>",
    "SELECT * FROM (SELECT * FROM visits OFFSET 100) v": "<LIMIT or OFFSET>",
    "SELECT patient, ward, rank() OVER () AS age, note FROM visits": "<a window function>",
    "SELECT DISTINCT ON (patient) * FROM visits": "<DISTINCT ON>",
    "SELECT * FROM visits TABLESAMPLE BERNOULLI (50)": "<TABLESAMPLE>",
    "SELECT patient, string_agg(ward, '') AS ward, max(age) AS age, max(note) AS note FROM visits GROUP BY 1": "_agg",
    "SELECT patient, ward, avg(age::float8)::int AS age, max(note) AS note FROM visits GROUP BY 1, 2": "avg",
    "SELECT patient, ward, age, first(note) AS note FROM visits GROUP BY 1, 2, 3": "<the function first>",
    "SELECT * FROM some_visits()": "<the function some_visits>",
}
WRITTEN = (
    "CREATE FUNCTION earlier(anyelement, anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
    "CREATE AGGREGATE first(anyelement) (sfunc = earlier, stype = anyelement)",
    "CREATE FUNCTION some_visits() RETURNS SETOF visits LANGUAGE sql STABLE AS 'SELECT * FROM visits LIMIT 100'",
    "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)'",
)
"""What somebody wrote for the server: the last of them looks at one value, and says so."""
STEADY = """SELECT v.patient, v.ward, v.age, plain(v.note) || ':limitCount {' || extract(year FROM now()) AS note
FROM visits v JOIN (SELECT patient, max(age) AS age, count(*) AS n, sum(age) AS s FROM visits GROUP BY 1) w
USING (patient) WHERE v.ward LIKE 'a%' UNION ALL SELECT DISTINCT * FROM visits"""


def test_a_view_that_differs_from_reading_to_reading_is_refused(
    url: str,  # noqa: F811
    tmp_path: Path,
    heard: list[str],  # noqa: F811
) -> None:
    """Whoever has few rows while they are counted and many while they are added up would weigh too much."""
    as_owner(url, *WRITTEN)
    as_owner(
        url, f"CREATE VIEW inner_v AS {STEADY}", "CREATE VIEW v AS SELECT * FROM inner_v", "GRANT SELECT ON v TO reader"
    )
    with PostgresEngine(tmp_path, as_reader(url), owner_log=heard.append) as engine:
        engine.take_in(VISITS, "v")
        assert counted(engine) == 700
        for query, words in DRAWN.items():
            as_owner(
                url, "DROP VIEW v, inner_v", f"CREATE VIEW inner_v AS {query}", "CREATE VIEW v AS SELECT * FROM inner_v"
            )
            as_owner(url, "GRANT SELECT ON v TO reader")
            with pytest.raises(InvalidValue, match=re.escape(words)):
                engine.take_in(VISITS, "v")


PLAIN = {
    "SELECT v.* FROM visits v JOIN visits w USING (patient) WHERE v.age + 1 > w.age AND v.ward LIKE 'a%'": True,
    "SELECT patient, upper(ward) AS ward, age, note || age::text AS note FROM visits": True,
    STEADY: False,
    "SELECT * FROM visits UNION ALL SELECT * FROM visits": False,
    "SELECT DISTINCT * FROM visits": False,
    "SELECT patient, max(ward) AS ward, max(age) AS age, max(note) AS note FROM visits GROUP BY 1": False,
    "SELECT (ARRAY(SELECT patient FROM visits))[age] AS patient, ward, age, note FROM visits": False,
    "SELECT * FROM visits WHERE age IN (SELECT age FROM visits)": False,
    "SELECT patient, ward, age, note FROM visits, generate_series(1, 2)": False,
    "SELECT * FROM visits WHERE extract(year FROM now()) > age": False,
    "WITH w AS (SELECT * FROM visits) SELECT * FROM w": False,
}
"""Views, and whether they only join, filter and compute."""


def test_rows_of_a_view_that_brings_rows_together_are_read_once_and_kept(
    url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    as_owner(url, *WRITTEN)
    (plan,) = prepare("SELECT ward, COUNT(*) FROM visits GROUP BY ward", Catalog([VISITS]), Pure(1)).plans
    (asked,) = write_statements(plan)
    for query, plain in {"TABLE visits": True, **PLAIN}.items():
        as_owner(url, "DROP VIEW IF EXISTS v", f"CREATE VIEW v AS {query}", "GRANT SELECT ON v TO reader")
        with (
            PostgresEngine(tmp_path, as_reader(url)) as engine,
            engine._connections.lent(ServerConnection()) as connection,
        ):
            engine.take_in(VISITS, "v")
            assert is_plain(connection, "public.v") is plain, query
            said, _ = engine._said(connection, *asked, [engine.stored("visits")], False)
            assert ("_kept0 AS MATERIALIZED" in said) is not plain, query
            assert said.count('"public"."v"') == 1
            assert engine.run(*asked).num_rows


def test_nobody_weighs_more_when_a_view_is_another_one_in_a_second_reading(
    url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    """The function says that it looks at its argument alone, and draws one of 400 people for each of 400 rows.

    Some 253 of them have rows, so that 300 would be a wonder of seven deviations; read twice, 340 rows weigh in full.
    """
    as_owner(
        url,
        "CREATE FUNCTION drawn(int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 400 * random(); END'",
        "CREATE VIEW v AS SELECT drawn(age) AS patient, ward, age, note FROM visits"
        " WHERE age IN (SELECT age FROM visits)",
        "GRANT SELECT ON v TO reader",
    )
    table = replace(VISITS, rows_per_unit=1)
    (plan,) = prepare("SELECT COUNT(*) FROM visits", Catalog([table]), Pure(1)).plans
    (asked,) = write_statements(plan)
    with PostgresEngine(tmp_path, as_reader(url)) as engine:
        engine.take_in(table, "v")
        (row,) = engine.run(*asked).to_pylist()
    assert plan.weight is not None
    assert row["s0_0"] <= 300 * plan.weight


def test_rows_of_another_server_are_no_rows_that_stay_the_same(
    url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    as_owner(
        url,
        "CREATE FOREIGN DATA WRAPPER none",
        "CREATE SERVER elsewhere FOREIGN DATA WRAPPER none",
        "CREATE FOREIGN TABLE abroad (patient int8, ward text, age int8, note text) SERVER elsewhere",
        "CREATE VIEW shown AS SELECT * FROM abroad",
        "CREATE TABLE whole (LIKE visits)",
        "ALTER FOREIGN TABLE abroad INHERIT whole",
        "GRANT SELECT ON abroad, shown, whole TO reader",
    )
    with pytest.raises(InvalidValue, match="keep its rows in a materialized view"):
        protect(as_reader(url), tmp_path, "abroad")
    for name in ("shown", "whole"):
        with pytest.raises(InvalidValue, match="<the foreign table abroad>"):
            protect(as_reader(url), tmp_path, name)


def test_a_view_that_begins_to_differ_is_not_read(
    url: str,  # noqa: F811
    tmp_path: Path,
    heard: list[str],  # noqa: F811
) -> None:
    as_owner(url, "CREATE VIEW v AS SELECT * FROM visits", "GRANT SELECT ON v TO reader")
    with PostgresEngine(tmp_path, as_reader(url), owner_log=heard.append) as engine:
        engine.take_in(VISITS, "v")
        assert counted(engine) == 400
        as_owner(url, "CREATE OR REPLACE VIEW v AS SELECT * FROM visits WHERE random() < 2")
        with pytest.raises(EngineUnavailable):
            counted(engine)
        assert "the function random" in heard[-1]


def test_rows_that_are_kept_are_counted_like_those_that_are_read_again(
    postgres_url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Statements that hold every kind of part between them, about tables and about views of the same rows."""
    given = tables(nul=False)
    reader = as_reader(postgres_url)
    with PostgresEngine(tmp_path / "t", reader) as plain, PostgresEngine(tmp_path / "v", reader) as kept:
        for table in CATALOG:
            name, has_view = quoted(table.name), table.unit is not None or table.public
            load(postgres_url, table, given[table.name])
            plain.take_in(table, f"public.{name}", catalog=CATALOG)
            together = f"SELECT * FROM {name} UNION ALL SELECT * FROM {name} WHERE false"
            if has_view:
                as_owner(postgres_url, "CREATE SCHEMA IF NOT EXISTS v", f"CREATE VIEW v.{name} AS {together}")
                as_owner(postgres_url, "GRANT USAGE ON SCHEMA v TO reader", f"GRANT SELECT ON v.{name} TO reader")
            kept.take_in(table, f"{'v' if has_view else 'public'}.{name}", catalog=CATALOG)
        for case in some(few_of_every_kind(others=10), 20):
            if case.query not in REFUSED:
                found, wanted = (place.run(case.statement, case.parameters) for place in (kept, plain))
                assert comparable(found) == comparable(wanted), case.query
