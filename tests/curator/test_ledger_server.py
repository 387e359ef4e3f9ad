"""The ledger on a PostgreSQL server: the same promises, for several processes on several hosts."""

from __future__ import annotations

import platform
import random
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import psycopg
import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger import balance as ledger_standing
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.move import move
from discreet.curator.ledger.units import Allowance, BudgetMeasure, LedgerPrice, Portion, price_in_units
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, InvalidValue, LedgerError, RequestConflict
from discreet.privacy.loss import Pure
from discreet.storage.postgres import PostgresStorage, write_server
from tests.servers.cutting import CuttingProxy
from tests.servers.fixtures import postgres_server, postgres_url
from tests.servers.postgres import PostgresServer
from tests.soak.double_spend import spend_together
from tests.soak.killed_ledger import kill_askers
from tests.thoroughness import many

__all__ = ["postgres_server", "postgres_url"]

TENTH = price_in_units(Pure("0.1"), BudgetMeasure.PURE)
THOUSANDTH = price_in_units(Pure("0.001"), BudgetMeasure.PURE)
LONG = random.Random(5).randbytes(4000).hex()
"""A text that is longer than what an index of the server takes, also where the server makes it smaller."""
Start = Callable[[Path], Ledger]


@pytest.fixture
def start(postgres_url: str) -> Start:
    def started(folder: Path) -> Ledger:
        Ledger.create(folder).close()
        move(folder, postgres_url)
        return Ledger(folder)

    return started


@pytest.fixture
def ledger(tmp_path: Path, start: Start) -> Iterator[Ledger]:
    made = start(tmp_path)
    made.open_account("visits", Allowance.of(Pure(1)))
    yield made
    made.close()


# Charging and answering ----------------------------------------------------------------------------------------------


def test_ten_tenths_fill_the_budget_and_the_eleventh_is_refused_for_free(ledger: Ledger) -> None:
    for k in range(10):
        ledger.charge(f"r{k}", b"", {"visits": TENTH}, {})
    before = ledger.head()
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        ledger.charge("r10", b"", {"visits": LedgerPrice(1)}, {})
    assert ledger.head() == before
    assert ledger.accounts()["visits"].left == Pure(0)
    assert not ledger.affords({"visits": LedgerPrice(1)})


def test_one_request_has_one_charge_and_one_answer(ledger: Ledger, tmp_path: Path) -> None:
    first = ledger.charge("r", b"body", {"visits": TENTH}, {"sql": "SELECT 1 -- 100 % ?"})
    assert ledger.charge("r", b"body", {"visits": TENTH}, {}) == first
    with pytest.raises(RequestConflict):
        ledger.charge("r", b"another", {"visits": TENTH}, {})
    settled = ledger.settle("r", b"\x00answer")
    assert ledger.settle("r", b"second") == settled == ledger.look_up("r", b"body")
    assert settled.answer == b"\x00answer"
    assert verify(tmp_path).problems == []


def test_portions_are_charged_as_in_a_file(ledger: Ledger, tmp_path: Path) -> None:
    for request, key in (("r1", "a"), ("r2", "b"), ("r3", "a")):
        ledger.charge(request, b"", {"visits": LedgerPrice(0, 0, (Portion("ward", key, TENTH.loss),))}, {})
    assert ledger.accounts()["visits"].spent == 2 * TENTH.loss
    assert verify(tmp_path).problems == []


@pytest.mark.parametrize("places", [("ward", LONG), (LONG, "a"), (LONG, LONG)], ids=["key", "part", "both"])
def test_people_under_a_long_key_are_charged_as_under_a_short_one(
    ledger: Ledger, tmp_path: Path, places: tuple[str, str]
) -> None:
    part, key = places
    for request, one in (("r1", key), ("r2", f"{key}b"), ("r3", key)):
        ledger.charge(request, b"", {"visits": LedgerPrice(0, 0, (Portion(part, one, TENTH.loss),))}, {})
    assert ledger.accounts()["visits"].spent == 2 * TENTH.loss
    assert verify(tmp_path).problems == []


