"""Backups while questions are asked, and restores that hand back no budget."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Semaphore

import psycopg
import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.signed_head import HeadVerdict, check_head, sign_head
from discreet.curator.ledger.signing import Signer
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, InvalidValue, LedgerError, NotSignedIn, StoreError
from discreet.privacy.loss import Pure
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.jobs.jobs import AskRequest
from discreet.service.maintenance.backup import back_up, read_backup
from discreet.service.maintenance.restore import RestoreStatement, restore
from discreet.service.operations import ask as asking
from discreet.service.state import ServiceState
from discreet.service.storage import move
from tests.servers.fixtures import postgres_server, postgres_url
from tests.servers.postgres import PostgresServer, binaries
from tests.service.hospital import Hospital
from tests.thoroughness import some

__all__ = ["postgres_server", "postgres_url"]

ANA = Principal("ana", MemberRole.ANALYST, "token")
BEN = Principal("ben", MemberRole.ANALYST, "token")


def ask(service: ServiceState, number: int, epsilon: str = "0.1", who: Principal = ANA) -> bytes:
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}"
    return asking.ask(service, who, AskRequest(sql, epsilon), f"r{number}").arrow


def spent(folder: Path) -> dict[str, int]:
    ledger = Ledger(folder)
    try:
        return {name: one.spent for name, one in ledger.accounts().items()}
    finally:
        ledger.close()


def closed(service: ServiceState) -> None:
    service.close()
    service.store.close()
    service.curator.ledger.close()


def head_of(folder: Path, place: Path) -> Path:
    ledger = Ledger(folder)
    place.write_text(json.dumps(sign_head(ledger, Signer(folder))))
    ledger.close()
    return place


@pytest.fixture
def saved(hospital: Hospital, tmp_path: Path) -> Path:
    """A backup after one question; the hospital is open for more."""
    service = hospital.service()
    ask(service, 30)
    back_up(hospital.folder, tmp_path / "backup")
    closed(service)
    return tmp_path / "backup"


def went_on(hospital: Hospital) -> None:
    """Two more questions after the backup."""
    service = hospital.service()
    ask(service, 40, "0.2")
    ask(service, 50, "0.3", BEN)
    closed(service)


# Backups.


def test_a_backup_of_a_folder_serves_the_same_answers(hospital: Hospital, saved: Path, tmp_path: Path) -> None:
    copy = Hospital(tmp_path / "copy", hospital.tokens)
    shutil.copytree(saved, copy.folder)
    first, second = hospital.service(), copy.service()
    assert asking.answer(first, ANA, "r30").arrow == asking.answer(second, ANA, "r30").arrow
    assert second.members.principal(hospital.tokens["ana"]).name == "ana"
    assert second.curator.budget() == first.curator.budget()
    closed(first)
    closed(second)


def test_backups_while_questions_are_charged_are_each_of_one_moment(hospital: Hospital, tmp_path: Path) -> None:
    service, ending, answered = hospital.service(), Event(), Semaphore(0)

    def keep_asking(start: int) -> None:
        for number in range(start, start + 40):
            if ending.is_set():
                return
            ask(service, number, "0.001")
            answered.release()

    made = []
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(keep_asking, start) for start in (1000, 2000, 3000)]
        for number in range(4):
            made.append(back_up(hospital.folder, tmp_path / f"backup {number}"))
            assert answered.acquire(timeout=60)
        ending.set()
        for one in asked:
            one.result()
    closed(service)
    for one in made:
        copy = Hospital(tmp_path / f"copy {one.position}", hospital.tokens)
        if copy.folder.exists():
            continue
        shutil.copytree(one.folder, copy.folder)
        assert verify(copy.folder).problems == []
        served = copy.service()  # no answer stands in service.db that the ledger has not
        entries = {entry for (entry,) in served.store.rows("SELECT entry FROM request WHERE entry > 0")}
        assert max(entries, default=0) <= (one.position or 0)
        assert served.trail.verify(served.curator.ledger).is_sound
        closed(served)


def test_a_backup_goes_nowhere_where_something_is(hospital: Hospital, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    with pytest.raises(InvalidValue, match="not there yet"):
        back_up(hospital.folder, tmp_path / "backup")


def test_a_ledger_that_cannot_be_believed_is_not_backed_up(hospital: Hospital, tmp_path: Path) -> None:
    service = hospital.service()
    service.curator.ledger.database.execute("UPDATE account_2 SET spent = spent + 1")
    closed(service)
    with pytest.raises(LedgerError, match="sound"):
        back_up(hospital.folder, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


def test_files_of_rows_are_linked_and_secrets_stay_secret(saved: Path, hospital: Hospital) -> None:
    (rows,) = (saved / "store").glob("rows-*")
    assert rows.samefile(hospital.folder / "store" / rows.name)
    assert (saved / "signing.key").stat().st_mode & 0o077 == 0
    assert saved.stat().st_mode & 0o077 == 0
    assert (saved / "service.db").stat().st_mode & 0o077 == 0


def test_a_backup_that_was_damaged_is_not_restored(saved: Path, tmp_path: Path) -> None:
    with (saved / "policies" / "visits.yaml").open("a") as file:
        file.write("# changed\n")
    with pytest.raises(StoreError, match="as it was made"):
        read_backup(saved)
    with pytest.raises(StoreError):
        restore(saved, tmp_path / "new", said=RestoreStatement.USE_UP)
    assert not (tmp_path / "new").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.service.maintenance import backup, restore as restoring
steps = int(sys.argv[4])
def count(module, name):
    real = getattr(module, name)
    def counted(*given, **named):
        global steps
        steps -= 1
        if steps < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **named)
    setattr(module, name, counted)
for module, name in [(backup, "_copy_rows"), (backup, "_copy_small"), (backup, "_checked"), (backup, "_files"),
                     (backup, "make_durable"), (backup, "sync"), (restoring, "read_backup"), (restoring, "_lost"),
                     (restoring, "record_restore"), (restoring, "_end_tokens"), (restoring, "make_durable"),
                     (restoring, "sync")]:
    count(module, name)
if sys.argv[1] == "backup":
    backup.back_up(Path(sys.argv[2]), Path(sys.argv[3]))
else:
    restoring.restore(Path(sys.argv[2]), Path(sys.argv[3]), said=restoring.RestoreStatement.USE_UP)
"""


