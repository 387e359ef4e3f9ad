"""Databases: many write as one, each part stands or falls by itself, and nobody reads what is not durable."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from discreet.errors import InvalidValue, LedgerError, StoreError
from discreet.storage.database import Database, GroupCommitDatabase
from discreet.storage.postgres import FILE, PostgresStorage, read_server, write_server
from discreet.storage.sqlite import SQLiteStorage
from tests.servers.fixtures import postgres_server, postgres_url
from tests.threads import in_threads

__all__ = ["postgres_server", "postgres_url"]

TABLES = "CREATE TABLE note (text TEXT PRIMARY KEY)"


def refusal(what: str) -> StoreError:
    return StoreError("the notes must be there", f"<{what}>")


@pytest.fixture(params=["file", "server"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GroupCommitDatabase]:
    made: GroupCommitDatabase
    if request.param == "file":
        SQLiteStorage.create(tmp_path / "notes.db", TABLES, 1, refusal)
        made = SQLiteStorage(tmp_path / "notes.db", refusal)
    else:
        made = PostgresStorage(request.getfixturevalue("postgres_url"), "notes", TABLES, 1, refusal)
    yield made
    made.close()


def note(text: str) -> Callable[[Database], None]:
    def part(database: Database) -> None:
        database.execute("INSERT INTO note (text) VALUES (?)", (text,))

    return part


def notes(storage: GroupCommitDatabase) -> list[str]:
    with storage.reading() as database:
        return sorted(text for (text,) in database.execute("SELECT text FROM note"))


def test_what_was_written_is_read_by_everybody(storage: GroupCommitDatabase) -> None:
    assert storage.write(lambda database: note("a")(database) or 7) == 7
    assert notes(storage) == ["a"]
    storage.close()
    assert notes(storage) == ["a"] if isinstance(storage, PostgresStorage) else True


def test_parts_that_wait_are_written_in_one_transaction(storage: GroupCommitDatabase) -> None:
    begun, free, commits = threading.Event(), threading.Event(), []
    counted = storage.commit
    storage.commit = lambda: (commits.append(1), counted())[1]  # type: ignore[method-assign]

    def slow(database: Database) -> None:
        begun.set()
        free.wait(30)
        note("first")(database)

    def wait_and_write(text: str) -> None:
        begun.wait(30)
        storage.write(note(text))

    def release() -> None:
        begun.wait(30)
        while len(storage._queue) < 9:
            pass
        free.set()

    texts = [f"n{k}" for k in range(9)]
    faults = in_threads(lambda: storage.write(slow), release, *(lambda t=text: wait_and_write(t) for text in texts))
    assert faults == []
    assert notes(storage) == sorted(["first", *texts])
    assert len(commits) == 2


def test_a_part_that_raises_is_undone_and_the_others_stay(storage: GroupCommitDatabase) -> None:
    def bad(database: Database) -> None:
        note("bad")(database)
        raise InvalidValue("no", "bad")

    def refused_by_the_database(database: Database) -> None:
        note("worse")(database)
        note("worse")(database)

    faults = in_threads(
        *(lambda k=k: storage.write(note(f"good{k}")) for k in range(5)),
        *(lambda: storage.write(bad) for _ in range(3)),
        *(lambda: storage.write(refused_by_the_database) for _ in range(3)),
    )
    assert sorted(type(fault).__name__ for fault in faults) == ["InvalidValue"] * 3 + ["StoreError"] * 3
    assert notes(storage) == [f"good{k}" for k in range(5)]


@pytest.mark.parametrize("text", [random.Random(5).randbytes(4000).hex(), "a\x00b"], ids=["long", "NUL"])
def test_what_a_server_does_not_take_is_refused_and_not_tried_again(postgres_url: str, text: str) -> None:
    storage, tries = PostgresStorage(postgres_url, "notes", TABLES, 1, refusal), []
    with pytest.raises(StoreError, match="a value that the server does not take"):
        storage.write(lambda database: (tries.append(1), note(text)(database))[1], repeatable=True)
    assert len(tries) <= 2  # with others, and by itself
    storage.write(note("next"))
    assert notes(storage) == ["next"]
    storage.close()


def test_an_interrupted_writer_leaves_nothing_and_the_next_goes_on(storage: GroupCommitDatabase) -> None:
    def interrupted(database: Database) -> None:
        note("half")(database)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        storage.write(interrupted)
    assert notes(storage) == []
    storage.write(note("next"))
    assert notes(storage) == ["next"]


def test_who_waits_behind_an_interrupted_writer_is_refused_and_not_interrupted(storage: GroupCommitDatabase) -> None:
    begun, faults = threading.Event(), []

    def interrupted(database: Database) -> None:
        raise KeyboardInterrupt

    def slow(database: Database) -> None:
        begun.set()
        while len(storage._queue) < 2:
            pass

    def first() -> None:
        storage.write(slow)

    def caught(part: Callable[[Database], None]) -> None:
        begun.wait(30)
        try:
            storage.write(part)
        except BaseException as fault:
            faults.append(type(fault))

    in_threads(first, lambda: caught(interrupted), lambda: caught(note("waiting")))
    assert sorted(fault.__name__ for fault in faults) == ["KeyboardInterrupt", "StoreError"]
    assert notes(storage) == []
    storage.write(note("next"))
    assert notes(storage) == ["next"]


def test_nobody_hears_of_what_is_not_sealed(storage: GroupCommitDatabase) -> None:
    def broken(_: Database) -> None:
        raise OSError

    storage.seal = broken
    with pytest.raises((StoreError, OSError)):
        storage.write(note("a"), sealed=True)
    assert notes(storage) == ["a"]  # it is written, but its writer was told nothing
    storage.write(note("b"))  # and who needs no seal goes on


def test_a_reader_sees_one_moment(storage: GroupCommitDatabase) -> None:
    storage.write(note("a"))
    with storage.reading() as database:
        before = database.execute("SELECT COUNT(*) FROM note").fetchone()
        in_threads(lambda: storage.write(note("b")))
        assert database.execute("SELECT COUNT(*) FROM note").fetchone() == before
    assert notes(storage) == ["a", "b"]


def test_a_reader_cannot_write(storage: GroupCommitDatabase) -> None:
    with pytest.raises(StoreError), storage.reading() as database:
        note("a")(database)
    assert notes(storage) == []


def test_a_forked_child_has_connections_of_its_own(storage: GroupCommitDatabase) -> None:
    storage.write(note("parent"))
    child = os.fork()
    if child == 0:
        try:
            storage.write(note("child"))
            os._exit(0 if notes(storage) == ["child", "parent"] else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    storage.write(note("parent again"))
    assert notes(storage) == ["child", "parent", "parent again"]


def test_tables_of_another_version_are_refused(postgres_url: str) -> None:
    PostgresStorage(postgres_url, "notes", TABLES, 1, refusal).close()
    with pytest.raises(StoreError, match="version 1 instead of 2"):
        PostgresStorage(postgres_url, "notes", TABLES, 2, refusal)


def test_a_folder_says_where_its_storages_are(tmp_path: Path) -> None:
    assert read_server(tmp_path) is None
    write_server(tmp_path, "postgresql://curator@db/discreet")
    assert read_server(tmp_path) == "postgresql://curator@db/discreet"
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["", "mysql://a@b/c", "postgresql://a\nb", "db"])
def test_what_names_no_server_is_refused_without_being_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidValue, match="another form"):
        write_server(tmp_path, text)
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(LedgerError, match="readable"):
        read_server(tmp_path)
