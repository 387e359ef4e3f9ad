"""Checkpoints: opening reads what came since, and no checkpoint makes an opening believe what is wrong."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger import checkpoint as distrust
from discreet.curator.ledger import open as opening
from discreet.curator.ledger import verify as verification
from discreet.curator.ledger.checkpoint import Checkpoint, checkpoint_path
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.move import move
from discreet.curator.ledger.open import OpenedLedger
from discreet.curator.ledger.signing import Signer
from discreet.curator.ledger.units import Allowance, BudgetMeasure, LedgerPrice, Portion
from discreet.curator.ledger.verify import verify, verify_since
from discreet.errors import LedgerError
from tests.servers.fixtures import postgres_server, postgres_url
from tests.thoroughness import in_turns

__all__ = ["postgres_server", "postgres_url"]

WORTH = 20
TEN = LedgerPrice(10)
APART = LedgerPrice(100, 3, (Portion("ward", "a", 50), Portion("ward", "x" * 5000, 20)))


@pytest.fixture(autouse=True)
def short_ledgers_have_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (opening, verification):
        monkeypatch.setattr(module, "WORTH_A_CHECKPOINT", WORTH)


@pytest.fixture(params=in_turns("file", "server"))
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    made = started(tmp_path)
    if request.param == "server":
        made.close()
        move(tmp_path, request.getfixturevalue("postgres_url"))
        made = Ledger(tmp_path)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A ledger in a file, with a checkpoint and some records behind it."""
    ledger = started(tmp_path)
    ask(ledger, range(2 * WORTH))
    assert verify(tmp_path).is_sound
    ask(ledger, range(2 * WORTH, 2 * WORTH + 5))
    ledger.close()
    return tmp_path


def started(folder: Path) -> Ledger:
    ledger = Ledger.create(folder)
    ledger.open_account("visits", Allowance(BudgetMeasure.PURE, 10**9, 10**6))
    ledger.open_account("visits/ann", Allowance(BudgetMeasure.PURE, 10**9, 10**6), places=2)
    return ledger


def ask(ledger: Ledger, numbers: range, price: LedgerPrice = TEN) -> None:
    for number in numbers:
        ledger.charge(f"plan:{number}", b"", {"visits": price}, {})
        ledger.settle(f"plan:{number}", f"answer {number}".encode())


def opened(folder: Path) -> OpenedLedger:
    ledger = Ledger(folder)
    try:
        return OpenedLedger(ledger)
    finally:
        ledger.close()


def checkpoint_of(folder: Path) -> Checkpoint:
    ledger = Ledger(folder)
    found = Checkpoint.read(ledger, Signer(folder).public_key)
    ledger.close()
    assert found is not None
    return found


def forged(folder: Path, *statements: str) -> None:
    """Change the file with another tool, without a trace in triggers."""
    with closing(sqlite3.connect(folder / "ledger.db")) as database, database:
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            database.execute(statement)
        for _, made in triggers:
            database.execute(made)


def without_checkpoint(folder: Path) -> None:
    for file in folder.glob("ledger.checkpoint*"):
        file.unlink()


# What opening costs ---------------------------------------------------------------------------------------------------


class Counted:
    """A database that counts the rows that it hands out."""

    rows = 0

    def __init__(self, database: Any) -> None:
        self._database = database

    def execute(self, statement: str, values: Any = (), /) -> Any:
        found = self._database.execute(statement, values).fetchall()
        Counted.rows += len(found)
        return Fetched(found)


class Fetched(list[Any]):
    def fetchall(self) -> list[Any]:
        return self

    def fetchone(self) -> Any:
        return self[0] if self else None


def rows_read(monkeypatch: pytest.MonkeyPatch, ledger: Ledger) -> int:
    """How many rows an opening reads."""
    storage = type(ledger.storage)
    reading: Callable[[Any], AbstractContextManager[Any]] = storage.reading

    @contextmanager
    def counted(self: Any) -> Iterator[Any]:
        with reading(self) as database:
            yield Counted(database)

    Counted.rows = 0
    with monkeypatch.context() as patched:
        patched.setattr(storage, "reading", counted)
        opened(ledger.folder)
    return Counted.rows


