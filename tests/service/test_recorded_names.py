"""What is written to last has words of its own: a folder is used alike whatever classes and members are called."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import apsw
import pyarrow as pa
import pytest
from fastapi import FastAPI

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.read import read_text as read_policy
from discreet.catalog.policy.write import write_policy_text
from discreet.catalog.table import ForeignKey, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger import verify as verification
from discreet.curator.ledger.units import BudgetMeasure
from discreet.curator.ledger.verify import verify
from discreet.curator.suspensions import Suspension
from discreet.engines.duckdb.manifest import NAMES, Manifest, Stored
from discreet.errors import DiscreetError, InvalidType, QueryRefused, Unreachable
from discreet.http.problems import KINDS, name_of
from discreet.local.choose import KINDS as RANDOMIZERS
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.registry import AGGREGATES
from discreet.service.app import application
from discreet.service.auth.roles import MemberRole
from discreet.service.jobs.jobs import AskRequest, State
from discreet.service.openapi import OPERATIONS, describe_api
from discreet.service.operations import ask as asking
from discreet.service.settings import Settings
from discreet.service.state import ServiceState
from discreet.survey.questions_file import read_text
from discreet.survey.store import SurveyStore
from tests.renaming import renamed
from tests.service.test_formats import ANA, RELEASES, unpacked

NEW = {
    "fresh": "SELECT ward, COUNT(*), MEDIAN(cost), MODE(ward) FROM visits GROUP BY ward",
    "fresh-portion": "SELECT COUNT(*) FROM patients WHERE sex = 'm'",
    "fresh-keys": "SELECT word, SUM(length) FROM notes GROUP BY word",
}
SURVEY = "title: Sleep\nepsilon: 1\nquestions:\n  hours: {ask: How long?, type: number, lower: 0, upper: 12}\n"
VOLATILE = {"time", "answer", "head", "run", "signature", "made", "released", "hash", "body"}
"""Facts that differ between two runs of anything."""
TABLE = Table(
    "orders",
    (
        Column("person", ColumnType.INTEGER),
        Column("number", ColumnType.INTEGER, lower=0, upper=9, default=1),
        Column("kind", ColumnType.TEXT, keys=("a", None), rows_per_key=2, constant_per_unit=True),
        Column("code", ColumnType.TEXT, keys_from="codes.code", nullable=True, description="What was bought."),
        Column("day", ColumnType.DATE, lower=date(2020, 1, 1), upper=date(2021, 1, 1)),
    ),
    unit="person",
    neighbours=Neighbours.REPLACE_ONE,
    budget=Budget(2, delta="1e-6", delta_for_keys="1e-7"),
    rows_per_unit=4,
    groups_per_unit=2,
    rows_after_joins=32,
    foreign_keys=(ForeignKey("code", "codes", "code"),),
    analysts={"ann": None, "bob": Budget(1, delta="1e-7")},
    csv=CSVFormat(delimiter=";", decimal=",", dates="%d.%m.%Y", nulls=("NA",), encoding="latin-1"),
    description="What people bought.",
)


# A folder, used by two releases of which one has other names.


def used(folder: Path) -> None:
    """Do whatever writes something that lasts."""
    service = ServiceState(Settings(folder=folder / "curator"))
    for name, sql in NEW.items():
        assert asking.ask(service, ANA, AskRequest(sql, "0.1"), name).answer.charged
    for sql in ("SELECT * FROM visits", "SELECT COUNT(*) FROM nowhere"):
        with pytest.raises(QueryRefused):
            asking.ask(service, ANA, AskRequest(sql, "0.1"), None)
    service.close()
    service.store.close()
    service.curator.ledger.close()
    curator = Curator(folder / "curator")
    curator.protect(pa.table({"age": [1, 2]}), Table("ages", (Column("age", ColumnType.INTEGER),), budget=Budget(1)))
    curator.ledger.close()
    assert verify(folder / "curator").problems == []
    (folder / "another").mkdir()
    SurveyStore.create(folder / "another", read_text(SURVEY), f"{9:032x}", [f"{1:032x}"]).close()


def recorded(folder: Path) -> dict[str, Any]:
    """All that lasts, without what differs between any two runs."""
    curator, store = folder / "curator", folder / "curator" / "store"
    return {
        "ledger": [_plain(json.loads(body)) for (body,) in _rows(curator / "ledger.db", "SELECT body FROM entry")],
        "accounts": _rows(curator / "ledger.db", "SELECT name, measure, cap, delta_cap, spent, places FROM account_2"),
        "trail": [_plain(json.loads(body)) for (body,) in _rows(curator / "service.db", "SELECT body FROM event")],
        "requests": _rows(curator / "service.db", "SELECT id, wish, price, state, problem FROM request ORDER BY id"),
        "certificates": [_certificate(curator, name) for name in NEW],
        "checkpoint": _plain(json.loads((curator / "ledger.checkpoint").read_bytes())),
        "manifest": _named_alike(json.loads((store / "manifest.json").read_text())["tables"]),
        "policies": {path.name: path.read_text() for path in sorted((curator / "policies").iterdir())},
        "survey": _rows(folder / "another" / "survey.db", "SELECT * FROM survey"),
    }


def _rows(file: Path, sql: str) -> list[tuple[Any, ...]]:
    with apsw.Connection(str(file)) as database:
        return list(database.execute(sql))


def _certificate(folder: Path, name: str) -> Any:
    service = ServiceState(Settings(folder=folder))
    try:
        return _plain(asking.answer(service, ANA, name).answer.certificate)
    finally:
        service.close()
        service.store.close()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: "…" if name in VOLATILE else _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _named_alike(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """New tables have random versions and files."""
    return [one | ({"version": "…", "file": "…"} if one["name"] == "ages" else {}) for one in tables]


def test_whatever_lasts_is_written_alike_under_other_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "WORTH_A_CHECKPOINT", 1)
    ours, theirs = (unpacked(RELEASES[-1], tmp_path / name)[0] for name in ("ours", "theirs"))
    used(ours)
    with renamed():
        used(theirs)
    mine, other = recorded(ours), recorded(theirs)
    for part, found in mine.items():
        assert found == other[part], part
    assert "Other" not in str(other)
    assert sorted(mine["checkpoint"]) == ["accounts", "head", "position", "signature", "witnesses"]
    before, now = (entry["portions"]["patients"] for entry in mine["ledger"] if "portions" in entry)
    assert [place for place, _, _ in before] == [place for place, _, _ in now]  # else both would add up
    errors = [event.get("error") for event in mine["trail"] if event["kind"] == "question refused"]
    assert errors == ["QueryRefused", "QueryRefused"]


# The words themselves.


def test_a_manifest_has_the_names_that_it_always_had(tmp_path: Path) -> None:
    root, _ = unpacked(RELEASES[-1], tmp_path)
    file = root / "curator" / "store" / "manifest.json"
    before = file.read_text()
    Manifest.read(file).write(file)
    assert file.read_text() == before
    assert list(json.loads(before)["tables"][0]) == list(NAMES.values())
    assert set(NAMES) == set(Stored.__dataclass_fields__) - {"periods"}  # a table that grows is told of by itself


def test_a_ask_request_has_the_words_that_it_always_had() -> None:
    text = '{"confidence": "9/10", "epsilon": "1/10", "raw": true, "sql": "SELECT 1", "within": null}'
    assert AskRequest("SELECT 1", "0.1", confidence=0.9, raw=True).written() == text
    assert AskRequest.read(text) == AskRequest("SELECT 1", "0.1", confidence=0.9, raw=True)
    assert AskRequest.read('{"sql": "SELECT 1", "within": "5"}') == AskRequest("SELECT 1", within=5)


POLICY = """\
table: orders
description: What people bought.
unit: person
neighbours: replace-one
budget: {epsilon: 2, delta: 1e-6, delta_for_keys: 1e-7}
rows_per_unit: 4
groups_per_unit: 2
rows_after_joins: 32
analysts:
  ann: all
  bob: {epsilon: 1, delta: 1e-7}
