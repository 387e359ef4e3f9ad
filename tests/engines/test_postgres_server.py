"""What a PostgreSQL server can do to a curator, and what a curator says of it: in words to the owner alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.engines.open import open_engine
from discreet.engines.postgres.engine import PostgresEngine
from discreet.errors import (
    DiscreetError,
    EngineFailure,
    EngineUnavailable,
    InvalidType,
    InvalidValue,
    MissingExtra,
    QueryRefused,
    StoreError,
)
from tests.engines.test_postgres import as_reader, load
from tests.servers import postgres
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401
from tests.servers.postgres import PostgresServer
from tests.servers.stopping import stop_processes

VISITS = Table(
    "visits",
    (
        Column("patient", ColumnType.INTEGER),
        Column("ward", ColumnType.TEXT, keys=("a", "b")),
        Column("age", ColumnType.INTEGER, lower=0, upper=110),
        Column("note", ColumnType.TEXT),
    ),
    unit="patient",
    budget=Budget(5),
    rows_per_unit=2,
)
ROWS = pa.table(
    {
        "patient": [k // 2 for k in range(400)],
        "ward": ["a" if k % 4 else "b" for k in range(400)],
        "age": [k % 100 for k in range(400)],
        "note": ["Ann Smith"] * 400,
    }
)
COUNT = 'SELECT COUNT(*) AS n FROM "visits"'
SLOW = (
    (
        "CREATE FUNCTION rest(int8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS"
        " 'BEGIN PERFORM pg_sleep(60); RETURN TRUE; END'"
    ),
    "CREATE VIEW slow AS SELECT * FROM visits WHERE public.rest(age) OR age IS NULL",
    "GRANT SELECT ON slow TO reader",
)
"""A view that takes longer than anybody waits, and says that it is the same whenever it is read."""


@pytest.fixture
def url(postgres_url: str) -> str:  # noqa: F811
    """A database with visits in it, as its owner sees it."""
    load(postgres_url, VISITS, ROWS)
    return postgres_url


@pytest.fixture
def heard() -> list[str]:
    """What the owner was told."""
    return []


@pytest.fixture
def engine(url: str, tmp_path: Path, heard: list[str]) -> Iterator[PostgresEngine]:
    """Visits, protected."""
    with PostgresEngine(tmp_path, as_reader(url), owner_log=heard.append) as engine:
        engine.take_in(VISITS, "public.visits")
        yield engine


def as_owner(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def counted(engine: PostgresEngine) -> int:
    found: int = engine.run(COUNT)["n"].to_pylist()[0]
    return found


def protect(url: str, folder: Path, name: str = "public.visits", table: Table = VISITS) -> None:
    with PostgresEngine(folder, url) as engine:
        engine.take_in(table, name)


# The whole way.


def test_a_question_is_planned_charged_and_answered_and_free_the_second_time(url: str, tmp_path: Path) -> None:
    curator = Curator(tmp_path, rows=as_reader(url))
    curator.protect("public.visits", VISITS)
    sql = "SELECT ward, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY ward"
    price = curator.explain(sql, 1)
    first = curator.ask(sql, 1)
    assert abs(first.table["n"].to_pylist()[0] - 300) < 100
    spent = curator.budget()
    assert curator.ask(sql, 1).table == first.table
    assert curator.budget() == spent
    assert price.price == first.price


def test_the_folder_remembers_the_server(url: str, tmp_path: Path) -> None:
    Curator(tmp_path, rows=as_reader(url)).protect("public.visits", VISITS)
    again = Curator(tmp_path)
    assert isinstance(again.engine, PostgresEngine)
    assert again.ask("SELECT COUNT(*) AS n FROM visits", 1).table.num_rows == 1


def test_what_cannot_be_asked_there_is_refused_before_it_is_charged(url: str, tmp_path: Path) -> None:
    curator = Curator(tmp_path, rows=as_reader(url))
    curator.protect("public.visits", VISITS)
    before = curator.budget()
    with pytest.raises(QueryRefused, match="regular expressions"):
        curator.ask("SELECT COUNT(*) FROM visits WHERE note ~ '^A'", 1)
    with pytest.raises(QueryRefused, match="nested too deeply"):
        curator.ask(f"SELECT COUNT(*) FROM visits WHERE {'(' * 40}length(note){' + 1)' * 40} > 3", 1)
    assert curator.budget() == before


def test_columns_of_subqueries_are_computed_once(url: str, tmp_path: Path) -> None:
    """PostgreSQL puts them wherever they are used: guards use them often, and this was planned for ever."""
    as_owner(
        url,
        "CREATE TABLE reals AS SELECT patient, age, age / 3.0::float8 AS r FROM visits",
        "GRANT SELECT ON reals TO reader",
    )
    columns = (Column("patient", ColumnType.INTEGER), Column("age", ColumnType.INTEGER), Column("r", ColumnType.REAL))
    engine = PostgresEngine(tmp_path, as_reader(url), timeout=30)  # which is no limit on what takes milliseconds
    curator = Curator(tmp_path, engine=engine)
    curator.protect("public.reals", Table("reals", columns, unit="patient", budget=Budget(5), rows_per_unit=2))
    apart = "(SELECT patient, CASE WHEN age = 1 THEN (r - r) * (-1.0) ELSE r - r END AS z, r / 3.0 AS q FROM reals)"
    joined = f"{apart} a JOIN {apart} b ON a.patient = b.patient WHERE CAST(b.z AS BIGINT) = 0"
    assert curator.ask(f"SELECT COUNT(*) AS n FROM {joined}", 1).table.num_rows == 1


def test_a_failure_is_charged_and_says_nothing(url: str, tmp_path: Path) -> None:
    curator = Curator(tmp_path, rows=as_reader(url))
    curator.protect("public.visits", VISITS)
    before = curator.budget()
    as_owner(url, "ALTER TABLE visits ENABLE ROW LEVEL SECURITY")
    with pytest.raises(EngineFailure) as caught:
        curator.ask("SELECT COUNT(*) FROM visits", 1)
    assert str(caught.value) == str(EngineFailure())
    assert curator.budget() != before


# Protecting.


def test_names_are_folded_and_quoted_as_postgresql_does(url: str, tmp_path: Path) -> None:
    as_owner(
        url,
        'CREATE SCHEMA "My ""Schema"""',
        'CREATE TABLE "My ""Schema"""."T" AS SELECT * FROM visits',
        'GRANT USAGE ON SCHEMA "My ""Schema""" TO reader',
        'GRANT SELECT ON "My ""Schema"""."T" TO reader',
    )
    for number, name in enumerate(("visits", "PUBLIC.Visits", '"public"."visits"', '"My ""Schema"""."T"')):
        with PostgresEngine(tmp_path / str(number), as_reader(url)) as engine:
            engine.take_in(VISITS, name)
            assert counted(engine) == 400


