"""The ledger and its certificates: readers read everything, an analyst only what they asked."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from discreet.curator.answers.answer import Answer
from discreet.curator.answers.arrow import answer_to_arrow
from discreet.curator.ledger.verify import Verification
from discreet.errors import NotAllowed, NotFound
from discreet.service.auth.roles import READERS
from discreet.service.jobs.shared_run import SharedRun
from discreet.service.operations import ledger as storages
from discreet.service.operations.ledger import Sought
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, Hospital
from tests.service.visiting import ANA, AUDITOR, BEN, EACH, OWNER, STRANGER

COUNT = "SELECT COUNT(*) AS n FROM visits"
MEAN = "SELECT AVG(age) AS a FROM visits"


def kept(service: ServiceState, member: str, sql: str, epsilon: str) -> Answer:
    """An answer as the service gives and keeps it."""
    answer = service.curator.ask(sql, epsilon, analyst=None if member == "owner" else member)
    values = (member, f"{member} {sql}", "{}", 0.0, "answered", answer.entry, answer_to_arrow(answer))
    insert = "INSERT INTO request (member, id, wish, made, state, entry, answer) VALUES (?, ?, ?, ?, ?, ?, ?)"
    service.store.write(lambda database: database.execute(insert, values))
    return answer


def test_an_analyst_finds_their_own_questions_alone(service: ServiceState) -> None:
    kept(service, "ana", COUNT, "0.5")
    kept(service, "ben", MEAN, "0.5")
    assert [one.text for one in storages.entries(service, ANA)] == [COUNT]
    assert [one.text for one in storages.entries(service, BEN)] == [MEAN]
    assert storages.entries(service, STRANGER) == []
    kinds = [one.kind for one in storages.entries(service, AUDITOR)]
    assert kinds == ["question", "question", "account", "account", "account", "start"]
    assert storages.entries(service, ANA, Sought(analyst="ben")) == []
    assert storages.entries(service, ANA, Sought(kind="account")) == []


def test_entries_are_filtered(service: ServiceState) -> None:
    kept(service, "ana", COUNT, "0.5")
    kept(service, "ben", MEAN, "0.5")
    kept(service, "owner", "SELECT MAX(age) AS m FROM visits", "0.5")
    today = datetime.now(UTC).date()

    def found(sought: Sought, most: int | None = None) -> list[str | None]:
        return [one.analyst for one in storages.entries(service, OWNER, sought, most) if one.kind == "question"]

    assert found(Sought()) == [None, "ben", "ana"]
    assert found(Sought(analyst="ana")) == ["ana"]
    assert found(Sought(analyst="")) == [None]
    assert found(Sought(text="avg(")) == ["ben"]
    assert found(Sought(table="VISITS"), most=2) == [None, "ben"]
    assert found(Sought(table="other")) == []
    assert found(Sought(since=today + timedelta(days=1))) == []
    assert found(Sought(until=today - timedelta(days=1))) == []
    assert found(Sought(since=today - timedelta(days=1), until=today + timedelta(days=1))) == [None, "ben", "ana"]
    last = storages.entries(service, OWNER)[0].position
    assert found(Sought(before=last)) == ["ben", "ana"]
    assert found(Sought(since=date(1, 1, 1), kind="account")) == []


def test_a_record_leads_to_its_answer_and_says_its_price(service: ServiceState) -> None:
    answer = kept(service, "ana", COUNT, "1/3")
    (record,) = storages.entries(service, ANA)
    assert record.answered == answer.entry
    assert record.tables == ("visits",)
    assert storages.price_words(service, [record]) == [["ε 0.33334"]]


def test_a_request_id_alone_is_no_release(service: ServiceState) -> None:
    service.curator.ask(COUNT, "0.5", analyst="ana", request="mine")
    assert len(storages.entries(service, ANA)) == 1


def test_the_ledger_is_verified_for_its_readers_alone(service: ServiceState) -> None:
    kept(service, "ben", COUNT, "0.5")
    for principal in EACH:
        if principal.role in READERS:
            found = storages.verify(service, principal)
            assert (found.is_sound, found.problems) == (True, ())
            assert (found.entries, found.head) == (
                service.curator.ledger.head()[0],
                service.curator.ledger.head()[1].hex(),
            )
        else:
            with pytest.raises(NotAllowed):
                storages.verify(service, principal)


def test_a_ledger_that_was_changed_is_found_out(service: ServiceState) -> None:
    kept(service, "ben", COUNT, "0.5")
    witness = service.settings.folder / "ledger.witness"
    witness.write_bytes(witness.read_bytes() + b"99 " + b"00" * 32 + b"\n")
    assert storages.verify(service, AUDITOR).problems == ("record 99 is not the one the witness saw",)


def test_one_replay_serves_those_who_ask_soon_until_something_is_recorded(
    service: ServiceState, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay, runs = storages.replay, []

    def counted(folder: Path) -> Verification:
        runs.append(folder)
        return replay(folder)

    monkeypatch.setattr(storages, "replay", counted)
    first = [storages.verify(service, principal) for principal in (OWNER, AUDITOR, OWNER)]
    assert len(runs) == 1
    kept(service, "ben", COUNT, "0.5")
    later = storages.verify(service, AUDITOR)
    assert (len(runs), later.entries > first[0].entries) == (2, True)
    monkeypatch.setattr(service.replaying, "_seconds", 0.0)  # after a while it is looked at again
    storages.verify(service, AUDITOR)
    assert len(runs) == 3


def test_a_certificate_is_found_by_its_place_checked_and_only_by_those_whose_it_is(service: ServiceState) -> None:
    answer = kept(service, "ana", COUNT, "0.5")
    assert answer.entry is not None
    for principal in (ANA, OWNER, AUDITOR):
        paper = storages.certificate(service, principal, answer.entry)
        assert paper.certificate == answer.certificate
        assert paper.is_genuine
        assert paper.is_in_ledger
    refusals = []
    for principal, entry in ((BEN, answer.entry), (BEN, 10_000)):
        with pytest.raises(NotFound) as refusal:
            storages.certificate(service, principal, entry)
        refusals.append(str(refusal.value).replace(str(entry), "?"))
    assert refusals[0] == refusals[1]


def test_a_certificate_that_was_changed_in_the_storage_is_not_called_genuine(service: ServiceState) -> None:
    answer = service.curator.ask(COUNT, "0.5", analyst="ana")
    forged = Answer(**{**vars(answer), "certificate": answer.certificate | {"question": MEAN}})
    insert = "INSERT INTO request (member, id, wish, made, state, entry, answer) VALUES (?, ?, ?, ?, ?, ?, ?)"
    values = ("ana", "1", "{}", 0.0, "answered", answer.entry, answer_to_arrow(forged))
    service.store.write(lambda database: database.execute(insert, values))
    assert answer.entry is not None
    assert not storages.certificate(service, ANA, answer.entry).is_genuine


def test_routes_say_what_operations_say(service: ServiceState, clients: Clients) -> None:
    answer = kept(service, "ana", COUNT, "0.5")
    (entry,) = clients.ana.get("/api/v1/ledger").json()
    assert (entry["text"], entry["answer"], entry["prices"]) == (COUNT, answer.entry, ["ε 0.5"])
    assert clients.ben.get("/api/v1/ledger").json() == []
    assert len(clients.auditor.get("/api/v1/ledger", params={"kind": "question", "text": "count"}).json()) == 1
    found = clients.auditor.get(f"/api/v1/ledger/{answer.entry}/certificate").json()
    assert found["is_genuine"]
    assert json.dumps(found["certificate"]) == json.dumps(answer.certificate)
    assert clients.ben.get(f"/api/v1/ledger/{answer.entry}/certificate").status_code == 404
    assert clients.ana.get("/api/v1/ledger/verification").status_code == 403
    checked = clients.auditor.get("/api/v1/ledger/verification").json()
    assert (checked["is_sound"], checked["problems"]) == (True, [])
    assert clients.nobody.get("/api/v1/ledger").status_code == 401


def test_bad_filters_are_refused_in_words(clients: Clients, hospital: Hospital) -> None:
    for wrong in ({"since": "yesterday"}, {"limit": "0"}, {"limit": "1001"}, {"before": "-1"}, {"text": "x" * 2000}):
        refused = clients.owner.get("/api/v1/ledger", params=wrong)
        assert refused.status_code == 422
        assert refused.json()["type"] == "urn:discreet:malformed"
    assert clients.owner.get(f"/api/v1/ledger/{2**70}/certificate").status_code == 422


def test_one_run_serves_all_who_ask_while_it_is_under_way() -> None:
    """Forty at once would each take a core, and as much memory."""
    shared: SharedRun[int] = SharedRun()
    began, over, runs = Event(), Event(), []

    def work() -> int:
        runs.append(1)
        began.set()
        assert over.wait(60)
        return len(runs)

    first = shared.begin(work)
    assert began.wait(60)
    others = [shared.begin(work) for _ in range(40)]
    over.set()
    assert {one.result(60) for one in (first, *others)} == {1}
    assert len(runs) == 1
    assert shared.begin(work).result(60) == 2
