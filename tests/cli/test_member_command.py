"""``discreet member``: members and tokens from the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.curator.curator import Curator
from discreet.errors import NotSignedIn
from discreet.service.auth.members import Members
from discreet.service.auth.password import Verifier
from discreet.service.auth.roles import MemberRole
from discreet.service.storage import ServiceStore
from tests.service.hospital import CHEAP

runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Verifier.__init__, "__defaults__", (CHEAP,))  # argon2 at its usual costs takes a while
    Curator(tmp_path / "hospital").ledger.close()
    return tmp_path / "hospital"


def run(folder: Path, *words: object, code: int = 0) -> str:
    given = ["member", *map(str, words), "--folder", str(folder)]
    found = runner.invoke(app, given, env={"COLUMNS": "120"})
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return found.output


def principals(folder: Path) -> Members:
    return Members(ServiceStore(folder), hasher=CHEAP)


def test_a_lost_owner_gets_back_in_from_the_host(folder: Path) -> None:
    assert principals(folder).start() is not None  # and its token is lost
    token = run(folder, "token", "owner", "--once", "--days", 1).split()[0]
    lasting = principals(folder).exchange(token, 1)
    assert principals(folder).principal(lasting).role is MemberRole.OWNER


def test_members_are_added_listed_and_removed(folder: Path) -> None:
    assert "no members yet" in run(folder, "list")
    run(folder, "add", "boss", "--role", "owner")
    token = run(folder, "add", "ana [b]").split()[0]
    found = principals(folder).principal(token)
    assert (found.name, found.role) == ("ana [b]", MemberRole.ANALYST)
    listed = run(folder, "list")
    assert "ana [b]" in listed
    assert found.token in listed
    assert token.split("_")[2] not in listed
    run(folder, "remove", "ana [b]")
    with pytest.raises(NotSignedIn):
        principals(folder).principal(token)
    assert "former analyst" in run(folder, "list")


def test_a_token_is_revoked_by_its_id(folder: Path) -> None:
    token = run(folder, "add", "ana").split()[0]
    members = principals(folder)
    members.principal(token)
    run(folder, "revoke", token.split("_")[1])
    with pytest.raises(NotSignedIn):
        members.principal(token)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("remove", "boss"), "must keep an owner"),
        (("remove", "nobody"), "such a member"),
        (("token", "nobody"), "such a member"),
        (("token", "boss", "--days", "nan"), "must live"),
        (("token", "boss", "--label", "a\nb"), "a label"),
        (("add", "boss"), "must be new"),
        (("add", "zoe", "--days", "0"), "must live"),
        (("add", " zoe"), "spaces around"),
        (("revoke", "0123"), "such a token"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words_and_changes_nothing(
    folder: Path, words: tuple[str, ...], said: str
) -> None:
    principals(folder).add("boss", MemberRole.OWNER)
    assert said in run(folder, *words, code=2)
    assert [(one.name, one.removed) for one in principals(folder).all()] == [("boss", None)]
    assert principals(folder).tokens("boss") == []


def test_a_mistyped_folder_is_refused_and_not_made(tmp_path: Path) -> None:
    assert "there must be a curator" in run(tmp_path / "mistyped", "list", code=2)
    assert not (tmp_path / "mistyped").exists()


def test_another_role_is_refused_with_those_that_there_are(folder: Path) -> None:
    assert "auditor" in run(folder, "add", "zoe", "--role", "king", code=2)