@pytest.mark.parametrize("name", ["visits; DROP TABLE visits", "a.b.c", "", '"open', "1visits", "pub lic.visits", '""'])
def test_what_is_no_name_is_refused(url: str, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidValue, match="a table of PostgreSQL is named"):
        protect(as_reader(url), tmp_path, name)


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["DROP TABLE visits"], "must have the table"),
        (["ALTER TABLE visits DROP COLUMN age"], "must have the declared columns, got 'age'"),
        (["ALTER TABLE visits ALTER ward TYPE json USING to_json(ward)"], "can be read as text, got <json>"),
        (["ALTER TABLE visits ALTER age TYPE int[] USING ARRAY[age]"], r"can be read as integer, got <integer\[\]>"),
        (["REVOKE SELECT ON visits FROM reader"], "allowed to read"),
        (["REVOKE SELECT ON visits FROM reader", "GRANT SELECT (patient) ON visits TO reader"], "allowed to read"),
        (["GRANT UPDATE ON visits TO reader"], "only read"),
        (["GRANT INSERT (age) ON visits TO reader"], "only read"),
        (["ALTER TABLE visits OWNER TO reader"], "only read"),
        (["ALTER TABLE visits ENABLE ROW LEVEL SECURITY"], "row level security"),
    ],
)
@pytest.mark.some(4)
def test_a_table_that_cannot_be_protected_is_refused_in_one_sentence(
    url: str, tmp_path: Path, statements: list[str], words: str
) -> None:
    as_owner(url, *statements)
    with pytest.raises(DiscreetError, match=words):
        protect(as_reader(url), tmp_path)
    assert not open_engine(tmp_path).store.manifest().tables