foreign_keys:
- {column: code, table: codes, other_column: code}
csv: {delimiter: ;, decimal: ',', dates: '%d.%m.%Y', encoding: latin-1, nulls: [NA]}
columns:
  person: {type: integer}
  number: {type: integer, lower: 0, upper: 9, default: 1}
  kind: {type: text, keys: [a, null], constant_per_unit: true, rows_per_key: 2}
  code: {type: text, keys_from: codes.code, nullable: true, description: What was bought.}
  day: {type: date, lower: 2020-01-01, upper: 2021-01-01}
"""


def test_a_policy_has_the_words_that_it_always_had() -> None:
    assert write_policy_text(TABLE) == POLICY
    assert read_policy(POLICY).table == TABLE


VALUES: dict[type[Enum], str] = {
    ColumnType: "integer, real, text, boolean, date, timestamp",
    BudgetMeasure: "pure, either, concentrated",
    Neighbours: "replace-one, add-remove-one",
    MemberRole: "owner, analyst, auditor, feeder",
    State: "accepted, answered, refused",
}


def test_members_stand_in_records_by_values_that_stay() -> None:
    assert {kind: ", ".join(str(member.value) for member in kind) for kind in VALUES} == VALUES


def test_certificates_call_aggregates_as_they_always_did() -> None:
    """An aggregate that is added stands after these."""
    names = "count, sum, mean, variance, standard deviation, quantile, minimum, maximum, mode, number of people,"
    assert ", ".join(kind.name for kind in AGGREGATES).startswith(f"{names} number of different values")


def test_the_audit_trail_calls_refusals_as_it_always_did() -> None:
    with renamed():
        assert name_of(InvalidType("a rule")) == "InvalidType"
        assert name_of(Unreachable("a rule")) == "DiscreetError"
    assert {name_of(error.__new__(error)): error.__name__ for error, _ in KINDS.values()} == {
        error.__name__: error.__name__ for error, _ in KINDS.values()
    }
    assert issubclass(QueryRefused, DiscreetError)


def test_programs_find_a_suspension_under_names_that_stay() -> None:
    """`discreet ledger suspensions --json` and `lift --json` print its fields."""
    names = ["record", "time", "analyst", "tables", "sql", "lifted", "by", "because"]
    assert [one.name for one in fields(Suspension)] == names


def test_randomizers_are_known_by_words_that_stay() -> None:
    words = "rr grr sue oue olh hadamard subset permanent duchi piecewise hybrid binned heavy_hitters"
    assert " ".join(RANDOMIZERS) == words


def test_operations_have_names_of_their_own(tmp_path: Path) -> None:
    service = ServiceState(Settings(folder=tmp_path / "curator"))
    paths = describe_api(application(service))["paths"]
    service.close()
    told = [(f"{method.upper()} {path}", one) for path, those in paths.items() for method, one in those.items()]
    found = {operation: one["operationId"] for operation, one in told}
    assert found.keys() == OPERATIONS.keys()
    assert len(set(found.values())) == len(found)
    assert found["GET /api/v1/answers/{request_id}"] == "answer_api_v1_answers__request_id__get"


def test_operations_do_not_follow_the_names_of_functions() -> None:
    app = FastAPI()

    @app.get("/api/v1/me", tags=["me"])
    def a_function_of_another_name() -> str:
        return ""

    assert describe_api(app)["paths"]["/api/v1/me"]["get"]["operationId"] == "me_api_v1_me_get"
    app.get("/api/v1/new")(a_function_of_another_name)
    with pytest.raises(AssertionError, match="a name of its own in OPERATIONS, GET /api/v1/new too"):
        describe_api(app)
