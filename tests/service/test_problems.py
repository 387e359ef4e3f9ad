"""Every error on every route has one shape, and every route says so: found by introspection, not by a list."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from typing import Any

import httpx
import pytest

from discreet.http.problems import problem
from discreet.service.app import API, application
from discreet.service.monitoring import Metrics
from discreet.service.problems import Watching
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, client_of
from tests.threads import in_a_loop

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def description(service: ServiceState) -> dict[str, Any]:
    found: dict[str, Any] = application(service).openapi()
    return found


def operations(service: ServiceState) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of every operation."""
    paths = description(service)["paths"].items()
    return [(method.upper(), path, one) for path, held in paths for method, one in held.items()]


def filled(path: str) -> str:
    """A path whose parameters are names that nothing has."""
    return re.sub(r"\{[^}]*\}", "0", path)


def is_problem(answer: httpx.Response, *statuses: int) -> bool:
    found = answer.json()
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    assert {"type", "title", "status", "detail"} <= set(found), found
    assert found["status"] == answer.status_code in statuses, (answer.request.method, answer.url, answer.text)
    return True


def test_every_operation_documents_its_problems(service: ServiceState) -> None:
    for method, path, one in operations(service):
        told = {status: answer for status, answer in one["responses"].items() if status[0] not in "123"}
        assert {"default", "500"} <= set(told), (method, path)
        assert "security" not in one or {"401", "403", "429", "503"} <= set(told), (method, path)
        for answer in told.values():
            schema = answer["content"]["application/problem+json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/Problem"}, (method, path)


def test_every_operation_is_described(service: ServiceState) -> None:
    said = description(service)
    named = {tag["name"] for tag in said["tags"]}
    for method, path, one in operations(service):
        assert one["summary"], (method, path)
        assert one["description"], (method, path)
        assert set(one["tags"]) <= named, (method, path)
        assert one["tags"], (method, path)
    assert set(said["components"]["securitySchemes"]) == {"HTTPBearer"}
    assert "HTTPValidationError" not in str(said)


def test_whatever_needs_a_token_says_so_and_refuses_without_one(service: ServiceState, clients: Clients) -> None:
    service.limits.failure = lambda _: None  # type: ignore[method-assign]
    open_to_all = {f"{API}/sign-in", "/health/live", "/health/ready"}
    for method, path, one in operations(service):
        assert ("security" in one) != (path in open_to_all), path
        if "security" in one:
            assert is_problem(clients.nobody.request(method, filled(path)), 401)


def test_unknown_paths_are_problems(clients: Clients) -> None:
    for path in ("/api", "/api/", "/api/v1", "/api/v2/me", f"{API}/nothing", f"{API}/me/", "/health", "/health/else"):
        for method in (*METHODS, "OPTIONS", "BREW"):
            assert is_problem(clients.owner.request(method, path), 404)


def methods_by_path(service: ServiceState) -> dict[str, set[str]]:
    """Per path, all that may be done there."""
    known: dict[str, set[str]] = {}
    for method, path, _ in operations(service):
        known.setdefault(path, {"OPTIONS"}).update({method, "HEAD"} if method == "GET" else {method})
    return known


def test_wrong_methods_are_problems_that_name_all_right_ones(service: ServiceState, clients: Clients) -> None:
    for path, right in methods_by_path(service).items():
        for method in {*METHODS, "BREW"} - right:
            answer = clients.owner.request(method, filled(path))
            assert is_problem(answer, 405)
            assert set(answer.headers["allow"].split(", ")) == right, (method, path)
        if "HEAD" not in right:
            refused = clients.owner.head(filled(path))
            assert (refused.status_code, refused.content) == (405, b"")


def test_whoever_asks_for_the_methods_of_a_path_hears_them(service: ServiceState, clients: Clients) -> None:
    for path, right in methods_by_path(service).items():
        answer = clients.nobody.options(filled(path))
        assert (answer.status_code, answer.content) == (204, b"")
        assert set(answer.headers["allow"].split(", ")) == right, path


def test_head_says_what_get_would_and_sends_nothing(service: ServiceState, clients: Clients) -> None:
    for path, right in methods_by_path(service).items():
        if "GET" in right:
            whole, head = (clients.owner.request(method, filled(path)) for method in ("GET", "HEAD"))
            assert (head.status_code, head.content) == (whole.status_code, b""), path
            assert head.headers["content-type"] == whole.headers["content-type"], path
    for path in ("/me", "/tables"):
        whole, head = (clients.ana.request(method, f"{API}{path}") for method in ("GET", "HEAD"))
        assert head.headers["content-length"] == whole.headers["content-length"] != "0"


