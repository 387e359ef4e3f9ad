"""The description of the API is true: requests that it allows and requests that it forbids, made up from it.

SOAK_EXAMPLES multiplies how many are made up; the usual few are the same in every run.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from discreet.service.app import application
from discreet.service.auth.rate_limit import Limits
from discreet.service.state import ServiceState
from tests.service.growing import begin_stays
from tests.service.hospital import Hospital, client_of
from tests.thoroughness import many

NOBODY = "nobody"
EXAMPLES = {GenerationMode.POSITIVE: many(2, 4), GenerationMode.NEGATIVE: many(1, 4)}
TIMES = int(os.environ.get("SOAK_EXAMPLES", "1"))
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, AVG(age) AS age FROM visits GROUP BY ward",
    "SELECT SUM(cost) FROM visits WHERE ward = 'surgery'",
    "SELECT * FROM visits",
    "SELECT COUNT(*) FROM nothing",
)
OPEN = ("POST /api/v1/sign-in", "GET /health/live", "GET /health/ready")
DATA = ("visits", "patient", "cardiology", "maternity", "neurology", "oncology", "surgery", "SELECT")
"""What a principal without a token has no business to read."""


@pytest.fixture(scope="module")
def hospital(first_hospital: Hospital, tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    folder = tmp_path_factory.mktemp("openapi") / "hospital"
    shutil.copytree(first_hospital.folder, folder)
    hospital = Hospital(folder, dict(first_hospital.tokens))
    begin_stays(hospital)
    return hospital


@pytest.fixture(scope="module")
def service(hospital: Hospital) -> Iterator[ServiceState]:
    service = hospital.service()
    yield service
    service.close()


@pytest.fixture(scope="module")
def real(service: ServiceState, hospital: Hospital) -> dict[str, Any]:
    """Names and ids that there are, to be used in place of made-up ones."""
    known: dict[str, Any] = {"name": "visits", "table": "visits", "id": hospital.tokens["ben"].split("_")[1]}
    for name in ("ana", "owner"):
        asked = client_of(service, hospital.tokens[name]).post(
            "/api/v1/ask", json={"sql": QUESTIONS[0], "epsilon": "0.1", "request": "first"}
        )
        assert asked.status_code == 200, asked.text
        known |= {"request_id": "first", "entry": asked.json()["entry"]}
    return known | {"publication": published(client_of(service, hospital.tokens["owner"]))}


def published(owner: httpx.Client) -> int:
    """Where the ledger has a publication."""
    sent = owner.post("/api/v1/uploads", params={"file": "places.csv"}, content=b"zip\n130**\n130**\n")
    ask_request = {"name": "places", "upload": sent.json()["id"], "quasi": ["zip"], "models": {"k": 2}}
    made = owner.post("/api/v1/publications", json=ask_request | {"why": "for all", "approved": True})
    assert made.status_code == 201, made.text
    return int(made.json()["entry"])


def operations(service: ServiceState) -> list[Any]:
    """Every operation that the application describes."""
    config = schemathesis.Config.from_dict({"generation": {"with-security-parameters": False}})
    described = schemathesis.openapi.from_dict(application(service).openapi(), config=config)
    return [one.ok() for one in described.get_all_operations()]


@dataclass
class Trial:
    """Made-up requests, each sent by everybody."""

    service: ServiceState
    clients: dict[str, httpx.Client]
    real: dict[str, Any]
    sent: int = 0
    seen: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """How often who got which status from which operation."""

    def run(self, operation: Any, mode: GenerationMode) -> None:
        """Make up requests of one operation, and send them."""

        @settings(
            max_examples=EXAMPLES[mode] * TIMES,
            deadline=None,
            derandomize=TIMES == 1,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def each(case: Any) -> None:
            self.sent += 1
            if mode is GenerationMode.POSITIVE and self.sent % 2:
                _make_real(case, self.real, self.sent)
            for who in self.clients:
                self._send(who, case)

        try:
            each()
        except Unsatisfiable:  # nothing is wrong for an operation that reads nothing
            assert mode is GenerationMode.NEGATIVE

    def _send(self, who: str, case: Any) -> None:
        self.service.limits = Limits(10**9)
        answer = _answer(self.clients[who], case)
        self.seen[who, case.operation.label, answer.status_code] += 1
        assert answer.status_code < 400 or _is_problem(answer), answer.text
        assert who != NOBODY or not any(word in answer.text for word in DATA), answer.text
        case.validate_response(answer, checks=CHECKS)


def _make_real(case: Any, real: dict[str, Any], number: int) -> None:
    """Put names that there are in place of made-up ones, so that answers other than refusals are checked too."""
    for held in (case.path_parameters, case.query):
        for name in set(held or ()) & set(real):
            held[name] = real[name]
    if case.path_parameters and "/periods" in case.path:
        case.path_parameters["name"] = "stays"
    if isinstance(case.body, dict) and "sql" in case.body:
        case.body = {"sql": QUESTIONS[number // 2 % len(QUESTIONS)], "epsilon": "0.01"}


def _answer(client: httpx.Client, case: Any) -> httpx.Response:
    asked = case.as_transport_kwargs(base_url="http://hospital.test")
    sent = {name: asked[name] for name in ("json", "data", "files") if asked.get(name) is not None}
    if isinstance(sent.get("data"), (bytes, str)):
        sent["content"] = sent.pop("data")
    common = {name: asked.get(name) for name in ("params", "headers")}
    answer = client.request(asked["method"], asked["url"], **common, **sent)
    answer.elapsed = timedelta(0)  # a request in this process has none
    return answer


def _is_problem(answer: httpx.Response) -> bool:
    said = answer.json()
    return (
        answer.headers["content-type"] == "application/problem+json"
        and {"type", "title", "status", "detail"} <= set(said)
        and said["status"] == answer.status_code
    )


@pytest.mark.parametrize("mode", GenerationMode)
def test_whatever_is_sent_is_answered_as_described_and_nothing_is_told_without_a_token(
    service: ServiceState, hospital: Hospital, real: dict[str, Any], mode: GenerationMode
) -> None:
    tokens = {name: hospital.tokens[name] for name in ("owner", "ana", "auditor")}
    clients = {NOBODY: client_of(service), **{name: client_of(service, token) for name, token in tokens.items()}}
    trial, known = Trial(service, clients, real), operations(service)
    for operation in known:
        trial.run(operation, mode)
    closed = {(who, label, status) for who, label, status in trial.seen if label not in OPEN}
    assert all(status in (400, 401, 413, 415) for who, _, status in closed if who == NOBODY), closed
    assert all(status != 401 for who, _, status in closed if who != NOBODY), closed
    if mode is GenerationMode.POSITIVE:
        answered = {label for who, label, status in trial.seen if who == "owner" and status < 400}
        assert {one.label for one in known if one.label.startswith("GET")} <= answered
