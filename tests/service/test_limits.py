"""Limits on how often, how long, how slow and how odd a request may be."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Scope

from discreet.errors import InvalidValue, TooManyRequests
from discreet.http.bodies import BodyLimit, check_json
from discreet.service.app import application, guard_app
from discreet.service.auth.rate_limit import Limits, TokenBucket
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, Hospital, client_of
from tests.service.on_a_socket import on_a_socket
from tests.threads import at_once

API = "/api/v1"


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def refused(answer: httpx.Response, status: int, words: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert words in answer.json()["detail"]


# How often.


def test_a_key_may_do_so_much_at_once_and_again_as_time_passes() -> None:
    clock = Clock()
    rates = TokenBucket(3, 60, clock=clock)
    assert [rates.take("a") for _ in range(4)] == [True, True, True, False]
    assert rates.take("b")
    assert rates.wait("a") == 20
    clock.now += 19.5
    assert not rates.take("a")
    clock.now += 0.5
    assert [rates.take("a") for _ in range(2)] == [True, False]
    clock.now += 1e9
    assert [rates.take("a") for _ in range(4)] == [True, True, True, False]


@given(st.integers(1, 20), st.lists(st.integers(0, 40), max_size=60))
def test_no_window_of_time_has_more_than_twice_the_most_and_the_wait_is_exact(most: int, pauses: list[int]) -> None:
    clock = Clock()
    rates = TokenBucket(most, 64, clock=clock)
    taken = []
    for pause in pauses:
        clock.now += pause
        wait = rates.wait("a")
        if rates.take("a"):
            assert wait == 0
            taken.append(clock.now)
        else:
            clock.now += wait + 1e-9
            assert rates.take("a")
            taken.append(clock.now)
    for start in taken:
        assert sum(start <= one < start + 64 for one in taken) <= 2 * most


def test_what_is_remembered_of_keys_is_bounded() -> None:
    rates = TokenBucket(1, 60, keys=10)
    for number in range(1000):
        assert rates.take(str(number))
    assert len(rates._paid) == 10
    assert not rates.take("999")
    assert rates.take("0")


def test_many_threads_take_no_more_than_there_is() -> None:
    rates = TokenBucket(50, 1e9)
    assert sum(at_once(lambda: rates.take("a"), 400)) == 50


def test_a_principal_who_sends_too_much_is_told_when_to_come_back_and_others_are_not_concerned(
    hospital: Hospital,
) -> None:
    service = hospital.service(requests_per_minute=5)
    ana, ben = (client_of(service, hospital.tokens[name]) for name in ("ana", "ben"))
    assert [ana.get(f"{API}/me").status_code for _ in range(5)] == [200] * 5
    answer = ana.get(f"{API}/me")
    refused(answer, 429, "5 requests a minute")
    assert answer.json()["type"] == "urn:discreet:too-many-requests"
    assert 1 <= int(answer.headers["retry-after"]) <= 12
    second = client_of(service, service.members.issue("ana", days=1))
    refused(second.get(f"{API}/me"), 429, "5 requests a minute")  # another token is no other principal
    assert ben.get(f"{API}/me").status_code == 200
    service.close()


def test_signing_in_counts_and_never_uses_up_a_one_time_token_in_vain(hospital: Hospital) -> None:
    service = hospital.service(requests_per_minute=2)
    nobody, token = client_of(service), hospital.tokens["ana"]
    answers = [nobody.post(f"{API}/sign-in", json={"token": token}) for _ in range(3)]
    assert [one.status_code for one in answers[:2]] == [200, 200]
    refused(answers[2], 429, "2 requests a minute")
    once = service.members.issue("ana", days=1, once=True)
    assert nobody.post(f"{API}/sign-in", json={"token": once}).status_code == 200
    service.close()


def test_an_address_that_shows_wrong_tokens_is_told_to_wait_and_valid_ones_from_there_are_let_in(
    service: ServiceState, clients: Clients
) -> None:
    wrong = client_of(service, "nonsense")
    answers = [wrong.get(f"{API}/me") for _ in range(40)]
    assert [one.status_code for one in answers] == [401] * 30 + [429] * 10
    refused(answers[-1], 429, "30 times a minute")
    assert int(answers[-1].headers["retry-after"]) >= 1
    refused(clients.nobody.post(f"{API}/sign-in", json={"token": "nonsense"}), 429, "30 times a minute")
    refused(clients.nobody.get(f"{API}/me"), 429, "30 times a minute")
    assert clients.ana.get(f"{API}/me").status_code == 200
    once = service.members.issue("owner", days=1, once=True)
    assert clients.nobody.post(f"{API}/sign-in", json={"token": once}).status_code == 200


def test_failures_are_counted_for_each_address_and_each_household() -> None:
    limits = Limits(10, Clock())
    for address in ("192.0.2.1", "2001:db8:1:2::1", "", "somewhere"):
        for _ in range(30):
            limits.failure(address)
        with pytest.raises(TooManyRequests):
            limits.failure(address)
    with pytest.raises(TooManyRequests):
        limits.failure("2001:db8:1:2:ffff::77")
    limits.failure("192.0.2.2")
    limits.failure("2001:db8:1:3::1")


def test_the_clock_on_the_wall_has_no_part_in_limits() -> None:
    clock = Clock()
    limits = Limits(1, clock)
    principal = Principal("ana", MemberRole.ANALYST, "0" * 16)
    limits.request(principal)
    with pytest.raises(TooManyRequests) as refusal:
        limits.request(principal)
    assert refusal.value.after == 60
    clock.now += 60
    limits.request(principal)


# How long and how slow.


@pytest.fixture
def small(hospital: Hospital) -> Iterator[ServiceState]:
    service = hospital.service(largest_body=1000, largest_upload=5000)
    yield service
    service.close()


def test_a_body_that_is_too_long_is_refused_on_every_route(small: ServiceState, hospital: Hospital) -> None:
    owner = client_of(small, hospital.tokens["owner"])
    for path in (f"{API}/members", f"{API}/tokens", f"{API}/sign-in", f"{API}/nothing", "/health/live", "/elsewhere"):
        for method in ("POST", "GET", "DELETE"):
            refused(owner.request(method, path, content=b"x" * 1001), 413, "at most 1,000 bytes")


def test_a_body_of_the_largest_size_is_read(small: ServiceState, hospital: Hospital) -> None:
    owner = client_of(small, hospital.tokens["owner"])
    body = json.dumps({"name": "zoe", "role": "analyst"}).encode()
    exact = body[:-1] + b" " * (1000 - len(body)) + b"}"
    headers = {"Content-Type": "application/json"}
    assert owner.post(f"{API}/members", content=exact, headers=headers).status_code == 201
    refused(owner.post(f"{API}/members", content=exact + b" ", headers=headers), 413, "1,000 bytes")


@pytest.mark.parametrize("stated", ["9" * 5000, "99999999999999999999", "1001", "-1", "1e3", "²"])
def test_a_stated_length_that_is_too_long_or_no_length_is_refused(small: ServiceState, stated: str) -> None:
    client = client_of(small)
    sent = client.build_request("POST", f"{API}/sign-in", content=b"")
    sent.headers["content-length"] = stated.encode().decode("latin-1")
    refused(client.send(sent), 413, "1,000 bytes")


def test_only_an_owner_s_upload_may_be_larger(small: ServiceState, hospital: Hospital) -> None:
    path = f"{API}/uploads"
    for name in ("ana", "auditor", None):
        client = client_of(small, None if name is None else hospital.tokens[name])
        refused(client.post(path, content=b"x" * 1001), 413, "1,000 bytes")
    owner = client_of(small, hospital.tokens["owner"])
    refused(owner.post(path, content=b"x" * 5001), 413, "5,000 bytes")
    assert owner.post(path, content=b"x" * 5000).status_code not in (413, 500)


def _raw(port: int, *parts: bytes) -> bytes:
    """What a server answers to these bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except OSError:
                break
        heard = b""
        try:
            while found := connection.recv(65_536):
                heard += found
        except OSError:
            pass
        return heard


