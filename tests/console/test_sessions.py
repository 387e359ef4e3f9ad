"""Signing in and out: what a session may do, when it ends, and that nobody else can use its pages."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from starlette.datastructures import Headers

from discreet.console import websocket_guard as door_module
from discreet.console.session import COOKIE, MOST_PAGES_OF_MEMBER, Sessions
from discreet.console.websocket_guard import LARGEST_BY_OTHERS, WebSocketGuard, is_same_site
from discreet.curator.curator import Curator
from discreet.errors import NotSignedIn
from discreet.service.auth.members import Members
from discreet.service.state import ServiceState
from discreet.service.storage import ServiceStore
from tests.console.asking import COUNT, answer, editor, history, price, write
from tests.console.conftest import Contexts, Enter, Fresh, sign_in
from tests.console.serving import Serving
from tests.service.hospital import CHEAP, Hospital, founded

ENDED = "Your session has ended."


@pytest.fixture(scope="module")
def service(hospital: Hospital) -> Iterator[ServiceState]:
    found = hospital.service()
    yield found
    found.close()


@pytest.fixture(scope="module")
def sessions(service: ServiceState) -> Sessions:
    return Sessions(service)


def members_of(hospital: Hospital) -> Members:
    return Members(ServiceStore(hospital.folder), hasher=CHEAP)


def asked(hospital: Hospital, words: str) -> int:
    """How many questions with these words were charged."""
    ledger = Curator(hospital.folder).ledger
    try:
        return sum(words in one.body.get("note", {}).get("sql", "") for one in ledger.entries(1))
    finally:
        ledger.close()


def wait_for_charge(hospital: Hospital) -> None:
    """Until a question was charged: its answer is in the ledger, and nobody has it yet."""
    while not asked(hospital, ""):
        time.sleep(0.05)


# In a browser.


def test_a_wrong_token_is_refused_in_words_and_a_right_one_by_keyboard(fresh: Fresh, serving: Serving) -> None:
    page = fresh().new_page()
    page.goto("/budget")
    expect(page).to_have_title("Discreet: sign in")
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.insert_text("discreet_0000000000000000_" + "0" * 64)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This token is not valid.")
    page.keyboard.insert_text(f" {serving.hospital.tokens['ana']} ")
    page.keyboard.press("Enter")
    page.wait_for_url("**/budget")
    page.wait_for_function("window.did_handshake === true")  # before that, a busy machine may have it loaded again
    (cookie,) = [one for one in page.context.cookies() if one["name"] == COOKIE]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert serving.hospital.tokens["ana"] not in page.content()


def test_signing_out_in_one_tab_ends_it_in_all(fresh: Fresh, serving: Serving) -> None:
    context = fresh()
    first, second = context.new_page(), context.new_page()
    sign_in(first, serving.hospital.tokens["ben"])
    second.goto("/")
    write(second, "SELECT COUNT(*) AS after_sign_out FROM visits WHERE age > 21")
    price(second, "0.01")
    editor(second).focus()
    first.get_by_role("button", name="Sign out").click()
    expect(first.get_by_text("You are signed out.")).to_be_visible()
    second.keyboard.press("Control+Enter")  # unless it was led away before
    expect(second).to_have_title("Discreet: sign in")
    assert not asked(serving.hospital, "after_sign_out")
    sign_in(second, serving.hospital.tokens["ben"])
    expect(editor(second)).to_contain_text("after_sign_out")  # nothing typed is lost


@pytest.mark.thorough
def test_another_person_in_a_second_tab_takes_over_the_first(fresh: Fresh, serving: Serving) -> None:
    context = fresh()
    first, second = context.new_page(), context.new_page()
    sign_in(first, serving.hospital.tokens["ana"])
    write(first, "SELECT COUNT(*) AS draft_of_ana FROM visits WHERE age > 22")
    price(first, "0.01")
    editor(first).focus()
    sign_in(second, serving.hospital.tokens["ben"])
    first.keyboard.press("Control+Enter")  # unless it was led away before
    expect(first.get_by_text("ben · analyst")).to_be_visible()
    editor(first)
    assert "draft_of_ana" not in first.content()
    assert not asked(serving.hospital, "draft_of_ana")


def test_a_token_that_is_taken_back_ends_the_session_at_the_next_action(fresh: Fresh, serving: Serving) -> None:
    members = members_of(serving.hospital)
    issued = members.issued("ben", days=1)
    page = fresh().new_page()
    sign_in(page, issued.secret)
    write(page, "SELECT COUNT(*) AS after_revoking FROM visits WHERE age > 23")
    price(page, "0.01")
    editor(page).focus()
    members.revoke(issued.token.id)
    page.keyboard.press("Control+Enter")  # unless it was led away before
    expect(page.get_by_text(ENDED)).to_be_visible()
    assert not asked(serving.hospital, "after_revoking")


def test_a_one_time_token_is_exchanged_and_its_successor_shown_until_it_is_safe(fresh: Fresh, serving: Serving) -> None:
    once = members_of(serving.hospital).issue("owner", days=1, once=True)
    page = fresh().new_page()
    sign_in(page, once)
    shown = page.get_by_role("dialog", name="Your token")
    expect(shown).to_be_visible()
    page.goto("/budget")
    lasting = shown.locator(".d-secret").text_content() or ""
    shown.get_by_role("button", name="I have it").click()
    expect(shown).to_have_count(0)
    page.goto("/")
    editor(page)
    assert lasting not in page.content()
    assert members_of(serving.hospital).principal(lasting).name == "owner"
    with pytest.raises(NotSignedIn):
        members_of(serving.hospital).principal(once)


@pytest.mark.thorough
def test_a_server_that_dies_in_the_middle_of_an_answer_loses_nothing_and_charges_once(
    contexts: Contexts, tmp_path: Path
) -> None:
    hospital = founded(tmp_path / "hospital")
    page = contexts("").new_page()
    with Serving(hospital, release_quantum="600") as first:
        page.goto(f"{first.address}/sign-in")
        page.get_by_label("Token").fill(hospital.tokens["ana"])
        page.keyboard.press("Enter")
        write(page, COUNT)
        price(page, "0.1")
        page.get_by_role("button", name="Ask for ε 0.1").click()
        expect(answer(page).get_by_text("Being answered. You may leave this page")).to_be_visible()
        expect(history(page).get_by_text("being answered")).to_be_visible()
        wait_for_charge(hospital)
        first.process.kill()
        expect(page.get_by_text("The connection is lost.")).to_be_visible()
        with Serving(hospital, first.port):  # which knows who signed in at the first
            expect(page.get_by_text("The connection is lost.")).to_be_hidden()
            expect(editor(page)).to_have_text(COUNT)
            expect(history(page).get_by_role("listitem")).to_have_count(1)
            expect(history(page).get_by_text("being answered")).to_have_count(0)
            history(page).get_by_role("button", name="SELECT ward").click()
            expect(answer(page).get_by_text("ε 0.9 left for visits/ana")).to_be_visible()
    assert asked(hospital, COUNT) == 1


# A page belongs to its session.

LISTEN = """([page, tab]) => new Promise((done) => {
  const asked = `EIO=4&transport=websocket&client_id=${page}&tab_id=${tab}&document_id=x&next_message_id=0`;
  const socket = new WebSocket(`ws://${location.host}/_nicegui_ws/socket.io/?${asked}&implicit_handshake=true`);
  const heard = [];
  socket.onopen = () => socket.send("40");
  socket.onmessage = (message) => { heard.push(message.data); if (message.data[0] === "4") done(heard); };
  socket.onclose = () => done(heard);
})"""
TYPED = """() => {
  const [id, editor] = Object.entries(mounted_app.elements).find(([_, one]) => one.tag.includes("codemirror"));
  return [Number(id), editor.events.find((one) => one.type === "update:value").listener_id];
}"""
TYPE_FOR = """([page, id, listener]) => window.socket.emit("event", {
  client_id: page, id: id, listener_id: listener, args: [JSON.stringify({sections: [0, 6], inserted: [["stolen"]]})],
})"""


def test_a_stolen_page_id_opens_nothing(enter: Enter) -> None:
    victim, thief = enter("ana"), enter("ben")
    editor(victim)
    page, tab = victim.evaluate("[window.clientId, sessionStorage.__nicegui_tab_id]")
    heard = thief.evaluate(LISTEN, [page, tab])
    assert "Implicit handshake failed" in heard[-1]
    thief.evaluate(TYPE_FOR, [page, *victim.evaluate(TYPED)])
    thief.wait_for_function("!window.socket.connected || performance.now() < 3000")  # it was cut off, or loads again
    write(victim, "")
    expect(victim.get_by_text("Type a question, or start with:")).to_be_visible()
    assert not victim.get_by_role("alert").count(), "nobody typed into the page of another"


def test_the_same_words_from_the_owner_of_the_page_are_heard(enter: Enter) -> None:
    page = enter("ana")
    editor(page)
    page.evaluate(TYPE_FOR, [page.evaluate("window.clientId"), *page.evaluate(TYPED)])
    expect(page.get_by_role("alert")).to_contain_text("stolen")


# Without a browser.


def post(serving: Serving, path: str, data: dict[str, str], **headers: str) -> httpx.Response:
    return httpx.post(f"{serving.address}{path}", data=data, headers=headers, follow_redirects=False)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://elsewhere.test"},
        {"origin": "null"},
        {},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"origin": "null", "sec-fetch-site": "same-site"},
    ],
)
def test_nobody_is_signed_in_or_out_from_another_site(serving: Serving, headers: dict[str, str]) -> None:
    refused = post(serving, "/sign-in", {"token": serving.hospital.tokens["ana"]}, **headers)
    assert COOKIE not in refused.cookies
    session = post(serving, "/sign-in", {"token": serving.hospital.tokens["ana"]}, origin=serving.address).cookies[
        COOKIE
    ]
    post(serving, "/sign-out", {}, cookie=f"{COOKIE}={session}", **headers)
    still = httpx.get(f"{serving.address}/budget", cookies={COOKIE: session})
    assert still.status_code == 200


def test_a_session_that_somebody_chose_beforehand_is_not_used(serving: Serving) -> None:
    token = {"token": serving.hospital.tokens["ana"]}
    entered = post(serving, "/sign-in", token, origin=serving.address, cookie=f"{COOKIE}=chosen")
    assert entered.cookies[COOKIE] != "chosen"
    for session in ("chosen", ""):
        assert httpx.get(f"{serving.address}/budget", cookies={COOKIE: session}).status_code == 303


def test_one_is_led_to_pages_of_the_console_alone(serving: Serving) -> None:
    for then in ("https://elsewhere.test/", "//elsewhere.test", "/api/v1/me", "/\\elsewhere.test"):
        data = {"token": serving.hospital.tokens["ana"], "then": then}
        assert post(serving, "/sign-in", data, origin=serving.address).headers["location"] == "/"
    wrong = post(serving, "/sign-in", {"token": "no", "then": '"><script>'}, origin=serving.address)
    shown = httpx.get(f"{serving.address}{wrong.headers['location']}").text
    assert "<script>" not in shown


def test_a_session_ends_by_its_clock(hospital: Hospital, service: ServiceState) -> None:
    began = time.time()
    now = [began]
    sessions = Sessions(service, clock=lambda: now[0])
    session = sessions.start(hospital.tokens["ana"], "")
    sessions.draw(session, "page", lambda _: False)
    assert sessions.may_use(session, "page")
    assert not sessions.may_use(session, "another")
    assert not sessions.may_use(None, "page")
    now[0] = began + 12 * 3600.0
    assert sessions.principal(session) is None
    assert not sessions.may_use(session, "page")
    now[0] = began - 3600.0  # a clock that was set back gives nobody more time
    assert sessions.principal(session) is None


def test_a_session_outlives_the_process_and_ends_in_all_of_them(hospital: Hospital, service: ServiceState) -> None:
    issued = service.members.issued("ana", days=1)
    first, second = Sessions(service), Sessions(hospital.service())
    kept, ended = first.start(issued.secret, ""), first.start(issued.secret, "")
    assert second.principal(kept) == first.principal(kept)
    assert second.principal(kept) is not None
    second.end(ended)
    assert first.principal(ended) is None
    service.members.revoke(issued.token.id)
    assert first.principal(kept) is second.principal(kept) is None


def test_nothing_that_signs_in_is_in_the_storage(hospital: Hospital, service: ServiceState) -> None:
    once = service.members.issue("ana", days=1, once=True)
    sessions = Sessions(service)
    session = sessions.start(once, "")
    lasting = sessions.unseen(session)
    assert lasting is not None
    secrets = (session, lasting, lasting.rpartition("_")[2])
    for path in (path for path in hospital.folder.rglob("*") if path.is_file()):
        held = path.read_bytes()
        assert not any(one.encode() in held for one in secrets), path


def test_who_signs_in_again_and_again_has_no_more_pages(hospital: Hospital, service: ServiceState) -> None:
    sessions = Sessions(service)
    gone: list[str] = []
    for number in range(3 * MOST_PAGES_OF_MEMBER):
        session = sessions.start(hospital.tokens["ben"], "")
        gone += sessions.draw(session, f"page {number}", lambda _: True)
        sessions.end(session)
    assert len(gone) >= 2 * MOST_PAGES_OF_MEMBER


def test_a_member_has_few_sessions_at_once(hospital: Hospital, service: ServiceState) -> None:
    sessions = Sessions(service)
    other = sessions.start(hospital.tokens["ben"], "")
    own = [sessions.start(hospital.tokens["ana"], "") for _ in range(52)]
    assert [sessions.principal(one) is not None for one in own] == [False] * 2 + [True] * 50
    assert sessions.principal(other) is not None


def test_pages_and_sign_ins_count_as_requests_and_behind_a_proxy_the_cookie_is_for_https_alone(tmp_path: Path) -> None:
    hospital = founded(tmp_path / "hospital")
    with Serving(hospital, requests_per_minute="3", behind_proxy="127.0.0.1") as serving:
        token = {"token": hospital.tokens["ana"]}
        entered = post(serving, "/sign-in", token, origin=serving.address)
        assert "; Secure" in entered.headers["set-cookie"]
        own = {"cookie": f"{COOKIE}={entered.cookies[COOKIE]}"}
        assert [httpx.get(f"{serving.address}/budget", headers=own).status_code for _ in range(3)] == [200, 200, 429]
        busy = post(serving, "/sign-in", token, origin=serving.address)
        assert busy.headers["location"] == "/sign-in?why=busy"


# The door, word by word.

Say = Callable[..., list[str]]


@pytest.fixture
def said(hospital: Hospital, sessions: Sessions) -> Say:
    """What a page hears of what a browser says in a session of its own."""
    session = sessions.start(hospital.tokens["ana"], "")
    sessions.draw(session, "mine", lambda _: False)

    def heard(*words: dict[str, Any] | str, ended: bool = False) -> list[str]:
        found: list[str] = []
        waiting = [one if isinstance(one, dict) else {"text": one} for one in words]

        async def page(_: Any, receive: Any, __: Any) -> None:
            while (message := await receive())["type"] == "websocket.receive":
                found.append(message["text"])

        async def receive() -> Any:
            if ended:
                sessions.end(session)
            return {"type": "websocket.receive", **waiting.pop(0)} if waiting else {"type": "websocket.disconnect"}

        async def send(message: Any) -> None:
            found.append(f"closed {message['code']}")

        headers = [(b"cookie", f"{COOKIE}={session}".encode()), (b"host", b"here"), (b"origin", b"http://here")]
        scope = {"type": "websocket", "path": "/_nicegui_ws/socket.io/", "headers": headers}
        door = WebSocketGuard(page, sessions, lambda _: None)
        with ThreadPoolExecutor(1) as aside:  # the browser has a loop in this thread
            aside.submit(lambda: asyncio.run(door(scope | {"query_string": b"client_id=mine"}, receive, send))).result()
        return found

    return heard


def event(**told: Any) -> str:
    return "42" + json.dumps(["event", told])


def test_words_for_the_own_page_pass(said: Say) -> None:
    words = ["40", "3", event(client_id="mine", id=1), "421" + event(client_id="mine")[2:]]
    assert said(*words) == words


@pytest.mark.parametrize(
    "word",
    [
        event(client_id="another"),
        event(id=1),
        event(client_id=["mine"]),
        '42["event",{"client_id":"another","client_id":"mine"}]',
        '42["event",{"client_id":"mine","client_id":"another"}]',
        '42["event",{"client_id":"mine"},{"client_id":"another"}]',
        '42/other,["event",{"client_id":"mine"}]',
        '451-["event",{"client_id":"mine"}]',
        '42["event"',
        "42" + "[" * 5_000,
        event(client_id="mine", args=[{}] * 20_001),
        "40" + "[" * 500,
        "5",
        "",
    ],
)
def test_any_other_word_closes_the_connection(said: Say, word: str) -> None:
    assert said(event(client_id="mine"), word, event(client_id="mine")) == [event(client_id="mine"), "closed 1008"]


def test_bytes_close_the_connection(said: Say) -> None:
    assert said({"bytes": b"\x00"}) == ["closed 1008"]


@pytest.mark.parametrize("word", ["3", event(client_id="mine")])
def test_after_the_session_no_word_passes(said: Say, word: str) -> None:
    assert said(word, ended=True) == ["closed 1008"]


def test_what_strangers_say_is_not_read(said: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        door_module, "_addressed", lambda _: pytest.fail("it was read, which takes as long as they like")
    )
    assert said(event(client_id="mine"), ended=True) == ["closed 1008"]


@pytest.mark.parametrize(
    ("headers", "is_ours"),
    [
        ({"host": "a:1", "origin": "http://a:1"}, True),
        ({"host": "a:1", "origin": "https://a:1"}, True),
        ({"host": "a:1", "origin": "http://a:2"}, False),
        ({"host": "a:1", "origin": "http://a"}, False),
        ({"host": "a:1", "origin": "null"}, False),
        ({"host": "a:1", "origin": "null", "sec-fetch-site": "same-origin"}, True),
        ({"host": "a:1"}, False),
        ({"origin": "http://"}, False),
    ],
)
def test_a_site_is_known_by_its_host_and_port(headers: dict[str, str], is_ours: bool) -> None:
    assert is_same_site(Headers(headers)) is is_ours


def test_files_go_to_a_page_from_its_own_session_alone(serving: Serving, enter: Enter) -> None:
    page = enter("ana")
    client = page.evaluate("window.clientId")
    path = f"/_nicegui/client/{client}/upload/1"
    other: Page = enter("ben")
    assert page.request.post(path, headers={"origin": serving.address}).status != 403
    assert other.request.post(path, headers={"origin": serving.address}).status == 403
    assert page.request.post(path, headers={"origin": "https://elsewhere.test"}).status == 403


def status_of_large_file(page: Page, port: int) -> int:
    """What somebody hears who announces a large file, and sends as much of it as is taken in before an answer."""
    (cookie,) = (one["value"] for one in page.context.cookies() if one["name"] == COOKIE)
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    connection.putrequest("POST", f"/_nicegui/client/{page.evaluate('window.clientId')}/upload/1")
    said = {"Origin": f"http://127.0.0.1:{port}", "Cookie": f"{COOKIE}={cookie}"}
    for name, value in (said | {"Content-Length": str(LARGEST_BY_OTHERS + 20_000)}).items():
        connection.putheader(name, value)
    connection.endheaders()
    with suppress(BrokenPipeError, ConnectionResetError):  # who is refused need not be heard out
        connection.send(b"x" * 1_100_000)
    with closing(connection):
        return connection.getresponse().status


def test_large_files_are_taken_from_owners_alone(serving: Serving, enter: Enter) -> None:
    """NiceGUI writes a whole file to the disk, twice, and only then asks the page what to do with it."""
    pages = {member: enter(member, "/budget") for member in ("ana", "auditor", "owner")}
    statuses = {member: status_of_large_file(page, serving.port) for member, page in pages.items()}
    assert statuses == {"ana": 413, "auditor": 413, "owner": 404}, "an owner's is read by a page, if there is one"
