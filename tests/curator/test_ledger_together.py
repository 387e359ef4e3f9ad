"""Charges and answers of many askers at once come out as if each had come alone, in a file and on a server."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.ledger.balance import Charge, GivenAnswer, answer_all, charge_all
from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.curator.ledger.move import move
from discreet.curator.ledger.units import LOSS_UNITS, Allowance, BudgetMeasure, LedgerPrice, Portion, price_in_units
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, DiscreetError, InvalidValue, RequestConflict
from discreet.privacy.loss import Pure
from discreet.storage.database import Database
from discreet.storage.postgres import write_server
from tests.servers.counting import CountingProxy
from tests.servers.fixtures import postgres_server, postgres_url
from tests.servers.postgres import PostgresServer
from tests.storage.one_batch import in_one_batch
from tests.thoroughness import in_turns
from tests.threads import in_threads

__all__ = ["postgres_server", "postgres_url"]

TENTH = price_in_units(Pure("0.1"), BudgetMeasure.PURE)


@pytest.fixture(params=in_turns("file", "server"))
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger.create(tmp_path)
    made.open_account("visits", Allowance.of(Pure(1)))
    made.open_account("keys", Allowance(BudgetMeasure.CONCENTRATED, LOSS_UNITS, delta_cap=20))
    made.open_account("swapped", Allowance.of(Pure(1)), places=2)
    if request.param == "server":
        made.close()
        move(tmp_path, request.getfixturevalue("postgres_url"))
        made = Ledger(tmp_path)
    yield made
    made.close()


def folder_of(ledger: Ledger) -> Path:
    return ledger.path.parent


# Chance decides what is asked ----------------------------------------------------------------------------------------


def some_price(chance: random.Random, account: str) -> LedgerPrice:
    portions = [
        Portion(chance.choice("pq"), chance.choice("abc"), chance.randrange(LOSS_UNITS // 4))
        for _ in range(chance.randrange(4))
    ]
    return LedgerPrice(
        chance.randrange(LOSS_UNITS // 6), chance.randrange(12) if account == "keys" else 0, tuple(portions)
    )


def some_charge(chance: random.Random) -> Charge:
    names = chance.sample(["visits", "keys", "swapped"], chance.randrange(4))
    names += ["nobody"] if chance.random() < 0.05 else []
    prices = {name: some_price(chance, name) for name in names}
    request, body = f"r{chance.randrange(25)}", bytes([chance.random() < 0.1]) * 32
    units = {name: [price.loss, price.delta] for name, price in prices.items()}
    record: dict[str, Any] = {"kind": "charge", "request": request, "body": body.hex(), "prices": units, "note": {}}
    apart = {name: [list(p) for p in sorted(price.portions)] for name, price in prices.items() if price.portions}
    return Charge(request, body, prices, record | ({"portions": apart} if apart else {}))


def some_answer(chance: random.Random) -> GivenAnswer:
    answer = chance.randbytes(4)
    return GivenAnswer(f"r{chance.randrange(30)}", answer, hashlib.sha256(answer).hexdigest())


class _TakeBack(Exception):
    """So that the next trial begins where this one did."""


def outcome(ledger: Ledger, works: list[Callable[[Database], list[Receipt | DiscreetError]]]) -> list[Any]:
    """What is heard and what is in the tables afterwards; then all of it is undone."""
    found: list[Any] = []

    def part(database: Database) -> None:
        heard = [one for work in works for one in work(database)]
        found.extend(str(one) if isinstance(one, DiscreetError) else _without_hash(one) for one in heard)
        tables = [
            database.execute(f"SELECT * FROM {table}").fetchall() for table in ("account_2", "portion_2", "request")
        ]
        found.extend(sorted(map(str, rows)) for rows in tables)
        records = database.execute("SELECT position, body FROM entry ORDER BY position").fetchall()
        found.append([(position, json.loads(body) | {"time": ""}) for position, body in records])
        raise _TakeBack

    with pytest.raises(_TakeBack):
        ledger.storage.write(part)
    return found


def _without_hash(receipt: Receipt) -> tuple[Any, ...]:
    """The hash holds the time."""
    return receipt.request, receipt.charge, receipt.answer, receipt.position, len(receipt.head)


def test_charges_and_answers_together_come_out_as_one_by_one(ledger: Ledger) -> None:
    chance = random.Random(8)
    refusals = set()
    for _ in range(25):
        charges, answers = ([some(chance) for _ in range(20)] for some in (some_charge, some_answer))
        alone = [partial(charge_all, charges=[charge]) for charge in charges]
        alone += [partial(answer_all, answers=[answer]) for answer in answers]
        together = [partial(charge_all, charges=charges), partial(answer_all, answers=answers)]
        expected = outcome(ledger, alone)
        assert outcome(ledger, together) == expected
        refusals |= {heard.split(" ")[1] for heard in expected if isinstance(heard, str)}
    assert refusals == {"price", "δ", "charge", "request"}  # every kind of refusal was among them


def test_what_was_charged_and_answered_together_is_sound(ledger: Ledger) -> None:
    chance = random.Random(9)
    charges, answers = ([some(chance) for _ in range(30)] for some in (some_charge, some_answer))
    ledger.storage.write(lambda database: charge_all(database, charges), sealed=True)
    ledger.storage.write(lambda database: answer_all(database, answers), sealed=True)
    assert verify(folder_of(ledger)).problems == []
    assert any(account.spent for account in ledger.accounts().values())


# Several requests of one asker ----------------------------------------------------------------------------------------


def test_several_requests_are_charged_and_settled_with_one_commit(ledger: Ledger) -> None:
    charges = [Charge.of(f"r{k}", b"body", {"visits": TENTH}, {"k": k}) for k in range(5)]
    commits: list[int] = []
    before, ledger.storage.seal = ledger.storage.seal, lambda database: commits.append(1)
    found = ledger.charge_together(charges)
    settled = ledger.settle_together({f"r{k}": bytes([k]) for k in range(5)})
    ledger.storage.seal = before
    assert [one.is_new for one in found] == [True] * 5
    assert [one.answer for one in settled] == [bytes([k]) for k in range(5)]
    assert commits == [1]  # only answers are sealed, and these once
    assert [ledger.known(f"r{k}") for k in range(5)] == settled
    assert ledger.accounts()["visits"].spent == 5 * TENTH.loss


def test_requests_that_are_known_are_not_charged_again_with_others(ledger: Ledger) -> None:
    ledger.charge("r1", b"body", {"visits": TENTH}, {})
    ledger.settle("r1", b"answer")
    charges = [Charge.of(name, b"body", {"visits": TENTH}, {}) for name in ("r0", "r1", "r0", "r2")]
    found = ledger.charge_together(charges)
    assert [(one.request, one.is_new, one.answer) for one in found] == [
        ("r0", True, None),
        ("r1", False, b"answer"),
        ("r0", True, None),
        ("r2", True, None),
    ]
    assert ledger.accounts()["visits"].spent == 3 * TENTH.loss
    assert verify(folder_of(ledger)).problems == []


def portion(request: str, key: str, account: str = "visits", body: bytes = b"") -> Charge:
    half = LOSS_UNITS // 2
    return Charge.of(request, body, {account: LedgerPrice(0, portions=(Portion("ward", key, half),))}, {})


@pytest.mark.parametrize(
    ("last", "refusal"),
    [
        (portion("r9", "a"), BudgetExceeded),
        (portion("r9", "a", "nobody"), InvalidValue),
        (portion("r1", "a", body=b"another"), RequestConflict),
        (portion("known", "a", body=b"another"), RequestConflict),
    ],
)
def test_where_one_request_is_refused_none_of_them_is_charged(
    ledger: Ledger, last: Charge, refusal: type[DiscreetError]
) -> None:
    ledger.charge("known", b"", {}, {})
    before, accounts = ledger.head(), ledger.accounts()
    with pytest.raises(refusal):
        ledger.charge_together([portion("r1", "a"), portion("r2", "b"), portion("r3", "a"), last])
    assert (ledger.head(), ledger.accounts()) == (before, accounts)
    assert ledger.known("r1") is None
    assert verify(folder_of(ledger)).problems == []


def test_groups_that_come_together_are_served_or_refused_each_as_a_whole(ledger: Ledger) -> None:
    groups = [[Charge.of(f"{name}{k}", b"", {"visits": TENTH}, {}) for k in range(4)] for name in "abc"]
    single = partial(ledger.charge, "d", b"", {"visits": TENTH}, {})
    faults = in_one_batch(ledger.storage, *(partial(ledger.charge_together, group) for group in groups), single)
    assert [type(fault) for fault in faults] == [type(None), type(None), BudgetExceeded, type(None)]
    assert ledger.accounts()["visits"].spent == 9 * TENTH.loss
    assert [ledger.known(f"c{k}") for k in range(4)] == [None] * 4
    assert verify(folder_of(ledger)).problems == []


def test_answers_together_are_stored_or_none_is(ledger: Ledger) -> None:
    ledger.charge("r1", b"", {"visits": TENTH}, {})
    before = ledger.head()
    with pytest.raises(InvalidValue, match="charged before"):
        ledger.settle_together({"r1": b"1", "never charged": b"2"})
    assert ledger.head() == before
    ledger.settle("r1", b"first")
    assert ledger.settle_together({"r1": b"second"})[0].answer == b"first"


def test_nothing_is_charged_for_no_requests(ledger: Ledger) -> None:
    before = ledger.head()
    assert (ledger.charge_together([]), ledger.settle_together({})) == ([], [])
    assert ledger.head() == before


# Askers in one batch -------------------------------------------------------------------------------------------------


def test_the_last_tenth_is_charged_to_one_of_those_who_come_together(ledger: Ledger) -> None:
    for k in range(9):
        ledger.charge(f"r{k}", b"", {"visits": TENTH}, {})
    faults = in_one_batch(
        ledger.storage, *(partial(ledger.charge, f"s{k}", b"", {"visits": TENTH}, {}) for k in range(6))
    )
    assert [type(fault) for fault in faults] == [type(None)] + [BudgetExceeded] * 5
    assert ledger.accounts()["visits"].left == Pure(0)
    assert ledger.look_up("s0", b"") is not None
    assert ledger.look_up("s1", b"") is None
    assert verify(folder_of(ledger)).problems == []


def test_one_id_asked_several_times_together_is_charged_and_answered_once(ledger: Ledger) -> None:
    bodies = (b"body", b"body", b"another", b"body")
    faults = in_one_batch(
        ledger.storage, *(partial(ledger.charge, "r", body, {"visits": TENTH}, {}) for body in bodies)
    )
    assert [type(fault) for fault in faults] == [type(None), type(None), RequestConflict, type(None)]
    assert ledger.accounts()["visits"].spent == TENTH.loss
    receipts: list[Receipt] = []

    def settle(answer: bytes) -> None:
        receipts.append(ledger.settle("r", answer))

    unknown = partial(ledger.settle, "never charged", b"")
    faults = in_one_batch(ledger.storage, partial(settle, b"1"), partial(settle, b"2"), unknown, partial(settle, b"3"))
    assert [type(fault) for fault in faults] == [type(None), type(None), InvalidValue, type(None)]
    assert len(receipts) == 3
    assert {receipt.answer for receipt in receipts} == {b"1"}
    assert set(receipts) == {ledger.look_up("r", b"body")}
    assert ledger.head() == (receipts[0].position, receipts[0].head)
    assert verify(folder_of(ledger)).problems == []


def test_askers_together_with_somebody_whom_the_database_refuses_are_all_served(ledger: Ledger) -> None:
    def overspend(database: Database) -> None:
        database.execute("UPDATE account_2 SET spent = cap + 1 WHERE name = 'visits'")

    charges = [partial(ledger.charge, f"r{k}", b"", {"visits": TENTH}, {}) for k in range(4)]
    faults = in_one_batch(ledger.storage, *charges[:2], partial(ledger.storage.write, overspend), *charges[2:])
    assert [fault is None for fault in faults] == [True, True, False, True, True]
    assert ledger.accounts()["visits"].spent == 4 * TENTH.loss
    assert verify(folder_of(ledger)).problems == []


def test_thirty_two_threads_spend_exactly_what_there_is(ledger: Ledger) -> None:
    hundredth = price_in_units(Pure("1/100"), BudgetMeasure.PURE)
    released, refused = [], []

    def ask(name: int) -> None:
        for k in range(5):
            try:
                ledger.charge(f"{name}-{k}", b"", {"visits": hundredth}, {})
                released.append(ledger.settle(f"{name}-{k}", f"{name}-{k}".encode()))
            except BudgetExceeded:
                refused.append(k)

    assert in_threads(*(partial(ask, name) for name in range(32))) == []
    assert (len(released), len(refused)) == (100, 60)
    assert all(receipt.answer == receipt.request.encode() for receipt in released)
    assert verify(folder_of(ledger)).problems == []


def test_a_server_is_waited_for_a_few_times_for_many_charges(
    tmp_path: Path, postgres_server: PostgresServer, postgres_url: str
) -> None:
    between = Path(tempfile.mkdtemp(prefix="px"))
    try:
        proxy = CountingProxy(between, postgres_server.folder / ".s.PGSQL.5432")
        Ledger.create(tmp_path).open_account("visits", Allowance.of(Pure(1)))
        move(tmp_path, postgres_url)
        write_server(tmp_path, postgres_url.replace(str(postgres_server.folder), str(between)))
        ledger = Ledger(tmp_path)
        number = 30
        charges = [partial(ledger.charge, f"r{k}", b"", {"visits": LedgerPrice(1)}, {}) for k in range(number)]
        before = proxy.waits
        assert in_one_batch(ledger.storage, *charges) == [None] * number
        assert proxy.waits - before <= 12  # for two transactions: of who held the write lock, and of all others
        ledger.close()
    finally:
        shutil.rmtree(between)