def longest_name(seed: int) -> str:
    """600 bytes in which the server finds nothing to make smaller."""
    draw = random.Random(seed)
    return "".join(chr(draw.randrange(0x20000, 0x2A000)) for _ in range(150))


def test_the_longest_account_with_the_longest_short_texts_fits_the_server(ledger: Ledger, tmp_path: Path) -> None:
    name, text = f"{longest_name(1)}/{longest_name(2)}", LONG[:700]
    ledger.open_account(name, Allowance.of(Pure(1)))
    for key in (text, text[::-1]):
        ledger.charge(key, b"", {name: LedgerPrice(0, 0, (Portion(text, key, TENTH.loss),))}, {})
    assert ledger.accounts()[name].spent == TENTH.loss
    assert verify(tmp_path).problems == []


def test_the_longest_request_id_of_the_longest_name_fits_the_server(tmp_path: Path, postgres_url: str) -> None:
    analyst, draw = longest_name(3), random.Random(4)
    policy = Table("visits", (Column("ward", ColumnType.TEXT),), budget=Budget(9), analysts={analyst: None})
    Curator(tmp_path).protect(pa.table({"ward": ["a"]}), policy)
    move(tmp_path, postgres_url)
    curator, request = Curator(tmp_path, shared_answers=False), "".join(chr(draw.randrange(1, 8)) for _ in range(250))
    first, again = (
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1, analyst=analyst, request=request) for _ in range(2)
    )
    assert (first.charged, again.charged) == (True, False)
    assert verify(tmp_path).problems == []
    curator.ledger.close()


@pytest.mark.parametrize("request_id", ["a\x00b", LONG, "\ud800"])
def test_a_request_id_that_no_server_keeps_is_refused_for_free(tmp_path: Path, request_id: str) -> None:
    curator = Curator(tmp_path)
    curator.protect(pa.table({"ward": ["a"]}), Table("visits", (Column("ward", ColumnType.TEXT),), budget=Budget(9)))
    before = curator.ledger.head()
    with pytest.raises(InvalidValue, match="a request id must"):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1, request=request_id)
    assert curator.ledger.head() == before


def test_the_server_itself_refuses_to_overspend_to_refund_or_to_forget(ledger: Ledger, postgres_url: str) -> None:
    ledger.charge("r", b"", {"visits": TENTH}, {})
    ledger.settle("r", b"answer")
    statements = (
        "UPDATE account_2 SET spent = cap + 1",
        "UPDATE account_2 SET spent = 0",
        "UPDATE account_2 SET name = 'other'",
        "DELETE FROM account_2",
        "UPDATE entry SET body = ''",
        "DELETE FROM entry",
        "TRUNCATE entry, request",
        "TRUNCATE portion_2",
        "DELETE FROM request",
        "UPDATE request SET bytes = ''",
    )
    with psycopg.connect(postgres_url, autocommit=True, options="-c search_path=discreet_ledger") as connection:
        for statement in statements:
            with pytest.raises(psycopg.Error):
                connection.execute(statement.encode())


def test_many_processes_never_spend_more_than_there_is(tmp_path: Path, start: Start) -> None:
    spend_together(tmp_path, many(160, 800), many(4, 16), 50, lambda: None, start)


def test_askers_that_die_leave_what_they_released_charged(tmp_path: Path, start: Start) -> None:
    kill_askers(tmp_path, many(2, 4), lambda: None, start)


# Servers and connections that break ----------------------------------------------------------------------------------


