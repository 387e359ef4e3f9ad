"""Spark in other processes: a real server of Spark Connect, and its executors."""

from __future__ import annotations

import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Curator
from discreet.engines.engine import TableStore
from discreet.engines.spark import session as sessions
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import EngineFailure, EngineUnavailable, InvalidInput, StoreError, Suspended
from tests.engines.contract import CANARY, EMPTY, ODD, PEOPLE, ROWS, TEXTS, _everything_about
from tests.engines.same_everywhere import Case, SameEverywhere, few_of_every_kind
from tests.query.world import CATALOG
from tests.servers.spark_connect import SLEEPING, SparkConnectServer, eight_rows
from tests.servers.spark_connect import connect_server as connect_server  # noqa: PLC0414
from tests.threads import at_once

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings(r"ignore:\[RETRIES_EXCEEDED\]:UserWarning"),
]
COUNT = 'SELECT COUNT(*) AS n FROM "people"'
QUESTION = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def folder(tmp_path: Path, connect_server: SparkConnectServer) -> Path:
    pq.write_table(ROWS, tmp_path / "people.parquet")
    with SparkEngine(tmp_path / "curator", connect_server.url) as engine:
        engine.take_in(PEOPLE, str(tmp_path / "people.parquet"))
    return tmp_path


def asked(engine: SparkEngine, statement: str = COUNT, parameters: tuple[object, ...] = ()) -> list[dict[str, Any]]:
    return engine.run(statement, parameters).to_pylist()


def owner_of(server: SparkConnectServer) -> Any:
    from pyspark.sql.connect.session import SparkSession

    return SparkSession(server.url)


def view(server: SparkConnectServer, files: Path, condition: str) -> None:
    """Let the people of these files be in a view, and something be done for each of them."""
    owner = owner_of(server)
    owner.sql(f"CREATE OR REPLACE VIEW hard AS SELECT * FROM parquet.`{files}` WHERE {condition}")
    owner.stop()


@pytest.fixture
def slow(folder: Path, connect_server: SparkConnectServer) -> Path:
    """People in a view that takes a second for each of eight rows, by two tasks."""
    view(connect_server, eight_rows(folder), SLEEPING)
    return folder


@contextmanager
def meanwhile(server: SparkConnectServer, work: Callable[[], object]) -> Iterator[None]:
    """Whenever tasks have begun, something happens to them, until it is over."""
    over = threading.Event()

    def watch() -> None:
        seen = server.tasks()
        while not over.wait(0.05):
            if server.tasks() > seen:
                work()
                seen = server.tasks()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def lose(executors: list[int]) -> None:
    for executor in executors:
        os.kill(executor, signal.SIGKILL)


# Executors that are lost.


@pytest.mark.thorough
def test_what_a_lost_executor_did_is_done_again_and_the_answer_is_right(
    slow: Path, connect_server: SparkConnectServer
) -> None:
    with SparkEngine(slow / "slow", connect_server.url, owner_log=print) as engine:
        engine.take_in(PEOPLE, "hard")
        first = connect_server.executors()[:1]
        with meanwhile(connect_server, lambda: lose([first.pop()] if first else [])):
            (row,) = asked(engine, 'SELECT COUNT(*) AS n, SUM("id") AS s FROM "people"')
    assert (row["n"], int(row["s"])) == (8, 14)
    assert "Lost executor" in connect_server.log


@pytest.mark.thorough
def test_a_question_whose_executors_are_lost_again_and_again_is_charged_and_suspends(
    folder: Path, connect_server: SparkConnectServer
) -> None:
    heard: list[str] = []
    curator = Curator(folder / "c", engine=SparkEngine(folder / "c", connect_server.url, owner_log=heard.append))
    view(connect_server, folder / "people.parquet", "length(reflect('java.lang.System', 'exit', 3)) > 0")
    curator.protect("hard", PEOPLE)
    before = curator.budget()
    with pytest.raises(EngineFailure) as caught:
        curator.ask(QUESTION, epsilon=0.5)
    assert (str(caught.value), caught.value.__context__) == (str(EngineFailure()), None)
    said, suspended = heard
    assert "lift the suspension once they are back" in said
    assert "is suspended at people" in suspended
    assert "\n" not in said
    charged = curator.budget()
    assert charged != before
    view(connect_server, folder / "people.parquet", "TRUE")
    curator.lift(curator.suspensions()[0].record, "the executors are back")
    assert "n" in str(curator.ask(QUESTION, epsilon=0.5))
    assert curator.budget() != charged


# A server that is lost.


