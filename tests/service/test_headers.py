"""Headers on every answer, and requests that come from elsewhere."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from discreet.http.security import HEADERS
from discreet.service.app import API, application, choose_headers, guard_app
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, Hospital
from tests.service.in_process import InProcess
from tests.threads import in_a_loop

OURS = "http://hospital.test"


def client(service: ServiceState, token: str | None = None, **headers: str) -> httpx.Client:
    shown = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.Client(transport=InProcess(guard_app(application(service))), base_url=OURS, headers=shown | headers)


def test_every_answer_has_the_headers_whatever_it_is(clients: Clients) -> None:
    for answer in (
        clients.ana.get(f"{API}/me"),
        clients.nobody.get(f"{API}/me"),
        clients.nobody.get("/nothing"),
        clients.nobody.get(f"{API}/docs"),
        clients.nobody.options(f"{API}/me"),
        clients.nobody.get(f"{API}/me", headers={"Origin": "https://elsewhere.example"}),
    ):
        assert {name.lower() for name in HEADERS} <= set(answer.headers)
        assert len(answer.headers["x-request-id"]) == 32
    assert clients.ana.get(f"{API}/me").headers["content-security-policy"].startswith("default-src 'none'")


def test_the_page_of_the_api_needs_no_script_and_no_other_host(clients: Clients) -> None:
    page = clients.nobody.get(f"{API}/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in page.text
    assert "style=" not in page.text
    assert "://" not in page.text
    style = clients.nobody.get(f"{API}/docs/style.css")
    assert style.headers["content-type"].startswith("text/css")


def test_pages_of_the_console_may_do_more_and_load_from_nowhere_else() -> None:
    of = choose_headers(encrypted=False)
    policy = of("/budget")["Content-Security-Policy"]
    assert "'unsafe-eval'" in policy
    assert "http:" not in policy
    assert "*" not in policy
    assert "'unsafe-inline'" not in of("/api/v1/me")["Content-Security-Policy"]
    assert "Cache-Control" not in of("/_nicegui/3/static/a.js")
    assert of("/budget")["Cache-Control"] == "no-store"


def test_browsers_are_told_to_stay_with_https_only_where_there_is_https(hospital: Hospital) -> None:
    for settings, expected in (({}, False), ({"behind_proxy": ("127.0.0.1",)}, True)):
        found = client(hospital.service(**settings)).get("/health/live").headers
        assert ("strict-transport-security" in found) is expected


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "", "http://hospital.test.evil.example", "x"])
def test_pages_of_other_sites_are_refused(service: ServiceState, origin: str) -> None:
    token = "discreet_" + "0" * 16 + "_" + "0" * 64
    for method in ("GET", "POST", "OPTIONS"):
        answer = client(service, token, Origin=origin).request(method, f"{API}/me")
        assert answer.status_code == 403
        assert answer.headers["content-type"] == "application/problem+json"
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_our_own_pages_and_programs_are_let_in(service: ServiceState, tokens: dict[str, str]) -> None:
    for headers in ({}, {"Origin": OURS}, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}):
        assert client(service, tokens["ana"], **headers).get(f"{API}/me").status_code == 200


def test_requests_for_other_names_are_refused(hospital: Hospital) -> None:
    service = hospital.service(hosts=("hospital.test", "::1"))
    assert client(service).get("/health/live").status_code == 200
    assert client(service, Host="HOSPITAL.test:8000").get("/health/live").status_code == 200
    assert client(service, Host="[::1]:8000").get("/health/live").status_code == 200
    for name in ("elsewhere.example", "hospital.test.elsewhere.example", "[::1", "", "@hospital.test"):
        answer = client(service, Host=name).get("/health/live")
        assert answer.status_code == 421, name
        assert answer.headers["content-type"] == "application/problem+json"


def opened(service: ServiceState, *headers: tuple[bytes, bytes]) -> list[dict[str, Any]]:
    """What a socket hears first."""
    sent: list[dict[str, Any]] = []
    scope = {"type": "websocket", "path": "/_nicegui_ws/socket.io/", "headers": [(b"host", b"hospital.test"), *headers]}
    scope |= {"query_string": b"", "root_path": "", "scheme": "ws", "subprotocols": []}

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    in_a_loop(guard_app(application(service))(scope, receive, send))
    return sent


def test_a_socket_must_come_from_a_page_of_this_server(service: ServiceState) -> None:
    for headers in ((), ((b"origin", b"https://elsewhere.example"),), ((b"origin", b"null"),)):
        assert opened(service, *headers) == [{"type": "websocket.close", "code": 1008}]


def test_behind_a_proxy_everything_is_https(hospital: Hospital) -> None:
    app = application(hospital.service(behind_proxy=("127.0.0.1",)))
    app.router.routes.insert(0, Route("/scheme", lambda request: PlainTextResponse(request.url.scheme)))
    assert httpx.Client(transport=InProcess(guard_app(app)), base_url=OURS).get("/scheme").text == "https"