def test_a_superuser_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="<a superuser>"):
        protect(url, tmp_path)


def test_rows_of_a_view_are_no_units(url: str, tmp_path: Path) -> None:
    as_owner(url, "CREATE VIEW few AS SELECT * FROM visits", "GRANT SELECT ON few TO reader")
    with pytest.raises(InvalidValue, match="rows must be those of a table"):
        protect(as_reader(url), tmp_path, "few", replace(VISITS, unit=None, rows_per_unit=1))


def test_what_cannot_be_held_against_changes_is_refused_and_a_view_of_it_is_read(url: str, tmp_path: Path) -> None:
    as_owner(
        url,
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM visits",
        "CREATE VIEW shown AS SELECT * FROM kept",
        "GRANT SELECT ON kept, shown TO reader",
    )
    with pytest.raises(InvalidValue, match="protect a view of it"):
        protect(as_reader(url), tmp_path, "public.kept")
    with PostgresEngine(tmp_path, as_reader(url)) as engine:
        engine.take_in(VISITS, "public.shown")
        assert counted(engine) == ROWS.num_rows


def test_one_number_written_in_two_ways_is_one_person(url: str, tmp_path: Path) -> None:
    table = Table(
        "visits",
        (Column("patient", ColumnType.TEXT), Column("age", ColumnType.INTEGER)),
        unit="patient",
        budget=Budget(1),
    )
    as_owner(
        url,
        "CREATE TABLE numbered (patient numeric, age int)",
        "INSERT INTO numbered VALUES (7, 1), (7.0, 2), (7.00, 3), (70, 4), (0.10, 5), (0.1, 6)",
        "GRANT SELECT ON numbered TO reader",
    )
    with PostgresEngine(tmp_path, as_reader(url)) as engine:
        engine.take_in(table, "public.numbered")
        people = engine.run('SELECT COUNT(DISTINCT p) AS n FROM (SELECT _unit AS p FROM "visits") r')
        assert people["n"].to_pylist() == [3]


def test_what_is_no_name_of_a_table_at_all_is_refused(url: str, tmp_path: Path) -> None:
    with PostgresEngine(tmp_path, as_reader(url)) as engine, pytest.raises(InvalidType, match="is named"):
        engine.take_in(VISITS, ROWS)


def test_a_server_that_is_not_there_a_wrong_password_and_a_missing_database(
    url: str,
    tmp_path: Path,
    postgres_server: PostgresServer,  # noqa: F811
) -> None:
    protect(as_reader(url), tmp_path)
    rules = postgres_server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    try:
        rules.write_text("local all locked scram-sha-256\n" + before)
        as_owner(url, "CREATE ROLE locked LOGIN PASSWORD 'right'", "SELECT pg_reload_conf()")
        wrong = as_reader(url).replace("reader@", "locked:wrong@")
        wait_until(lambda: _refused_with(wrong, tmp_path, "user and the password"))
    finally:
        rules.write_text(before)
        as_owner(url, "SELECT pg_reload_conf()")
    name = url.split("/")[3].partition("?")[0]
    assert _refused_with(as_reader(url).replace(f"/{name}?", "/nowhere?"), tmp_path, "must have the database")
    assert _refused_with("postgresql://reader@/x?host=/nowhere", tmp_path, "must be reachable")


def _refused_with(url: str, folder: Path, words: str) -> bool:
    """Whoever protects hears the words; whoever asks about what was protected before hears none of them."""
    with pytest.raises(DiscreetError) as caught:
        protect(url, folder)
    with PostgresEngine(folder, url) as engine, pytest.raises(EngineUnavailable) as asked:
        counted(engine)
    assert str(asked.value) == str(EngineUnavailable())
    return words in str(caught.value) and not any(word in str(caught.value) for word in ("locked", "nowhere"))


