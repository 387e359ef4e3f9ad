"""Publishing: what is stated about a release is checked, kept under its hash, and on record with an infinite loss."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.roles import Roles
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError, InvalidInput, LedgerError, NotAllowed, NotFound, StoreError
from discreet.service.auth.roles import Principal
from discreet.service.operations import publications as publishing
from discreet.service.operations.uploads import receive
from discreet.service.state import ServiceState
from tests.service.hospital import Clients
from tests.service.visiting import ANA, AUDITOR, EACH, OWNER

CSV = b"zip,disease\n130**,flu\n130**,cancer\n148**,flu\n148**,flu\n"
ROLES = Roles.of(["zip", "disease"], quasi="zip", sensitive="disease")
TWO = [KAnonymity(2)]


def sent(service: ServiceState, content: bytes = CSV, file: str = "patients.csv") -> str:
    return receive(service, OWNER, file, [content]).id


def publish(service: ServiceState, upload: str, **more: Any) -> Any:
    given: dict[str, Any] = {"name": "patients", "roles": ROLES, "models": TWO, "why": "for the city", "approved": True}
    given |= more
    place = given.pop("name"), upload, given.pop("roles"), given.pop("models")
    return publishing.publish(service, given.pop("principal", OWNER), *place, **given)


def files(service: ServiceState, folder: str) -> list[Path]:
    return [path for path in (service.settings.folder / folder).rglob("*") if path.is_file()]


# Publishing.


def test_a_release_that_meets_its_models_is_kept_and_on_record(service: ServiceState) -> None:
    made = publish(service, sent(service), more={"method": "by hand"})
    assert (made.name, made.approved_by, made.loss) == ("patients", "owner", "infinite")
    assert made.sha256 == hashlib.sha256(CSV).hexdigest()
    assert made.statement["models"] == ["2-anonymity"]
    assert made.statement["roles"] == {"quasi": ["zip"], "sensitive": ["disease"]}
    assert (made.statement["rows"], made.statement["smallest_class"], made.statement["classes"]) == (4, 2, 2)
    assert (made.statement["why"], made.statement["method"]) == ("for the city", "by hand")
    assert not files(service, "uploads")
    assert verify(service.settings.folder).is_sound
    for principal in EACH:
        assert publishing.publications(service, principal) == [made]
        found = publishing.release(service, principal, made.entry)
        assert found.path.read_bytes() == CSV
        assert (found.file, found.media_type) == ("patients.csv", "text/csv")


def test_what_was_checked_cannot_be_stated_otherwise(service: ServiceState) -> None:
    made = publish(service, sent(service), more={"models": ["1000-anonymity"], "rows": 10**6, "why": "no reason"})
    assert (made.statement["models"], made.statement["rows"], made.statement["why"]) == (
        ["2-anonymity"],
        4,
        "for the city",
    )


def test_the_same_release_is_on_record_once(service: ServiceState) -> None:
    first = publish(service, sent(service))
    assert publish(service, sent(service), why="again") == first
    other = publish(service, sent(service), name="patients 2025")
    assert publishing.publications(service, ANA) == [other, first]
    assert len(files(service, "publications")) == 1


def test_parquet_is_published_as_it_is(service: ServiceState, tmp_path: Path) -> None:
    table = pa.table({"zip": ["1", "1"], "disease": ["flu", "flu"]})
    parquet.write_table(table, tmp_path / "p.parquet")
    made = publish(service, sent(service, (tmp_path / "p.parquet").read_bytes(), "p.parquet"))
    found = publishing.release(service, AUDITOR, made.entry)
    assert parquet.read_table(found.path) == table
    assert found.media_type == "application/vnd.apache.parquet"


def nothing_changed(service: ServiceState, before: tuple[int, bytes]) -> None:
    assert service.curator.ledger.head() == before
    assert not files(service, "publications")
    assert publishing.publications(service, OWNER) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"models": [KAnonymity(3)]}, "3-anonymity does not hold, got <4 rows in 2 classes"),
        ({"models": [*TWO, DistinctDiversity("disease", 2)]}, "distinct 2-diversity of disease does not hold"),
        ({"models": []}, "must state a model"),
        ({"models": [DistinctDiversity("illness", 2)]}, "illness"),
        ({"approved": False}, "must be approved"),
        ({"approved": "yes"}, "must be approved"),
        ({"why": "  "}, "must say why"),
        ({"why": "x" * 2001}, "must say why"),
        ({"name": ""}, "name"),
        ({"name": "_x"}, "name"),
        ({"name": "a\nb"}, "control"),
        ({"roles": Roles.of(["zip"], quasi="zip")}, "every column of the table must have a role"),
        ({"roles": Roles.of(["zip", "disease", "age"], quasi=["zip", "age"])}, "must be in the table"),
        (
            {"roles": Roles.of(["zip", "disease"], quasi="zip", identifying="disease")},
            "names people is never published",
        ),
        ({"more": {"x": float("nan")}}, "JSON"),
    ],
)
def test_what_is_not_as_stated_is_refused_and_changes_nothing(
    service: ServiceState, changed: dict[str, Any], words: str
) -> None:
    upload = sent(service)
    before = service.curator.ledger.head()
    with pytest.raises(InvalidInput, match=words):
        publish(service, upload, **changed)
    nothing_changed(service, before)
    assert publish(service, upload)  # it waits, so that it can be mended


@pytest.mark.parametrize(
    ("content", "file"),
    [(b"zip,disease\n", "p.csv"), (b'zip,disease\n130**,"flu\n', "p.csv"), (b"zip,disease\n1,2,3\n", "p.csv")],
)
def test_a_release_that_is_no_table_is_refused(service: ServiceState, content: bytes, file: str) -> None:
    upload = sent(service, content, file)
    before = service.curator.ledger.head()
    with pytest.raises(InvalidInput) as refusal:
        publish(service, upload)
    assert str(service.settings.folder) not in str(refusal.value)
    nothing_changed(service, before)


def test_columns_that_hold_more_than_values_are_refused(service: ServiceState, tmp_path: Path) -> None:
    table = pa.table({"zip": ["1", "1"], "disease": [["flu"], ["flu"]]})
    parquet.write_table(table, tmp_path / "p.parquet")
    with pytest.raises(InvalidInput, match="columns of plain values"):
        publish(service, sent(service, (tmp_path / "p.parquet").read_bytes(), "p.parquet"))


def test_a_record_that_cannot_be_written_leaves_no_file(service: ServiceState, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise LedgerError("the ledger must be writable")

    upload = sent(service)
    before = service.curator.ledger.head()
    monkeypatch.setattr(type(service.curator.ledger), "publish", fail)
    with pytest.raises(LedgerError):
        publish(service, upload)
    monkeypatch.undo()
    nothing_changed(service, before)


def test_a_file_that_was_changed_or_lost_is_not_given_out(service: ServiceState) -> None:
    made = publish(service, sent(service))
    [file] = files(service, "publications")
    file.write_bytes(CSV + b"148**,flu\n")
    with pytest.raises(StoreError, match="must be the one that was recorded"):
        publishing.release(service, ANA, made.entry)
    file.unlink()
    with pytest.raises(StoreError):
        publishing.release(service, ANA, made.entry)


@pytest.mark.parametrize("entry", [0, 1, -1, 10**9])
def test_other_places_of_the_ledger_are_no_publications(service: ServiceState, entry: int) -> None:
    publish(service, sent(service))
    with pytest.raises(NotFound):
        publishing.release(service, ANA, entry)


@pytest.mark.parametrize("principal", [ANA, AUDITOR])
def test_publishing_is_for_owners(service: ServiceState, principal: Principal) -> None:
    upload = sent(service)
    before = service.curator.ledger.head()
    with pytest.raises(NotAllowed):
        publish(service, upload, principal=principal)
    nothing_changed(service, before)


# Through the door.

ASK_REQUEST = {"name": "patients", "quasi": ["zip"], "sensitive": ["disease"], "why": "for the city", "approved": True}


def test_an_owner_sends_publishes_and_everybody_downloads(clients: Clients) -> None:
    told = clients.owner.post("/api/v1/uploads", params={"file": "patients.csv"}, content=CSV)
    assert told.status_code == 201, told.text
    assert [one["name"] for one in told.json()["columns"]] == ["zip", "disease"]
    ask_request = ASK_REQUEST | {"upload": told.json()["id"]}
    refused = clients.owner.post("/api/v1/publications", json=ask_request | {"models": {"k": 3}})
    assert (refused.status_code, "does not hold" in refused.json()["detail"]) == (422, True)
    made = clients.owner.post("/api/v1/publications", json=ask_request | {"models": {"k": 2, "l": 1}})
    assert made.status_code == 201, made.text
    assert made.json()["loss"] == "infinite"
    for client in (clients.owner, clients.ana, clients.auditor):
        assert client.get("/api/v1/publications").json() == [made.json()]
        file = client.get(f"/api/v1/publications/{made.json()['entry']}/file")
        assert file.content == CSV
        assert file.headers["content-disposition"] == 'attachment; filename="patients.csv"'
        assert file.headers["content-type"].startswith("text/csv")
    assert clients.nobody.get("/api/v1/publications").status_code == 401
    assert clients.ana.post("/api/v1/publications", json=ask_request | {"models": {"k": 2}}).status_code == 403


@pytest.mark.parametrize(
    "changed",
    [
        {"models": {}},
        {"models": {"k": 0}},
        {"models": {"k": 2, "l": "nan"}},
        {"models": {"k": 2, "t": -1}},
        {"models": {"k": 2, "nonsense": 1}},
        {"approved": False},
        {"approved": None},
        {"quasi": []},
        {"quasi": ["nothing"]},
        {"quasi": ["zip", "zip"]},
        {"sensitive": ["zip"]},
        {"why": ""},
        {"name": "\ud800"},
    ],
)
@pytest.mark.some(4)
def test_a_ask_request_that_makes_no_sense_is_refused_through_the_door(
    service: ServiceState, clients: Clients, changed: dict[str, Any]
) -> None:
    ask_request = ASK_REQUEST | {"upload": sent(service), "models": {"k": 2}} | changed
    before = service.curator.ledger.head()
    try:
        answer = clients.owner.post("/api/v1/publications", json=ask_request)
    except UnicodeEncodeError:
        return  # it cannot even be sent
    assert answer.status_code == 422, answer.text
    nothing_changed(service, before)


def test_an_upload_that_does_not_exist_is_not_published(service: ServiceState) -> None:
    with pytest.raises(DiscreetError, match="there must be such an upload"):
        publish(service, "0" * 32)
