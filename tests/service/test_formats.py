"""Everything that an earlier release wrote is opened, verified and served by this one, and upgraded with a backup.

The fixtures were made by tools/format_fixtures.py with the code of those releases.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.curator.certificates.certificate import is_by_curator, is_in_ledger
from discreet.curator.curator import Curator
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError, NotSignedIn, StoreError
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.jobs.jobs import AskRequest
from discreet.service.maintenance.backup import back_up
from discreet.service.maintenance.restore import restore
from discreet.service.maintenance.upgrade import parts_of, upgrade
from discreet.service.operations import ask as asking
from discreet.service.settings import Settings
from discreet.service.state import ServiceState
from discreet.service.storage import ServiceStore
from discreet.storage.postgres import write_server
from discreet.survey.store import SurveyStore
from tests.servers.fixtures import postgres_server, postgres_url
from tests.service.hospital import CHEAP

__all__ = ["postgres_server", "postgres_url"]

FIXTURES = Path(__file__).parents[1] / "fixtures" / "formats"
RELEASES = sorted(path.name.removesuffix(".tar.xz") for path in FIXTURES.glob("*.tar.xz"))
ANA = Principal("ana", MemberRole.ANALYST, "token")
PLANNED_OTHERWISE = ("2026-10-first", "two")
"""A question whose statement was changed after that release: it is kept under its request id, and another id pays."""


def unpacked(release: str, place: Path) -> tuple[Path, dict[str, Any]]:
    with tarfile.open(FIXTURES / f"{release}.tar.xz") as file:
        file.extractall(place, filter="data")
    return place / release, json.loads((place / release / "facts.json").read_text())


@pytest.fixture(params=RELEASES)
def before(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """What any earlier release made."""
    return unpacked(request.param, tmp_path)


@pytest.fixture(params=RELEASES[:2])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """What a release made whose formats are older than those of now."""
    return unpacked(request.param, tmp_path)


def serves_its_answers(folder: Path, facts: dict[str, Any]) -> None:
    """The stored answers come again for free, tokens are as they were, and all of it verifies."""
    found = verify(folder)
    assert found.problems == []
    curator = Curator(folder)
    spent = curator.budget()
    curator.ledger.close()
    service = ServiceState(Settings(folder=folder))
    service.members = Members(service.store, hasher=CHEAP)
    for name, sql in facts["questions"].items():
        kept = asking.ask(service, ANA, AskRequest(sql, "0.1"), name)
        assert hashlib.sha256(kept.arrow).hexdigest() == facts["answers"][name]
        certificate = kept.answer.certificate
        assert is_by_curator(certificate, service.curator.ledger), name
        assert is_in_ledger(certificate, service.curator.ledger), name
        if (folder.parent.name, name) == PLANNED_OTHERWISE:
            continue
        again = asking.ask(
            service, ANA, AskRequest(sql, "0.1"), f"another-{name}"
        ).answer  # under another id, it is free too
        assert not again.charged, name
        assert again.certificate["answer"] == certificate["answer"], name  # computed from the same noisy numbers
        assert again.certificate["plan"]["fingerprint"] == certificate["plan"]["fingerprint"], name
        assert name != "one" or again.to_pandas().equals(kept.answer.to_pandas())
    assert service.members.principal(facts["tokens"]["ana"]).name == "ana"
    with pytest.raises(NotSignedIn):
        service.members.principal(facts["tokens"]["revoked"])
    assert service.curator.budget() == spent
    assert service.trail.verify(service.curator.ledger).is_sound
    service.close()
    service.store.close()
    assert verify(folder).problems == []


def test_there_are_fixtures_of_every_format() -> None:
    assert RELEASES == ["2026-10-first", "2026-11-returns", "2026-11-words"]
    assert all(path.stat().st_size < 100_000 for path in FIXTURES.iterdir())


def test_what_was_opened_before_opens_without_an_upgrade(before: tuple[Path, dict[str, Any]]) -> None:
    root, facts = before
    found = verify(root / "curator")
    assert (found.entries, found.head.hex()) == (facts["curator"]["records"], facts["curator"]["head"])
    serves_its_answers(root / "curator", facts["curator"])


def test_an_upgrade_keeps_a_backup_and_everything_else(older: tuple[Path, dict[str, Any]]) -> None:
    root, facts = older
    result = CliRunner().invoke(app, ["upgrade", str(root / "curator")])
    assert result.exit_code == 0, result.output
    assert "service.db: version 4; added the table of the audit trail and the table of sessions and" in result.output
    (kept,) = root.glob("curator.before-upgrade-*")
    assert verify(kept).head.hex() == facts["curator"]["head"]
    with apsw.Connection(str(kept / "service.db")) as database:
        assert database.pragma("user_version") == 1
    assert all(part.step is None for part in parts_of(root / "curator"))
    serves_its_answers(root / "curator", facts["curator"])


def test_a_storage_of_members_without_sessions_gets_their_table(older: tuple[Path, dict[str, Any]]) -> None:
    root, facts = older
    upgrade(root / "curator")
    with apsw.Connection(str(root / "curator" / "service.db")) as database:
        database.execute("DROP TABLE session")
        database.pragma("user_version", 2)
    (part,) = [one for one in parts_of(root / "curator") if one.name == "service.db"]
    assert part.does == "added the table of sessions and the role feeder"
    serves_its_answers(root / "curator", facts["curator"])
    assert all(one.step is None for one in parts_of(root / "curator"))


def test_an_upgrade_that_has_nothing_to_do_changes_nothing(older: tuple[Path, dict[str, Any]]) -> None:
    root, _ = older
    upgrade(root / "curator")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert "nothing to do" in CliRunner().invoke(app, ["upgrade", str(root / "curator")]).output
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_charge_can_be_returned_in_a_ledger_of_before(older: tuple[Path, dict[str, Any]]) -> None:
    root, _ = older
    upgrade(root / "curator")
    with apsw.Connection(str(root / "curator" / "ledger.db")) as database:
        triggers = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")}
    assert {"accounts_stay", "portions_stay", "nothing_is_refunded"} <= triggers


def test_surveys_of_before_open_and_need_no_upgrade(before: tuple[Path, dict[str, Any]]) -> None:
    root, facts = before
    store = SurveyStore(root / "survey")
    assert (store.invited(), store.answered()) == (facts["survey"]["invited"], facts["survey"]["answered"])
    store.close()
    assert upgrade(root / "survey").backup is None


def test_a_survey_is_backed_up_and_restored(tmp_path: Path) -> None:
    root, facts = unpacked(RELEASES[-1], tmp_path)
    back_up(root / "survey", tmp_path / "backup")
    assert restore(tmp_path / "backup", tmp_path / "again").record is None
    store = SurveyStore(tmp_path / "again")
    assert store.answered() == facts["survey"]["answered"]
    store.close()


def put_on_a_server(root: Path, url: str) -> None:
    """The same databases, as a server dumped them."""
    script = (root / "books.sql").read_text()
    with psycopg.connect(url, autocommit=True) as connection:
        kept = [line for line in script.splitlines() if not line.startswith(("--", "\\"))]
        connection.execute("\n".join(kept).encode())
    for name in ("ledger.db", "service.db", "ledger.witness"):
        (root / "curator" / name).unlink()
    write_server(root / "curator", url)


def test_storages_on_a_server_of_the_last_release_open_as_they_are(tmp_path: Path, postgres_url: str) -> None:
    root, facts = unpacked(RELEASES[-1], tmp_path)
    put_on_a_server(root, postgres_url)
    serves_its_answers(root / "curator", facts["curator"])
    assert upgrade(root / "curator").backup is None


def test_storages_on_a_server_of_before_open_and_upgrade(older: tuple[Path, dict[str, Any]], postgres_url: str) -> None:
    root, facts = older
    put_on_a_server(root, postgres_url)
    with pytest.raises(DiscreetError, match="pg_dump"):
        upgrade(root / "curator")
    assert [part.name for part in upgrade(root / "curator", dumped=True).done][-1:] == ["service.db"]
    serves_its_answers(root / "curator", facts["curator"])
    assert upgrade(root / "curator").backup is None


# Newer releases.


def newer_database(name: str, version: int = 99) -> Any:
    def change(folder: Path) -> None:
        with apsw.Connection(str(folder / name)) as database:
            database.pragma("user_version", version)

    return change


def newer_manifest(folder: Path) -> None:
    file = folder / "store" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 99}))


@pytest.mark.parametrize("change", [newer_database("ledger.db"), newer_database("service.db"), newer_manifest])
def test_what_a_newer_release_made_is_refused_in_a_sentence(tmp_path: Path, change: Any) -> None:
    root, _ = unpacked(RELEASES[-1], tmp_path)
    change(root / "curator")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    result = CliRunner().invoke(app, ["upgrade", str(root / "curator")])
    assert result.exit_code == 1
    assert "was made by a newer release of Discreet" in result.output
    assert "version 99" in result.output
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    with pytest.raises(StoreError, match="newer release of Discreet"):
        asking.ask(
            ServiceState(Settings(folder=root / "curator")),
            ANA,
            AskRequest("SELECT COUNT(*) FROM visits", "0.1"),
            "new",
        )


def test_a_survey_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    root, _ = unpacked(RELEASES[-1], tmp_path)
    newer_database("survey.db")(root / "survey")
    with pytest.raises(StoreError, match="newer release of Discreet"):
        SurveyStore(root / "survey")


def test_a_server_of_a_newer_release_is_refused(tmp_path: Path, postgres_url: str) -> None:
    root, _ = unpacked(RELEASES[-1], tmp_path)
    from discreet.service.storage import move

    move(root / "curator", postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("UPDATE discreet_ledger.pen SET version = 99")
    with pytest.raises(StoreError, match="newer release of Discreet"):
        Ledger(root / "curator")


# Killed at any step.

KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.service.maintenance import upgrade as upgrading, backup
steps = int(sys.argv[2])
def count(module, name):
    real = getattr(module, name)
    def counted(*given, **named):
        global steps
        steps -= 1
        if steps < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **named)
    setattr(module, name, counted)
for module, name in [(backup, "_copied"), (backup, "_copy_small"), (backup, "_checked"), (backup, "_files"),
                     (backup, "make_durable"), (backup, "sync"), (backup, "_note"), (upgrading, "_open_store"),
                     (upgrading, "_open_ledger"), (upgrading, "back_up")]:
    count(module, name)
real = os.rename
upgrading.upgrade(Path(sys.argv[1]))
"""