def test_truth_is_true_or_false_and_numbers_are_numbers(clients: Clients) -> None:
    for wrong in (0, 1, "no", "true", None):
        assert is_problem(clients.owner.post(f"{API}/tokens", json={"once": wrong}), 422)
        asked = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1", "raw": wrong}
        assert is_problem(clients.ana.post(f"{API}/explain", json=asked), 422)
        published = {"name": "x", "upload": "0", "quasi": [], "models": {"k": 2}, "why": "w", "approved": wrong}
        assert is_problem(clients.owner.post(f"{API}/publications", json=published), 422)
    for wrong in (True, "2", 2.5):
        published = {"name": "x", "upload": "0", "quasi": [], "models": {"k": wrong}, "why": "w", "approved": True}
        assert "models/k" in clients.owner.post(f"{API}/publications", json=published).json()["detail"]
    for days in (5e-324, 1e-9, -1, 0, 1e308, True, "3", 3651):
        assert is_problem(clients.owner.post(f"{API}/tokens", json={"days": days}), 422)
    for text in (b"NaN", b"Infinity", b"1e999"):
        sent, headers = b'{"days": %s}' % text, {"Content-Type": "application/json"}
        assert is_problem(clients.owner.post(f"{API}/tokens", content=sent, headers=headers), 400)
    assert clients.owner.post(f"{API}/tokens", json={"days": 1, "once": True}).status_code == 201


def test_bodies_of_another_kind_are_problems(service: ServiceState, clients: Clients) -> None:
    for method, path, one in operations(service):
        kinds = one.get("requestBody", {}).get("content", {})
        if "application/json" in kinds:
            for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/json-seq"):
                answer = clients.owner.request(method, filled(path), content=b"{}", headers={"Content-Type": kind})
                assert is_problem(answer, 415), (path, kind)
            large = b'{"x": "' + b"y" * 1_100_000 + b'"}'
            sent = {"Content-Type": "application/json"}
            assert is_problem(clients.owner.request(method, filled(path), content=large, headers=sent), 413)


def test_bodies_that_are_not_of_the_right_form_are_problems(service: ServiceState, clients: Clients) -> None:
    sent = (b"", b"{", b"[]", b"null", b'{"\\ud800": 1}', b"\xff", b'{"a":' * 2000)
    for method, path, one in operations(service):
        if "requestBody" in one:
            for body in sent:
                content = next(iter(one["requestBody"]["content"]))
                answer = clients.owner.request(method, filled(path), content=body, headers={"Content-Type": content})
                assert is_problem(answer, 400, 401, 404, 422), (method, path, body)


def test_a_failure_in_a_handler_is_a_problem_that_says_nothing(service: ServiceState) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("secret words")

    service.members.principal = fail  # type: ignore[assignment,method-assign]
    client = client_of(service, "any")
    for method, path, one in operations(service):
        if "security" in one:
            answer = client.request(method, filled(path), json={})
            assert is_problem(answer, 500)
            assert "secret" not in answer.text


def test_words_that_no_text_can_hold_are_told_all_the_same(clients: Clients) -> None:
    sent = b'{"sql": "SELECT \\ud800", "epsilon": "1"}'
    answer = clients.ana.post(f"{API}/explain", content=sent, headers={"Content-Type": "application/json"})
    assert is_problem(answer, 400, 422)
    assert problem(HTTPStatus.BAD_REQUEST, "\ud800").body.isascii()


@pytest.mark.parametrize("length", ["-1", "x", "9" * 20])
def test_a_stated_length_that_cannot_be_is_a_problem(clients: Clients, length: str) -> None:
    headers = {"Content-Length": length, "Content-Type": "application/json"}
    assert is_problem(clients.ana.post(f"{API}/explain", content=b"{}", headers=headers), 400, 413, 422)


def test_a_request_that_is_cut_off_by_the_end_of_the_service_is_told_so() -> None:
    sent: list[Any] = []

    async def app(*_: object) -> None:
        await asyncio.sleep(60)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    async def cut_off() -> None:
        scope = {"type": "http", "method": "GET", "path": f"{API}/me", "headers": []}
        under_way = asyncio.ensure_future(Watching(app, Metrics())(scope, receive, send))
        await asyncio.sleep(0)
        under_way.cancel()
        with pytest.raises(asyncio.CancelledError):
            await under_way

    in_a_loop(cut_off())
    assert [message.get("status") for message in sent] == [503, None]
    assert b"same request id" in sent[1]["body"]
