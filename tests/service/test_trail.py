"""The audit trail: who signed in and who changed what, in a chain; and an older database, which is noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import apsw
import pytest
from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.curator.ledger.maintenance import last_mark
from discreet.curator.ledger.verify import verify
from discreet.errors import InvalidValue, NotSignedIn, QueryRefused, StoreError, TooManyRequests
from discreet.service.audit_trail import RefusalCounts, Trail
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.jobs.jobs import AskRequest
from discreet.service.operations import ask as asking
from discreet.service.operations import members as joining
from discreet.service.operations import oversight, uploads
from discreet.service.operations import protect as owning
from discreet.service.state import ServiceState
from discreet.service.storage import ServiceStore, move
from tests.servers.fixtures import postgres_server, postgres_url
from tests.service.hospital import CHEAP, Clients, Hospital

__all__ = ["postgres_server", "postgres_url"]

OWNER = Principal("owner", MemberRole.OWNER, "token")
ANA = Principal("ana", MemberRole.ANALYST, "token")


def kinds(service: ServiceState) -> list[str]:
    return [one.kind for one in service.trail.all()]


def facts_of(service: ServiceState, kind: str) -> list[tuple[str | None, dict[str, object]]]:
    return [(one.by, one.facts) for one in service.trail.all() if one.kind == kind]


# What is written.


def test_members_and_tokens_leave_events_with_who_did_it(service: ServiceState) -> None:
    joining.add_member(service, OWNER, "zoe", MemberRole.ANALYST)
    made = joining.issue_token(service, OWNER, "zoe", "notebook")
    joining.revoke_token(service, OWNER, made.token.id)
    joining.revoke_token(service, OWNER, made.token.id)  # it has ended, so nothing happens
    joining.remove_member(service, OWNER, "zoe")
    assert facts_of(service, "member added")[-1] == ("owner", {"member": "zoe", "role": "analyst"})
    wanted = {"member": "zoe", "token": made.token.id, "label": "notebook", "once": False}
    assert facts_of(service, "token made")[-1] == ("owner", wanted)
    assert facts_of(service, "token revoked") == [("owner", {"member": "zoe", "token": made.token.id})]
    assert facts_of(service, "member removed") == [("owner", {"member": "zoe"})]


def test_no_event_holds_a_secret(service: ServiceState, hospital: Hospital) -> None:
    made = joining.issue_token(service, OWNER, "ana", "notebook")
    joining.sign_in(service, made.secret, "10.0.0.1")
    written = json.dumps([one.facts for one in service.trail.all()])
    assert made.secret not in written
    assert made.secret.split("_")[2] not in written


def test_an_act_that_is_refused_leaves_no_event_of_its_own_and_no_member(service: ServiceState) -> None:
    before = service.trail.head()
    with pytest.raises(InvalidValue):
        joining.add_member(service, OWNER, "ana", MemberRole.ANALYST)
    assert service.trail.head() == before


def test_sign_ins_leave_events(service: ServiceState, hospital: Hospital) -> None:
    joining.sign_in(service, hospital.tokens["ana"], "10.0.0.1")
    with pytest.raises(NotSignedIn):
        joining.sign_in(service, "nonsense", "10.0.0.2")
    ((by, facts),) = facts_of(service, "signed in")
    assert (by, facts["detail"]) == ("ana", "10.0.0.1")
    assert facts_of(service, "sign-in failed") == [(None, {"detail": "10.0.0.2"})]


def test_requests_leave_the_first_use_of_a_token_and_who_was_refused(service: ServiceState, clients: Clients) -> None:
    assert [clients.ana.get("/api/v1/me").status_code for _ in range(3)] == [200] * 3
    assert clients.ana.get("/api/v1/members").status_code == 403
    assert clients.nobody.get("/api/v1/me").status_code == 401
    assert [by for by, _ in facts_of(service, "token used")] == ["ana"]
    assert facts_of(service, "refused") == [("ana", {"detail": "GET /members"})]
    assert [by for by, _ in facts_of(service, "sign-in failed")] == [None]


def test_policies_uploads_and_lifts_leave_events_before_they_are_done(service: ServiceState) -> None:
    kept = uploads.receive(service, OWNER, "places.csv", [b"zip\n1\n2\n"])
    policy = "table: places\nunit: row\nbudget: {epsilon: 1}\ncolumns: {zip: {type: text}}\n"
    owning.protect(service, OWNER, owning.Uploaded(kept.id), policy)
    owning.allow(service, OWNER, "places", "ana", None)
    owning.disallow(service, OWNER, "places", "ana")
    with pytest.raises(InvalidValue):
        oversight.lift(service, OWNER, 1, "because")
    after = kinds(service)
    wanted = ["upload", "table protected", "analyst allowed", "analyst disallowed", "suspension lifted", "refused"]
    assert after[-6:] == wanted
    assert facts_of(service, "refused")[0][1]["rule"] == "a lift must name the record of a failure"


def test_a_refused_question_leaves_its_rule_and_its_hash_and_not_its_words(service: ServiceState) -> None:
    sql = "SELECT name_of_somebody FROM visits WHERE age > 12345"
    with pytest.raises(QueryRefused):
        asking.start(service, ANA, AskRequest(sql, "0.1"))
    ((by, facts),) = facts_of(service, "question refused")
    assert by == "ana"
    assert facts["error"] == "QueryRefused"
    assert len(str(facts["question"])) == 64
    assert "12345" not in json.dumps(facts)


def test_a_start_says_which_policies_there_were(service: ServiceState) -> None:
    ((by, facts),) = facts_of(service, "service started")
    assert by == "the command line"
    assert facts["policies"] == service.curator.policies_digest()


# Growth.


def test_a_million_failures_are_a_few_events_and_a_number(tmp_path: Path) -> None:
    now = [0.0]
    trail = Trail(ServiceStore(tmp_path))
    tally = RefusalCounts(trail, lambda: now[0])
    for number in range(3000):
        tally.count("sign-in failed", None, f"10.0.{number % 256}.1")
    assert trail.head()[0] == 5
    now[0] = 601.0
    tally.flush()
    last = trail.page(1)[0]
    assert trail.head()[0] == 6
    assert last.facts["count"] == 2995
    assert len(last.facts["details"]) == 21  # twenty addresses, and all others


def test_a_member_who_is_refused_again_and_again_is_counted(tmp_path: Path) -> None:
    trail = Trail(ServiceStore(tmp_path))
    tally = RefusalCounts(trail, lambda: 0.0)
    for _ in range(500):
        tally.count("question refused", "ana", "a rule")
    tally.flush(everything=True)
    assert trail.head()[0] == 21
    assert trail.page(1)[0].facts["count"] == 480


def test_members_make_a_limited_number_of_tokens(service: ServiceState) -> None:
    for _ in range(60):
        joining.revoke_token(service, ANA, joining.issue_token(service, ANA).token.id)
    with pytest.raises(TooManyRequests, match="tokens an hour"):
        joining.issue_token(service, ANA)
    joining.issue_token(service, OWNER, "ana")  # an owner may


def test_texts_that_are_long_or_strange_are_cut_and_kept(tmp_path: Path) -> None:
    trail = Trail(ServiceStore(tmp_path))
    trail.write("x", "ana", rule="a" * 10_000 + "b", odd="\ud800")
    assert len(trail.page(1)[0].facts["rule"]) == 300
    assert trail.verify().is_sound


# The chain.


def damaged(folder: Path, statement: str) -> None:
    with apsw.Connection(str(folder / "service.db")) as database:
        for trigger in ("events_stay", "events_remain"):
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET body = CAST(replace(CAST(body AS TEXT), 'owner', 'ana') AS BLOB) WHERE position = 1",
        "DELETE FROM event WHERE position = 2",
        "UPDATE event SET hash = zeroblob(32) WHERE position = 3",
    ],
)
def test_a_trail_that_was_changed_does_not_verify(hospital: Hospital, statement: str) -> None:
    trail = Trail(ServiceStore(hospital.folder))
    assert trail.verify().is_sound
    damaged(hospital.folder, statement)
    assert not trail.verify().is_sound
    assert CliRunner().invoke(app, ["trail", "verify", "-c", str(hospital.folder)]).exit_code == 1


@pytest.mark.parametrize("statement", ["UPDATE event SET hash = hash", "DELETE FROM event"])
def test_the_database_itself_refuses_to_change_events(hospital: Hospital, statement: str) -> None:
    store = ServiceStore(hospital.folder)
    with pytest.raises(StoreError):
        store.write(lambda database: database.execute(statement))


def test_the_trail_is_read_in_pages(service: ServiceState) -> None:
    for number in range(5):
        service.trail.write("x", "ana", number=number)
    first = service.trail.page(2)
    assert [one.facts["number"] for one in first] == [4, 3]
    assert [one.facts["number"] for one in service.trail.page(2, before=first[-1].position)] == [2, 1]
    assert len(service.trail.page(100, kind="x", by="ana")) == 5
    assert service.trail.page(100, kind="x", by="ben") == []


def test_owners_and_auditors_read_it_over_rest(service: ServiceState, clients: Clients) -> None:
    told = clients.auditor.get("/api/v1/trail", params={"limit": 2, "kind": "token made"}).json()
    assert [one["kind"] for one in told] == ["token made"] * 2
    assert clients.owner.get("/api/v1/trail/verification").json()["is_sound"]
    assert clients.owner.get("/api/v1/head").json()["trail"]["position"] == service.trail.head()[0]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_the_trail_is_exported(hospital: Hospital, tmp_path: Path, form: str) -> None:
    out = tmp_path / "events"
    result = CliRunner().invoke(
        app, ["trail", "export", "-c", str(hospital.folder), "--format", form, "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    lines = out.read_text().splitlines()
    assert len(lines) == Trail(ServiceStore(hospital.folder)).head()[0] + (form == "csv")
    assert "member added" in lines[1]


# An older database.


def older(hospital: Hospital, tmp_path: Path) -> str:
    """Put back the database as it was before ana's token was revoked."""
    saved = tmp_path / "saved"
    saved.mkdir()
    store = ServiceStore(hospital.folder)
    store.close()
    shutil.copy2(hospital.folder / "service.db", saved)
    token = hospital.tokens["ana"].split("_")[1]
    service = hospital.service()
    joining.revoke_token(service, OWNER, token)
    service.close()
    service.store.close()
    for file in hospital.folder.glob("service.db*"):
        file.unlink()
    shutil.copy2(saved / "service.db", hospital.folder)
    return token