def charge_all(ledger: Ledger, requests: int, threads: int, tick: Callable[[], None]) -> list[BaseException]:
    """Charge and settle from several threads; what was raised."""
    faults: list[BaseException] = []

    def work(name: int) -> None:
        for k in range(requests):
            request = f"{name}-{k}"
            try:
                ledger.charge(request, b"", {"visits": THOUSANDTH}, {})
                answer = ledger.settle(request, request.encode()).answer
                assert answer == request.encode()
            except BaseException as fault:
                faults.append(fault)
            tick()

    workers = [threading.Thread(target=work, args=(name,)) for name in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return faults


def test_a_server_that_is_killed_and_started_again_loses_and_doubles_nothing(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        server.start()
        Ledger.create(tmp_path).close()
        move(tmp_path, server.url)
        ledger = Ledger(tmp_path)
        ledger.open_account("visits", Allowance.of(Pure(1)))
        begun = threading.Event()

        def restart() -> None:
            begun.wait(30)
            server.kill()
            server.start()

        killer = threading.Thread(target=restart)
        killer.start()
        faults = charge_all(ledger, 25, 8, begun.set)
        killer.join()
        assert faults == []
        assert ledger.accounts()["visits"].spent == 200 * THOUSANDTH.loss
        assert verify(tmp_path).problems == []
        ledger.close()
    finally:
        server.remove()


@pytest.mark.parametrize("skip", [0, 1], ids=["charge", "settle"])
def test_a_connection_cut_between_commit_and_acknowledgement_is_found_out_by_the_request(
    tmp_path: Path, postgres_server: PostgresServer, postgres_url: str, skip: int
) -> None:
    between = Path(tempfile.mkdtemp(prefix="px"))
    try:
        proxy = CuttingProxy(between, postgres_server.folder / ".s.PGSQL.5432", b"COMMIT")
        Ledger.create(tmp_path).close()
        move(tmp_path, postgres_url)
        write_server(tmp_path, postgres_url.replace(str(postgres_server.folder), str(between)))
        ledger = Ledger(tmp_path)
        ledger.open_account("visits", Allowance.of(Pure(1)))
        proxy.arm(skip)
        ledger.charge("r", b"", {"visits": TENTH}, {})
        assert ledger.settle("r", b"answer").answer == b"answer"
        assert proxy.cuts == 1
        assert ledger.accounts()["visits"].spent == TENTH.loss
        kinds = [entry.body["kind"] for entry in ledger.entries()]
        assert kinds == ["start", "account", "charge", "answer"]
        assert verify(tmp_path).problems == []
        ledger.close()
    finally:
        shutil.rmtree(between)


def test_a_server_that_is_down_answers_nothing_and_says_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresStorage, "pauses", ())
    write_server(tmp_path, "postgresql://curator:hunter2@127.0.0.1:1/discreet")
    with pytest.raises(LedgerError, match="a server that cannot be reached") as found:
        Ledger(tmp_path)
    assert "hunter2" not in str(found.value)
    assert found.value.__suppress_context__ or found.value.__cause__ is None
    assert verify(tmp_path).problems != []


def test_a_server_that_does_not_wait_for_its_disk_is_refused(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        server.start("fsync=off")
        write_server(tmp_path, server.url)
        with pytest.raises(LedgerError, match="fsync off"):
            Ledger(tmp_path)
    finally:
        server.remove()


def test_an_empty_server_is_no_ledger(tmp_path: Path, postgres_url: str) -> None:
    write_server(tmp_path, postgres_url)
    with pytest.raises(LedgerError, match="there must be a ledger on the server"):
        Ledger(tmp_path)


def test_a_server_put_back_to_an_older_state_is_found_out(ledger: Ledger, tmp_path: Path, postgres_url: str) -> None:
    ledger.charge("r", b"", {"visits": TENTH}, {})
    ledger.settle("r", b"answer")
    with psycopg.connect(postgres_url, options="-c search_path=discreet_ledger") as connection:
        for table in ("entry", "request", "account_2"):
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
        connection.execute("DELETE FROM request")
        connection.execute("DELETE FROM entry WHERE position > 2")
        connection.execute("UPDATE account_2 SET spent = 0")
        for table in ("entry", "request", "account_2"):
            connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER".encode())
    assert any("witness" in problem for problem in verify(tmp_path).problems)
    with pytest.raises(LedgerError, match="sound"):
        Curator(tmp_path)


# Moving and joining --------------------------------------------------------------------------------------------------


def test_a_ledger_that_moves_keeps_its_chain_and_the_file_takes_no_more(tmp_path: Path, postgres_url: str) -> None:
    file = Ledger.create(tmp_path)
    file.open_account("visits", Allowance.of(Pure(1)))
    file.charge("r", b"", {"visits": TENTH}, {})
    file.settle("r", b"answer")
    before = [(entry.position, entry.hash) for entry in file.entries()]
    assert move(tmp_path, postgres_url) == len(before)
    with pytest.raises(LedgerError):
        file.charge("late", b"", {"visits": TENTH}, {})  # whoever had it open
    moved = Ledger(tmp_path)
    assert [(entry.position, entry.hash) for entry in moved.entries()] == before
    moved.charge("s", b"", {"visits": TENTH}, {})
    assert moved.settle("r", b"another").answer == b"answer"
    assert moved.accounts()["visits"].spent == 2 * TENTH.loss
    assert verify(tmp_path).problems == []
    with pytest.raises(InvalidValue, match="already"):
        move(tmp_path, postgres_url)
    moved.close()


def test_a_file_that_holds_long_texts_as_they_are_goes_on_counting_and_moves(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = {"visits": LedgerPrice(0, 0, (Portion(LONG, LONG, TENTH.loss),))}
    file = Ledger.create(tmp_path)
    file.open_account("visits", Allowance.of(Pure(1)))
    with monkeypatch.context() as patched:
        patched.setattr(ledger_standing, "index_key", lambda text: text)
        file.charge("before", b"", prices, {})
    file.charge("after", b"", prices, {})
    for request in (LONG, "a\x00b"):
        file.charge(request, b"", {}, {})
    assert file.accounts()["visits"].spent == 2 * TENTH.loss
    assert verify(tmp_path).problems == []
    assert move(tmp_path, postgres_url) == 6
    moved = Ledger(tmp_path)
    moved.charge("there", b"", prices, {})
    assert moved.accounts()["visits"].spent == 3 * TENTH.loss
    assert verify(tmp_path).problems == []
    moved.close()


def test_a_move_that_was_interrupted_is_done_again(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.curator.ledger import move as moving

    file = Ledger.create(tmp_path)
    file.open_account("visits", Allowance.of(Pure(1)))
    for request in ("b", LONG, "a", "a\x00b"):
        file.charge(request, b"", {"visits": LedgerPrice(0, 0, (Portion("ward", request, TENTH.loss),))}, {})
    with monkeypatch.context() as patched:
        patched.setattr(moving, "write_server", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            move(tmp_path, postgres_url)
    assert move(tmp_path, postgres_url) == 6
    assert verify(tmp_path).problems == []


def test_a_server_with_another_ledger_is_left_alone(ledger: Ledger, tmp_path: Path, postgres_url: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    Ledger.create(other).close()
    before = ledger.head()
    with pytest.raises(LedgerError, match="another ledger"):
        move(other, postgres_url)
    assert ledger.head() == before
    Ledger(other).open_account("visits", Allowance.of(Pure(1)))  # the file goes on


def test_every_host_has_a_witness_and_hears_of_the_others_records(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "node", lambda: "second")
    second = Ledger(tmp_path)
    second.charge("r", b"", {"visits": TENTH}, {})
    second.settle("r", b"answer")
    assert ledger.look_up("r", b"") == second.look_up("r", b"")
    assert len(list(tmp_path.glob("ledger.witness.*"))) >= 2
    assert verify(tmp_path).problems == []
    second.close()


def test_a_folder_with_two_ledgers_is_refused(tmp_path: Path, postgres_url: str) -> None:
    Ledger.create(tmp_path).close()
    write_server(tmp_path, postgres_url)
    with pytest.raises(LedgerError, match="one ledger"):
        Ledger(tmp_path)


def test_the_file_and_the_server_have_the_same_columns(ledger: Ledger, tmp_path: Path, postgres_url: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    file = Ledger.create(other).database
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'discreet_ledger'"
        ).fetchall()
    there = {(table, column) for table, column in rows if table != "pen"}
    assert there == {
        (table, row[1])
        for table in ("account_2", "portion_2", "entry", "request")
        for row in file.execute(f"PRAGMA table_info({table})")
    }
    assert isinstance(file, apsw.Connection)