@pytest.mark.parametrize("what", ["backup", "restore"])
def test_who_is_killed_at_any_step_leaves_a_whole_folder_or_none(
    hospital: Hospital, saved: Path, tmp_path: Path, what: str
) -> None:
    source = hospital.folder if what == "backup" else saved
    died = 0
    for steps in some((0, 1, 2, 3, 4, 5, 40, 200), 3):
        target = tmp_path / f"target {steps}"
        words = [sys.executable, "-c", KILLED, what, str(source), str(target), str(steps)]
        code = subprocess.run(words, capture_output=True, check=False).returncode
        died += code == -signal.SIGKILL
        if target.exists():
            assert verify(target).problems == []
            assert what == "backup" or all(one.left == Pure(0) for one in Ledger(target).accounts().values())
        assert verify(source).problems == []
        if code == 0:
            break
    assert died >= 2
    assert code == 0


# Restores.


def test_a_restore_that_nobody_accounts_for_is_refused(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="account for what was charged after the backup"):
        restore(saved, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_witness_that_saw_no_more_proves_that_nothing_was_lost(
    hospital: Hospital, saved: Path, tmp_path: Path
) -> None:
    found = restore(saved, tmp_path / "new", old=hospital.folder)
    assert found.charged == ()
    assert found.tokens is None
    assert spent(tmp_path / "new") == spent(hospital.folder)
    assert verify(tmp_path / "new").problems == []


@pytest.mark.parametrize("said", [RestoreStatement.NOTHING, RestoreStatement.NOTHING_LOST])
def test_a_witness_that_is_ahead_refuses_a_restore(
    hospital: Hospital, saved: Path, tmp_path: Path, said: RestoreStatement
) -> None:
    went_on(hospital)
    with pytest.raises(LedgerError, match="must not hand back budget"):
        restore(saved, tmp_path / "new", said=said, old=hospital.folder)
    assert not (tmp_path / "new").exists()


def test_a_head_that_is_ahead_is_believed_and_not_the_owner(hospital: Hospital, saved: Path, tmp_path: Path) -> None:
    went_on(hospital)
    head = head_of(hospital.folder, tmp_path / "head.json")
    with pytest.raises(LedgerError, match="must not hand back budget"):
        restore(saved, tmp_path / "new", said=RestoreStatement.NOTHING_LOST, heads=[head])


def test_a_head_of_the_last_answer_charges_what_was_lost(hospital: Hospital, saved: Path, tmp_path: Path) -> None:
    went_on(hospital)
    head = head_of(hospital.folder, tmp_path / "head.json")
    before = spent(hospital.folder)
    found = restore(saved, tmp_path / "new", old=hospital.folder, heads=[head])
    after = spent(tmp_path / "new")
    assert all(after[name] >= before[name] for name in before)
    assert set(found.charged) == {"visits", "visits/ana", "visits/ben"}
    assert verify(tmp_path / "new").problems == []
    ledger = Ledger(tmp_path / "new")
    key = Signer(tmp_path / "new").public_key.hex()
    assert check_head(ledger, json.loads(head.read_text()), key).verdict is HeadVerdict.RESTORED
    ledger.close()


def test_a_head_counts_without_a_witness_if_the_owner_says_so(hospital: Hospital, saved: Path, tmp_path: Path) -> None:
    went_on(hospital)
    head = head_of(hospital.folder, tmp_path / "head.json")
    with pytest.raises(LedgerError):
        restore(saved, tmp_path / "new", heads=[head])
    restore(saved, tmp_path / "new", heads=[head], said=RestoreStatement.UNTIL_HEAD)
    assert all(spent(tmp_path / "new")[name] >= units for name, units in spent(hospital.folder).items())


def test_what_nobody_knows_uses_up_every_budget(hospital: Hospital, saved: Path, tmp_path: Path) -> None:
    restore(saved, tmp_path / "new", said=RestoreStatement.USE_UP)
    copy = Hospital(tmp_path / "new", hospital.tokens)
    service = copy.service()
    kept = asking.answer(service, ANA, "r30")
    assert kept.answer is not None  # what is stored is served
    with pytest.raises(BudgetExceeded):
        ask(service, 77, "0.001")
    closed(service)
    assert verify(tmp_path / "new").problems == []


def test_tokens_end_where_some_may_have_been_revoked_since(hospital: Hospital, saved: Path, tmp_path: Path) -> None:
    restore(saved, tmp_path / "new", said=RestoreStatement.USE_UP)
    service = Hospital(tmp_path / "new", hospital.tokens).service()
    with pytest.raises(NotSignedIn):
        service.members.principal(hospital.tokens["ana"])
    closed(service)


def test_a_head_or_a_witness_of_another_ledger_is_refused(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    Ledger.create(other).close()
    with pytest.raises(LedgerError, match="the one that was seen"):
        restore(saved, tmp_path / "new", old=other, said=RestoreStatement.NOTHING_LOST)
    with pytest.raises(InvalidValue, match="signed by the curator"):
        restore(saved, tmp_path / "new", heads=[head_of(other, tmp_path / "h.json")], said=RestoreStatement.UNTIL_HEAD)
    with pytest.raises(InvalidValue, match="witness"):
        restore(saved, tmp_path / "new", old=tmp_path)


def test_a_restore_never_replaces_a_folder(hospital: Hospital, saved: Path) -> None:
    with pytest.raises(InvalidValue, match="move it aside"):
        restore(saved, hospital.folder, said=RestoreStatement.USE_UP)


def test_the_commands_say_what_they_did(hospital: Hospital, tmp_path: Path) -> None:
    made = CliRunner().invoke(app, ["backup", str(hospital.folder), str(tmp_path / "b")])
    assert "Its ledger is sound" in made.output
    words = ["restore", str(tmp_path / "b"), str(tmp_path / "new"), "--old", str(hospital.folder)]
    assert "tells of it" in CliRunner().invoke(app, words).output
    shown = CliRunner().invoke(app, ["ledger", "show", "-c", str(tmp_path / "new"), "--last", "1"])
    assert "restored from a backup" in shown.output
    both = ["restore", str(tmp_path / "b"), str(tmp_path / "newer"), "--use-up", "--nothing-lost"]
    assert CliRunner().invoke(app, both).exit_code == 2


def test_a_ledger_on_a_server_is_dumped_and_accounted_for(
    hospital: Hospital, postgres_url: str, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    """The dump is older than the witness: nothing starts until the owner says what was lost."""
    service = hospital.service()
    ask(service, 30)
    closed(service)
    move(hospital.folder, postgres_url)
    tool = binaries() / "pg_dump"  # type: ignore[operator]
    words = [tool, "--schema=discreet_ledger", "--schema=discreet_service", "--clean", "--inserts", postgres_url]
    dump = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    back_up(hospital.folder, tmp_path / "backup")
    went_on(hospital)
    lines = [line for line in dump.splitlines() if not line.startswith(("--", "\\"))]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("\n".join(lines).encode())
    assert any("witness saw" in problem for problem in verify(hospital.folder).problems)
    with pytest.raises(LedgerError, match="hand back budget"):
        restore(tmp_path / "backup", tmp_path / "new", old=hospital.folder)
    restore(tmp_path / "backup", tmp_path / "new", old=hospital.folder, said=RestoreStatement.USE_UP)
    assert verify(tmp_path / "new").problems == []
    assert all(one.left == Pure(0) for one in Ledger(tmp_path / "new").accounts().values())