def test_an_older_storage_that_brings_back_a_token_is_noticed_at_the_start(hospital: Hospital, tmp_path: Path) -> None:
    older(hospital, tmp_path)
    with pytest.raises(StoreError, match="discreet member recover"):
        hospital.service()


def test_several_workers_do_not_start_with_an_older_storage(hospital: Hospital, tmp_path: Path) -> None:
    older(hospital, tmp_path)
    words = ["serve", "--folder", str(hospital.folder), "--port", "0", "--workers", "2", "--no-console"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert "discreet member recover" in result.output


def test_a_storage_that_is_lost_is_noticed_at_the_start(hospital: Hospital, tmp_path: Path) -> None:
    older(hospital, tmp_path)
    (hospital.folder / "service.db").unlink()
    with pytest.raises(StoreError, match="revoked tokens come back"):
        hospital.service()


def test_an_older_storage_cannot_be_hidden_by_another_revocation(hospital: Hospital, tmp_path: Path) -> None:
    older(hospital, tmp_path)
    ben = hospital.tokens["ben"].split("_")[1]
    result = CliRunner().invoke(app, ["member", "revoke", ben, "-c", str(hospital.folder)])
    assert result.exit_code == 1
    with pytest.raises(StoreError):
        hospital.service()


def test_who_recovers_an_older_storage_ends_every_token_and_goes_on(hospital: Hospital, tmp_path: Path) -> None:
    older(hospital, tmp_path)
    result = CliRunner().invoke(app, ["member", "recover", "-c", str(hospital.folder)])
    assert result.exit_code == 0, result.output
    service = hospital.service()
    for token in hospital.tokens.values():
        with pytest.raises(NotSignedIn):
            service.members.principal(token)
    assert verify(hospital.folder).problems == []
    assert service.trail.verify(service.curator.ledger).is_sound
    service.close()
    again = CliRunner().invoke(app, ["member", "recover", "-c", str(hospital.folder)])
    assert "nothing to recover" in again.output


def test_a_revocation_whose_mark_was_lost_in_a_crash_is_marked_at_the_next_start(hospital: Hospital) -> None:
    Members(ServiceStore(hospital.folder), hasher=CHEAP).revoke(hospital.tokens["ana"].split("_")[1])
    service = hospital.service()
    mark = last_mark(service.curator.ledger)
    assert mark is not None
    assert service.trail.hash_at(mark.position) == mark.head
    service.close()


def test_a_start_without_revocations_leaves_the_ledger_as_it_was(hospital: Hospital) -> None:
    before = hospital.service()
    head = before.curator.ledger.head()
    before.close()
    after = hospital.service()
    assert after.curator.ledger.head() == head
    after.close()


def test_the_trail_moves_to_a_server_and_goes_on_there(hospital: Hospital, postgres_url: str) -> None:
    service = hospital.service()
    joining.revoke_token(service, OWNER, hospital.tokens["ben"].split("_")[1])
    head = service.trail.head()
    service.close()
    service.store.close()
    move(hospital.folder, postgres_url)
    there = hospital.service()
    assert there.trail.hash_at(head[0]) == head[1]
    joining.revoke_token(there, OWNER, hospital.tokens["ana"].split("_")[1])
    assert there.trail.verify(there.curator.ledger).is_sound
    assert verify(hospital.folder).problems == []
    with pytest.raises(StoreError):
        there.store.write(lambda database: database.execute("UPDATE event SET hash = hash"))
    there.close()
