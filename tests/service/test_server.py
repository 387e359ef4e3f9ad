"""The service as processes: how it starts, how several share the work, how it ends, and what it finds again."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.curator.curator import Curator
from discreet.curator.verification import verify
from discreet.service.app import API
from tests.service.certificates import made_certificate
from tests.service.hospital import Hospital
from tests.service.serving import Serving, started

SLOW = """
import time
from discreet.engines import duckdb_snapshot
real = duckdb_snapshot.DuckDBSnapshot._run

def run(self, statement, values):
    time.sleep({seconds})
    return real(self, statement, values)

duckdb_snapshot.DuckDBSnapshot._run = run
from discreet.cli.main import app
app()
"""


POLICY = """
table: t
unit: row
budget: {epsilon: 1}
columns:
  x: {type: integer, lower: 0, upper: 9}
"""


def question(number: int = 18, **more: Any) -> dict[str, Any]:
    return {"sql": f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}", "epsilon": "0.1", **more}


def spent(folder: Path) -> Fraction:
    return Curator(folder).budget()["visits"]["spent"].epsilon  # type: ignore[no-any-return]


def slow(folder: Path, seconds: float, **variables: str) -> Serving:
    return Serving("--folder", folder, "--no-console", program=SLOW.format(seconds=seconds), **variables)


def workers_of(serving: Serving) -> list[int]:
    """The processes that answer."""
    parent = serving.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(one) for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def wait_for(true: Callable[[], bool], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_the_first_start_prints_a_token_that_signs_in_once(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with started(folder) as serving:
        token = serving.line().split()[-1]
        with serving.client() as client:
            first = client.post(f"{API}/sign-in", json={"token": token})
            assert client.post(f"{API}/sign-in", json={"token": token}).status_code == 401
            lasting = first.json()["token"]
            me = client.get(f"{API}/me", headers={"Authorization": f"Bearer {lasting}"})
            assert me.json() == {"name": "owner", "role": "owner"}
        _, logged, code = serving.end()
    assert code == 0
    assert token not in logged
    assert "Traceback" not in logged
    with started(folder) as serving:
        assert "token" not in serving.end()[0]


def test_a_request_under_way_is_finished_before_the_end(hospital: Hospital) -> None:
    with slow(hospital.folder, 1.5) as serving, ThreadPoolExecutor() as pool:
        with serving.client(hospital.tokens["ana"]) as client:
            client.get(f"{API}/me")
            asked = pool.submit(client.post, f"{API}/ask?wait=30", json=question())
            time.sleep(0.7)
            serving.process.send_signal(signal.SIGINT)  # the other tests end it by the other signal
            assert asked.result().status_code == 200
        assert serving.process.wait(30) == 0
    assert verify(hospital.folder).is_sound


def test_a_question_that_outlasts_the_end_is_charged_once_and_answered_after_the_next_start(hospital: Hospital) -> None:
    with slow(hospital.folder, 60, DISCREET_SHUTDOWN_SECONDS="1") as serving:
        with serving.client(hospital.tokens["ana"]) as client:
            assert client.post(f"{API}/ask?wait=0", json=question(request="mine")).status_code == 202
            time.sleep(0.5)
        _, logged, code = serving.end()
    assert code == 0
    assert "it is answered after the next start" in logged
    with started(hospital.folder) as serving, serving.client(hospital.tokens["ana"]) as client:
        assert client.get(f"{API}/jobs/mine?wait=60").json()["state"] == "answered"
        assert client.post(f"{API}/ask", json=question(request="mine")).status_code == 200
    assert spent(hospital.folder) == Fraction(1, 10)


def test_two_workers_are_one_service(hospital: Hospital) -> None:
    """Each connection reaches either worker, so that what is done on one is soon looked for on the other."""
    with started(hospital.folder, "--workers", 2) as serving, ThreadPoolExecutor(16) as pool:

        def fresh(method: str, path: str, token: str = hospital.tokens["owner"], **sent: Any) -> httpx.Response:
            with serving.client(token) as client:
                return client.request(method, f"{API}{path}", **sent)

        made = fresh("POST", "/tokens", json={"member": "ana"}).json()
        assert set(pool.map(lambda _: fresh("GET", "/me", made["secret"]).status_code, range(16))) == {200}
        fresh("DELETE", f"/tokens/{made['id']}")
        assert set(pool.map(lambda _: fresh("GET", "/me", made["secret"]).status_code, range(16))) == {401}
        sent = fresh("POST", "/uploads", params={"file": "t.csv"}, content=b"x\n1\n2\n").json()
        assert fresh("POST", "/tables", json={"upload": sent["id"], "policy": POLICY}).status_code == 201
        assert set(pool.map(lambda _: fresh("GET", "/tables/t").status_code, range(16))) == {200}
        asked = [(name, number) for name, least in (("ana", 18), ("ben", 48)) for number in range(least, least + 30)]
        answers = list(
            pool.map(lambda one: fresh("POST", "/ask?wait=60", hospital.tokens[one[0]], json=question(one[1])), asked)
        )
        statuses = [answer.status_code for answer in answers]
        counted = fresh("GET", "/metrics").text
        before = workers_of(serving)
        os.kill(before[0], signal.SIGKILL)
        wait_for(lambda: len(set(workers_of(serving)) - {before[0]}) == 2)
        assert set(pool.map(lambda _: fresh("GET", "/me").status_code, range(16))) == {200}
        _, logged, code = serving.end()
    assert code == 0
    assert sorted(set(statuses)) == [200, 402]
    assert statuses.count(200) == 30  # ana has a cap of ε = 1, and all together of 3
    assert spent(hospital.folder) == 3
    assert f'route="{API}/ask",status="200"}} 30.0' in counted
    assert f'route="{API}/ask",status="402"}} 30.0' in counted
    assert logged.count('"Application startup complete."') == 3
    assert verify(hospital.folder).is_sound


def test_it_speaks_tls(hospital: Hospital, tmp_path: Path) -> None:
    certificate, key = made_certificate(tmp_path, "own")
    with started(hospital.folder, "--certificate-file", certificate, "--key-file", key) as serving:
        assert serving.address.startswith("https://")
        trusted = ssl.create_default_context(cafile=str(certificate))
        with serving.client(hospital.tokens["ana"], verify=trusted) as client:
            found = client.get(f"{API}/me")
        assert found.json()["name"] == "ana"
        assert "strict-transport-security" in found.headers
        assert serving.end()[2] == 0


@pytest.fixture(scope="module")
def serving(first_hospital: Hospital) -> Iterator[Serving]:
    """One that is asked for nothing that is kept."""
    with started(first_hospital.folder) as found:
        yield found


def test_a_refusal_is_heard_although_the_body_comes_late(serving: Serving) -> None:
    head = f"POST {API}/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 200000\r\n"
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", serving.port), 30) as sender:
            sender.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode())
            time.sleep(0.1)
            sender.sendall(b"x" * 200_000)
            assert sender.recv(4096).startswith(b"HTTP/1.1 4")


def test_names_of_other_computers_are_refused_where_only_this_one_is_served(serving: Serving) -> None:
    with serving.client() as client:
        assert client.get("/health/ready").status_code == 200
        assert client.get("/health/ready", headers={"Host": "rebound.example"}).status_code == 421