def test_an_upgrade_that_is_killed_at_any_step_leaves_nothing_half_done(tmp_path: Path) -> None:
    died = 0
    for steps in range(0, 60, 4):
        root, facts = unpacked(RELEASES[0], tmp_path / str(steps))
        words = [sys.executable, "-c", KILLED, str(root / "curator"), str(steps)]
        code = subprocess.run(words, capture_output=True, check=False).returncode
        died += code == -signal.SIGKILL
        for kept in root.glob("curator.before-upgrade-*"):  # what has its name is whole
            assert verify(kept).head.hex() == facts["curator"]["head"]
        assert verify(root / "curator").problems == []
        upgrade(root / "curator")
        assert all(part.step is None for part in parts_of(root / "curator"))
        assert verify(root / "curator").problems == []
        if code == 0:
            break
    assert died >= 3
    assert code == 0, os.environ.get("PYTHONPATH")


def test_an_older_service_may_have_feeders_from_its_upgrade_on(older: tuple[Path, dict[str, Any]]) -> None:
    root, _ = older
    store = ServiceStore(root / "curator")
    Members(store, hasher=CHEAP).add("ward", MemberRole.FEEDER)
    store.close()
    with apsw.Connection(str(root / "curator" / "service.db")) as database:
        assert list(database.execute("PRAGMA integrity_check")) == [("ok",)]
        with pytest.raises(apsw.ConstraintError):
            database.execute("INSERT INTO member (name, role, since) VALUES ('x', 'king', 0)")


def test_an_older_service_on_a_server_may_have_feeders(older: tuple[Path, dict[str, Any]], postgres_url: str) -> None:
    root, _ = older
    put_on_a_server(root, postgres_url)
    store = ServiceStore(root / "curator")
    Members(store, hasher=CHEAP).add("ward", MemberRole.FEEDER)
    store.close()