def test_opening_reads_as_many_rows_however_long_the_ledger_is(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for end in (50, 100, 200, 400):
        ask(ledger, range(end // 2, end))
        assert verify(ledger.folder).is_sound
        ask(ledger, range(1000 + end, 1003 + end))
        found.append(rows_read(monkeypatch, ledger))
    assert len(set(found)) == 1
    assert found[0] < 50  # of 1,000 records
    without_checkpoint(ledger.folder)
    assert rows_read(monkeypatch, ledger) > ledger.head()[0]


def test_an_opening_with_much_behind_the_checkpoint_moves_it(ledger: Ledger) -> None:
    ask(ledger, range(WORTH))
    assert verify(ledger.folder).is_sound
    ask(ledger, range(100, 100 + WORTH))
    assert not opened(ledger.folder).is_whole
    assert checkpoint_of(ledger.folder).position == ledger.head()[0]


def test_the_checkpoint_follows_while_the_ledger_grows(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "STEP", WORTH)
    monkeypatch.setattr(opening, "Thread", RunAtOnce)
    ask(ledger, range(WORTH))
    door = OpenedLedger(ledger)
    assert door.is_whole
    for number in range(100, 100 + 3 * WORTH):
        ask(ledger, range(number, number + 1))
        door.grown(ledger.head()[0])
    assert ledger.head()[0] - checkpoint_of(ledger.folder).position < WORTH


class RunAtOnce:
    def __init__(self, target: Callable[[], None], daemon: bool) -> None:
        self.start = target


# What is found from a checkpoint on -----------------------------------------------------------------------------------


def test_every_record_of_a_story_is_believed_from_every_checkpoint_on(ledger: Ledger) -> None:
    """Charges, answers, failures, lifts, reruns, returns, caps, portions and keys, with checkpoints in between."""
    other = LedgerPrice(10, 0, (Portion("age", "old", 7),))
    steps: list[Callable[[], object]] = [lambda k=k: charged(ledger, f"plan:{k}") for k in range(6)]  # type: ignore[misc]
    steps += [
        lambda: ledger.settle("plan:0", b"answer"),
        lambda: ledger.fail("plan:1", "ann", ["visits"]),
        lambda: ledger.fail("plan:1", "bob", ["visits"]),
        lambda: ledger.lift(ledger.failures()[0][0].position, "the disk was full"),
        lambda: ledger.rerun("plan:2"),
        lambda: ledger.give_back("plan:3"),
        lambda: charged(ledger, "plan:9", other),
        lambda: ledger.change_cap("visits/ann", Allowance(BudgetMeasure.PURE, 5000, 10**6)),
        lambda: ledger.publish("survey", "ab" * 32, "owner", {}),
        lambda: ledger.record_key(bytes(32)),
        lambda: ledger.settle("plan:2", b"answer"),
        lambda: ledger.give_back("plan:4"),
        lambda: ledger.lift(ledger.failures()[1][0].position, "it is larger now"),
        lambda: charged(ledger, "plan:10", other),
        lambda: ledger.fail("plan:5", None, ["visits"]),
    ]
    checkpoints = []
    for step in steps:
        step()
        with ledger.storage.reading() as database:
            replay = verification.Replay(database)
            replay.run()
            assert [*replay.problems, *replay.differences()] == []
        sizes = verification._sizes(ledger.witness.path)
        checkpoints.append(Checkpoint(replay.position, replay.head.hex(), replay.accounts(), sizes))
    for one in checkpoints:
        found, now = verify_since(ledger, one)
        assert found.problems == []
        assert now == checkpoints[-1]


def charged(ledger: Ledger, request: str, price: LedgerPrice = APART) -> None:
    ledger.charge(request, b"body", {"visits": price, "visits/ann": price}, {})


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), 'charge', 'chorge') AS BLOB) WHERE position = {0}",
        "DELETE FROM entry WHERE position = {0}",
        "UPDATE account_2 SET spent = spent - 1 WHERE name = 'visits'",
        "UPDATE account_2 SET cap = cap * 2",
        "INSERT INTO account_2 (name, measure, places, cap, delta_cap) VALUES ('mine', 'pure', 1, 1, 0)",
        "UPDATE request SET bytes = x'00' WHERE answer = {1}",
        "UPDATE request SET body_hash = x'00' WHERE charge = {0}",
        "UPDATE request SET answer = NULL, bytes = NULL WHERE charge = {0}",
        "DELETE FROM request WHERE charge = {0}",
        "INSERT INTO request (id, body_hash, charge) VALUES ('mine', x'00', 1000000)",
    ],
)
@pytest.mark.some(4)
def test_a_change_behind_the_checkpoint_is_not_opened(folder: Path, statement: str) -> None:
    charge = checkpoint_of(folder).position + 1
    forged(folder, "PRAGMA foreign_keys = OFF", statement.format(charge, charge + 1))
    with pytest.raises(LedgerError, match="the ledger must be sound"):
        opened(folder)


def test_a_portion_that_was_taken_off_behind_the_checkpoint_is_not_opened(folder: Path) -> None:
    ledger = Ledger(folder)
    charged(ledger, "plan:apart")
    ledger.close()
    assert not opened(folder).is_whole
    forged(folder, "UPDATE portion_2 SET spent = spent - 1 WHERE key = 'a'")
    with pytest.raises(LedgerError, match="the ledger must be sound"):
        opened(folder)


# What no checkpoint can do --------------------------------------------------------------------------------------------

OLD_RECORD = "UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), 'plan', 'plen') AS BLOB) WHERE position = 9"


