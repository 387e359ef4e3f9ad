"""Pages take memory in the server: nobody has more than a number of them, and strangers have none."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.console.session import COOKIE, MOST_PAGES, MOST_PAGES_OF_MEMBER, Sessions
from discreet.console.websocket_guard import MOST_SOCKETS, MOST_STRANGERS, WebSocketGuard
from discreet.service.state import ServiceState
from tests.console.conftest import Contexts, sign_in
from tests.console.serving import Serving
from tests.service.hospital import Hospital


@pytest.fixture(scope="module")
def service(hospital: Hospital) -> Iterator[ServiceState]:
    found = hospital.service()
    yield found
    found.close()


def _opened(service: ServiceState, hospital: Hospital, count: int, member: str = "ana") -> tuple[Sessions, list[str]]:
    sessions = Sessions(service)
    return sessions, [sessions.start(hospital.tokens[member], "here") for _ in range(count)]


def test_the_oldest_page_of_a_session_gives_way(service: ServiceState, hospital: Hospital) -> None:
    sessions, (one,) = _opened(service, hospital, 1)
    assert all(sessions.draw(one, f"p{number}", lambda _: False) == [] for number in range(MOST_PAGES))
    assert sessions.draw(one, "new", lambda _: False) == ["p0"]
    sessions.drop(one, "p0")
    assert sessions.draw(one, "newer", lambda page: page != "p7") == ["p7"]  # nobody listens to it
    sessions.drop(one, "p7")
    assert sessions.draw(one, "newest", lambda _: True) == ["p1"]


def test_so_it_is_with_all_sessions_of_a_member_together(service: ServiceState, hospital: Hospital) -> None:
    each = MOST_PAGES_OF_MEMBER // 4
    sessions, opened = _opened(service, hospital, 5)
    for number, session in enumerate(opened[:4]):
        for page in range(each):
            assert sessions.draw(session, f"{number}.{page}", lambda _: True) == []
    assert sessions.draw(opened[4], "one more", lambda _: True) == ["0.0"]
    sessions.drop(opened[0], "0.0")
    other = sessions.start(hospital.tokens["ben"], "here")
    assert sessions.draw(other, "another's", lambda _: True) == []


def _kilobytes(serving: Serving) -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{serving.process.pid}/status").read_text())
    assert found is not None
    return int(found[1])


def _client(serving: Serving) -> httpx.Client:
    return httpx.Client(base_url=serving.address, timeout=60, trust_env=False, headers={"Origin": serving.address})


def test_loading_pages_without_end_takes_little_memory(own_serving: Serving) -> None:
    with _client(own_serving) as browser:
        browser.post("/sign-in", data={"token": own_serving.hospital.tokens["owner"]})
        for _ in range(MOST_PAGES + 4):
            assert browser.get("/").status_code == 200
        before = _kilobytes(own_serving)
        for _ in range(40):
            assert browser.get("/").status_code == 200
    assert _kilobytes(own_serving) - before < 14_000  # before there was a limit, it took 28,000


@pytest.mark.thorough
def test_strangers_have_no_pages(own_serving: Serving) -> None:
    with _client(own_serving) as stranger:
        for _ in range(20):
            assert stranger.get("/").status_code == 303
        before = _kilobytes(own_serving)
        for path in ("/", "/ledger", "/people") * 150:
            assert stranger.get(path).status_code == 303
    assert _kilobytes(own_serving) - before < 8_000  # before they were turned away at the door, it took 21,000


def test_few_strangers_wait_for_words(service: ServiceState) -> None:
    """Each takes a connection, and others need them."""
    entered, refused = 0, []

    async def page(scope: Any, receive: Any, send: Any) -> None:
        nonlocal entered
        entered += 1
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        refused.append(message)

    async def crowd() -> None:
        door = WebSocketGuard(page, Sessions(service), lambda _: None)
        headers = [(b"host", b"here"), (b"origin", b"http://here")]
        scope = {"type": "websocket", "path": "/_nicegui_ws/socket.io/", "headers": headers, "query_string": b""}
        waiting = [asyncio.ensure_future(door(dict(scope), None, send)) for _ in range(3 * MOST_STRANGERS)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        assert (entered, len(refused)) == (MOST_STRANGERS, 2 * MOST_STRANGERS)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        later = asyncio.ensure_future(door(dict(scope), None, send))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        assert entered == MOST_STRANGERS + 1
        later.cancel()

    ThreadPoolExecutor(1).submit(asyncio.run, crowd()).result()  # a browser has the loop of this thread


def test_a_member_has_few_sockets(service: ServiceState, hospital: Hospital) -> None:
    """They stay open without a deadline: one member with hundreds would hold all connections."""
    sessions, (own, others) = _opened(service, hospital, 2)
    other = sessions.start(hospital.tokens["ben"], "here")
    for session in (own, others, other):
        sessions.draw(session, f"page of {session}", lambda _: True)
    refused: list[Any] = []
    entered: list[bytes] = []

    async def page(scope: Any, receive: Any, send: Any) -> None:
        entered.append(scope["query_string"])
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        refused.append(message)

    async def crowd() -> None:
        door = WebSocketGuard(page, sessions, lambda _: None)

        async def listen(session: str) -> asyncio.Task[None]:
            headers = [(b"host", b"here"), (b"origin", b"http://here"), (b"cookie", f"{COOKIE}={session}".encode())]
            scope = {"type": "websocket", "path": "/_nicegui_ws/socket.io/", "headers": headers}
            named = scope | {"query_string": f"client_id=page of {session}".encode()}
            task = asyncio.ensure_future(door(named, None, send))  # type: ignore[arg-type]
            await asyncio.sleep(0)
            return task

        waiting = [await listen(session) for session in (own, others) * MOST_SOCKETS]
        assert (len(entered), len(refused)) == (MOST_SOCKETS, MOST_SOCKETS)
        waiting.append(await listen(other))
        assert len(entered) == MOST_SOCKETS + 1
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        (await listen(own)).cancel()
        assert len(entered) == MOST_SOCKETS + 2

    ThreadPoolExecutor(1).submit(asyncio.run, crowd()).result()


@pytest.mark.thorough
def test_a_session_is_known_to_another_process_and_its_pages_are_not(own_serving: Serving, contexts: Contexts) -> None:
    with Serving(own_serving.hospital) as second:
        page = contexts(own_serving.address).new_page()
        sign_in(page, own_serving.hospital.tokens["ana"])
        (cookie,) = [one for one in page.context.cookies() if one["name"] == "discreet_session"]
        own = {"discreet_session": str(cookie["value"])}
        assert httpx.get(second.address, cookies=own, trust_env=False).status_code == 200
        file = f"{second.address}/_nicegui/client/{page.evaluate('window.clientId')}/upload/1"
        assert httpx.post(file, cookies=own, headers={"origin": second.address}, trust_env=False).status_code == 403
        page.get_by_role("button", name="Sign out").click()
        page.get_by_text("You are signed out.").wait_for()
        answer = httpx.get(second.address, cookies=own, trust_env=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?why=ended")
