"""Logs say what happened and nothing of what was sent or stored, at any level and whatever fails."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from discreet.curator.curator import Curator
from discreet.service.app import API
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole
from discreet.service.logs import log_event, start_logs
from discreet.service.storage import ServiceStore
from tests.service.hospital import CHEAP, policy, visits
from tests.service.serving import Serving

CANARY = "canary7f3a9"
POLICY = "{table: t, unit: row, budget: {epsilon: 1}, columns: {x: {type: integer, lower: 0, upper: 9}}}"
FAILING = f"""
import asyncio, logging, sys, threading, warnings
from discreet.engines.engine import shield_errors
from discreet.engines.duckdb import snapshot as duckdb_snapshot
from discreet.service.operations import tables as telling

def handler(*_):
    locals_hold = "{CANARY}"
    raise RuntimeError("{CANARY}")

telling.table = handler
real = duckdb_snapshot.DuckDBSnapshot._run

def run(self, statement, values):
    if "x0" in statement:  # where costs are added up
        raise RuntimeError("Conversion Error: {CANARY}")
    return real(self, statement, values)

duckdb_snapshot.DuckDBSnapshot._run = run

def loud(house, visitor):
    warnings.warn("{CANARY}")
    logging.getLogger("somebody").critical("{CANARY} %s", "{CANARY}")
    logging.getLogger("uvicorn.error").error("{CANARY}")
    threading.Thread(target=handler, name="{CANARY}").start()
    class Unraisable:
        def __del__(self):
            raise RuntimeError("{CANARY}")
    Unraisable()
    return []

telling.tables = loud
from discreet.cli.main import app
app()
"""


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged in this process, and everything as it was afterwards."""
    root, hooks = logging.getLogger(), (sys.excepthook, sys.unraisablehook, threading.excepthook)
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    stream = io.StringIO()
    start_logs("debug", stream)
    yield stream
    logging.captureWarnings(False)
    root.handlers[:], logging.raiseExceptions = handlers, raising
    root.setLevel(level)
    sys.excepthook, sys.unraisablehook, threading.excepthook = hooks


