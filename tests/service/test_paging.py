"""Whatever is listed comes in pages: every route that lists says how, and the pages together are the whole."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from discreet.client.remote_curator import RemoteCurator, connect
from discreet.service.app import application, guard_app
from discreet.service.auth.roles import MemberRole
from discreet.service.state import ServiceState
from tests.service.growing import stays, stays_policy
from tests.service.hospital import Clients, Hospital, policy, visits
from tests.service.on_a_socket import on_a_socket

API = "/api/v1"
CURSORS = {
    "/answers": ("before", "request"),
    "/budget": ("after", "account"),
    "/holdings": ("after", "table.name"),
    "/ledger": ("before", "position"),
    "/members": ("after", "name"),
    "/publications": ("before", "entry"),
    "/spending": ("after", "position"),
    "/suspensions": ("after", "record"),
    "/tables": ("after", "name"),
    "/tables/{name}/periods": ("after", "name"),
    "/tokens": ("before", "id"),
    "/trail": ("before", "position"),
}
"""Per route that lists: the parameter that says where to go on, and the field that it is taken from."""
BOUNDED = {"/typical-questions"}
"""Routes that list three things at most."""


def test_every_route_that_lists_has_a_limit_and_a_cursor(service: ServiceState) -> None:
    described = application(service).openapi()["paths"]
    lists = {}
    for path, operations in described.items():
        answer = operations.get("get", {}).get("responses", {}).get("200", {})
        if answer.get("content", {}).get("application/json", {}).get("schema", {}).get("type") == "array":
            lists[path.removeprefix(API)] = {one["name"]: one for one in operations["get"].get("parameters", [])}
    assert set(lists) == set(CURSORS) | BOUNDED
    for path, (cursor, _) in CURSORS.items():
        assert lists[path]["limit"]["schema"]["maximum"] == 1000, path
        assert lists[path][cursor]["description"], path
        assert all(one["description"] for one in lists[path].values()), path


def _field(one: Any, path: str) -> Any:
    for name in path.split("."):
        one = one[name]
    return one


def _pages(client: httpx.Client, path: str, **params: Any) -> list[list[Any]]:
    cursor, field = CURSORS[path]
    found: list[list[Any]] = []
    seen: dict[str, Any] = {}
    while True:
        answer = client.get(f"{API}{path.format(name='stays')}", params={**params, **seen, "limit": 2})
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
        if len(found[-1]) < 2:
            return found
        seen = {cursor: _field(found[-1][-1], field)}


@pytest.fixture
def busy(service: ServiceState) -> ServiceState:
    """A service with several of everything."""
    for number in range(5):
        service.members.add(f"Number {number}", MemberRole.ANALYST)
        service.members.issue("owner", days=1)
        service.curator.protect(visits(), policy(f"visits_{number}"))
        service.curator.ask("SELECT COUNT(*) AS n FROM visits", f"0.1{number}", analyst="ana")
        service.curator.record_publication(name=f"p{number}", approved_by="owner", sha256=f"{number:064}", statement={})
    return service


def test_the_pages_together_are_the_whole(busy: ServiceState, clients: Clients) -> None:
    busy.curator.protect(stays(), stays_policy())
    for number in range(5):
        asked = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1", "request": f"r{number}"}
        assert clients.ana.post(f"{API}/ask", json=asked).status_code == 200
    for path, (_, field) in CURSORS.items():
        client = clients.ana if path == "/answers" else clients.owner
        params = {"table": "visits"} if path == "/spending" else {}
        whole = client.get(f"{API}{path.format(name='stays')}", params={**params, "limit": 1000}).json()
        pages = _pages(client, path, **params)
        assert path == "/suspensions" or len(whole) >= 5, path
        together = [_field(one, field) for page in pages for one in page]
        assert together == [_field(one, field) for one in whole], path
        assert len(set(together)) == len(together)


def test_a_cursor_that_is_none_is_a_problem(clients: Clients) -> None:
    for path, wrong in (("/ledger", "x"), ("/spending", "-1"), ("/tokens", "nothing"), ("/publications", "0")):
        params = {"table": "visits", CURSORS[path][0]: wrong}
        assert clients.owner.get(f"{API}{path}", params=params).status_code in (404, 422), path


def test_the_client_follows_the_pages(busy: ServiceState, hospital: Hospital, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.client.remote_curator._PAGE", 2)
    with on_a_socket(guard_app(application(busy))) as port:

        def client(name: str) -> RemoteCurator:
            return connect(f"http://127.0.0.1:{port}", hospital.tokens[name])

        owner, ana = client("owner"), client("ana")
        assert len(owner.tables()) == len(busy.curator.catalog) == 6
        assert len(owner.budget()) == 18
        assert [one["position"] for one in owner.ledger(5)] == [one["position"] for one in owner.ledger(500)[:5]]
        assert len(owner.ledger(500)) == len({one["position"] for one in owner.ledger(500)}) > 10
        assert owner.suspensions(lifted=True) == []
        for number in range(5):
            ana.ask("SELECT COUNT(*) AS n FROM visits", "0.1", request=f"r{number}")
        assert [one.request for one in ana.answers()] == [f"r{number}" for number in (4, 3, 2, 1, 0)]
        assert [one.request for one in ana.answers(3, before="r4")] == ["r3", "r2", "r1"]
        owner.close()
        ana.close()
