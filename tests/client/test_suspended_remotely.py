"""A client hears that it is suspended in the words and the class of a local curator, and an owner lifts it."""

from __future__ import annotations

import pickle

import pytest

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import LedgerPrice
from discreet.errors import EngineFailure, EngineUnavailable, InvalidValue, NotAllowed, Suspended
from discreet.http.problems import choose_fault, choose_problem
from tests.client.conftest import Served

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE age > 77"


def test_a_client_is_suspended_and_an_owner_lets_it_ask_again(there: Served) -> None:
    ledger = Ledger(there.hospital.folder)
    ledger.charge(
        "plan:x", b"", {"visits": LedgerPrice(1)}, {"sql": COUNT, "analyst": "ana", "price": "", "versions": {}}
    )
    record = ledger.fail("plan:x", "ana", ["visits"])
    ledger.close()
    assert isinstance(record, int)
    ana, owner, auditor = (there.remote(name) for name in ("ana", "owner", "auditor"))
    for attempt in (ana.ask, ana.explain):
        with pytest.raises(Suspended) as caught:
            attempt(COUNT, "0.01")
        assert caught.value.record == record
        assert str(caught.value) == str(Suspended.since(record, "visits"))
    for method in (ana.suspensions, lambda: ana.lift(record, "please"), lambda: auditor.lift(record, "please")):
        with pytest.raises(NotAllowed):
            method()
    (seen,) = auditor.suspensions()
    assert (seen["record"], seen["analyst"], seen["sql"]) == (record, "ana", COUNT)
    with pytest.raises(InvalidValue):
        owner.lift(1, "nothing failed there")
    assert owner.lift(record, "the disk was full")["by"] == "owner"
    assert (owner.suspensions(), len(owner.suspensions(lifted=True))) == ([], 1)
    assert ana.ask(COUNT, "0.01").charged
    for one in (ana, owner, auditor):
        one.close()


@pytest.mark.parametrize("fault", [EngineFailure(), EngineUnavailable(), Suspended.since(7, "visits")])
def test_what_a_service_says_is_raised_again_as_it_was(
    fault: EngineFailure | EngineUnavailable | Suspended,
) -> None:
    for heard in (choose_fault(choose_problem(fault)), pickle.loads(pickle.dumps(fault))):
        assert type(heard) is type(fault)
        assert str(heard) == str(fault)
    heard = choose_fault(choose_problem(fault))
    assert getattr(heard, "record", None) == getattr(fault, "record", None)