def _edit(folder: Path, **changes: object) -> None:
    path = folder / "ledger.checkpoint"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def _of_another_ledger(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    shutil.copy(folder / "signing.key", other)
    ledger = started(other)
    ask(ledger, range(500, 500 + 2 * WORTH))
    ledger.close()
    assert verify(other).is_sound
    shutil.copy(other / "ledger.checkpoint", folder)


def _by_another_key(folder: Path) -> None:
    found, other = checkpoint_of(folder), folder / "other"
    other.mkdir()
    ledger = Ledger(folder)
    found.write(ledger, Signer(other))
    ledger.close()


@pytest.mark.parametrize(
    "change",
    [
        without_checkpoint,
        lambda folder: (folder / "ledger.checkpoint").write_bytes(b""),
        lambda folder: (folder / "ledger.checkpoint").write_bytes(b"[]"),
        lambda folder: (folder / "ledger.checkpoint").write_bytes(b'{"signature": 1}'),
        lambda folder: _edit(folder, accounts={}),
        lambda folder: _edit(folder, position=12),
        lambda folder: _edit(folder, signature="00" * 64),
        _by_another_key,
        _of_another_ledger,
    ],
    ids=["none", "empty", "a list", "nothing signed", "accounts", "position", "signature", "another key", "another's"],
)
@pytest.mark.some(3)
def test_a_checkpoint_that_cannot_be_believed_opens_nothing_that_a_check_of_the_whole_refuses(
    folder: Path, change: Callable[[Path], object]
) -> None:
    forged(folder, OLD_RECORD)
    assert not opened(folder).is_whole  # this is what the true checkpoint spares: only a check of the whole sees it
    change(folder)
    with pytest.raises(LedgerError, match="the ledger must be sound"):
        opened(folder)


@pytest.mark.parametrize("change", [without_checkpoint, lambda folder: _edit(folder, position=12), _by_another_key])
def test_a_sound_ledger_is_opened_whatever_became_of_its_checkpoint(
    folder: Path, change: Callable[[Path], object]
) -> None:
    change(folder)
    assert opened(folder).is_whole
    assert not opened(folder).is_whole  # it has a new one


def test_an_older_checkpoint_spares_less(folder: Path) -> None:
    older = (folder / "ledger.checkpoint").read_bytes()
    position = checkpoint_of(folder).position
    assert verify(folder).is_sound
    forged(folder, OLD_RECORD.replace("9", str(position + 3)))
    assert not opened(folder).is_whole
    (folder / "ledger.checkpoint").write_bytes(older)
    with pytest.raises(LedgerError, match="the ledger must be sound"):
        opened(folder)


def _copied(source: Path, target: Path, *names: str) -> None:
    target.mkdir(exist_ok=True)
    for name in names:
        shutil.copy(source / name, target)


@pytest.mark.parametrize(
    ("put_back", "said"),
    [
        (("ledger.db",), "witness"),
        (("ledger.db", "ledger.checkpoint"), "witness"),
        (("ledger.db", "ledger.witness"), "signed checkpoint"),
    ],
)
def test_an_older_ledger_is_not_opened_whatever_is_put_back_beside_it(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, put_back: tuple[str, ...], said: str
) -> None:
    kept = tmp_path_factory.mktemp("kept")
    _copied(folder, kept, *put_back)
    ledger = Ledger(folder)
    ask(ledger, range(900, 920))
    ledger.close()
    assert verify(folder).is_sound
    for file in folder.glob("ledger.db*"):
        file.unlink()
    _copied(kept, folder, *put_back)
    with pytest.raises(LedgerError, match="the ledger must be sound"):
        opened(folder)
    assert any(said in problem for problem in verify(folder).problems)


# What was found wrong -------------------------------------------------------------------------------------------------


def test_a_ledger_that_was_found_wrong_answers_nothing_until_it_is_sound(tmp_path: Path) -> None:
    visits = Table("visits", (Column("ward", ColumnType.TEXT, keys=("A",)),), budget=Budget(1000))
    curator = Curator(tmp_path)
    curator.protect(pa.table({"ward": ["A", "A"]}), visits)
    ask(curator.ledger, range(WORTH), LedgerPrice(1))
    assert verify(tmp_path).is_sound
    curator = Curator(tmp_path)
    assert not curator.opened.is_whole
    before = tmp_path / "before.db"
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as source, closing(sqlite3.connect(before)) as target:
        source.backup(target)
    forged(tmp_path, OLD_RECORD)
    assert not verify(tmp_path).is_sound
    for one in (curator, None):
        with pytest.raises(LedgerError, match="the ledger must be sound"):
            (one or Curator(tmp_path)).ask("SELECT COUNT(*) FROM visits", 1)
    assert "record 9" in (tmp_path / distrust.FILE).read_text()
    curator.ledger.close()
    for file in tmp_path.glob("ledger.db*"):
        file.unlink()
    shutil.copy(before, tmp_path / "ledger.db")
    assert verify(tmp_path).is_sound
    Curator(tmp_path).ask("SELECT COUNT(*) FROM visits", 1)


def test_a_folder_that_takes_no_files_is_distrusted_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> int:
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refused)
    distrust.distrust(folder, ["record 3 is missing"])
    assert distrust.is_distrusted(folder)
    distrust.trust(folder)
    assert not distrust.is_distrusted(folder)


def test_the_file_of_a_checkpoint_is_beside_its_witness(ledger: Ledger) -> None:
    path = checkpoint_path(ledger)
    assert path.parent == ledger.folder
    assert path.name.startswith("ledger.checkpoint")
    assert path.suffix == ledger.witness.path.suffix.replace("witness", "checkpoint")
