"""Failures, lifts and returns in the ledger: in a file and on a server, replayed, moved, and never forged unseen."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from discreet.curator.ledger import chain as records
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.move import move
from discreet.curator.ledger.units import Allowance, LedgerPrice, Portion
from discreet.curator.ledger.verify import verify
from discreet.errors import InvalidInput, LedgerError
from discreet.privacy.loss import Pure
from tests.curator.older_ledger import make_older, make_older_there
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401
from tests.thoroughness import in_turns

PRICE = LedgerPrice(100, 3, (Portion("ward", "a", 50), Portion("ward", "x" * 5000, 20)))


def started(folder: Path) -> Ledger:
    ledger = Ledger.create(folder)
    ledger.open_account("visits", Allowance.of(Pure(1)), places=2)
    ledger.open_account("visits/ann", Allowance(Allowance.of(Pure(1)).measure, 10_000, 100))
    ledger.open_account("stays", Allowance(Allowance.of(Pure(1)).measure, 10_000, 100), places=2)
    return ledger


@pytest.fixture(params=in_turns("file", "server", "old file", "old server"))
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    made = started(tmp_path)
    if "server" in request.param:
        made.close()
        move(tmp_path, request.getfixturevalue("postgres_url"))
        made = Ledger(tmp_path)
    if "old" in request.param:
        made.close()
        if request.param == "old file":
            make_older(str(tmp_path / "ledger.db"), returns=False)
        else:
            make_older_there(request.getfixturevalue("postgres_url"), returns=False)
        made = Ledger(tmp_path)
    yield made
    made.close()


def charged(ledger: Ledger, request: str, price: LedgerPrice = PRICE) -> None:
    ledger.charge(request, b"body", {"visits/ann": price, "stays": price}, {"sql": "SELECT 1"})


def state(ledger: Ledger) -> Any:
    with ledger.storage.reading() as database:
        apart = database.execute("SELECT account, part, key, spent FROM portion_2 WHERE spent > 0").fetchall()
    return ledger.accounts(), sorted(apart)


def problems(ledger: Ledger) -> list[str]:
    return verify(ledger.path.parent).problems


def test_a_return_takes_off_exactly_what_its_charge_put_on_once(ledger: Ledger) -> None:
    charged(ledger, "plan:1", LedgerPrice(7, 1, (Portion("ward", "b", 30), Portion("ward", "a", 40))))
    before = state(ledger)
    charged(ledger, "plan:2")
    assert state(ledger) != before
    assert ledger.give_back("plan:2")
    assert state(ledger) == before
    assert ledger.give_back("plan:2")  # as after a connection that broke at the commit
    assert state(ledger) == before
    assert [entry.body["kind"] for entry in ledger.entries()].count("return") == 1
    assert problems(ledger) == []
    known = ledger.look_up("plan:2", b"body")
    assert known is not None
    assert (known.end, known.answer) == ("return", None)


def test_what_was_answered_failed_or_taken_up_by_another_is_not_returned(ledger: Ledger) -> None:
    for request in ("plan:1", "plan:2", "plan:3"):
        charged(ledger, request)
    ledger.settle("plan:1", b"noisy")
    ledger.fail("plan:2", "ann", ["stays"])
    ledger.rerun("plan:3")
    before = state(ledger)
    assert [ledger.give_back(f"plan:{k}") for k in (1, 2, 3)] == [False, False, False]
    assert state(ledger) == before
    with pytest.raises(InvalidInput):
        ledger.give_back("plan:4")
    assert problems(ledger) == []


def test_a_request_ends_once(ledger: Ledger) -> None:
    charged(ledger, "plan:1")
    charged(ledger, "plan:2")
    record = ledger.fail("plan:1", "ann", ["stays"])
    assert ledger.fail("plan:1", "ann", ["stays"]) == record
    assert ledger.settle("plan:1", b"late").answer is None
    ledger.settle("plan:2", b"noisy")
    late = ledger.fail("plan:2", "ann", ["stays"])
    assert not isinstance(late, int)
    assert late.answer == b"noisy"
    assert ledger.rerun("plan:2").end == "answer"
    assert problems(ledger) == []


def test_suspensions_are_by_analyst_and_folded_name_and_end_with_the_lift(ledger: Ledger) -> None:
    charged(ledger, "plan:1")
    charged(ledger, "plan:2")
    first, second = ledger.fail("plan:1", "ann", ["Stays", "visits"]), ledger.fail("plan:2", None, ["stays"])
    assert isinstance(first, int)
    assert isinstance(second, int)
    found = ledger.suspended_by("ann", ["STAYS"]), ledger.suspended_by(None, ["stays"])
    assert [one.position for one in found if one is not None] == [first, second]
    assert ledger.suspended_by("bob", ["stays"]) is None
    assert ledger.suspended_by("Ann", ["stays"]) is None
    assert ledger.suspended_by(None, ["visits"]) is None
    lift = ledger.lift(first, "looked at it", "olga")
    assert ledger.lift(first, "again", "otto") == lift
    assert ledger.suspended_by("ann", ["stays"]) is None
    assert ledger.suspended_by(None, ["stays"]) is not None
    assert [(one.position, end and end.position) for one, end in ledger.failures()] == [(first, lift), (second, None)]
    for record in (1, lift, 10_000):
        with pytest.raises(InvalidInput, match="record of a failure"):
            ledger.lift(record, "nothing", None)
    assert problems(ledger) == []


def test_the_database_lets_what_was_spent_go_down_behind_a_return_alone(ledger: Ledger) -> None:
    charged(ledger, "plan:1")
    charged(ledger, "plan:2")
    ledger.give_back("plan:2")
    charged(ledger, "plan:3")
    for statement in (
        "UPDATE account_2 SET spent = spent - 1 WHERE name = 'stays'",
        "UPDATE account_2 SET delta_spent = delta_spent - 1 WHERE name = 'stays'",
        "UPDATE portion_2 SET spent = spent - 1",
        "UPDATE account_2 SET measure = 'concentrated'",
        "UPDATE account_2 SET places = 1 WHERE name = 'stays'",
        "UPDATE portion_2 SET part = 'other'",
        "UPDATE request SET answer = 1 WHERE answer IS NOT NULL",
    ):
        with pytest.raises(LedgerError):
            ledger.storage.write(lambda database, statement=statement: database.execute(statement))  # type: ignore[misc]
    assert problems(ledger) == []


def test_charges_and_returns_in_any_order_add_up(ledger: Ledger) -> None:
    generator, open_ones = random.Random(29), list[str]()
    for number in range(60):
        portions = {
            (generator.choice("pq"), generator.choice("abc")): generator.randrange(9)
            for _ in range(generator.randrange(4))
        }
        price = LedgerPrice(generator.randrange(5), 0, tuple(Portion(*place, loss) for place, loss in portions.items()))
        charged(ledger, f"plan:{number}", price)
        open_ones.append(f"plan:{number}")
        if generator.random() < 0.6:
            request = open_ones.pop(generator.randrange(len(open_ones)))
            if generator.random() < 0.7:
                assert ledger.give_back(request)
            else:
                ledger.settle(request, b"noisy")
    assert problems(ledger) == []


def test_failures_lifts_and_returns_move_to_a_server(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    ledger = started(tmp_path)
    for number in range(4):
        charged(ledger, f"plan:{number}")
    first, second = ledger.fail("plan:0", "ann", ["stays"]), ledger.fail("plan:1", None, ["stays"])
    assert isinstance(first, int)
    assert isinstance(second, int)
    ledger.lift(first, "looked at it", None)
    ledger.give_back("plan:2")
    ledger.rerun("plan:3")
    before = ledger.failures(), ledger.accounts()
    ledger.close()
    move(tmp_path, postgres_url)
    moved = Ledger(tmp_path)
    assert (moved.failures(), moved.accounts()) == before
    assert moved.suspended_by(None, ["stays"]) is not None
    assert not moved.give_back("plan:3")
    moved.lift(second, "looked at it", None)
    assert problems(moved) == []
    moved.close()


@pytest.mark.parametrize("returns", [True, False])
def test_an_older_file_is_upgraded_when_it_is_opened(tmp_path: Path, returns: bool) -> None:
    ledger = started(tmp_path)
    charged(ledger, "plan:1")
    before = state(ledger), _schema(ledger)
    ledger.close()
    make_older(str(tmp_path / "ledger.db"), returns=returns)
    again = Ledger(tmp_path)
    assert (state(again), _schema(again)) == before
    charged(again, "plan:2")
    with pytest.raises(LedgerError):
        again.storage.write(lambda database: database.execute("UPDATE account_2 SET spent = 0"))
    again.give_back("plan:2")
    assert problems(again) == []


def test_a_process_of_the_version_before_cannot_charge_past_the_new_accounts(tmp_path: Path) -> None:
    started(tmp_path).close()
    make_older(str(tmp_path / "ledger.db"))
    older = apsw.Connection(str(tmp_path / "ledger.db"))
    charge = "UPDATE account SET spent = spent + 1 WHERE name = 'visits'"
    older.execute(charge)
    Ledger(tmp_path).close()
    with pytest.raises(apsw.SQLError, match="no such table"):
        older.execute(charge)


def _schema(ledger: Ledger) -> list[Any]:
    return list(ledger.database.execute("SELECT name, sql FROM sqlite_master ORDER BY name"))


# Forging: whoever can write to the file and knows how records are chained.


@pytest.fixture
def story(tmp_path: Path) -> Ledger:
    ledger = started(tmp_path)
    for number in range(6):
        charged(ledger, f"plan:{number}")
    ledger.settle("plan:0", b"noisy")
    record = ledger.fail("plan:1", "ann", ["stays"])
    assert isinstance(record, int)
    ledger.lift(record, "looked at it", None)
    ledger.fail("plan:2", None, ["stays"])
    ledger.give_back("plan:3")
    ledger.rerun("plan:4")
    assert problems(ledger) == []
    return ledger


def forged(ledger: Ledger, *statements: str, record: dict[str, Any] | None = None) -> list[str]:
    """What a check says after these changes, by somebody who lifts triggers for it and lets the witness see it all."""

    def part(database: Any) -> None:
        if record is not None:
            records.append(database, record, records.head(database))
        triggers = ledger.database.execute("SELECT name, sql FROM sqlite_master WHERE type='trigger'").fetchall()
        for trigger, _ in triggers:
            database.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            database.execute(statement)
        for _, made in triggers:
            database.execute(made)

    ledger.storage.write(part, sealed=True)
    return problems(ledger)


def _charge(ledger: Ledger, request: str) -> dict[str, Any]:
    receipt = ledger.look_up(request, b"body")
    assert receipt is not None
    entry = ledger.entry(receipt.charge)
    assert entry is not None
    return {"request": request, "charge": receipt.charge, **{k: entry.body[k] for k in ("prices", "portions")}}


def _taken_off(times: int = 1) -> list[str]:
    return [
        (
            f"UPDATE account_2 SET spent = spent - {150 * times}, delta_spent = delta_spent - {3 * times}"
            " WHERE name = 'visits/ann'"
        ),
        (
            f"UPDATE account_2 SET spent = spent - {170 * times}, delta_spent = delta_spent - {3 * times}"
            " WHERE name = 'stays'"
        ),
        f"UPDATE portion_2 SET spent = spent - {50 * times} WHERE key = 'a'",
        f"UPDATE portion_2 SET spent = spent - {20 * times} WHERE key <> 'a'",
    ]


@pytest.mark.parametrize(
    ("request_id", "said"),
    [
        ("plan:0", "returns a charge that is not there or has ended"),  # answered
        ("plan:1", "returns a charge that is not there or has ended"),  # failed
        ("plan:3", "returns a charge that is not there or has ended"),  # returned before
        ("plan:4", "returns a charge for which others may have read rows"),
    ],
)
def test_a_return_that_must_not_be_is_found(story: Ledger, request_id: str, said: str) -> None:
    record = {"kind": "return", **_charge(story, request_id)}
    position = story.head()[0] + 1
    ended = f"UPDATE request SET answer = {position}, bytes = NULL WHERE id = '{request_id}'"
    assert any(said in one for one in forged(story, *_taken_off(), ended, record=record))


def test_a_return_as_it_may_be_is_not(story: Ledger) -> None:
    record = {"kind": "return", **_charge(story, "plan:5")}
    ended = f"UPDATE request SET answer = {story.head()[0] + 1} WHERE id = 'plan:5'"
    assert forged(story, *_taken_off(), ended, record=record) == []


def test_a_return_larger_than_its_charge_is_found(story: Ledger) -> None:
    record = {"kind": "return", **_charge(story, "plan:5")}
    record["prices"] = {name: [2 * loss, 2 * delta] for name, (loss, delta) in record["prices"].items()}
    record["portions"] = {name: [[p, k, 2 * loss] for p, k, loss in each] for name, each in record["portions"].items()}
    ended = f"UPDATE request SET answer = {story.head()[0] + 1} WHERE id = 'plan:5'"
    found = forged(story, *_taken_off(2), ended, record=record)
    assert any("returns other prices than were charged" in one for one in found)


def test_a_lift_of_nothing_and_a_second_lift_are_found(story: Ledger) -> None:
    lifted = next(failure.position for failure, end in story.failures() if end is not None)
    for failure in (1, lifted):
        record = {"kind": "lift", "failure": failure, "by": None, "because": "x"}
        assert any("lifts a suspension that is not there" in one for one in forged(story, record=record))


def test_an_answer_to_a_charge_that_failed_is_found(story: Ledger) -> None:
    charge = _charge(story, "plan:2")["charge"]
    record = {"kind": "answer", "request": "plan:2", "charge": charge, "answer": "00"}
    assert any("answers a charge that is not there or has ended" in one for one in forged(story, record=record))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE request SET answer = 1 WHERE id LIKE 'failure:%' AND answer IS NULL",  # lifted without a record
        "UPDATE request SET answer = NULL WHERE id = 'plan:1'",  # open again: run for free
        "UPDATE request SET answer = NULL WHERE id = 'plan:3'",
        "DELETE FROM request WHERE id LIKE 'failure:%' AND answer IS NULL",  # the suspension is forgotten
        "DELETE FROM request WHERE id LIKE 'rerun:%'",
        "UPDATE account_2 SET spent = spent - 1 WHERE name = 'stays'",
        "UPDATE portion_2 SET spent = spent - 1 WHERE key = 'a'",
    ],
)
def test_a_state_that_records_do_not_tell_is_found(story: Ledger, statement: str) -> None:
    assert forged(story, statement) != []


def test_records_of_ends_stay(story: Ledger) -> None:
    with pytest.raises(apsw.ConstraintError):
        story.database.execute("UPDATE request SET answer = NULL WHERE id = 'plan:1'")
    with pytest.raises(apsw.ConstraintError):
        story.database.execute("DELETE FROM request WHERE id LIKE 'failure:%'")
