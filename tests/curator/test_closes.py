"""Periods close in order, each once, and open accounts for themselves alone, in a file and on a server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from discreet.catalog.period import Every, Period, TimeColumn
from discreet.curator.ledger.chain import append, head, remember
from discreet.curator.ledger.checkpoint import Checkpoint
from discreet.curator.ledger.closes import NewAccount, close_id, close_period, list_closes
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.maintenance import record_restore
from discreet.curator.ledger.move import move
from discreet.curator.ledger.people import insert_account
from discreet.curator.ledger.replay import stored_accounts
from discreet.curator.ledger.units import Allowance, BudgetMeasure, LedgerPrice, price_in_units
from discreet.curator.ledger.verify import verify, verify_since
from discreet.errors import BudgetExceeded, InvalidValue, LedgerError
from discreet.privacy.loss import Pure
from discreet.storage.database import Database
from tests.servers.fixtures import postgres_server, postgres_url
from tests.storage.one_batch import in_one_batch
from tests.thoroughness import in_turns

__all__ = ["postgres_server", "postgres_url"]

MONTHS = TimeColumn("admitted", Every.MONTH, date(2026, 1, 1))
JANUARY = MONTHS.named("2026-01")
FEBRUARY, MARCH = MONTHS.named("2026-02"), MONTHS.named("2026-03")
ONE = Allowance.of(Pure(1))
HALF = price_in_units(Pure("1/2"), BudgetMeasure.PURE)
ROOTS = {month.name: f"{k:064x}" for k, month in enumerate((JANUARY, FEBRUARY, MARCH))}


def accounts_of(month: Period) -> dict[str, NewAccount]:
    people = f"/patients.id per month/{month.name}"
    return {f"visits//{month.name}": NewAccount(ONE, unit=people), people: NewAccount(ONE, unit="/patients.id")}


def close(ledger: Ledger, month: Period) -> int:
    return ledger.close_period("visits", month, ROOTS[month.name], accounts_of(month))


def prices(month: Period, price: LedgerPrice = HALF) -> dict[str, LedgerPrice]:
    return dict.fromkeys([*accounts_of(month), "/patients.id"], price)


@pytest.fixture(params=in_turns("file", "server"))
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger.create(tmp_path)
    made.open_people("/patients.id", Allowance.counted(BudgetMeasure.PURE))
    if request.param == "server":
        made.close()
        move(tmp_path, request.getfixturevalue("postgres_url"))
        made = Ledger(tmp_path)
    yield made
    made.close()


def test_periods_close_in_order_and_are_told_in_order(ledger: Ledger, tmp_path: Path) -> None:
    assert ledger.closes("visits") == []
    positions = [close(ledger, month) for month in (JANUARY, FEBRUARY)]
    assert [one.position for one in ledger.closes("visits")] == positions
    positions.append(close(ledger, MARCH))
    again = Ledger(tmp_path)
    for told in (ledger.closes("visits"), again.closes("visits")):
        assert [one.position for one in told] == positions
        assert [Period(one.name, one.start, one.end) for one in told] == [JANUARY, FEBRUARY, MARCH]
        assert {one.name: one.root for one in told} == ROOTS
    again.close()
    assert verify(tmp_path).problems == []


def test_closes_of_tables_that_are_called_alike_are_kept_apart(ledger: Ledger, tmp_path: Path) -> None:
    for table in ("visits", "visits:2026-01", "visit", "6:visits"):
        assert ledger.closes(table) == []
        ledger.close_period(table, JANUARY, table, {})
    assert [ledger.closes(table)[0].root for table in ("visits", "6:visits")] == ["visits", "6:visits"]
    assert verify(tmp_path).problems == []


def test_a_close_that_is_said_again_does_nothing(ledger: Ledger, tmp_path: Path) -> None:
    first = close(ledger, JANUARY)
    close(ledger, FEBRUARY)
    before = ledger.head()
    assert close(ledger, JANUARY) == first
    assert ledger.head() == before
    assert verify(tmp_path).problems == []


def test_closers_at_once_write_one_record(ledger: Ledger, tmp_path: Path) -> None:
    found: list[int] = []
    assert in_one_batch(ledger.storage, *[lambda: found.append(close(ledger, JANUARY))] * 4) == [None] * 4
    assert len(set(found)) == 1
    assert verify(tmp_path).problems == []


def test_what_is_out_of_order_or_has_another_root_is_refused_for_free(ledger: Ledger) -> None:
    close(ledger, JANUARY)
    before = ledger.head()
    wrong: list[Callable[[], object]] = [
        lambda: close(ledger, MARCH),
        lambda: ledger.close_period("visits", JANUARY, "another", accounts_of(JANUARY)),
        lambda: ledger.close_period("visits", replace(JANUARY, end=MARCH.end), ROOTS["2026-01"], {}),
        lambda: ledger.close_period("visits", replace(FEBRUARY, start=JANUARY.start), "x", {}),
        lambda: ledger.close_period("visits", replace(FEBRUARY, end=FEBRUARY.start), "x", {}),
    ]
    for one in wrong:
        with pytest.raises(LedgerError):
            one()
    assert ledger.head() == before


@pytest.mark.parametrize("name", ["visits//2026-02", "visits", "labs//2026-01", "/patients.id", "visits/ann"])
def test_a_close_opens_accounts_for_its_period_alone(ledger: Ledger, name: str) -> None:
    before = ledger.head()
    with pytest.raises(InvalidValue, match="for it alone"):
        ledger.close_period("visits", JANUARY, "root", {name: NewAccount(ONE)})
    assert ledger.head() == before
    assert name == "/patients.id" or name not in ledger.accounts()


def test_an_account_is_opened_with_that_of_its_people(ledger: Ledger) -> None:
    alone = {"visits//2026-01": NewAccount(ONE, unit="/patients.id per month/2026-01")}
    with pytest.raises(InvalidValue, match="must be opened before"):
        ledger.close_period("visits", JANUARY, "root", alone)
    with pytest.raises(InvalidValue, match="account of people"):
        ledger.close_period("visits", JANUARY, "root", {"visits//2026-01": NewAccount(ONE, unit="visits//2026-01")})


def test_accounts_for_periods_are_opened_by_nothing_but_their_close(ledger: Ledger, tmp_path: Path) -> None:
    for name in ("visits//2026-01", "/patients.id per month/2026-01", "visits/ann/2026-01"):
        with pytest.raises(InvalidValue, match="when the period closes"):
            ledger.open_account(name, ONE)
    close(ledger, JANUARY)
    ledger.open_account("visits/ann/2026-01", ONE)  # a cap that is added later lies within the table's
    with pytest.raises(InvalidValue, match="when the period closes"):
        ledger.open_account("visits/ann/2026-02", ONE)
    assert verify(tmp_path).problems == []


def test_people_of_several_tables_get_one_account_for_a_period(ledger: Ledger, tmp_path: Path) -> None:
    close(ledger, JANUARY)
    ledger.charge("r1", b"", prices(JANUARY), {})
    people = "/patients.id per month/2026-01"
    ledger.close_period(
        "labs", JANUARY, "root", {"labs//2026-01": NewAccount(ONE, unit=people), people: NewAccount(ONE)}
    )
    assert ledger.accounts()[people].spent == HALF.loss
    assert verify(tmp_path).problems == []


def test_every_period_has_its_own_budget_and_the_person_pays_for_all(ledger: Ledger, tmp_path: Path) -> None:
    for month in (JANUARY, FEBRUARY):
        close(ledger, month)
        ledger.charge(f"r{month.name}", b"", prices(month, price_in_units(Pure(1), BudgetMeasure.PURE)), {})
    with pytest.raises(BudgetExceeded, match=r"left for the people of visits in 2026-01, ε 0;"):
        ledger.charge("r3", b"", prices(JANUARY), {})
    spent = {name: account.was_spent for name, account in ledger.accounts().items()}
    assert spent["/patients.id"] == Pure(2)
    assert spent["visits//2026-02"] == Pure(1)
    assert verify(tmp_path).problems == []


def test_what_a_period_was_granted_is_never_raised(ledger: Ledger) -> None:
    close(ledger, JANUARY)
    for name in accounts_of(JANUARY):
        with pytest.raises(InvalidValue, match=r"stays as it was granted|is never raised"):
            ledger.change_cap(name, Allowance.of(Pure(2)))


@pytest.mark.parametrize("left_out", ["/patients.id", "/patients.id per month/2026-01"])
def test_whoever_pays_for_a_period_pays_for_its_people(ledger: Ledger, left_out: str) -> None:
    close(ledger, JANUARY)
    due = {name: price for name, price in prices(JANUARY).items() if name != left_out}
    with pytest.raises(InvalidValue, match="pays for its people"):
        ledger.charge("r", b"", due, {})


# What a verification finds -------------------------------------------------------------------------------------------


def appended(ledger: Ledger, kind: str, change: Mapping[str, Any], request: str) -> None:
    """A record as somebody would write it who can write to the tables, with all that belongs to it."""

    def part(database: Database) -> None:
        record = {"kind": kind, **change}
        position, _ = append(database, record, head(database))
        for facts in record.get("accounts", [record] if kind == "account" else []):
            insert_account(database, facts)
        if request:
            name = close_id("visits", request)
            remember(database, name, hashlib.sha256(name.encode()).digest(), position)

    ledger.storage.write(part, sealed=True)


def told(month: Period, accounts: list[dict[str, Any]]) -> dict[str, Any]:
    times = {"from": month.start.isoformat(), "until": month.end.isoformat()}
    return {"table": "visits", "period": month.name, "root": "root", "accounts": accounts, **times}


FACTS = {"measure": "pure", "cap": 1, "delta_cap": 0, "places": 1}


@pytest.mark.parametrize("is_later", [False, True], ids=["whole", "since a checkpoint"])
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda led: appended(led, "close", told(MARCH, []), "2026-03"), "out of order"),
        (lambda led: appended(led, "close", told(replace(JANUARY, name="again"), []), "again"), "out of order"),
        (lambda led: appended(led, "close", told(FEBRUARY, []), ""), "is missing"),
        (
            lambda led: appended(led, "close", told(FEBRUARY, [{"name": "visits//2026-03", **FACTS}]), "2026-02"),
            "is not for 2026-02 of visits alone",
        ),
        (
            lambda led: appended(
                led, "close", told(FEBRUARY, [{"name": "visits//2026-02", "unit": "/x/2026-02", **FACTS}]), "2026-02"
            ),
            "before that of its people",
        ),
        (lambda led: appended(led, "account", {"name": "visits//2026-02", **FACTS}, ""), "that did not close"),
        (lambda led: appended(led, "account", {"name": "visits/ann/2026-02", **FACTS}, ""), "that did not close"),
        (lambda led: appended(led, "account", {"name": "/p/2026-01", **FACTS}, ""), "that did not close"),
    ],
)
def test_a_verification_finds_closes_and_accounts_that_are_not_as_they_are_made(
    ledger: Ledger, tmp_path: Path, change: Callable[[Ledger], None], found: str, is_later: bool
) -> None:
    close(ledger, JANUARY)
    with ledger.storage.reading() as database:
        (position, digest), accounts = head(database), stored_accounts(database)
    start = Checkpoint(position, digest.hex(), accounts, {})
    change(ledger)
    problems = (verify_since(ledger, start)[0] if is_later else verify(tmp_path)).problems
    assert any(found in one for one in problems), problems


def test_a_verification_since_a_checkpoint_knows_the_closes_before_it(ledger: Ledger) -> None:
    close(ledger, JANUARY)
    with ledger.storage.reading() as database:
        (position, digest), accounts = head(database), stored_accounts(database)
    start = Checkpoint(position, digest.hex(), accounts, {})
    for month in (FEBRUARY, MARCH):
        close(ledger, month)
        ledger.charge(month.name, b"", prices(month), {})
    assert verify_since(ledger, start)[0].problems == []


# Coming back, and going elsewhere ------------------------------------------------------------------------------------


def test_a_period_that_was_lost_after_a_backup_is_not_granted_again(ledger: Ledger, tmp_path: Path) -> None:
    close(ledger, JANUARY)
    spent = {"measure": "pure", "cap": ONE.cap, "delta_cap": 0, "places": 1, "spent": ONE.cap, "delta_spent": 0}
    record_restore(ledger, ledger.head(), 9, {"visits//2026-02": spent}, "a lost disk")
    assert verify(tmp_path).problems == []
    close(ledger, FEBRUARY)
    with pytest.raises(BudgetExceeded):
        ledger.charge("r", b"", prices(FEBRUARY), {})
    assert verify(tmp_path).problems == []


def test_all_that_is_left_is_used_up_and_what_is_counted_goes_on(ledger: Ledger, tmp_path: Path) -> None:
    close(ledger, JANUARY)
    record_restore(ledger, ledger.head(), None, {}, "a lost disk")
    assert ledger.accounts()["visits//2026-01"].left == Pure(0)
    close(ledger, FEBRUARY)
    ledger.charge("r", b"", prices(FEBRUARY), {})
    assert verify(tmp_path).problems == []


def test_a_ledger_with_closed_periods_moves_to_a_server(tmp_path: Path, postgres_url: str) -> None:
    made = Ledger.create(tmp_path)
    made.open_people("/patients.id", Allowance.counted(BudgetMeasure.EITHER))
    for month in (JANUARY, FEBRUARY):
        close(made, month)
    before = made.closes("visits")
    made.close()
    move(tmp_path, postgres_url)
    moved = Ledger(tmp_path)
    assert moved.closes("visits") == before
    close(moved, MARCH)
    assert moved.accounts()["/patients.id"].allowance.is_counted
    assert verify(tmp_path).problems == []
    moved.close()


def test_closes_are_found_without_the_rest_of_the_ledger(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path)
    days = TimeColumn("day", Every.DAY, date(2010, 1, 1))

    def part(database: Database) -> None:
        for day in days.through("2010-12-31"):
            close_period(database, "visits", day, "root", {})

    ledger.storage.write(part, sealed=True)
    assert len(ledger.closes("visits")) == 365
    explained = "EXPLAIN QUERY PLAN SELECT charge FROM request WHERE id > ? AND id < ?"
    with ledger.storage.reading() as database:
        assert "SEARCH request USING PRIMARY KEY" in str(database.execute(explained, ("a", "b")).fetchall())
        assert list_closes(database, "visits") == ledger.closes("visits")
