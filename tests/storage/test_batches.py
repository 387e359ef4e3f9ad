"""Many write as one: in one go where nothing fails, one by one where something does, and each hears what is its own."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from discreet.errors import DiscreetError, InvalidValue, StoreError
from discreet.storage import database as module
from discreet.storage.database import Database, GroupCommitDatabase
from discreet.storage.postgres import PostgresStorage
from discreet.storage.sqlite import SQLiteStorage
from tests.servers.cutting import CuttingProxy
from tests.servers.fixtures import postgres_server, postgres_url
from tests.servers.postgres import PostgresServer
from tests.storage.one_batch import in_one_batch
from tests.storage.test_storage import TABLES, note, notes, refusal, storage

__all__ = ["postgres_server", "postgres_url", "storage"]


def has(database: Database, text: str) -> bool:
    return database.execute("SELECT 1 FROM note WHERE text = ?", (text,)).fetchone() is not None


def raising(text: str) -> Callable[[Database], None]:
    def part(database: Database) -> None:
        note(text)(database)
        raise InvalidValue("no", text)

    return part


def begins(storage: GroupCommitDatabase) -> list[bool]:
    """From now on, how each transaction begins: ahead, or waiting for every statement."""
    found: list[bool] = []
    begin = storage.begin

    def counted(*, ahead: bool) -> Database:
        found.append(ahead)
        return begin(ahead=ahead)

    storage.begin = counted  # type: ignore[method-assign]
    return found


# In one go -----------------------------------------------------------------------------------------------------------


def test_a_batch_without_a_fault_is_written_in_one_go(storage: GroupCommitDatabase) -> None:
    found = begins(storage)
    faults = in_one_batch(storage, *(partial(storage.write, note(f"n{k}")) for k in range(5)))
    assert faults == [None] * 5
    assert notes(storage) == [f"n{k}" for k in range(5)]
    assert found == [True, True]


def test_who_is_refused_before_a_change_holds_nobody_up(storage: GroupCommitDatabase) -> None:
    def refused(database: Database) -> None:
        assert not has(database, "a")
        raise InvalidValue("no", "refused")

    found = begins(storage)
    faults = in_one_batch(storage, *(partial(storage.write, part) for part in (note("b"), refused, note("c"))))
    assert [type(fault) for fault in faults] == [type(None), InvalidValue, type(None)]
    assert notes(storage) == ["b", "c"]
    assert found == [True, True]


def test_shared_work_is_done_once_for_all_who_wait_with_it(storage: GroupCommitDatabase) -> None:
    calls = []

    def work(database: Database, items: Sequence[int]) -> list[str | DiscreetError]:
        calls.append(list(items))
        for item in items:
            if item % 3:
                note(f"n{item}")(database)
        return [f"n{item}" if item % 3 else InvalidValue("no", item) for item in items]

    heard: dict[int, Any] = {}

    def ask(item: int) -> None:
        heard[item] = storage.write_together(work, item)

    others = [partial(storage.write, note("other"))]
    faults = in_one_batch(
        storage, *(partial(ask, item) for item in (1, 2, 3)), *others, *(partial(ask, k) for k in (4, 5))
    )
    assert calls == [[1, 2, 3, 4, 5]]
    assert heard == {item: f"n{item}" for item in (1, 2, 4, 5)}
    assert [str(fault) for fault in faults if fault] == [str(InvalidValue("no", 3))]
    assert notes(storage) == ["n1", "n2", "n4", "n5", "other"]


def test_those_who_were_served_together_get_a_moment_to_come_back(
    storage: GroupCommitDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert in_one_batch(storage, *(partial(storage.write, note(text)) for text in "ab")) == [None, None]
    late = threading.Thread(target=storage.write, args=(note("late"),))

    def come_back(_: float) -> None:
        late.start()
        while len(storage._queue) < 2:
            pass

    found = begins(storage)
    monkeypatch.setattr(module, "sleep", come_back)
    storage.write(note("early"))
    late.join()
    assert notes(storage) == ["a", "b", "early", "late"]
    assert found == [True]


def test_who_writes_alone_waits_for_nobody(storage: GroupCommitDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(module, "sleep", waited.append)
    for text in "abc":
        storage.write(note(text))
    assert waited == []


# One by one ----------------------------------------------------------------------------------------------------------


def test_one_who_fails_after_a_change_is_undone_and_all_others_stay(storage: GroupCommitDatabase) -> None:
    def refused_by_the_database(database: Database) -> None:
        note("worse")(database)
        note("worse")(database)  # nobody waits for what the database says to this
        note("worst")(database)

    def broken(database: Database) -> None:
        note("broken")(database)
        raise ZeroDivisionError

    found = begins(storage)
    parts = (note("a"), refused_by_the_database, note("b"), raising("bad"), note("c"), broken, note("d"))
    faults = in_one_batch(storage, *(partial(storage.write, part) for part in parts))
    names = [type(fault).__name__ for fault in faults]
    good = "NoneType"
    assert names == [good, "StoreError", good, "InvalidValue", good, "ZeroDivisionError", good]
    assert notes(storage) == ["a", "b", "c", "d"]
    assert found == [True, True, False]


def test_what_the_database_refuses_at_the_very_end_is_told_to_whom_it_concerns(storage: GroupCommitDatabase) -> None:
    storage.write(note("taken"))
    parts = (note("a"), note("b"), note("taken"))
    faults = in_one_batch(storage, *(partial(storage.write, part) for part in parts))
    assert [type(fault) for fault in faults] == [type(None), type(None), StoreError]
    assert notes(storage) == ["a", "b", "taken"]


def test_a_refusal_that_is_heard_before_the_commit_is_sent_is_told_to_whom_it_concerns(
    storage: GroupCommitDatabase,
) -> None:
    def refused_in_time(database: Database) -> None:
        note("taken")(database)
        time.sleep(0.3)

    storage.write(note("taken"))
    faults = in_one_batch(storage, *(partial(storage.write, part) for part in (note("a"), refused_in_time)))
    assert [type(fault) for fault in faults] == [type(None), StoreError]
    assert notes(storage) == ["a", "taken"]


def test_who_was_refused_in_the_first_go_and_served_in_the_second_is_not_told_of_a_refusal(
    storage: GroupCommitDatabase,
) -> None:
    tries = []

    def second_time(database: Database, items: Sequence[str]) -> list[str | DiscreetError]:
        tries.append(1)
        if len(tries) == 1:
            return [InvalidValue("no", item) for item in items]
        for item in items:
            note(item)(database)
        return list(items)

    served = partial(storage.write_together, second_time, "served")
    faults = in_one_batch(storage, served, partial(storage.write, raising("bad")))
    assert [type(fault) for fault in faults] == [type(None), InvalidValue]
    assert notes(storage) == ["served"]


def test_where_the_transaction_is_gone_everybody_hears_why_and_nothing_is_done(tmp_path: Path) -> None:
    SQLiteStorage.create(tmp_path / "notes.db", TABLES, 1, refusal)
    storage = SQLiteStorage(tmp_path / "notes.db", refusal)

    def ends_it(database: Database) -> None:
        """As a full disk does."""
        database.execute("ROLLBACK")
        raise ZeroDivisionError

    parts = (note("a"), raising("bad"), ends_it, note("b"))
    faults = in_one_batch(storage, *(partial(storage.write, part) for part in parts))
    assert [type(fault) for fault in faults] == [ZeroDivisionError, InvalidValue, ZeroDivisionError, ZeroDivisionError]
    assert notes(storage) == []
    storage.close()


def test_a_part_that_fails_alone_is_not_done_twice(storage: GroupCommitDatabase) -> None:
    calls = []

    def bad(database: Database) -> None:
        calls.append(1)
        raising("bad")(database)

    with pytest.raises(InvalidValue):
        storage.write(bad)
    assert calls == [1]
    assert notes(storage) == []


# Interrupted ---------------------------------------------------------------------------------------------------------


def test_who_is_interrupted_while_waiting_has_done_nothing(storage: GroupCommitDatabase) -> None:
    import polars  # noqa: F401  sets a handler of signals with which a wait hears nothing before its end

    begun, free, was_freed = threading.Event(), threading.Event(), list[bool]()

    def slow(database: Database) -> None:
        begun.set()
        was_freed.append(free.wait(30))
        note("first")(database)

    writer = threading.Thread(target=storage.write, args=(slow,))
    writer.start()
    assert begun.wait(30)
    main = threading.main_thread().ident
    # To this thread: one that another thread took would be heard when the wait is over.
    threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        storage.write(note("waiting"))
    free.set()
    writer.join()
    assert was_freed == [True], "the interrupt was heard while the other was writing"
    storage.write(note("next"))
    assert notes(storage) == ["first", "next"]


def test_whose_part_was_lost_by_an_interrupted_writer_hears_so(
    storage: GroupCommitDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = storage._waiting
    taken = []

    def lose_one() -> Any:
        found = take()
        if len(found) > 1:
            taken.append(found.pop())
        return found

    monkeypatch.setattr(storage, "_waiting", lose_one)
    faults = in_one_batch(storage, *(partial(storage.write, note(text)) for text in "ab"))
    assert [type(fault) for fault in faults] == [type(None), StoreError]
    assert len(taken) == 1
    assert notes(storage) == ["a"]


# On a server ---------------------------------------------------------------------------------------------------------


def test_a_connection_that_was_ended_while_idle_is_made_anew(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresStorage, "pauses", ())
    storage = PostgresStorage(postgres_url, "notes", TABLES, 1, refusal)
    storage.write(note("before"))
    with psycopg.connect(postgres_url, autocommit=True) as other:
        ours = "application_name = 'discreet' AND datname = current_database()"
        ended = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {ours}"
        assert other.execute(ended.encode()).fetchall() == [(True,)]
    storage.write(note("after"))
    assert notes(storage) == ["after", "before"]
    storage.close()


def test_whoever_gets_the_pen_sees_what_the_one_before_wrote_whatever_the_server_prefers(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as other:
        (name,) = other.execute("SELECT current_database()").fetchone() or ("",)
        other.execute(f"ALTER DATABASE {name} SET default_transaction_isolation TO 'repeatable read'".encode())
    first, second = (PostgresStorage(postgres_url, "notes", TABLES, 1, refusal) for _ in range(2))
    seen, begun = [], threading.Event()

    def slow(database: Database) -> None:
        assert not has(database, "first")  # the server has answered: the write lock is held
        begun.set()
        with psycopg.connect(postgres_url, autocommit=True) as other:
            waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'discreet'"
            end = time.monotonic() + 120
            while other.execute(waiting.encode()).fetchone() is None:
                assert time.monotonic() < end
                time.sleep(0.01)
        note("first")(database)

    def look() -> None:
        assert begun.wait(30)
        second.write(lambda database: seen.append(has(database, "first")))

    threads = [threading.Thread(target=target) for target in (partial(first.write, slow), look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True]
    first.close()
    second.close()


def test_a_commit_whose_acknowledgement_was_lost_is_not_done_again_by_the_storage(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    between = Path(tempfile.mkdtemp(prefix="px"))
    try:
        proxy = CuttingProxy(between, postgres_server.folder / ".s.PGSQL.5432", b"COMMIT")
        url = postgres_url.replace(str(postgres_server.folder), str(between))
        storage = PostgresStorage(url, "notes", TABLES, 1, refusal)
        calls = []

        def once(text: str, database: Database) -> None:
            calls.append(text)
            note(text)(database)

        proxy.arm(skip=1)  # the first commit is of who held the write lock
        faults = in_one_batch(storage, *(partial(storage.write, partial(once, text)) for text in "ab"))
        assert [type(fault) for fault in faults] == [StoreError, StoreError]
        assert (proxy.cuts, calls) == (1, ["a", "b"])
        storage.write(lambda _: None)  # has the write lock after them, who are being committed unheard
        assert notes(storage) == ["a", "b"]  # whoever can find that out says that it may be repeated
        storage.close()
    finally:
        shutil.rmtree(between)
