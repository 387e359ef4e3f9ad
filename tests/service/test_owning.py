"""Owners take in tables by upload or path, write policies, and say who may ask."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from discreet.catalog.policy.read import dumps
from discreet.catalog.table import Budget
from discreet.errors import DiscreetError, InvalidValue, NotAllowed, NotFound, PolicyError
from discreet.service.auth.roles import Principal
from discreet.service.jobs.jobs import AskRequest
from discreet.service.operations import ask as asking
from discreet.service.operations import protect as owning
from discreet.service.operations.protect import OnServer, Uploaded
from discreet.service.operations.uploads import receive
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, Hospital, client_of, policy, visits
from tests.service.visiting import ANA, AUDITOR, OWNER, STRANGER

CSV = b"person,age\n1,30\n2,40\n2,x\n"
POLICY = """\
table: stays
unit: person
budget: {epsilon: 2}
rows_per_unit: 3
analysts:
  ana: {epsilon: 1}
columns:
  person: {type: integer}
  age: {type: integer, lower: 0, upper: 110}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder whose files may be protected, beside one whose files may not."""
    for name in ("data", "secret"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "stays.csv").write_bytes(CSV)
    return tmp_path / "data"


@pytest.fixture
def own_service(hospital: Hospital, data: Path) -> Iterator[ServiceState]:
    service = hospital.service(data_folders=(data,))
    yield service
    service.close()


def state(service: ServiceState) -> str:
    """Everything that could be changed: files, ledger, catalog; why something failed is written down all the same."""
    folder = service.settings.folder
    files = {
        str(path): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.endswith((".lock", "-shm", "-wal", "owner.log"))
        and "scratch" not in path.parts
    }
    entries = [one.hash for one in service.curator.ledger.entries()]
    return hashlib.sha256(repr((files, entries, service.curator.catalog)).encode()).hexdigest()


def sent(service: ServiceState, file: str = "stays.csv", content: bytes = CSV) -> Uploaded:
    return Uploaded(receive(service, OWNER, file, [content]).id)


def wards(service: ServiceState) -> int:
    return len(list((service.settings.folder / "uploads").glob("*")))


# Taking in.


def test_an_uploaded_table_is_drafted_checked_taken_in_and_asked(own_service: ServiceState) -> None:
    source = sent(own_service)
    first = owning.draft_policy(own_service, OWNER, source)
    assert "table: stays" in first
    assert [problem.line is not None for problem in owning.check_policy(own_service, OWNER, first)]
    assert owning.check_policy(own_service, OWNER, POLICY) == []
    parts: list[float] = []
    made = owning.protect(own_service, OWNER, source, POLICY, parts.append)
    assert made.table.name == "stays"
    assert made.unread == {"age": 1}
    assert parts
    assert not wards(own_service)
    assert asking.ask(own_service, ANA, AskRequest("SELECT COUNT(*) AS n FROM stays", "0.5")).answer.charged
    with pytest.raises(NotFound):
        owning.protect(own_service, OWNER, source, POLICY)


@pytest.mark.parametrize(
    ("file", "write"),
    [
        ("stays.csv.gz", lambda table, path: path.write_bytes(gzip.compress(_csv(table)))),
        ("stays.parquet", parquet.write_table),
        ("stays.tsv", lambda table, path: path.write_bytes(_csv(table).replace(b",", b"\t"))),
    ],
)
def test_every_kind_of_file_can_be_taken_in(
    own_service: ServiceState, tmp_path: Path, file: str, write: Callable[[pa.Table, Path], object]
) -> None:
    write(pa.table({"person": [1, 2], "age": [3, 4]}), tmp_path / file)
    source = sent(own_service, file, (tmp_path / file).read_bytes())
    assert owning.schema(own_service, OWNER, source).columns.keys() == {"person", "age"}
    assert owning.protect(own_service, OWNER, source, POLICY).unread == {}


def _csv(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink)
    return bytes(sink.getvalue())


def test_a_policy_that_is_refused_changes_nothing_and_the_upload_waits(own_service: ServiceState) -> None:
    source = sent(own_service)
    before = state(own_service)
    wrong = {
        POLICY.replace("unit:", "unti:"): "a policy has no such field",
        POLICY.replace("age:", "years:"): "years",
        "table: [": "YAML",
        "\0": "control characters",
        "a: &a [*a]": "anchors or aliases",
        POLICY + "  more: {type: nonsense}\n": "type",
        dumps(policy()).replace("epsilon: 3", "epsilon: 30"): "must stay as it was",
    }
    for text, words in wrong.items():
        with pytest.raises(DiscreetError, match=words) as refusal:
            owning.protect(own_service, OWNER, source, text)
        assert str(own_service.settings.folder) not in str(refusal.value)
        assert state(own_service) == before
    assert owning.protect(own_service, OWNER, source, POLICY).table.name == "stays"


def test_problems_of_a_policy_have_their_places(own_service: ServiceState) -> None:
    found = owning.check_policy(own_service, OWNER, POLICY.replace("unit:", "unti:").replace("lower: 0", "lower: x"))
    assert {("unti" in str(one), one.line, one.column) for one in found} >= {(True, 2, 1), (False, 9, 31)}
    [promise] = owning.check_policy(own_service, OWNER, dumps(policy()).replace("epsilon: 3", "epsilon: 30"))
    assert "budget must stay as it was" in promise.rule
    [missing] = owning.check_policy(
        own_service, OWNER, POLICY + "foreign_keys: [{column: person, table: nobody, other_column: id}]\n"
    )
    assert "a foreign key must lead to a table" in missing.rule


def test_a_table_that_cannot_be_read_is_refused_without_a_path(own_service: ServiceState) -> None:
    source = sent(own_service, content=b'person,age\n1,"30\n')
    before = state(own_service)
    with pytest.raises(InvalidValue, match="with quotes closed") as refusal:
        owning.protect(own_service, OWNER, source, POLICY)
    assert str(own_service.settings.folder) not in str(refusal.value)
    assert state(own_service) == before


# By path.


def test_a_file_in_a_listed_folder_can_be_taken_in(own_service: ServiceState, data: Path) -> None:
    source = OnServer(str(data / "stays.csv"))
    assert "table: stays" in owning.draft_policy(own_service, OWNER, source)
    assert owning.protect(own_service, OWNER, source, POLICY).table.name == "stays"
    assert (data / "stays.csv").read_bytes() == CSV
    again = OnServer(str(data / ".." / "data" / "stays.csv"))
    assert owning.schema(own_service, OWNER, again).columns.keys() == {"person", "age"}


def test_every_other_path_is_refused_in_the_same_words(own_service: ServiceState, data: Path) -> None:
    secret = data.parent / "secret"
    (data / "link.csv").symlink_to(secret / "stays.csv")
    (data / "loop.csv").symlink_to(data / "loop.csv")
    (data / "there.csv").mkdir()
    (data / "inside").symlink_to(secret)
    own = own_service.settings.folder / "rows.csv"
    own.write_bytes(CSV)
    os.mkfifo(data / "pipe.csv")
    paths = [
        str(secret / "stays.csv"),
        str(secret / "nothing.csv"),
        str(data / "nothing.csv"),
        str(data / ".." / "secret" / "stays.csv"),
        str(data / "link.csv"),
        str(data / "loop.csv"),
        str(data / "there.csv"),
        str(data / "inside" / "stays.csv"),
        str(data / "pipe.csv"),
        f"{data}2/stays.csv",
        str(own),
        "stays.csv",
        "../data/stays.csv",
        f"{data}/stays\0.csv",
        f"{data}/*.csv",
        f"{data}/" + "x" * 5000 + ".csv",
        f"file://{data}/stays.csv",
        "https://example.org/stays.csv",
        "\ud800.csv",
    ]
    words = set()
    for path in paths:
        with pytest.raises(InvalidValue) as refusal:
            owning.protect(own_service, OWNER, OnServer(path), POLICY)
        words.add((refusal.value.rule, refusal.value.remedy))
    assert len(words) == 1
    for path in ("/etc/passwd", str(data), "/", "", str(own_service.settings.folder / "ledger.db")):
        with pytest.raises(InvalidValue, match="must be a \\.csv, \\.tsv or \\.parquet"):
            owning.schema(own_service, OWNER, OnServer(path))


def test_no_path_is_taken_unless_the_settings_say_so(service: ServiceState, data: Path) -> None:
    with pytest.raises(InvalidValue, match="data_folders"):
        owning.draft_policy(service, OWNER, OnServer(str(data / "stays.csv")))


def test_a_listed_folder_may_hold_the_service_and_its_files_stay_its_own(hospital: Hospital, data: Path) -> None:
    service = hospital.service(data_folders=(hospital.folder.parent,))
    kept = receive(service, OWNER, "stays.csv", [CSV])
    with pytest.raises(InvalidValue, match="data_folders"):
        owning.schema(service, OWNER, OnServer(str(kept.path)))
    assert owning.schema(service, OWNER, OnServer(str(data / "stays.csv")))
    service.close()


# Looking and allowing.


def test_holdings_show_versions_stale_tables_analysts_and_what_they_spent(own_service: ServiceState) -> None:
    asking.ask(own_service, ANA, AskRequest("SELECT COUNT(*) AS n FROM visits", "0.5"))
    meals = """\
