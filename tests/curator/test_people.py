"""One account per person: tables of the same people share a budget, and nothing is granted twice."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import apsw
import pyarrow as pa
import pytest

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import dumps, loads
from discreet.catalog.table import ForeignKey, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger import chain, people
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.move import move
from discreet.curator.ledger.units import LOSS_UNITS, Allowance, BudgetMeasure, LedgerPrice, Portion
from discreet.curator.ledger.verify import verify
from discreet.curator.ledger.witness import attestation
from discreet.errors import BudgetExceeded, InvalidInput
from discreet.privacy.loss import Approximate, Pure
from tests.curator.older_ledger import make_older
from tests.servers.fixtures import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

INTEGER = ColumnType.INTEGER
PATIENTS = Table("patients", (Column("id", INTEGER),), unit="id", budget=Budget(1))
KEY = (ForeignKey("patient", "patients", "id"),)
VISITS = Table("visits", (Column("patient", INTEGER),), foreign_keys=KEY, budget=Budget(1))
PEOPLE = pa.table({"id": list(range(50))})
ROWS = pa.table({"patient": list(range(50))})
COUNT_PATIENTS, COUNT_VISITS = "SELECT COUNT(*) FROM patients", "SELECT COUNT(*) FROM visits"
BOTH = "SELECT COUNT(*) FROM visits JOIN patients ON visits.patient = patients.id"


def spent(curator: Curator) -> dict[str, Fraction]:
    return {name: one["spent"].epsilon for name, one in curator.budget().items()}


@pytest.fixture
def linked(tmp_path: Path) -> Curator:
    curator = Curator(tmp_path)
    curator.protect(PEOPLE, PATIENTS)
    curator.protect(ROWS, VISITS)
    return curator


@pytest.mark.parametrize("sql", [COUNT_PATIENTS, COUNT_VISITS, BOTH])
def test_two_tables_of_one_are_asked_once(linked: Curator, sql: str) -> None:
    linked.ask(sql, 1)
    for other in (COUNT_PATIENTS, COUNT_VISITS, BOTH):
        if other != sql:
            with pytest.raises(BudgetExceeded, match="must fit what is left"):
                linked.ask(other, "0.01")
    assert spent(linked)["/patients.id"] == 1
    assert verify(linked.folder).problems == []


def test_a_question_about_two_tables_is_charged_once_to_their_people(linked: Curator) -> None:
    answer = linked.ask(BOTH, "0.5")
    assert spent(linked) == {"/patients.id": Fraction(1, 2), "patients": Fraction(1, 2), "visits": Fraction(1, 2)}
    assert answer.certificate["charged"]["prices"].keys() == {"/patients.id", "patients", "visits"}
    linked.ask(COUNT_VISITS, "0.25")
    assert spent(linked) == {"/patients.id": Fraction(3, 4), "patients": Fraction(1, 2), "visits": Fraction(3, 4)}


def test_what_was_spent_on_the_first_table_counts_when_the_second_comes(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(PEOPLE, PATIENTS)
    curator.ask(COUNT_PATIENTS, "0.75")
    curator.protect(ROWS, VISITS)
    with pytest.raises(BudgetExceeded, match=r"left for the people of visits, ε 0\.25"):
        curator.ask(COUNT_VISITS, "0.5")
    curator.ask(COUNT_VISITS, "0.25")
    assert verify(tmp_path).problems == []


def test_a_table_that_joins_has_a_budget_within_that_of_its_people(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(PEOPLE, PATIENTS)
    for budget in (Budget(2), Budget("0.5", "1e-6")):
        with pytest.raises(InvalidInput, match="who have ε 1 in all"):
            curator.protect(ROWS, Table("visits", VISITS.columns, foreign_keys=KEY, budget=budget))
    stated = Table("patients", PATIENTS.columns, unit="id", unit_budget=Budget(3, "1e-6"), budget=Budget(1))
    other = Curator(tmp_path / "other")
    other.protect(PEOPLE, stated)
    other.protect(ROWS, Table("visits", VISITS.columns, foreign_keys=KEY, budget=Budget(2, "1e-6")))
    assert other.ledger.accounts()["/patients.id"].allowance == Allowance.of(Approximate(3, "1e-6"))


def test_a_lower_budget_of_people_stands_in_the_policy_that_stated_it(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    stated = Table("patients", PATIENTS.columns, unit="id", unit_budget=Budget(3, "1e-6"), budget=Budget(1, "1e-6"))
    curator.protect(PEOPLE, stated)
    curator.ask(COUNT_PATIENTS, part="1/10")
    curator.lower("patients.id", {"epsilon": 2, "delta": "1e-6"})
    lowered = curator.catalog.table("patients")
    assert lowered.unit_budget == Budget(2, "1e-6")
    curator.protect(PEOPLE, lowered)  # new data under the policy as it is now
    with pytest.raises(InvalidInput, match="were granted ε 2 with a δ in all"):
        curator.protect(PEOPLE, stated)
    assert verify(tmp_path).problems == []


def test_what_people_have_is_granted_with_their_first_table(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(PEOPLE, PATIENTS)
    stated = Table("patients", PATIENTS.columns, unit="id", unit_budget=Budget(3), budget=Budget(1))
    with pytest.raises(InvalidInput, match="were granted ε 1 with their first table"):
        curator.protect(PEOPLE, stated)
    (tmp_path / "policies" / "patients.yaml").unlink()
    with pytest.raises(InvalidInput, match="were granted ε 1 with their first table"):
        Curator(tmp_path).protect(PEOPLE, stated)


def test_people_are_known_under_one_relation_also_when_policies_are_gone(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    unit: Any = {"name": "patient", "column": "id"}
    curator.protect(PEOPLE, table="patients", unit=unit, budget=1)
    (tmp_path / "policies" / "patients.yaml").unlink()
    other = Curator(tmp_path)
    named: Any = {"name": "Patient", "column": "id"}  # names are those of people, in any case
    with pytest.raises(InvalidInput, match="must agree on neighbours"):
        other.protect(PEOPLE, table="surveys", unit=named, budget=1, neighbours="replace-one")


def test_people_are_called_by_a_name_where_no_foreign_key_says_who_they_are(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    named: Any = {"name": "patient", "column": "id", "budget": 2}
    curator.protect(PEOPLE, table="patients", unit=named, budget=1)
    curator.protect(PEOPLE, table="surveys", unit={"name": "patient", "column": "id"}, budget=2)
    curator.protect(PEOPLE, table="nurses", unit="id", budget=1)
    curator.ask("SELECT COUNT(*) FROM surveys", "1.5")
    with pytest.raises(BudgetExceeded, match=r"left for the people of patients, ε 0\.5"):
        curator.ask(COUNT_PATIENTS, 1)
    curator.ask("SELECT COUNT(*) FROM nurses", 1)
    assert spent(curator)["/patient"] == Fraction(3, 2)
    again = loads(dumps(curator.catalog.table("patients")))
    assert again == curator.catalog.table("patients")
    assert curator.budget().notes() == ["Whoever is among nurses.id and patient at once loses at most ε 1 + 2 = 3."]
    for name in ("a b", "patients.id", ""):
        with pytest.raises(InvalidInput):
            Table("t", PATIENTS.columns, unit="id", unit_name=name, budget=Budget(1))


def test_an_account_of_people_is_found_again_after_its_policies_were_taken_away(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    named: Any = {"name": "patient", "column": "id"}
    curator.protect(PEOPLE, table="patients", unit=named, budget=1)
    curator.ask(COUNT_PATIENTS, 1)
    (tmp_path / "policies" / "patients.yaml").unlink()
    other = Curator(tmp_path)
    other.protect(PEOPLE, table="surveys", unit=named, budget=1)
    with pytest.raises(BudgetExceeded, match="left for the people of surveys, ε 0"):
        other.ask("SELECT COUNT(*) FROM surveys", "0.1")
    with pytest.raises(InvalidInput, match="whose rows they are must stay as it was, patient"):
        other.protect(PEOPLE, table="patients", unit="id", budget=1)


def test_a_question_that_was_planned_before_the_second_table_came_is_priced_again(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(PEOPLE, PATIENTS)
    planned = curator._prepared
    later = Curator(tmp_path)

    def prepared(*given: Any, **named: Any) -> Any:
        found = planned(*given, **named)
        if "visits" not in curator.catalog:
            later.protect(ROWS, VISITS)
        return found

    curator._prepared = prepared  # type: ignore[method-assign]
    curator.ask(COUNT_PATIENTS, "0.5")
    assert spent(curator)["/patients.id"] == Fraction(1, 2)


def test_what_people_have_is_lowered_and_never_raised(linked: Curator) -> None:
    linked.ask(COUNT_VISITS, "0.5")
    with pytest.raises(InvalidInput, match="never raised"):
        linked.lower("patients.id", 2)
    with pytest.raises(InvalidInput, match="must not be below what was spent"):
        linked.lower("patients.id", "0.4")
    linked.lower("patients.id", "0.5")
    with pytest.raises(BudgetExceeded):
        linked.ask(COUNT_PATIENTS, "0.1")
    assert verify(linked.folder).problems == []


# Ledgers from before people had accounts ------------------------------------------------------------------------------


def older(folder: Path, *tables: Table) -> None:
    """A folder whose tables were protected, and asked about, before people had accounts."""
    curator = Curator(folder)
    data = {"patients": PEOPLE, "visits": ROWS}
    for table in tables:
        alone = Table(table.name, table.columns, unit=table.columns[0].name, budget=table.budget)
        curator.protect(data[table.name], alone)
    for table in tables:
        curator.ask(f"SELECT COUNT(*) FROM {table.name}", "0.7")
        curator._policies.write(table)
    for table in tables:
        curator.engine.take_in(table, data[table.name], catalog=Catalog(tables))
    curator.ledger.close()
    forget_units(folder)
    make_older(str(folder / "ledger.db"))


def forget_units(folder: Path) -> None:
    """As a ledger was written by the version before: no record says whose rows a table holds."""
    connection = apsw.Connection(str(folder / "ledger.db"))
    for trigger in ("entries_stay", "entries_remain"):
        connection.execute(f"DROP TRIGGER {trigger}")
    head = chain.GENESIS
    for position, body, _ in connection.execute("SELECT position, body, hash FROM entry ORDER BY position").fetchall():
        record = {key: value for key, value in chain.entry_of_row((position, body, b"")).body.items() if key != "unit"}
        text = chain.canonical(record)
        head = chain.link(head, text)
        connection.execute("UPDATE entry SET body = ?, hash = ? WHERE position = ?", (text, head, position))
    for trigger, when in (("entries_stay", "UPDATE"), ("entries_remain", "DELETE")):
        word = "changed" if when == "UPDATE" else "deleted"
        said = f"BEGIN SELECT RAISE(ABORT, 'entries are never {word}'); END"
        connection.execute(f"CREATE TRIGGER {trigger} BEFORE {when} ON entry {said}")
    connection.close()
    (folder / "ledger.checkpoint").unlink(missing_ok=True)
    witness = folder / "ledger.witness"
    witness.unlink()
    witness.write_bytes(attestation(position, head))


def test_an_older_ledger_grants_people_what_their_tables_did_and_nothing_more(tmp_path: Path) -> None:
    older(tmp_path, PATIENTS, VISITS)
    curator = Curator(tmp_path)
    account = curator.ledger.accounts()["/patients.id"]
    assert (account.allowance.cap, account.spent) == (2 * LOSS_UNITS, LOSS_UNITS * 14 // 10)
    curator.ask(COUNT_VISITS, "0.3")
    with pytest.raises(BudgetExceeded, match="left for visits, ε 0"):
        curator.ask(BOTH, "0.1")
    assert verify(tmp_path).problems == []
    assert Curator(tmp_path).ledger.accounts()["/patients.id"].spent == LOSS_UNITS * 17 // 10


def test_a_process_of_the_version_before_charges_nothing_once_the_ledger_was_upgraded(tmp_path: Path) -> None:
    older(tmp_path, PATIENTS, VISITS)
    before = apsw.Connection(str(tmp_path / "ledger.db"))
    charging = "UPDATE account SET spent = spent WHERE name = 'visits'"
    before.execute(charging)
    Curator(tmp_path)
    with pytest.raises(apsw.SQLError, match="no such table: account"):
        before.execute(charging)
    before.close()


def test_a_table_from_before_that_stands_alone_says_whose_rows_it_holds(tmp_path: Path) -> None:
    older(tmp_path, PATIENTS)
    curator = Curator(tmp_path)
    assert curator.ledger.accounts().keys() == {"patients"}
    curator.protect(ROWS, VISITS)
    assert curator.ledger.accounts()["/patients.id"].spent == LOSS_UNITS * 7 // 10
    assert verify(tmp_path).problems == []


def some_price(chance: random.Random, measure: BudgetMeasure) -> LedgerPrice:
    size = LOSS_UNITS // 40 if measure is BudgetMeasure.PURE else LOSS_UNITS // 400
    portions = [
        Portion(json, key, chance.randrange(size))
        for json in chance.sample(("ward", "sex"), chance.randrange(3))
        for key in chance.sample("abc", chance.randrange(1, 3))
    ]
    return LedgerPrice(chance.randrange(size), chance.randrange(3), tuple(portions))


def worst(charges: list[tuple[BudgetMeasure, LedgerPrice]], keys: dict[str, str], *, squared: bool) -> Fraction:
    """What a person with these keys was charged in all, computed from the charges one by one."""
    total = Fraction(0)
    for measure, price in charges:
        parts = [price.loss, *(one.loss for one in price.portions if keys.get(one.part) == one.key)]
        if squared and measure is BudgetMeasure.PURE:
            total += sum(Fraction(one * one, 2 * LOSS_UNITS) for one in parts)
        else:
            total += sum(parts)
    return total


@pytest.mark.parametrize("seed", range(12))
def test_taking_over_never_counts_too_little_and_never_grants(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    measures = [chance.choice((BudgetMeasure.PURE, BudgetMeasure.CONCENTRATED)) for _ in range(chance.randrange(1, 4))]
    ledger = Ledger.create(tmp_path)
    charges: list[tuple[BudgetMeasure, LedgerPrice]] = []
    for number, measure in enumerate(measures):
        ledger.open_account(f"t{number}", Allowance(measure, LOSS_UNITS, 1000))
    for step in range(chance.randrange(20)):
        number = chance.randrange(len(measures))
        price = some_price(chance, measures[number])
        ledger.charge(f"r{step}", b"", {f"t{number}": price}, {})
        charges.append((measures[number], price))
    granted = sum(one.allowance.cap for one in ledger.accounts().values())
    ledger.join_people({f"t{number}": "/people" for number in range(len(measures))}, {"/people": 1})
    accounts = ledger.accounts()
    assert ("/people" in accounts) is (len(measures) > 1)
    if "/people" in accounts:
        owners, is_pure = accounts["/people"], all(one is BudgetMeasure.PURE for one in measures)
        assert owners.delta_spent == sum(price.delta for _, price in charges)
        for ward in "abcd":
            for sex in "abcd":
                assert worst(charges, {"ward": ward, "sex": sex}, squared=not is_pure) <= owners.spent
        assert owners.allowance.cap <= granted
        for number in range(len(measures)):  # whatever a table could pay, its people can
            left = accounts[f"t{number}"].allowance.cap - accounts[f"t{number}"].spent
            assert left <= 0 or not is_pure or owners.allowance.cap - owners.spent >= left
    assert verify(tmp_path).problems == []


def test_people_get_their_account_on_a_server_too(tmp_path: Path, postgres_url: str) -> None:
    ledger = Ledger.create(tmp_path)
    for name in ("a", "b"):
        ledger.open_account(name, Allowance.of(Pure(1)))
        ledger.charge(name, b"", {name: LedgerPrice(1000, 0, (Portion("ward", "x", 70), Portion("ward", "y", 90)))}, {})
    ledger.close()
    make_older(str(tmp_path / "ledger.db"))
    move(tmp_path, postgres_url)
    ledger = Ledger(tmp_path)
    ledger.join_people({"a": "/p", "b": "/p"}, {"/p": 1})
    assert ledger.accounts()["/p"].spent == 2180  # the same key of the same column in both
    with pytest.raises(InvalidInput, match="whoever pays for a table pays for its people"):
        ledger.charge("c", b"", {"a": LedgerPrice(1)}, {})
    ledger.charge("c", b"", {"a": LedgerPrice(1), "/p": LedgerPrice(1)}, {})
    assert verify(tmp_path).problems == []
    ledger.close()


def test_a_takeover_that_says_too_little_does_not_verify(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path)
    for name in ("a", "b"):
        ledger.open_account(name, Allowance.of(Pure(1)))
        ledger.charge(name, b"", {name: LedgerPrice(1000)}, {})
    sound, people.take_over = people.take_over, lambda *_: LedgerPrice(1000)
    try:
        ledger.join_people({"a": "/p", "b": "/p"}, {"/p": 1})
    finally:
        people.take_over = sound
    assert verify(tmp_path).problems == []
    ledger.open_account("c", Allowance.of(Pure(1)))
    ledger.charge("c", b"", {"c": LedgerPrice(1000)}, {})
    people.take_over = lambda *_: LedgerPrice(999)
    try:
        ledger.join_people({"c": "/p"}, {"/p": 1})
    finally:
        people.take_over = sound
    assert any("does not charge people what their table was charged" in one for one in verify(tmp_path).problems)


def test_a_batch_about_two_tables_costs_their_people_all_of_it(linked: Curator) -> None:
    linked.ask_all([COUNT_PATIENTS, COUNT_VISITS], "0.8")
    assert spent(linked) == {"/patients.id": Fraction(4, 5), "patients": Fraction(2, 5), "visits": Fraction(2, 5)}
