"""Who may do what: every route, for every role and for every kind of token that is not good, called for real.

The table below is the authorisation of the service. A route that is not in it fails the tests until somebody says who
may use it; what the code lets in is compared with what the table says.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from discreet.http.problems import Unknown
from discreet.service.app import application
from discreet.service.auth.bearer import roles_of
from discreet.service.auth.members import Members
from discreet.service.auth.rate_limit import Limits
from discreet.service.auth.roles import MemberRole
from discreet.service.jobs.jobs import AskRequest
from discreet.service.state import ServiceState
from tests.service.growing import STAYS, begin_stays
from tests.service.hospital import CHEAP, MEMBERS, Hospital, client_of

Route = tuple[str, str]
"""Method and path."""
COUNT = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"}
RELEASE = b"zip\n130**\n130**\n"
POLICY = "table: places\nunit: row\nbudget: {epsilon: 1}\ncolumns: {zip: {type: text}}\n"
PUBLICATION = {"name": "places", "quasi": ["zip"], "models": {"k": 2}, "why": "for all", "approved": True}
PUBLICATION["upload"] = "«an upload»"
ROLES = {
    "owner": MemberRole.OWNER,
    "ana": MemberRole.ANALYST,
    "auditor": MemberRole.AUDITOR,
    "ward": MemberRole.FEEDER,
}


@dataclass(frozen=True)
class Row:
    """One route: what it answers to each role, and a request that would work."""

    owner: int
    analyst: int
    auditor: int
    feeder: int = 403
    path: dict[str, str] = field(default_factory=dict)
    sent: dict[str, Any] = field(default_factory=dict)

    def status(self, name: str) -> int:
        """What a member with this name gets."""
        return int(getattr(self, ROLES[name]))


OPEN = {
    ("GET", "/health/live"): {},
    ("GET", "/health/ready"): {},
    ("GET", "/api/v1/openapi.json"): {},
    ("GET", "/api/v1/docs"): {},
    ("GET", "/api/v1/docs/style.css"): {},
    ("POST", "/api/v1/sign-in"): {"json": {"token": "nonsense"}},
}
"""Routes without a role: they tell nothing that depends on the service."""

MATRIX: dict[Route, Row] = {
    ("GET", "/api/v1/me"): Row(200, 200, 200, 200),
    ("GET", "/api/v1/members"): Row(200, 403, 403),
    ("POST", "/api/v1/members"): Row(201, 403, 403, sent={"json": {"name": "zoe", "role": "analyst"}}),
    ("DELETE", "/api/v1/members"): Row(204, 403, 403, sent={"params": {"name": "ben"}}),
    ("GET", "/api/v1/tokens"): Row(200, 200, 200),
    ("POST", "/api/v1/tokens"): Row(201, 201, 201, sent={"json": {}}),
    ("DELETE", "/api/v1/tokens/{id}"): Row(204, 404, 404, path={"id": "«ben's token»"}),
    ("GET", "/api/v1/tables"): Row(200, 200, 200),
    ("GET", "/api/v1/tables/{name}"): Row(200, 200, 200, path={"name": "visits"}),
    ("GET", "/api/v1/tables/{name}/periods"): Row(200, 200, 200, path={"name": "stays"}),
    ("POST", "/api/v1/tables/{name}/rows"): Row(
        200, 403, 403, 200, path={"name": "stays"}, sent={"params": {"file": "t.csv", "id": "1"}, "content": STAYS}
    ),
    ("POST", "/api/v1/tables/{name}/periods/{period}/close"): Row(
        200, 403, 403, path={"name": "stays", "period": "2026-02"}
    ),
    ("DELETE", "/api/v1/tables/{name}/units"): Row(202, 403, 403, path={"name": "stays"}, sent={"json": {"unit": 7}}),
    ("GET", "/api/v1/budget"): Row(200, 200, 200),
    ("GET", "/api/v1/spending"): Row(200, 200, 200, sent={"params": {"table": "visits"}}),
    ("GET", "/api/v1/typical-questions"): Row(200, 200, 403, sent={"params": {"table": "visits"}}),
    ("POST", "/api/v1/explain"): Row(200, 200, 403, sent={"json": COUNT}),
    ("POST", "/api/v1/ask"): Row(200, 200, 403, sent={"json": COUNT}),
    ("GET", "/api/v1/jobs/{request_id}"): Row(404, 200, 403, path={"request_id": "first"}),
    ("GET", "/api/v1/answers"): Row(200, 200, 403),
    ("GET", "/api/v1/answers/{request_id}"): Row(404, 200, 403, path={"request_id": "first"}),
    ("GET", "/api/v1/answers/{request_id}/certificate"): Row(404, 200, 403, path={"request_id": "first"}),
    ("GET", "/api/v1/ledger"): Row(200, 200, 200),
    ("GET", "/api/v1/ledger/verification"): Row(200, 403, 200),
    ("GET", "/api/v1/ledger/{entry}/certificate"): Row(200, 200, 200, path={"entry": "«ana's entry»"}),
    ("POST", "/api/v1/uploads"): Row(201, 403, 403, sent={"params": {"file": "t.csv"}, "content": RELEASE}),
    ("DELETE", "/api/v1/uploads/{id}"): Row(204, 403, 403, path={"id": "«an upload»"}),
    ("POST", "/api/v1/policies/draft"): Row(200, 403, 403, sent={"json": {"upload": "«an upload»"}}),
    ("POST", "/api/v1/policies/check"): Row(200, 403, 403, sent={"json": {"policy": POLICY}}),
    ("GET", "/api/v1/policies"): Row(200, 403, 403, sent={"params": {"table": "visits"}}),
    ("POST", "/api/v1/tables"): Row(201, 403, 403, sent={"json": {"upload": "«an upload»", "policy": POLICY}}),
    ("GET", "/api/v1/holdings"): Row(200, 403, 403),
    ("PUT", "/api/v1/analysts"): Row(200, 403, 403, sent={"json": {"table": "visits", "analyst": "ana"}}),
    ("DELETE", "/api/v1/analysts"): Row(200, 403, 403, sent={"params": {"table": "visits", "analyst": "ana"}}),
    ("GET", "/api/v1/suspensions"): Row(200, 403, 200),
    ("POST", "/api/v1/suspensions/{record}/lift"): Row(
        422, 403, 403, path={"record": "1"}, sent={"json": {"because": "x"}}
    ),
    ("GET", "/api/v1/trail"): Row(200, 403, 200),
    ("GET", "/api/v1/trail/verification"): Row(200, 403, 200),
    ("GET", "/api/v1/head"): Row(200, 403, 200),
    ("GET", "/api/v1/publications"): Row(200, 200, 200),
    ("POST", "/api/v1/publications"): Row(201, 403, 403, sent={"json": PUBLICATION}),
    ("GET", "/api/v1/publications/{publication}/file"): Row(200, 200, 200, path={"publication": "«a publication»"}),
    ("GET", "/api/v1/metrics"): Row(200, 403, 200),
}
"""Every other route. Ana asked the first question, so the owner has no such request of their own."""


@dataclass(frozen=True)
class Prepared:
    """A hospital in which things have happened: ana asked a question, and tokens have ended in every way."""

    hospital: Hospital
    bad: dict[str, str]
    filled: dict[str, str]

    def copied(self, folder: Path) -> Prepared:
        """The same in another folder."""
        shutil.copytree(self.hospital.folder, folder)
        return Prepared(Hospital(folder, self.hospital.tokens), self.bad, self.filled)


@pytest.fixture(scope="module")
def prepared(first_hospital: Hospital, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    folder = tmp_path_factory.mktemp("authorisation") / "prepared"
    shutil.copytree(first_hospital.folder, folder)
    hospital = Hospital(folder, dict(first_hospital.tokens))
    begin_stays(hospital)
    service = hospital.service()
    asked = client_of(service, hospital.tokens["ana"]).post("/api/v1/ask", json=COUNT | {"request": "first"})
    assert asked.status_code == 200, asked.text
    members = service.members
    early = Members(service.store, lambda: 0.0, CHEAP)
    revoked = members.issued("owner", days=1)
    members.revoke(revoked.token.id)
    used = members.issue("owner", days=1, once=True)
    members.exchange(used, 1)
    members.add("gone", MemberRole.OWNER)
    gone = members.issue("gone", days=1)
    members.remove("gone")
    bad = {
        "an expired token": early.issue("owner", days=1),
        "a revoked token": revoked.secret,
        "a removed member's token": gone,
        "a one-time token": members.issue("owner", days=1, once=True),
        "a used one-time token": used,
        "a wrong secret": hospital.tokens["owner"][:-8] + "00000000",
        "a malformed token": "nonsense",
        "an empty token": "",
    }
    owner = client_of(service, hospital.tokens["owner"])
    sent = [owner.post("/api/v1/uploads", params={"file": "t.csv"}, content=RELEASE).json()["id"] for _ in range(2)]
    published = owner.post("/api/v1/publications", json=PUBLICATION | {"upload": sent[0]})
    assert published.status_code == 201, published.text
    filled = {
        "«an upload»": sent[1],
        "«a publication»": str(published.json()["entry"]),
        "«ben's token»": hospital.tokens["ben"].split("_")[1],
        "«ana's entry»": str(asked.json()["entry"]),
    }
    service.close()
    service.curator.engine.close()  # or what it keeps for itself would be gone at some later moment
    return Prepared(hospital, bad, filled)


@pytest.fixture(scope="module")
def service(prepared: Prepared) -> Iterator[ServiceState]:
    """For calls that must change nothing."""
    service = prepared.hospital.service()
    yield service
    service.close()


def routes(service: ServiceState) -> dict[Route, frozenset[MemberRole] | None]:
    """Every route of the application, with the roles that its dependencies let in."""
    found: dict[Route, frozenset[MemberRole] | None] = {}
    for one in iter_route_contexts(application(service).routes):
        if isinstance(one.original_route, Unknown):
            continue
        assert isinstance(one.original_route, APIRoute), one.original_route
        for method in one.methods or ():
            found[method, one.path or ""] = _let_in(one.original_route.dependant)
    return found


def _let_in(dependant: Dependant) -> frozenset[MemberRole] | None:
    found = [roles_of(one.call) for one in dependant.dependencies]
    inner = [_let_in(one) for one in dependant.dependencies]
    known = [one for one in (*found, *inner) if one is not None]
    assert len(known) <= 1
    return known[0] if known else None


def call(service: ServiceState, prepared: Prepared, route: Route, row: Row, token: str | None) -> httpx.Response:
    """Send the request that would work, with this token."""
    method, path = route
    for name, value in row.path.items():
        path = path.replace(f"{{{name}}}", prepared.filled.get(value, value))
    assert "{" not in path
    sent = {name: _filled(value, prepared) for name, value in row.sent.items()}
    return send(service, token, method, path, **sent)


def _filled(value: Any, prepared: Prepared) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: prepared.filled.get(one, one) if isinstance(one, str) else one for name, one in value.items()}


def send(service: ServiceState, token: str | None, method: str, path: str, **sent: Any) -> httpx.Response:
    """Send a request with this token, as if nothing had been sent before."""
    service.limits = Limits(10**9)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return _client(service).request(method, path, headers=headers, **sent)


@cache
def _client(service: ServiceState) -> httpx.Client:
    """One application for all requests to a service."""
    return client_of(service)


def state(service: ServiceState) -> str:
    """Everything that a request could change: the database, the ledger, policies, and which files there are."""
    tables = [name for (name,) in service.store.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    tables.remove("event")  # that somebody was refused is on record
    held = {name: service.store.rows(f"SELECT * FROM {name}") for name in sorted(tables)}
    folder = service.settings.folder
    files = sorted(str(one) for one in folder.rglob("*") if not one.name.endswith(("-wal", "-shm", ".lock")))
    policies = [one.read_bytes() for one in sorted((folder / "policies").iterdir())]
    entries = [one.hash for one in service.curator.ledger.entries()]
    return hashlib.sha256(repr((held, files, policies, entries)).encode()).hexdigest()


def is_problem(answer: httpx.Response, status: int) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert {"type", "title", "status", "detail"} <= set(said)
    assert said["status"] == status


def test_every_route_is_in_the_table_and_nothing_else_is(service: ServiceState) -> None:
    assert set(routes(service)) == set(MATRIX) | set(OPEN)
    assert not set(MATRIX) & set(OPEN)


def test_the_code_lets_in_whom_the_table_lets_in(service: ServiceState) -> None:
    for route, roles in routes(service).items():
        if route in OPEN:
            assert roles is None, route
        else:
            assert roles == {ROLES[name] for name in ROLES if MATRIX[route].status(name) != 403}, route


@pytest.mark.parametrize("route", MATRIX, ids=" ".join)
def test_without_a_good_token_a_route_tells_and_changes_nothing(
    service: ServiceState, prepared: Prepared, route: Route
) -> None:
    before = state(service)
    for token in (None, *prepared.bad.values()):
        answer = call(service, prepared, route, MATRIX[route], token)
        is_problem(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"
        assert not any(word in answer.text for word in ("visits", "ana", "ward", "SELECT"))
    assert state(service) == before


@pytest.mark.parametrize("route", MATRIX, ids=" ".join)
def test_who_may_not_use_a_route_is_told_so_and_changes_nothing(
    service: ServiceState, prepared: Prepared, route: Route
) -> None:
    before = state(service)
    for name in ROLES:
        if MATRIX[route].status(name) >= 400:
            answer = call(service, prepared, route, MATRIX[route], prepared.hospital.tokens[name])
            is_problem(answer, MATRIX[route].status(name))
    assert state(service) == before


@pytest.mark.parametrize("route", MATRIX, ids=" ".join)
def test_who_may_use_a_route_is_answered(
    service: ServiceState, prepared: Prepared, tmp_path: Path, route: Route
) -> None:
    row, tokens = MATRIX[route], prepared.hospital.tokens
    for name in (one for one in ROLES if row.status(one) < 400):
        if route[0] == "GET":
            answer = call(service, prepared, route, row, tokens[name])
        else:
            own = prepared.copied(tmp_path / name)
            with closing(own.hospital.service()) as changed:
                answer = call(changed, own, route, row, tokens[name])
        assert answer.status_code == row.status(name), answer.text


@pytest.mark.parametrize("route", OPEN, ids=" ".join)
def test_open_routes_tell_everybody_the_same(service: ServiceState, prepared: Prepared, route: Route) -> None:
    told = set()
    before = state(service)
    tokens = (None, *prepared.bad.values(), *prepared.hospital.tokens.values())
    for token in tokens:
        answer = send(service, token, *route, **OPEN[route])
        told.add((answer.status_code, answer.content))
    assert len(told) == 1
    ((status, body),) = told
    assert status == (401 if route[1].endswith("sign-in") else 200)
    assert b"hospital" not in body
    assert state(service) == before


def test_another_analyst_hears_of_nothing_that_is_not_theirs(service: ServiceState, prepared: Prepared) -> None:
    tokens = prepared.hospital.tokens
    for route, row in MATRIX.items():
        if row.path in ({"request_id": "first"}, {"entry": "«ana's entry»"}):
            theirs = call(service, prepared, route, row, tokens["ben"])
            none = call(service, prepared, route, Row(0, 0, 0, path=dict.fromkeys(row.path, "99999")), tokens["ben"])
            is_problem(theirs, 404)
            is_problem(none, 404)
            assert theirs.json()["rule"] == none.json()["rule"]


def test_every_member_has_a_role_in_the_table() -> None:
    assert {MEMBERS[name] for name in ROLES} == set(MemberRole)
    assert AskRequest(**COUNT)