@pytest.mark.thorough
def test_a_server_that_is_killed_in_the_middle_of_a_question_is_found_again_when_it_is_back(
    slow: Path, connect_server: SparkConnectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_RETRIES", 2)
    heard: list[str] = []
    curator = Curator(slow / "c", engine=SparkEngine(slow / "c", connect_server.url, owner_log=heard.append))
    curator.protect("hard", PEOPLE)
    before = curator.budget()
    try:
        with meanwhile(connect_server, connect_server.kill), pytest.raises(EngineFailure) as caught:
            curator.ask(QUESTION, epsilon=0.5)
        assert (str(caught.value), caught.value.__context__) == (str(EngineFailure()), None)
        charged = curator.budget()
        assert charged != before
        with pytest.raises(Suspended):
            curator.ask(QUESTION, epsilon=0.5)
        curator.lift(curator.suspensions()[0].record, "the server was killed")
        with pytest.raises(EngineUnavailable) as down:
            curator.ask(QUESTION, epsilon=0.5)
        assert (str(down.value), down.value.__context__) == (str(EngineUnavailable()), None)
        assert curator.budget() == charged
        with pytest.raises(StoreError, match="must be reachable"):
            curator.protect("hard", PEOPLE)
        assert all("must be reachable" in words and "\n" not in words for words in (heard[0], heard[2]))
        assert len(heard) == 3
    finally:
        connect_server.start()
    curator.protect(str(slow / "people.parquet"), PEOPLE)
    assert "n" in str(curator.ask("SELECT COUNT(*) AS n FROM people WHERE id > 0", epsilon=0.25))


def test_a_server_that_has_forgotten_the_session_is_asked_for_another(
    folder: Path, connect_server: SparkConnectServer
) -> None:
    with SparkEngine(folder / "curator", connect_server.url) as engine:
        assert asked(engine) == [{"n": 4}]
        engine._session().client.release_session()
        assert asked(engine) == [{"n": 4}]


def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_the_timeout(
    folder: Path, connect_server: SparkConnectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "SPARK_ANSWER", 1.0)
    with SparkEngine(folder / "curator", connect_server.url, timeout=1.0) as engine:
        engine._session()
        connect_server.freeze()
        try:
            with pytest.raises(EngineUnavailable):
                engine.run(COUNT)
            with pytest.raises(StoreError, match="must answer"):
                engine.take_in(PEOPLE, str(folder / "people.parquet"))
        finally:
            connect_server.thaw()
    monkeypatch.undo()
    with SparkEngine(folder / "curator", connect_server.url) as engine:
        assert asked(engine) == [{"n": 4}]


def test_what_listens_and_is_no_server_of_spark_connect_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "SPARK_ANSWER", 1.0)
    monkeypatch.setattr(sessions, "_RETRIES", 1)

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as other, socket.create_server(("127.0.0.1", 0)) as silent:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        for port in (other.server_port, silent.getsockname()[1]):
            with pytest.raises(StoreError, match=f"must answer.*127.0.0.1:{port}"):
                SparkEngine(tmp_path, f"sc://127.0.0.1:{port}").take_in(PEOPLE, "people")
        other.shutdown()


# A server that works.


@pytest.mark.thorough
class TestSameOnSparkConnect(SameEverywhere):
    """A few statements: the language is that of a session in the process, which has all of them."""

    server: ClassVar[SparkConnectServer]
    test_every_expression_has_the_same_values_or_is_refused = None  # type: ignore[assignment]

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def spark(cls, connect_server: SparkConnectServer) -> None:
        cls.server = connect_server

    @classmethod
    def corpus(cls) -> list[Case]:
        return few_of_every_kind()[:4]

    def opened(self, folder: Path, given: dict[str, pa.Table]) -> TableStore:
        place = SparkEngine(folder / "curator", self.server.url, owner_log=print)
        for table in CATALOG:
            file = folder / f"{table.name}.parquet"
            pq.write_table(given[table.name], file)
            place.take_in(table, str(file), catalog=CATALOG)
        return place


def test_values_come_back_as_they_went_and_sums_are_exact(folder: Path, connect_server: SparkConnectServer) -> None:
    values = [*TEXTS, 2**63 - 1, -(2**63), 0.1, -1e308, 5e-324, True, None, *ROWS["born"].to_pylist()[:3]]
    values += ROWS["seen"].to_pylist()[:3]
    with SparkEngine(folder / "curator", connect_server.url, owner_log=print) as engine:
        listed = ", ".join(f"${k} AS v{k}" for k in range(1, len(values) + 1))
        (row,) = asked(engine, f'SELECT {listed} FROM "people" WHERE "id" = 3', tuple(values))
        assert list(row.values()) == values
        (row,) = asked(engine, 'SELECT SUM("amount") AS s, SUM("id" - 5) AS t FROM "people"')
        assert (int(row["s"]), int(row["t"])) == (2 * (2**63 - 1), -13)