def wait_until(condition: object) -> None:
    end = time.monotonic() + 120
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_server_off_the_path_is_found_and_else_that_of_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for place in ("usr/lib/postgresql/9/bin", "usr/lib/postgresql/15/bin", "usr/pgsql-16/bin"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "initdb").touch()
    newest_first = [path.relative_to(tmp_path).parent.parent.name for path in postgres._installed(tmp_path)]
    assert newest_first == ["pgsql-16", "15", "9"]
    monkeypatch.delenv("POSTGRES_BINARIES", raising=False)
    monkeypatch.setattr(postgres, "_INSTALLED", ())
    monkeypatch.setenv("PATH", "/nowhere")
    packaged = postgres.binaries()
    assert packaged is not None
    said = subprocess.run([packaged / "postgres", "--version"], check=True, capture_output=True, text=True).stdout
    assert said.startswith("postgres (PostgreSQL) ")


# Asking.


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE visits ALTER age TYPE text",
        "ALTER TABLE visits RENAME TO gone",
        "ALTER TABLE visits ADD COLUMN more int",
    ],
)
def test_a_table_that_changed_is_not_read_until_it_is_protected_again(
    engine: PostgresEngine, url: str, heard: list[str], change: str
) -> None:
    assert counted(engine) == 400
    as_owner(url, change)
    with pytest.raises(EngineUnavailable):
        counted(engine)
    assert heard


def test_a_view_that_changed_is_not_read(url: str, tmp_path: Path, heard: list[str]) -> None:
    as_owner(url, "CREATE VIEW v AS SELECT * FROM visits", "GRANT SELECT ON v TO reader")
    with PostgresEngine(tmp_path, as_reader(url), owner_log=heard.append) as engine:
        engine.take_in(VISITS, "v")
        assert counted(engine) == 400
        as_owner(
            url,
            "DROP VIEW v",
            "CREATE VIEW v AS SELECT patient, ward, age::text AS age, note FROM visits",
            "GRANT SELECT ON v TO reader",
        )
        with pytest.raises(EngineUnavailable):
            counted(engine)
        assert "the columns of" in heard[-1]
        engine.take_in(VISITS, "v")
        assert counted(engine) == 400


def test_rows_that_row_level_security_hides_later_are_an_error_and_not_fewer_rows(
    engine: PostgresEngine, url: str
) -> None:
    as_owner(url, "ALTER TABLE visits ENABLE ROW LEVEL SECURITY")
    with pytest.raises(EngineFailure):
        counted(engine)


def test_a_timeout_ends_a_statement_on_the_server_too(url: str, tmp_path: Path, heard: list[str]) -> None:
    as_owner(url, *SLOW)
    with PostgresEngine(tmp_path, as_reader(url), timeout=0.5, owner_log=heard.append) as engine:
        engine.take_in(VISITS, "slow")
        with pytest.raises(EngineFailure):
            counted(engine)
        assert "cancel" in heard[-1]
        wait_until(lambda: not _running(url, "slow"))


@contextmanager
def stopped(*processes: int) -> Iterator[threading.Event]:
    """Processes that do nothing for the length of the block, or until somebody waited for them far too long."""
    over = threading.Event()

    def go_on() -> None:
        over.set()
        for process in processes:
            with suppress(ProcessLookupError):  # the server ends who has nobody left to answer
                os.kill(process, signal.SIGCONT)

    stop_processes(processes)
    late = threading.Timer(30, go_on)
    late.start()
    try:
        yield over
    finally:
        late.cancel()
        go_on()


def _of_readers(url: str) -> list[int]:
    query = "SELECT pid FROM pg_stat_activity WHERE usename = 'reader' AND datname = current_database()"
    with psycopg.connect(url) as connection:
        return [pid for (pid,) in connection.execute(query).fetchall()]


def test_a_connection_that_hangs_while_idle_is_given_up_when_the_time_is_over(
    url: str, tmp_path: Path, heard: list[str]
) -> None:
    with PostgresEngine(tmp_path, as_reader(url), timeout=2, owner_log=heard.append) as engine:
        engine.take_in(VISITS, "visits")
        assert counted(engine) == 400
        with stopped(*_of_readers(url)) as over:
            with pytest.raises(EngineUnavailable) as caught:
                counted(engine)
            assert caught.value.__context__ is None
            assert "the server must answer in time" in heard[-1]
            assert counted(engine) == 400  # on another connection
            assert not over.is_set()