_HEAD = b"POST /api/v1/sign-in HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"


def test_bytes_are_counted_as_they_arrive_where_no_length_is_stated(small: ServiceState) -> None:
    with on_a_socket(guard_app(application(small))) as port:
        chunks = [*([b"190\r\n" + b" " * 400 + b"\r\n"] * 3), b"0\r\n\r\n"]
        heard = _raw(port, _HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *chunks)
    assert heard.startswith(b"HTTP/1.1 413")
    assert b"at most 1,000 bytes" in heard
    assert b"connection: close" in heard.lower()


async def _thousand(_: Scope) -> int:
    return 1000


def test_a_body_that_does_not_arrive_is_ended(small: ServiceState) -> None:
    app = BodyLimit(application(small), _thousand, seconds=0.3)
    with on_a_socket(app) as port:
        heard = _raw(port, _HEAD + b"Content-Length: 20\r\n\r\n", b'{"token"')
        assert heard.startswith(b"HTTP/1.1 408")
        assert b"application/problem+json" in heard
        body = b'{"token": "nonsense"}'
        answer = httpx.post(f"http://127.0.0.1:{port}{API}/sign-in", content=body, headers=_JSON)
        assert answer.status_code == 401


_JSON = {"Content-Type": "application/json"}


# How odd.


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[" * 100_000, "nested at most 30 deep"),
        (b"[" * 31 + b"]" * 31, "nested at most 30 deep"),
        (b'{"a":' * 50_000, "nested at most 30 deep"),
        (b'{"token": "a", "token": "b"}', "a key must stand once"),
        (b'{"x": {"y": 1, "\\u0079": 2}}', "a key must stand once"),
        (b'{"token": ' + b"9" * 5000 + b"}", "at most 100 characters"),
        (b'{"token": 1.' + b"9" * 5000 + b"}", "at most 100 characters"),
        (b'{"token": 1e999}', "must be finite"),
        (b'{"token": NaN}', "must be finite"),
        (b'{"token": -Infinity}', "must be finite"),
        (b'{"token": "\\ud800"}', "valid Unicode"),
        (b'{"\\udfff": 1}', "valid Unicode"),
        (b'{"token": "\xff"}', "UTF-8"),
        (b'{"token": "\xed\xa0\x80"}', "UTF-8"),
        ('{"token": "a"}'.encode("utf-16"), "UTF-8"),
        (b'{"token": "a"', "must be whole"),
        (b'{"token": "a"} x', "must be whole"),
        (b"nonsense", "must be whole"),
        (b"[" + b"[]," * 20_000 + b"[]]", "at most 20,000 values"),
        (b'{"' + b'\\"' * 20_000 + b'": [' + b"1," * 20_000 + b"1]}", "at most 20,000 values"),
        (b"\xef\xbb\xbf{}", "must be whole"),
        (b'{"token": "a\nb"}', "must be whole"),
    ],
)
@pytest.mark.some(8)
def test_json_that_two_readers_may_read_differently_is_refused(clients: Clients, body: bytes, words: str) -> None:
    for client in (clients.nobody, clients.owner):
        refused(client.post(f"{API}/sign-in", content=body, headers=_JSON), 400, words)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**90), 10**90)
        | st.floats(-1e300, 1e300)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
        max_leaves=20,
    )
)
def test_ordinary_json_is_read(value: object) -> None:
    check_json(json.dumps(value).encode())
    check_json(json.dumps(value, ensure_ascii=False).encode())


@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_refused_in_words(body: bytes) -> None:
    try:
        check_json(body)
    except InvalidValue:
        return
    json.loads(body)


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "*",
    ],
)
def test_a_body_of_another_kind_is_refused(clients: Clients, kind: str) -> None:
    content = b'{"token": "nonsense"}'
    refused(clients.owner.post(f"{API}/sign-in", content=content, headers={"Content-Type": kind}), 415, "must be JSON")


def test_a_compressed_body_is_refused_and_not_unpacked(clients: Clients) -> None:
    headers = _JSON | {"Content-Encoding": "gzip"}
    refused(clients.owner.post(f"{API}/sign-in", content=b"\x1f\x8b", headers=headers), 415, "must be JSON as it is")


@pytest.mark.parametrize("kind", ["application/json", "APPLICATION/JSON ; charset=utf-8"])
def test_json_under_any_spelling_of_its_kind_is_read(clients: Clients, tokens: dict[str, str], kind: str) -> None:
    body = json.dumps({"token": tokens["ana"]}).encode()
    answer = clients.nobody.post(f"{API}/sign-in", content=body, headers={"Content-Type": kind})
    assert answer.status_code == 200
