"""Connections that are cut, servers that are killed, and strangers at the other end."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.client import connection, remote_curator
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError, LedgerError, Unreachable
from tests.client.conftest import Served
from tests.client.forwarding import forwarding
from tests.service.certificates import made_certificate
from tests.service.hospital import Hospital
from tests.service.served import free_port, served

COUNT = "SELECT COUNT(*) AS n FROM visits"


def spent(hospital: Hospital) -> Fraction:
    loss = Curator(hospital.folder).budget()["visits"]["spent"]
    return Fraction(loss.epsilon)


def port_of(there: Served) -> int:
    return int(there.url.rpartition(":")[2])


def test_a_connection_cut_in_the_middle_of_an_answer_costs_once(there: Served) -> None:
    """Cut before the first byte, in the headers, in the body; then the answer comes."""
    before = spent(there.hospital)
    cuts = [0, 20, 1500]
    with forwarding(port_of(there), cuts) as proxy:
        answer = there.remote(url=proxy.url).ask(COUNT, "1/64", request="cut")
    assert proxy.connections == len(cuts) + 1
    assert answer == there.remote().answer("cut")
    assert spent(there.hospital) == before + Fraction(1, 64)


def test_a_request_without_an_id_is_also_charged_once(there: Served) -> None:
    before = spent(there.hospital)
    with forwarding(port_of(there), [1500]) as proxy:
        there.remote(url=proxy.url).ask(COUNT, "1/65")
    assert spent(there.hospital) == before + Fraction(1, 65)


def test_who_gives_up_is_told_the_id_to_ask_again_with(there: Served) -> None:
    before = spent(there.hospital)
    with forwarding(port_of(there), [100] * 1000) as proxy, pytest.raises(Unreachable) as lost:
        there.remote(url=proxy.url, patience=0.5).ask(COUNT, "1/66")
    request = str(lost.value).partition("request='")[2].partition("'")[0]
    assert there.remote().ask(COUNT, "1/66", request=request) == there.remote().answer(request)
    assert spent(there.hospital) == before + Fraction(1, 66)


def test_long_questions_are_polled_as_jobs(there: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_curator, "CLIENT_WAIT", 0.0)
    answer = there.remote().ask(COUNT, "1/67", request="polled")
    assert answer == there.remote().answer("polled")
    with pytest.raises(discreet.BudgetExceeded):
        there.remote().ask(COUNT, 1000)


def test_a_server_killed_between_charge_and_answer_answers_the_retry_after_its_restart(hospital: Hospital) -> None:
    port = free_port()
    found: list[object] = []

    def ask() -> None:
        curator = discreet.connect(f"http://127.0.0.1:{port}", hospital.tokens["ana"], patience=60)
        found.append(curator.ask(COUNT, "0.1", request="one"))
        curator.close()

    with served(hospital, port, "before rows are read") as first:
        asker = threading.Thread(target=ask)
        asker.start()
        assert first.wait(60) == -9
    assert spent(hospital) == Fraction(1, 10)
    with served(hospital, port):
        asker.join(60)
        (answer,) = found
        again = discreet.connect(f"http://127.0.0.1:{port}", hospital.tokens["ana"])
        assert again.answer("one") == answer
        again.close()
    assert spent(hospital) == Fraction(1, 10)
    assert verify(hospital.folder).is_sound


# Strangers --------------------------------------------------------------------------------------------------------


@contextmanager
def stranger(reply: bytes, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server that says the same to everybody, over TLS where it has a certificate."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    here, _ = listener.accept()
                    with here, suppress(OSError):
                        here.settimeout(2)
                        say(here if context is None else context.wrap_socket(here, server_side=True))

        def say(here: socket.socket) -> None:
            with here:
                here.recv(65536)
                here.sendall(reply)
                here.shutdown(socket.SHUT_WR)
                while here.recv(65536):
                    pass

        threading.Thread(target=answer, daemon=True).start()
        yield f"{'http' if context is None else 'https'}://127.0.0.1:{listener.getsockname()[1]}"


def http(body: bytes, status: str = "200 OK", kind: str = "application/json", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


BUDGET = {"account": "a", "more": None, "delta_cap": None, "delta_spent": None, "delta_left": None}
FOREIGN = {
    "a page": http(b"<html>Sign in to the hotel's network</html>", kind="text/html"),
    "an empty body": http(b""),
    "not JSON": http(b"{"),
    "not UTF-8": http(b"\xff\xfe\xff"),
    "a number": http(b"7"),
    "a list of numbers": http(b"[1, 2]"),
    "nested deeply": http(b"[" * 100_000),
    "huge numbers": http(json.dumps([{**BUDGET, "cap": {"unit": "ε", "exact": "9" * 5000}}]).encode()),
    "wrong types": http(json.dumps([{**BUDGET, "cap": 1, "spent": 1, "left": 1}]).encode()),
    "a redirect": http(b"", "302 Found", more="Location: http://127.0.0.1:1/\r\n"),
    "a problem without words": http(b"{}", "422 Unprocessable", "application/problem+json"),
    "a problem with wrong types": http(
        json.dumps({"type": 7, "detail": ["x"], "rule": 3, "value": {}, "line": "x", "problems": 3}).encode(),
        "422 Unprocessable",
        "application/problem+json",
    ),
    "a teapot": http(b"short and stout", "418 I'm a teapot", "text/plain"),
    "a failure": http(b"oh no", "500 Internal Server Error", "text/plain"),
    "a broken encoding": http(b"not gzip", more="Content-Encoding: gzip\r\n"),
    "too much": http(gzip.compress(b"0" * 3_000_000), more="Content-Encoding: gzip\r\n"),
}


@pytest.mark.parametrize("reply", FOREIGN)
def test_strangers_are_refused_in_one_sentence(reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_LARGEST", 1_000_000)
    with stranger(FOREIGN[reply]) as url:
        curator = discreet.connect(url, "token", patience=0.2)
        for call in (
            curator.budget,
            curator.tables,
            curator.answers,
            lambda: curator.explain(COUNT, 1),
            lambda: curator.ask(COUNT, 1),
            lambda: curator.answer("one"),
        ):
            if call == curator.tables and reply in ("huge numbers", "wrong types"):
                continue  # these are lists of objects, and are shown as they are
            with pytest.raises(DiscreetError) as refused:
                call()
            assert refused.value.__cause__ is None
            assert "Traceback" not in str(refused.value)
        curator.close()


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"no HTTP at all\r\n\r\n",
        http(b"busy", "503 Service Unavailable", "text/plain"),
        b"HTTP/1.1 200 OK\r\nContent-",
    ],
    ids=["silence", "another language", "a busy proxy", "half a header"],
)
def test_what_may_pass_is_tried_again_and_then_given_up(reply: bytes) -> None:
    with stranger(reply) as url:
        curator = discreet.connect(url, "token", patience=0.4)
        with pytest.raises(Unreachable, match="must be reachable"):
            curator.budget()
        with pytest.raises(Unreachable, match="ask again with request='one'"):
            curator.ask(COUNT, 1, request="one")
        curator.close()


def test_a_service_that_cannot_write_says_so_in_its_own_error() -> None:
    said = {
        "type": "urn:discreet:ledger-error",
        "detail": "the ledger must be writable and sound; nothing was released",
    }
    reply = http(json.dumps(said).encode(), "503 Service Unavailable", "application/problem+json")
    with stranger(reply) as url:
        curator = discreet.connect(url, "token", patience=0.2)
        with pytest.raises(LedgerError, match="ask again with request='one'"):
            curator.ask(COUNT, 1, request="one")
        curator.close()


def test_nobody_there_is_unreachable() -> None:
    start = time.monotonic()
    with pytest.raises(Unreachable, match="must be reachable, got <ConnectError>"):
        discreet.connect(f"http://127.0.0.1:{free_port()}", "token", patience=0.3).budget()
    assert time.monotonic() > start


def test_a_certificate_that_nobody_vouches_for_is_refused_at_once_and_a_private_authority_can_be_named(
    tmp_path: Path,
) -> None:
    certificate, key = made_certificate(tmp_path, "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with stranger(http(b"[]"), context) as url:
        with pytest.raises(Unreachable, match="must be valid") as refused:
            discreet.connect(url, "token").budget()
        assert "verify=" in str(refused.value)
        other, _ = made_certificate(tmp_path, "other")
        with pytest.raises(Unreachable, match="must be valid"):
            discreet.connect(url, "token", verify=other).budget()
        for more in ({"verify": certificate}, {"verify": False, "insecure": True}):
            assert discreet.connect(url, "token", **more).budget() == {}