def test_a_statement_that_hangs_is_given_up_when_the_time_is_over(url: str, tmp_path: Path, heard: list[str]) -> None:
    def ask() -> None:
        with pytest.raises(EngineFailure):
            counted(engine)

    as_owner(url, *SLOW)
    with PostgresEngine(tmp_path, as_reader(url), timeout=3, owner_log=heard.append) as engine:
        engine.take_in(VISITS, "slow")
        asker = threading.Thread(target=ask)
        asker.start()
        wait_until(lambda: _running(url, "slow"))
        with stopped(*_running(url, "slow")) as over:
            asker.join()
            assert not over.is_set()
        assert "the server must answer in time" in heard[-1]


def test_a_server_that_hangs_keeps_nobody_waiting(
    postgres_server: PostgresServer,  # noqa: F811
    url: str,
    tmp_path: Path,
    heard: list[str],
) -> None:
    with PostgresEngine(tmp_path, as_reader(url), timeout=2, owner_log=heard.append) as engine:
        engine.take_in(VISITS, "visits")
        assert counted(engine) == 400
        with stopped(postgres_server.process, *_of_readers(url)) as over:
            for _ in range(2):  # on a connection that was kept, and on none
                with pytest.raises(EngineUnavailable):
                    counted(engine)
            with pytest.raises(StoreError, match="must"):
                engine.take_in(VISITS, "visits")
            assert not over.is_set()
        assert counted(engine) == 400


def _running(url: str, word: str) -> list[int]:
    query = (
        "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE $1 AND usename = 'reader'"
        " AND datname = current_database()"
    )
    with psycopg.connect(url, cursor_factory=psycopg.RawCursor) as connection:
        return [pid for (pid,) in connection.execute(query, (f"%{word}%",)).fetchall()]


@pytest.mark.parametrize(("how", "words"), [("terminate", "terminating|closed"), ("cancel", "user request")])
def test_a_question_that_an_administrator_ends_is_the_constant_error_and_the_next_one_works(
    url: str, tmp_path: Path, heard: list[str], how: str, words: str
) -> None:
    as_owner(url, *SLOW)
    with PostgresEngine(tmp_path, as_reader(url), owner_log=heard.append) as engine:
        engine.take_in(VISITS, "slow")
        administrator = threading.Thread(target=_stop, args=(url, how))
        administrator.start()
        with pytest.raises(EngineFailure) as caught:
            counted(engine)
        administrator.join()
        assert caught.value.__context__ is None
        assert re.search(words, heard[-1])
        engine.take_in(VISITS, "visits")
        assert counted(engine) == 400


def _stop(url: str, how: str) -> None:
    wait_until(lambda: _running(url, "slow"))
    as_owner(url, f"SELECT pg_{how}_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")


