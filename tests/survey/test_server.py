"""The server as a process of its own: what it lets in, what it keeps to itself, and how it starts, ends and dies."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import HTTPException, Request
from playwright.sync_api import expect

from discreet.http.bodies import body_within
from discreet.http.security import HEADERS
from discreet.survey.store import Records, hash_of
from tests.survey.browser import Watched
from tests.survey.serving import Made, Serving, made
from tests.survey.test_page import TRUTH, fill, opened, review
from tests.survey.test_store import reports_for
from tests.trusted import trusted

JSON = {"Content-Type": "application/json"}
RAISING = """
from discreet.errors import StoreError
from discreet.survey.store import SurveyStore
def take(self, token, record): raise {fault}
SurveyStore.take = take
from discreet.cli.main import app
app()
"""
DYING = """
import os, signal
from discreet.survey.store import SurveyStore
real = SurveyStore.take
def take(self, token, record):
    real(self, token, record)
    os.kill(os.getpid(), signal.SIGKILL)
SurveyStore.take = take
from discreet.cli.main import app
app()
"""


@pytest.fixture
def client(serving: Serving) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=serving.address, verify=trusted()) as found:
        yield found


def submission(survey: Made, token: str) -> dict[str, Any]:
    store = survey.store()
    return {"survey": store.survey.fingerprint, "invitation": token, "reports": reports_for(store)}


def another(sent: dict[str, Any]) -> dict[str, Any]:
    """The same with the other answer to the first question."""
    changed = json.loads(json.dumps(sent))
    changed["reports"]["smokes"]["reports"]["answer"][0] ^= 1
    return changed


def is_problem(reply: httpx.Response, status: int) -> bool:
    found = reply.json()
    assert reply.headers["content-type"] == "application/problem+json"
    assert set(found) == {"type", "title", "status", "detail"}
    return reply.status_code == found["status"] == status


def test_a_report_is_taken_once(client: httpx.Client, survey: Made, token: str) -> None:
    sent = submission(survey, token)
    assert [client.post("/reports", json=sent).status_code for _ in range(3)] == [201, 200, 200]
    assert is_problem(client.post("/reports", json=another(sent)), 409)
    assert client.post("/reports", json=sent).status_code == 200


def test_a_link_says_whether_it_was_used_and_nothing_else(client: httpx.Client, survey: Made, token: str) -> None:
    def used(given: str) -> str:
        return client.get("/invitation", headers={"Authorization": f"Bearer {given}"}).text

    assert used(token) == '{"used":false}'
    client.post("/reports", json=submission(survey, token))
    assert used(token) == '{"used":true}'
    assert used("0" * 32) == used("x" * 32) == client.get("/invitation").text == '{"used":false}'


def test_refusals_have_one_shape_and_repeat_nothing(client: httpx.Client, survey: Made, token: str) -> None:
    sent = submission(survey, token)
    secret = {**sent, "reports": {**sent["reports"], "smokes": "my true answer"}}
    replies = {
        404: client.get("/nothing"),
        405: client.put("/reports", json=sent),
        415: client.post("/reports", content=json.dumps(sent)),
        403: client.post("/reports", json={**sent, "invitation": "0" * 32}),
        422: client.post("/reports", json=secret),
        413: client.post("/reports", json={**sent, "more": "x" * 100_000}),
        401: client.get("/figures"),
    }
    assert all(is_problem(reply, status) for status, reply in replies.items())
    assert not any("my true answer" in reply.text or token in reply.text for reply in replies.values())
    assert replies[405].headers["allow"] == "OPTIONS, POST"
    assert is_problem(client.get("/figures", headers={"Authorization": f"Bearer {token}"}), 401)
    assert is_problem(client.get("/figures", headers={"Authorization": f"Basic {survey.owner}"}), 401)
    owner = {"Authorization": f"Bearer {survey.owner}"}
    assert is_problem(client.get("/figures?within=lots", headers=owner), 422)
    assert client.get("/figures?within=0.01&together=yes&confidence=0.9", headers=owner).status_code == 200


def test_a_body_without_a_stated_length_is_bounded_too(client: httpx.Client) -> None:
    endless = (b" " * 4096 for _ in range(100))
    assert is_problem(client.post("/reports", content=endless, headers=JSON), 413)


@pytest.mark.parametrize(
    "path", ["/", "/results", "/style.css", "/answer.js", "/survey.json", "/nothing", "/favicon.ico"]
)
def test_every_answer_has_the_headers_and_no_cookie(client: httpx.Client, path: str) -> None:
    reply = client.get(path)
    assert HEADERS.items() <= {name: reply.headers.get(name) for name in HEADERS}.items()
    assert "set-cookie" not in reply.headers
    assert "server" not in reply.headers


def test_a_cut_upload_stores_nothing(serving: Serving, survey: Made, token: str) -> None:
    sent = json.dumps(submission(survey, token)).encode()
    before = survey.store().answered()
    for part in (sent[:50], sent[:-1]):
        with socket.create_connection(("127.0.0.1", serving.port)) as line:
            line.sendall(_head(len(sent)) + part)
            line.shutdown(socket.SHUT_WR)
            assert b" 201 " not in line.recv(1000)
    assert survey.store().answered() == before
    assert httpx.post(f"{serving.address}/reports", content=sent, headers=JSON).status_code == 201


def _head(length: int) -> bytes:
    lines = ["POST /reports HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {length}", "", ""]
    return "\r\n".join(lines).encode()


def test_a_body_that_takes_too_long_is_refused() -> None:
    async def never() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    request = Request({"type": "http", "headers": []}, never)
    with ThreadPoolExecutor() as elsewhere, pytest.raises(HTTPException, match=r"within 0\.05 seconds"):
        elsewhere.submit(lambda: asyncio.run(body_within(request, 10, 0.05))).result()  # the browser has a loop here


def test_nothing_is_logged_about_who_asked(tmp_path: Path) -> None:
    own = made(tmp_path / "own", invitations=2)
    with Serving(own.folder) as here:
        with socket.create_connection(("127.0.0.1", here.port)) as line:
            line.sendall(b"nonsense\r\n\r\n")
            line.recv(1000)
        with socket.create_connection(("127.0.0.1", here.port)) as line:
            line.sendall(_head(500) + b"{")
        httpx.get(f"{here.address}/nothing", headers={"X-Forwarded-For": "203.0.113.7"})
        httpx.post(f"{here.address}/reports", json=submission(own, own.tokens[0])).raise_for_status()
        out, err, _ = here.end()
    assert out == f"serving 'Health at work' at {here.address}\n"
    assert err.strip() in ("", "WARNING:  Invalid HTTP request received.")


def test_the_longest_survey_with_long_names_can_be_answered(tmp_path: Path) -> None:
    names = [f"{'long' * 50}{number}" for number in range(100)]
    asked = "".join(f"  {name}: {{ask: A?, type: yes-no, epsilon: 1}}\n" for name in names)
    own = made(tmp_path / "long", f"title: A\nquestions:\n{asked}", invitations=1)
    store = own.store()
    sent = {
        "survey": store.survey.fingerprint,
        "invitation": own.tokens[0],
        "reports": reports_for(store, ("yes",) * len(names)),
    }
    with Serving(own.folder) as here:
        assert httpx.post(f"{here.address}/reports", json=sent).status_code == 201


def test_a_server_that_was_ended_leaves_no_order_of_arrival(tmp_path: Path) -> None:
    own = made(tmp_path / "own")
    with Serving(own.folder) as here:
        for token in own.tokens:
            httpx.post(f"{here.address}/reports", json=submission(own, token)).raise_for_status()
        _, err, _ = here.end()
    assert err == ""
    assert not any(file.stat().st_size for file in own.folder.glob("survey.db-wal"))
    content = (own.folder / "survey.db").read_bytes()
    places = [content.rindex(hash_of(token)) for token in sorted(own.tokens, key=hash_of)]
    assert places in (sorted(places), sorted(places, reverse=True))
    assert own.store().answered() == len(own.tokens)


@pytest.mark.parametrize("path", ["/", "/results", "/survey.json", "/invitation", "/style.css"])
def test_head_says_what_get_would_and_every_path_says_its_methods(client: httpx.Client, path: str) -> None:
    whole, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers.get("content-length") == whole.headers.get("content-length")
    asked = client.options(path)
    assert (asked.status_code, asked.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    for method in ("POST", "DELETE", "BREW"):
        refused = client.request(method, path)
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
        assert refused.headers["content-type"] == "application/problem+json"


def test_what_is_no_submission_is_a_problem_of_the_one_shape(client: httpx.Client) -> None:
    assert client.get("/reports").headers["allow"] == "OPTIONS, POST"
    sent = {
        415: ({"Content-Type": "text/plain"}, b"{}"),
        413: ({"Content-Type": "application/json"}, b" " * 1_000_000),
        422: ({"Content-Type": "application/json"}, b'\xff"'),
    }
    for status, (headers, content) in sent.items():
        found = client.post("/reports", content=content, headers=headers)
        assert (found.status_code, found.headers["content-type"]) == (status, "application/problem+json")
        assert set(found.json()) == {"type", "title", "status", "detail"}
    for path in ("/nothing", "/%00", "/%ff"):
        found = client.get(path)
        assert (found.status_code, found.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("together", ["1", "true", "", "YES"])
def test_together_is_yes_or_no(client: httpx.Client, survey: Made, together: str) -> None:
    headers = {"Authorization": f"Bearer {survey.owner}"}
    assert client.get("/figures", params={"together": "yes"}, headers=headers).status_code == 200
    assert client.get("/figures", params={"together": together}, headers=headers).status_code == 422


def test_a_request_under_way_is_finished_before_the_end(tmp_path: Path) -> None:
    own = made(tmp_path / "own", invitations=1)
    sent = json.dumps(submission(own, own.tokens[0])).encode()
    with Serving(own.folder) as here, socket.create_connection(("127.0.0.1", here.port)) as line:
        line.sendall(_head(len(sent)) + sent[:10])
        httpx.get(here.address).raise_for_status()  # by now the server has the beginning
        here.process.send_signal(signal.SIGTERM)
        line.sendall(sent[10:])
        assert line.recv(1000).startswith(b"HTTP/1.1 201 ")
        assert here.process.wait(timeout=120) == 0
    assert own.store().answered() == 1


def test_ctrl_c_ends_it_with_a_word(tmp_path: Path) -> None:
    own = made(tmp_path / "own")
    with Serving(own.folder) as here:
        here.process.send_signal(signal.SIGINT)
        _, err = here.process.communicate(timeout=120)
    assert here.process.returncode == 130
    assert err == "stopped  the survey is as it was; serve it again at any time\n"


def test_a_port_in_use_is_refused_in_words(serving: Serving, survey: Made) -> None:
    program = "from discreet.cli.main import app; app()"
    command = [sys.executable, "-c", program, "survey", "serve", str(survey.folder), "--port", str(serving.port)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "another program uses it; pass another --port" in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(("fault", "status"), [("RuntimeError('secret')", 500), ("StoreError('full disk')", 503)])
def test_a_server_in_trouble_says_so_in_the_same_shape(tmp_path: Path, fault: str, status: int) -> None:
    own = made(tmp_path / "own", invitations=1)
    with Serving(own.folder, program=RAISING.format(fault=fault)) as here:
        reply = httpx.post(f"{here.address}/reports", json=submission(own, own.tokens[0]))
    assert is_problem(reply, status)
    assert "secret" not in reply.text
    assert HEADERS.items() <= {name: reply.headers.get(name) for name in HEADERS}.items()


def test_a_server_killed_between_storing_and_replying_loses_nothing(watched: Watched, tmp_path: Path) -> None:
    own = made(tmp_path / "own", invitations=1)
    page = watched.page
    with Serving(own.folder, program=DYING) as dying:
        opened(page, dying, own.tokens[0])
        fill(page, TRUTH)
        review(page)
        page.locator("#send").click()
        expect(page.locator("#notice")).to_contain_text("The server did not answer")
        assert dying.process.wait(timeout=120) == -signal.SIGKILL
    stored = own.store().records()
    with Serving(own.folder, dying.port):
        page.locator("#send").click()
        expect(page.locator("#notice")).to_contain_text("have arrived")
    store = own.store()
    assert store.answered() == 1
    assert stored == store.records() == Records(store.survey).written(json.loads(watched.bodies[0])["reports"])
    assert watched.bodies[0] == watched.bodies[1]