table: meals
foreign_keys: [{column: stay, table: beds, other_column: stay}]
budget: {epsilon: 1}
columns: {stay: {type: integer}}
"""
    beds = """\
table: beds
unit: person
budget: {epsilon: 2}
columns: {stay: {type: integer}, person: {type: integer}}
"""
    owning.protect(own_service, OWNER, sent(own_service, "beds.csv", b"stay,person\n1,7\n"), beds)
    owning.protect(own_service, OWNER, sent(own_service, "meals.csv", b"stay\n1\n"), meals)
    owning.protect(own_service, OWNER, sent(own_service, "beds.csv", b"stay,person\n1,8\n"), beds)
    held = owning.holdings(own_service, OWNER)
    assert [one.table.name for one in held] == ["beds", "meals", "visits"]
    assert [one.is_stale for one in held] == [False, True, False]
    assert all(one.version is not None for one in held)
    found = held[2]
    assert found.table.analysts == {"ana": Budget(1), "ben": Budget(2)}
    spent = {balance.analyst: balance.spent.epsilon for balance in found.balances}  # type: ignore[union-attr]
    assert spent == {None: Budget("0.5").epsilon, "ana": Budget("0.5").epsilon, "ben": 0}


def test_the_text_of_a_policy_reads_back_as_the_policy(own_service: ServiceState) -> None:
    assert owning.policy_text(own_service, OWNER, "VISITS") == dumps(policy())
    assert owning.check_policy(own_service, OWNER, owning.policy_text(own_service, OWNER, "visits")) == []
    with pytest.raises(NotFound):
        owning.policy_text(own_service, OWNER, "nothing")


def test_who_may_ask_is_changed_by_owners_and_recorded_with_their_name(own_service: ServiceState) -> None:
    owning.disallow(own_service, OWNER, "visits", "ana")
    with pytest.raises(DiscreetError):
        asking.explain(own_service, ANA, AskRequest("SELECT COUNT(*) AS n FROM visits", "0.5"))
    owning.allow(own_service, OWNER, "visits", "ana", Budget("1.5"))
    assert asking.ask(own_service, ANA, AskRequest("SELECT COUNT(*) AS n FROM visits", "1.25")).answer.charged
    with pytest.raises(InvalidValue, match="below what was spent"):
        owning.allow(own_service, OWNER, "visits", "ana", Budget(1))
    said = [
        one.body.get("by") for one in own_service.curator.ledger.entries() if one.body["kind"] in ("analyst", "cap")
    ]
    assert said == ["owner"] * 3


def test_only_members_who_are_analysts_are_allowed(own_service: ServiceState) -> None:
    before = state(own_service)
    for who, error in (("nobody", NotFound), ("auditor", InvalidValue), ("owner", InvalidValue)):
        with pytest.raises(error):
            owning.allow(own_service, OWNER, "visits", who, Budget(1))
    with pytest.raises(NotFound):
        owning.allow(own_service, OWNER, "nothing", "ana", Budget(1))
    with pytest.raises(NotFound):
        owning.disallow(own_service, OWNER, "nothing", "ana")
    with pytest.raises(PolicyError, match="within the table's budget"):
        owning.allow(own_service, OWNER, "visits", "ana", Budget(4))
    assert state(own_service) == before


def test_another_process_sees_the_table_and_who_may_ask(hospital: Hospital) -> None:
    first, second = hospital.service(), hospital.service()
    owning.protect(first, OWNER, sent(first), POLICY)
    assert asking.ask(second, ANA, AskRequest("SELECT COUNT(*) AS n FROM stays", "0.5")).answer.charged
    owning.disallow(first, OWNER, "stays", "ana")
    with pytest.raises(DiscreetError):
        asking.explain(second, ANA, AskRequest("SELECT COUNT(*) AS n FROM stays", "0.5"))
    for service in (first, second):
        service.close()


@pytest.mark.parametrize("principal", [ANA, AUDITOR, STRANGER])
def test_owning_is_for_owners(own_service: ServiceState, data: Path, principal: Principal) -> None:
    source = sent(own_service)
    path = OnServer(str(data / "stays.csv"))
    before = state(own_service)
    calls: list[Callable[[], Any]] = [
        *(
            lambda use=use, one=one: use(own_service, principal, one)
            for use in (owning.schema, owning.draft_policy)
            for one in (source, path)
        ),  # type: ignore[misc]
        lambda: owning.check_policy(own_service, principal, POLICY),
        lambda: owning.protect(own_service, principal, source, POLICY),
        lambda: owning.protect(own_service, principal, path, POLICY),
        lambda: owning.policy_text(own_service, principal, "visits"),
        lambda: owning.holdings(own_service, principal),
        lambda: owning.allow(own_service, principal, "visits", "ana", None),
        lambda: owning.disallow(own_service, principal, "visits", "ana"),
    ]
    for call in calls:
        with pytest.raises(NotAllowed):
            call()
    assert state(own_service) == before
    shutil.rmtree(own_service.settings.folder / "uploads")


def test_visits_can_be_taken_in_again(own_service: ServiceState, tmp_path: Path) -> None:
    parquet.write_table(visits(), tmp_path / "visits.parquet")
    source = sent(own_service, "visits.parquet", (tmp_path / "visits.parquet").read_bytes())
    assert owning.protect(own_service, OWNER, source, dumps(policy())).table == policy()


# Through the door.


def test_an_owner_takes_in_a_table_through_the_door_and_an_analyst_asks(clients: Clients) -> None:
    sent = clients.owner.post("/api/v1/uploads", params={"file": "../stays.csv"}, content=CSV)
    assert (sent.status_code, sent.json()["name"], sent.json()["types_are_stated"]) == (201, "stays", False)
    source = {"upload": sent.json()["id"]}
    first = clients.owner.post("/api/v1/policies/draft", json=source).json()["policy"]
    problems = clients.owner.post("/api/v1/policies/check", json={"policy": first}).json()
    assert problems
    assert all(one["line"] for one in problems)
    refused = clients.owner.post("/api/v1/tables", json=source | {"policy": first})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:discreet:policy-error")
    made = clients.owner.post("/api/v1/tables", json=source | {"policy": POLICY})
    assert (made.status_code, made.json()["unread"]) == (201, {"age": 1})
    assert clients.owner.delete(f"/api/v1/uploads/{source['upload']}").status_code == 404
    asked = clients.ana.post("/api/v1/ask", json={"sql": "SELECT COUNT(*) AS n FROM stays", "epsilon": "0.5"})
    assert asked.status_code == 200, asked.text
    allowed = {"table": "stays", "analyst": "ben", "cap": {"epsilon": "1/2"}}
    assert clients.owner.put("/api/v1/analysts", json=allowed).json()["analysts"].keys() == {"ana", "ben"}
    gone = clients.owner.delete("/api/v1/analysts", params={"table": "stays", "analyst": "ana"})
    assert gone.json()["analysts"].keys() == {"ben"}
    held = {one["table"]["name"]: one for one in clients.owner.get("/api/v1/holdings").json()}
    assert held["stays"]["balances"][0]["spent"]["exact"] == "1/2"
    text = clients.owner.get("/api/v1/policies", params={"table": "stays"}).json()["policy"]
    assert "ben: {epsilon: 0.5}" in text


@pytest.mark.parametrize(
    ("method", "path", "given"),
    [
        ("POST", "uploads", {"params": {"file": "t.exe"}, "content": CSV}),
        ("POST", "uploads", {"params": {"file": "t.csv"}, "content": b""}),
        ("POST", "uploads", {"params": {"file": "t.csv.gz"}, "content": gzip.compress(b"a\n" + b"1\n" * 10**6)}),
        ("POST", "policies/draft", {"json": {}}),
        ("POST", "policies/draft", {"json": {"upload": "x", "path": "y"}}),
        ("POST", "policies/draft", {"json": {"path": "/etc/passwd"}}),
        ("POST", "policies/draft", {"json": {"path": "/etc/passwd.csv"}}),
        ("POST", "tables", {"json": {"path": "/etc/passwd.csv", "policy": POLICY}}),
        *(
            ("PUT", "analysts", {"json": {"table": "visits", "analyst": "ana", "cap": {"epsilon": epsilon}}})
            for epsilon in ("nan", "-1", "0", "1e400", "1/0", "", "four")
        ),
        ("PUT", "analysts", {"json": {"table": "visits", "analyst": "ana", "cap": {"epsilon": "1", "delta": "1e-6"}}}),
    ],
)
@pytest.mark.some(5)
def test_what_makes_no_sense_is_a_problem_and_changes_nothing(
    hospital: Hospital, method: str, path: str, given: dict[str, Any]
) -> None:
    service = hospital.service(largest_upload=100_000)
    before = state(service)
    answer = client_of(service, hospital.tokens["owner"]).request(method, f"/api/v1/{path}", **given)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert str(service.settings.folder) not in answer.text
    assert state(service) == before
    service.close()


def test_an_upload_that_is_too_large_is_ended_at_the_door(hospital: Hospital) -> None:
    service = hospital.service(largest_upload=100_000)
    before = state(service)
    owner = client_of(service, hospital.tokens["owner"])
    answer = owner.post("/api/v1/uploads", params={"file": "t.csv"}, content=b"a\n" * 100_000)
    assert answer.status_code == 413
    assert state(service) == before
    service.close()