def test_a_connection_that_was_cut_while_idle_is_made_anew(engine: PostgresEngine, url: str) -> None:
    assert counted(engine) == 400
    as_owner(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
    assert counted(engine) == 400


def test_an_interrupt_ends_a_question_and_its_statement(url: str, tmp_path: Path) -> None:
    as_owner(url, *SLOW)
    with PostgresEngine(tmp_path, as_reader(url)) as engine:
        engine.take_in(VISITS, "slow")
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            counted(engine)
        wait_until(lambda: not _running(url, "slow"))


def test_nothing_can_be_written(engine: PostgresEngine, url: str, heard: list[str]) -> None:
    """The view calls a function that writes; the transaction does not let it."""
    as_owner(
        url,
        "CREATE TABLE seen (n int)",
        "CREATE FUNCTION write_it(int8) RETURNS int8 LANGUAGE sql SECURITY DEFINER AS"
        " 'INSERT INTO public.seen VALUES (1); SELECT $1'",
        "CREATE FUNCTION note_it(int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS"
        " 'BEGIN RETURN public.write_it($1); END'",
        "CREATE VIEW spy AS SELECT note_it(patient) AS patient, ward, age, note FROM visits",
        "GRANT SELECT ON spy TO reader",
    )
    engine.take_in(VISITS, "spy")
    with pytest.raises(EngineFailure):
        counted(engine)
    assert "read-only transaction" in heard[-1]


def test_threads_have_connections_of_their_own(engine: PostgresEngine) -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(counted(engine))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [400] * 8


def test_units_without_a_number_are_left_out_and_rows_are_units_by_their_address(url: str, tmp_path: Path) -> None:
    as_owner(url, "UPDATE visits SET patient = NULL WHERE patient = 0")
    with PostgresEngine(tmp_path, as_reader(url)) as engine:
        engine.take_in(VISITS, "visits")
        assert counted(engine) == 398
        engine.take_in(replace(VISITS, name="rows", unit=None, rows_per_unit=1), "visits")
        found = engine.run('SELECT COUNT(DISTINCT _unit) AS n FROM "rows"')
        assert found["n"].to_pylist() == [400]


def test_a_value_of_a_row_reaches_the_owner_log_and_nobody_else(url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    as_owner(
        url,
        "CREATE VIEW broken AS SELECT patient, ward, note::int8 AS age, note FROM visits",
        "GRANT SELECT ON broken TO reader",
    )
    with PostgresEngine(tmp_path, as_reader(url), owner_log=log.write_text) as engine:
        engine.take_in(VISITS, "broken")
        with pytest.raises(EngineFailure) as caught:
            engine.run('SELECT MAX("age") AS n FROM "visits"')
    told = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "Ann Smith" not in told
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "Ann Smith" in log.read_text()


def test_the_server_follows_no_settings_of_a_role(url: str, tmp_path: Path) -> None:
    as_owner(
        url,
        "ALTER ROLE reader IN DATABASE {} SET TimeZone = 'Asia/Tokyo'".format(url.split("/")[3].partition("?")[0]),
        "ALTER ROLE reader SET DateStyle = 'SQL, DMY'",
        "ALTER ROLE reader SET extra_float_digits = -15",
        "ALTER ROLE reader SET transform_null_equals = on",
    )
    try:
        table = Table("times", (Column("at", ColumnType.TIMESTAMP), Column("x", ColumnType.REAL)), public=True)
        as_owner(url, "CREATE TABLE times AS SELECT timestamptz '2021-01-01 00:00:00+00' AS at, 0.1::float8 AS x")
        as_owner(url, "GRANT SELECT ON times TO reader")
        with PostgresEngine(tmp_path, as_reader(url)) as engine:
            engine.take_in(table, "times")
            found = engine.run('SELECT CAST("at" AS VARCHAR) AS a, CAST("x" AS VARCHAR) AS x FROM "times"')
        assert found.to_pylist() == [{"a": "2021-01-01 00:00:00", "x": "0.1"}]
    finally:
        as_owner(url, "ALTER ROLE reader RESET ALL")


def test_public_values_are_read_on_the_server(url: str, tmp_path: Path) -> None:
    wards = Table("wards", (Column("ward", ColumnType.TEXT), Column("region", ColumnType.TEXT)), public=True)
    as_owner(url, "CREATE TABLE wards AS SELECT * FROM (VALUES ('a', 'north'), ('b', 'south')) v(ward, region)")
    as_owner(url, "GRANT SELECT ON wards TO reader")
    curator = Curator(tmp_path, rows=as_reader(url))
    curator.protect("wards", wards)
    curator.protect("visits", VISITS)
    sql = "SELECT region, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY region ORDER BY region"
    assert curator.ask(sql, 1).table["region"].to_pylist() == ["north", "south"]


def test_without_the_extra_the_owner_hears_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "discreet.engines.postgres.engine")
    with pytest.raises(MissingExtra, match=r"discreet\[postgres\]"):
        open_engine(tmp_path, "postgresql://reader@db.example/clinic")


@pytest.mark.parametrize("value", [2**63, "a\x00b"])
def test_what_the_server_cannot_hold_is_refused_before_it_is_sent(engine: PostgresEngine, value: object) -> None:
    kind = "VARCHAR" if isinstance(value, str) else "BIGINT"
    with pytest.raises(QueryRefused):
        engine.check(f'SELECT CAST($1 AS {kind}) AS x FROM "visits"', [value])
