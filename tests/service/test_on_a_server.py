"""A service whose databases are on a PostgreSQL server: several hosts serve one curator."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, NotSignedIn, RequestConflict, StoreError
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.jobs.jobs import AskRequest
from discreet.service.operations import ask as asking
from discreet.service.state import ServiceState
from discreet.service.storage import ServiceStore, move
from tests.servers.fixtures import postgres_server, postgres_url
from tests.service.hospital import CHEAP, Hospital

__all__ = ["postgres_server", "postgres_url"]

ANA = Principal("ana", MemberRole.ANALYST, "token")
BEN = Principal("ben", MemberRole.ANALYST, "token")


def ask_request(number: int, epsilon: str = "0.1") -> AskRequest:
    return AskRequest(f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}", epsilon)


@pytest.fixture
def hosts(
    hospital: Hospital, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[ServiceState, ServiceState]]:
    """Two hosts with one folder and one server, after the service moved there."""
    move(hospital.folder, postgres_url)
    first = hospital.service()
    monkeypatch.setattr(platform, "node", lambda: "second")
    second = hospital.service()
    yield first, second
    first.close()
    second.close()


def test_what_was_there_before_the_move_is_there_after_it(hospital: Hospital, postgres_url: str) -> None:
    before = hospital.service()
    kept = asking.ask(before, ANA, ask_request(30), "one")
    members, head = before.members.all(), before.curator.ledger.head()
    before.close()
    assert move(hospital.folder, postgres_url) == head[0]
    after = hospital.service()
    assert after.members.all() == members
    assert after.members.principal(hospital.tokens["ana"]).name == "ana"
    assert asking.ask(after, ANA, ask_request(30), "one").arrow == kept.arrow
    assert after.curator.ledger.head() == head
    assert verify(hospital.folder).problems == []
    after.close()


def test_a_question_asked_at_two_hosts_at_once_is_charged_once(
    hosts: tuple[ServiceState, ServiceState], hospital: Hospital
) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: asking.ask(hosts[k % 2], ANA, ask_request(30), "one").arrow, range(8)))
    assert len(set(found)) == 1
    assert [str(service.curator.budget()["visits/ana"]["spent"].epsilon) for service in hosts] == ["1/10", "1/10"]
    assert verify(hospital.folder).problems == []


def test_two_hosts_together_spend_no_more_than_there_is(
    hosts: tuple[ServiceState, ServiceState], hospital: Hospital
) -> None:
    def ask(number: int) -> bool:
        try:
            asking.ask(hosts[number % 2], ANA, ask_request(20 + number), f"r{number}")
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        answered = sum(pool.map(ask, range(15)))
    assert answered == 10
    assert hosts[0].curator.budget()["visits/ana"]["left"].epsilon == 0
    assert verify(hospital.folder).problems == []


def test_what_one_host_does_about_members_the_other_knows_at_once(hosts: tuple[ServiceState, ServiceState]) -> None:
    first, second = hosts
    first.members.add("cleo", MemberRole.AUDITOR)
    made = first.members.issued("cleo", days=1)
    assert second.members.principal(made.secret).name == "cleo"
    second.members.revoke(made.token.id)
    with pytest.raises(NotSignedIn):
        first.members.principal(made.secret)
    token = first.members.issue("cleo", days=1, once=True)
    assert first.members.is_once(token)
    lasting = first.members.exchange(token, 1)
    with pytest.raises(NotSignedIn):
        second.members.exchange(token, 1)
    first.members.remove("cleo")
    with pytest.raises(NotSignedIn):
        second.members.principal(lasting)


def test_requests_are_paged_and_kept_apart_as_in_a_file(hosts: tuple[ServiceState, ServiceState]) -> None:
    first, second = hosts
    for number in range(3):
        asking.ask(first, ANA, ask_request(30 + number), f"r{number}")
    page = asking.answers(second, ANA, 2)
    assert [one.request for one in page] == ["r2", "r1"]
    assert [one.request for one in asking.answers(second, ANA, 2, page[-1].request)] == ["r0"]
    assert asking.answers(second, BEN) == []
    with pytest.raises(RequestConflict):
        asking.ask(second, ANA, ask_request(99), "r0")


def test_many_ended_tokens_are_forgotten_and_a_former_member_stays_former(
    hosts: tuple[ServiceState, ServiceState],
) -> None:
    members = hosts[0].members
    for _ in range(130):
        members.revoke(members.issued("ben", days=1).token.id)
    assert len(members.tokens("ben")) < 130
    members.remove("ben")
    with pytest.raises(StoreError):
        hosts[0].store.write(lambda database: database.execute("UPDATE member SET removed = NULL"))
    with pytest.raises(StoreError):
        hosts[0].store.write(lambda database: database.execute("DELETE FROM member"))


def test_a_server_with_the_members_of_another_service_is_left_alone(
    hospital: Hospital, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.service import storage as store

    Members(other := ServiceStore(hospital.folder), hasher=CHEAP)
    other.close()
    there = store.server_storage(postgres_url)
    there.write(lambda database: database.execute("INSERT INTO member VALUES ('eve', 'owner', 0, NULL)"))
    with pytest.raises(StoreError, match="another service"):
        move(hospital.folder, postgres_url)
    there.close()
    service = hospital.service()  # the file goes on
    assert "ana" in {one.name for one in service.members.all()}
    service.close()


def test_the_file_and_the_server_have_the_same_columns(
    hospital: Hospital, hosts: tuple[ServiceState, ServiceState], postgres_url: str
) -> None:
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'discreet_service'"
        ).fetchall()
    there = {(table, column) for table, column in rows if table != "pen"}
    (hospital.folder / "other").mkdir()
    file = ServiceStore(hospital.folder / "other")
    tables = ("member", "token", "request", "event", "session")
    assert there == {(table, row[1]) for table in tables for row in file.rows(f"PRAGMA table_info({table})")}
    file.close()
