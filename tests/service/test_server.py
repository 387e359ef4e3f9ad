"""The service as processes: how it starts, how several share the work, how it ends, and what it finds again."""

from __future__ import annotations

import os
import re
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
from discreet.curator.ledger.verify import verify
from discreet.service.app import API
from discreet.service.auth.members import Members
from discreet.service.storage import ServiceStore
from tests.service.certificates import made_certificate
from tests.service.hospital import Hospital
from tests.service.serving import Serving, started

SLOW = """
import time
from discreet.engines.duckdb import snapshot as duckdb_snapshot
real = duckdb_snapshot.DuckDBSnapshot._run

def run(self, statement, values):
    time.sleep(60 if "surgery" in repr(values) else 1.5)
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


def workers_of(serving: Serving) -> list[int]:
    """The processes that answer."""
    parent = serving.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(one) for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def start_of_worker(metrics: str) -> float:
    """When the worker that answered began, in seconds since 1970."""
    (found,) = re.findall(r"^discreet_start_time_seconds(?:{.*})? (.+)$", metrics, re.MULTILINE)
    return float(found)


def wait_for(true: Callable[[], bool], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.1)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """The service on a folder that was not there before."""
    with started(tmp_path_factory.mktemp("first") / "new") as found:
        yield found


def test_the_first_start_prints_a_token_that_signs_in_once(first: Serving) -> None:
    token = first.line().split()[-1]
    with first.client() as client:
        found = client.post(f"{API}/sign-in", json={"token": token})
        assert client.post(f"{API}/sign-in", json={"token": token}).status_code == 401
        me = client.get(f"{API}/me", headers={"Authorization": f"Bearer {found.json()['token']}"})
    assert me.json() == {"name": "owner", "role": "owner"}
    assert token not in first.logged()
    assert Members(ServiceStore(Path(first.said.split()[1]))).start() is None  # a second start prints none


def test_a_refusal_is_heard_although_the_body_comes_late(first: Serving) -> None:
    head = f"POST {API}/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 200000\r\n"
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", first.port), 30) as sender:
            sender.sendall(f"{head}Content-Type: application/x-odd\r\n\r\n".encode())
            time.sleep(0.1)
            sender.sendall(b"x" * 200_000)
            assert sender.recv(4096).startswith(b"HTTP/1.1 4")


def test_names_of_other_computers_are_refused_where_only_this_one_is_served(first: Serving) -> None:
    with first.client() as client:
        assert client.get("/health/ready").status_code == 200
        assert client.get("/health/ready", headers={"Host": "rebound.example"}).status_code == 421


def test_at_the_end_requests_are_finished_and_what_takes_too_long_is_answered_after_the_next_start(
    hospital: Hospital,
) -> None:
    flags = ("--folder", hospital.folder, "--no-console")
    long = question(request="mine") | {"sql": "SELECT COUNT(*) AS n FROM visits WHERE ward = 'surgery'"}
    with Serving(*flags, program=SLOW, DISCREET_SHUTDOWN_SECONDS="8") as serving, ThreadPoolExecutor() as pool:
        with serving.client(hospital.tokens["ana"]) as client, serving.client(hospital.tokens["ben"]) as other:
            assert client.post(f"{API}/ask?wait=0", json=long).status_code == 202
            asked = pool.submit(other.post, f"{API}/ask?wait=30", json=question())
            time.sleep(0.7)
            serving.process.send_signal(signal.SIGINT)  # the other tests end it by the other signal
            assert asked.result().status_code == 200
        assert serving.process.wait(60) == 0
        assert "it is answered after the next start" in serving.logged()
    service = hospital.service()
    wait_for(lambda: service.requests.find(("ana", "mine")).state == "answered")  # type: ignore[union-attr]
    service.close()
    assert spent(hospital.folder) == Fraction(2, 10)
    assert verify(hospital.folder).is_sound


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
        killed = time.time()

        def the_new_one_answers() -> bool:
            time.sleep(0.5)  # a principal may send ten requests a second
            pages = pool.map(
                lambda _: fresh("GET", "/metrics").text, range(4)
            )  # of one at a time, one worker takes all
            return any(start_of_worker(page) > killed for page in pages)

        wait_for(the_new_one_answers, seconds=240)  # on a busy machine a worker takes long to start
        assert len(set(workers_of(serving)) - {before[0]}) == 2
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