def test_odd_names_and_tables_of_the_catalog_and_what_is_missing(
    tmp_path: Path, connect_server: SparkConnectServer
) -> None:
    pq.write_table(pa.table({'a "b" c': [1], "SELECT": ["x"], "Straße": [0.5]}), tmp_path / "odd.parquet")
    owner = owner_of(connect_server)
    owner.sql("CREATE DATABASE IF NOT EXISTS clinic")
    owner.sql("CREATE TABLE IF NOT EXISTS clinic.nobody (id INT, x DECIMAL(20, 0)) USING parquet")
    owner.stop()
    with SparkEngine(tmp_path / "c", connect_server.url, owner_log=print) as engine:
        engine.take_in(ODD, str(tmp_path / "odd.parquet"))
        engine.take_in(EMPTY, "clinic.nobody")
        assert asked(engine, 'SELECT "SELECT" AS b, "Straße" AS c FROM "Größe ""of"" it"') == [{"b": "x", "c": 0.5}]
        assert asked(engine, 'SELECT COUNT(*) AS n, SUM("x") AS s FROM "nobody"') == [{"n": 0, "s": None}]
        for absent in ("clinic.missing", "/nowhere/nothing.parquet"):
            with pytest.raises(InvalidInput, match="Spark must have the table"):
                engine.take_in(EMPTY, absent)


def test_a_curator_asks_rows_behind_spark_connect_from_several_threads(
    folder: Path, connect_server: SparkConnectServer
) -> None:
    curator = Curator(folder / "c", rows=connect_server.url)
    curator.protect(str(folder / "people.parquet"), PEOPLE)
    first = curator.ask(QUESTION, epsilon=0.5)
    left = curator.budget()
    again = Curator(folder / "c").ask(QUESTION, epsilon=0.5)
    assert str(again).splitlines()[:2] == str(first).splitlines()[:2]
    assert curator.budget() == left
    with SparkEngine(folder / "curator", connect_server.url) as engine:
        assert at_once(lambda: asked(engine), 6, threads=2) == [[{"n": 4}]] * 6


def test_sessions_of_the_program_stay_as_they_are(folder: Path, connect_server: SparkConnectServer) -> None:
    """A session of the engine's own is handed to nobody, and has nothing of another but the server."""
    from pyspark.sql.connect.session import SparkSession

    owner = owner_of(connect_server)
    owner.sql("CREATE OR REPLACE TEMPORARY VIEW mine AS SELECT 1 AS id, 2 AS x")
    before = {name: owner.conf.get(name) for name in sessions.SETTINGS}
    with SparkEngine(folder / "curator", session=owner) as engine:
        assert asked(engine) == [{"n": 4}]
        with pytest.raises(InvalidInput, match="a temporary view belongs to one session alone"):
            engine.take_in(EMPTY, "mine")
    with SparkEngine(folder / "curator", connect_server.url) as engine:
        assert asked(engine) == [{"n": 4}]
        assert SparkSession.getActiveSession() is None
        assert SparkSession._get_default_session() is None
    assert {name: owner.conf.get(name) for name in sessions.SETTINGS} == before
    assert before["spark.sql.session.timeZone"] == "America/New_York"
    owner.stop()


def test_a_question_that_takes_too_long_or_is_interrupted_ends_on_the_server(
    slow: Path, connect_server: SparkConnectServer
) -> None:
    with SparkEngine(slow / "slow", connect_server.url) as engine:
        engine.take_in(PEOPLE, "hard")
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            engine.run(COUNT)
        assert engine._session().interruptAll() == []  # nothing is left that could be interrupted
        engine.timeout = 1.0
        with pytest.raises(EngineFailure):
            engine.run(COUNT)
        assert engine._session().interruptAll() == []


def test_a_value_of_a_row_is_in_no_error_and_no_output(
    folder: Path,
    connect_server: SparkConnectServer,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(0)
    heard: list[str] = []
    _failing_over_a_name(folder, connect_server, heard.append)
    assert any("Neil" in words or CANARY in words for words in heard), heard
    heard.clear()
    failure = _failing_over_a_name(folder, connect_server, None)
    written = capfd.readouterr()
    for text in (_everything_about(failure), caplog.text, written.out, written.err):
        assert "Neil" not in text
        assert CANARY not in text


def _failing_over_a_name(folder: Path, server: SparkConnectServer, log: Callable[[str], None] | None) -> EngineFailure:
    """The planted bug: a cast that fails over the first row."""
    with SparkEngine(folder / "curator", server.url, owner_log=log) as engine:
        engine.cast = lambda *_: "CAST(`name` AS BIGINT)"  # type: ignore[method-assign]
        with pytest.raises(EngineFailure) as caught:
            engine.run('SELECT "id" AS x FROM "people"')
    return caught.value


def test_a_process_ends_though_its_server_does_not_answer(folder: Path, connect_server: SparkConnectServer) -> None:
    """At its end, a client of Spark Connect would ask the server once more, and wait."""
    program = (
        "import sys\n"
        "from discreet.engines.spark.engine import SparkEngine\n"
        "engine = SparkEngine(sys.argv[1], sys.argv[2])\n"
        "engine._session()\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    words = [sys.executable, "-W", "ignore", "-c", program, str(folder / "curator"), connect_server.url]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        connect_server.freeze()
        try:
            process.communicate(timeout=60)
        finally:
            connect_server.thaw()
            process.kill()
    assert process.returncode == 0