def read(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_line_of_json(lines: io.StringIO) -> None:
    log_event("request", route="/api/v1/me", status=200, member=None)
    (found,) = read(lines)
    assert set(found) == {"time", "level", "event", "route", "status"}
    assert (found["level"], found["event"], found["status"]) == ("info", "request", 200)


def test_what_libraries_say_is_not_written_and_where_they_said_it_is(lines: io.StringIO) -> None:
    logging.getLogger("a_parser").warning("a question: %s", CANARY)
    logging.getLogger("uvicorn.error").error(f"Exception in ASGI application {CANARY}\n")
    logging.getLogger("uvicorn.error").info("Started server process [%d]", 7)
    assert CANARY not in lines.getvalue()
    events = [found["event"] for found in read(lines)]
    assert events == ["a library said something", "a library said something", "Started server process"]
    assert read(lines)[0]["place"].startswith("test_logs:")


def test_an_error_is_told_by_its_type_and_place(lines: io.StringIO) -> None:
    try:
        int(CANARY)
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    (found,) = read(lines)
    assert found["error"] == "builtins.ValueError"
    assert found["places"][0].startswith("test_logs.py:")
    assert found["places"][0].endswith(" test_an_error_is_told_by_its_type_and_place")
    assert CANARY not in lines.getvalue()


def test_a_message_that_cannot_be_written_is_dropped_in_silence(
    lines: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    log_event("odd", value=object())  # type: ignore[arg-type]
    assert lines.getvalue() == ""
    assert capsys.readouterr().err == ""


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A hospital in which one row holds the canary, where no key lists it, and another holds it in numbers."""
    folder = tmp_path_factory.mktemp("canary") / "hospital"
    table = visits()
    wards = pc.if_else(pa.array([row == 7 for row in range(table.num_rows)]), CANARY, table["ward"])
    curator = Curator(folder)
    curator.protect(table.set_column(table.schema.get_field_index("ward"), "ward", wards), policy())
    curator.ledger.close()
    members = Members(ServiceStore(folder), hasher=CHEAP)
    for name, role in (("owner", MemberRole.OWNER), ("ana", MemberRole.ANALYST)):
        members.add(name, role)
    return {"folder": folder} | {name: members.issue(name, days=1) for name in ("owner", "ana")}


def everything(serving: Serving, tokens: dict[str, Any]) -> tuple[list[httpx.Response], str]:
    """Requests of all kinds, good and bad, with canaries wherever one can be put; and the metrics after them."""
    with serving.client(tokens["ana"]) as ana, serving.client(tokens["owner"]) as owner:
        literal = f"SELECT COUNT(*) AS n FROM visits WHERE ward = '{CANARY}'"
        answers = [
            ana.post(f"{API}/explain", json={"sql": literal, "epsilon": "0.1"}),
            ana.post(f"{API}/ask?wait=30", json={"sql": literal, "epsilon": "0.1", "request": CANARY}),
            ana.post(
                f"{API}/ask?wait=30",
                json={"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": "0.1"},
            ),
            ana.post(f"{API}/ask?wait=30", json={"sql": "SELECT SUM(cost) AS c FROM visits", "epsilon": "0.1"}),
            ana.post(f"{API}/explain", json={"sql": f"SELECT {CANARY}(", "epsilon": "0.1"}),
            ana.post(f"{API}/explain", json={"sql": "SELECT 1", CANARY: CANARY}),
            ana.post(f"{API}/explain", content=f'{{"{CANARY}', headers={"Content-Type": "application/json"}),
            ana.get(f"{API}/tables?{CANARY}={CANARY}"),
            ana.get(f"{API}/tables/{CANARY}"),
            ana.get(f"/{CANARY}", headers={"X-Canary": CANARY, "Cookie": f"a={CANARY}", "User-Agent": CANARY}),
            ana.get(f"{API}/me", headers={"Authorization": f"Bearer {CANARY}"}),
            ana.get(f"{API}/me", headers={"Origin": f"https://{CANARY}.example"}),
            owner.post(f"{API}/uploads", params={"file": f"{CANARY}.parquet"}, content=CANARY.encode()),
            (sent := owner.post(f"{API}/uploads", params={"file": f"{CANARY}.csv"}, content=f"x\n{CANARY}\n".encode())),
            owner.post(f"{API}/tables", json={"upload": sent.json()["id"], "policy": f"{CANARY}: {CANARY}"}),
            owner.post(f"{API}/tables", json={"upload": sent.json()["id"], "policy": POLICY}),
        ]
        return answers, owner.get(f"{API}/metrics").text


def test_a_canary_is_in_no_log_and_no_metric_whatever_fails(tokens: dict[str, Any]) -> None:
    flags = "--folder", tokens["folder"], "--no-console"
    with Serving(*flags, program=FAILING, DISCREET_LOG_LEVEL="debug") as serving:
        answers, metrics = everything(serving, tokens)
        said, logged, code = serving.end()
    statuses = [answer.status_code for answer in answers]
    assert statuses[3:9] == [500, 422, 422, 400, 200, 500], statuses
    assert statuses[12:] == [422, 201, 422, 201], statuses
    secrets = [CANARY, *(tokens[name].rpartition("_")[2] for name in ("owner", "ana"))]
    for secret in secrets:
        assert secret not in logged
        assert secret not in metrics
        assert secret not in said
    told = [json.loads(line) for line in logged.splitlines()]
    assert {one["error"] for one in told if "error" in one} == {"builtins.RuntimeError"}
    assert [sum(one["event"] == event for one in told) for event in ("uncaught", "failed")] == [2, 1]
    assert {"py.warnings", "somebody", "uvicorn.error"} <= {one.get("logger") for one in told}
    assert code == 0
    requests = [one for one in told if one["event"] == "request"]
    assert len(requests) == len(answers) + 1
    assert {one["request"] for one in requests} >= {answer.headers["x-request-id"] for answer in answers}
    assert {"ana", "owner"} <= {one.get("member") for one in requests}
