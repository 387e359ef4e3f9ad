"""What owners do is in the ledger too: caps that change, who may ask, and what is published without noise."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.ledger.chain import GENESIS, canonical, link
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import Allowance, BudgetMeasure, price_in_units
from discreet.curator.ledger.verify import verify
from discreet.curator.ledger.witness import Witness
from discreet.errors import BudgetExceeded, InvalidInput, InvalidValue
from discreet.privacy.loss import Approximate, Pure

TENTH = price_in_units(Pure("0.1"), BudgetMeasure.PURE)
SHA = hashlib.sha256(b"a release").hexdigest()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path)
    made.open_account("visits", Allowance.of(Pure(1)))
    made.open_account("visits/ann", Allowance.of(Pure("0.2")))
    return made


def spend(ledger: Ledger, request: str) -> None:
    ledger.charge(request, b"", {"visits": TENTH, "visits/ann": TENTH}, {})
    ledger.settle(request, b"answer")


# Caps.


def test_a_cap_is_raised_and_lowered_but_never_below_what_was_spent(ledger: Ledger) -> None:
    spend(ledger, "r0")
    spend(ledger, "r1")
    with pytest.raises(BudgetExceeded):
        spend(ledger, "r2")
    ledger.change_cap("visits/ann", Allowance.of(Pure("0.3")), by="olga")
    spend(ledger, "r2")
    with pytest.raises(InvalidValue, match=r"not be below what was spent, ε 0\.3"):
        ledger.change_cap("visits/ann", Allowance.of(Pure("0.29")), by="olga")
    ledger.change_cap("visits/ann", Allowance.of(Pure("0.5")), by="olga")
    ledger.change_cap("visits/ann", Allowance.of(Pure("0.3")), by="olga")
    with pytest.raises(BudgetExceeded):
        spend(ledger, "r3")
    changes = [entry.body for entry in ledger.entries() if entry.body["kind"] == "cap"]
    assert [(each["name"], each["by"]) for each in changes] == [("visits/ann", "olga")] * 3
    assert verify(ledger.path.parent).is_sound


def test_a_cap_that_stays_is_no_change(ledger: Ledger) -> None:
    before = ledger.head()
    ledger.change_cap("visits/ann", Allowance.of(Pure("0.2")), by="olga")
    assert ledger.head() == before


def test_a_tables_budget_is_granted_for_good_and_kinds_do_not_mix(ledger: Ledger) -> None:
    before = ledger.head()
    wrong = [("visits", Pure(2)), ("visits", Pure("0.5")), ("nobody", Pure(1)), ("visits/ann", Approximate(1, "1e-6"))]
    for name, budget in wrong:
        with pytest.raises(InvalidInput):
            ledger.change_cap(name, Allowance.of(budget), by="olga")
    assert ledger.head() == before


# Who may ask.


def test_who_may_ask_is_written_down(ledger: Ledger) -> None:
    ledger.record_analyst("visits", "ann", may_ask=False, by="olga")
    body = list(ledger.entries())[-1].body
    assert (body["table"], body["analyst"], body["may_ask"], body["by"]) == ("visits", "ann", False, "olga")
    assert verify(ledger.path.parent).is_sound


# Publications.


def test_a_publication_is_recorded_once_as_what_it_is(ledger: Ledger) -> None:
    first = ledger.publish("wards", SHA, "olga", {"k": 5})
    again = ledger.publish("wards", SHA, "otto", {"k": 4})
    other = ledger.publish("wards 2025", SHA, "otto", {})
    assert again == first
    assert other.position == first.position + 1
    assert (first.body["loss"], first.body["approved_by"], first.body["statement"]) == ("infinite", "olga", {"k": 5})
    assert ledger.publications() == [first, other]
    assert Ledger(ledger.path.parent).publications() == [first, other]
    assert verify(ledger.path.parent).is_sound


# Tampering.


@pytest.fixture
def story(ledger: Ledger) -> Path:
    spend(ledger, "r0")
    ledger.change_cap("visits/ann", Allowance.of(Pure("0.3")), by="olga")
    ledger.record_analyst("visits", "ann", may_ask=False, by="olga")
    ledger.publish("wards", SHA, "olga", {"k": 5})
    ledger.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger.close()
    folder = ledger.path.parent
    assert verify(folder).is_sound
    return folder


def rewritten(folder: Path, change: Any) -> None:
    """The ledger with other records, chained and attested anew by somebody who knows how; accounts are left alone."""
    with sqlite3.connect(folder / "ledger.db") as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        bodies = [json.loads(row[0]) for row in database.execute("SELECT body FROM entry ORDER BY position")]
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("DELETE FROM entry")
        head, position = GENESIS, 0
        for position, body in enumerate(change(bodies), start=1):
            head = link(head, canonical(body))
            database.execute("INSERT INTO entry VALUES (?, ?, ?)", (position, canonical(body), head))
        for _, made in triggers:
            database.execute(made)
    witness = Witness(folder / "ledger.witness")
    witness.path.unlink()
    witness.create(position, head)


def test_records_written_anew_as_they_were_are_believed(story: Path) -> None:
    """So the next test sees what was changed and not that it was written anew."""
    rewritten(story, lambda bodies: bodies)
    assert verify(story).problems == []


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("cap", None),
        ("cap", {"cap": 0}),
        ("cap", {"cap": 10**15}),
        ("cap", {"delta_cap": 1}),
        ("cap", {"name": "visits"}),
        ("cap", {"name": "nobody/ann"}),
        ("publication", None),
        ("publication", {"loss": "Pure(ε=1)"}),
        ("publication", {"name": "another"}),
        ("publication", {"sha256": "00"}),
        ("publication", {"approved_by": ""}),
        ("publication", {"body": "00"}),
        ("publication", {"request": "publication:00:wards"}),
        ("analyst", {"kind": "another"}),
    ],
)
def test_a_forged_or_missing_record_is_not_believed(story: Path, kind: str, changed: dict[str, Any] | None) -> None:
    def change(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
        others = [body for body in bodies if body["kind"] != kind] if changed is None else bodies
        return [body | changed if changed and body["kind"] == kind else body for body in others]

    rewritten(story, change)
    assert verify(story).problems


def test_a_cap_that_was_below_what_was_spent_is_not_believed_even_when_it_was_raised_again(story: Path) -> None:
    def change(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
        [cap] = [body for body in bodies if body["kind"] == "cap"]
        place = bodies.index(cap)
        return [*bodies[:place], cap | {"cap": 1}, cap, *bodies[place + 2 :]]  # in place of the record of the analyst

    rewritten(story, change)
    assert verify(story).problems == ["record 6 changes a cap that it must not"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE account_2 SET cap = cap + 1 WHERE name = 'visits/ann'",
        "UPDATE account_2 SET delta_cap = 1 WHERE name = 'visits/ann'",
        "DELETE FROM request WHERE id LIKE 'publication:%'",
        "UPDATE request SET id = 'publication:00:wards' WHERE id LIKE 'publication:%'",
        "UPDATE request SET bytes = x'00' WHERE id LIKE 'publication:%'",
    ],
)
def test_what_stands_beside_the_records_must_agree_with_them(story: Path, statement: str) -> None:
    with sqlite3.connect(story / "ledger.db") as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.execute(statement)
        for _, made in triggers:
            database.execute(made)
    assert verify(story).problems


def test_an_older_copy_with_a_higher_cap_is_not_believed(ledger: Ledger) -> None:
    ledger.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    older = ledger.path.read_bytes()
    ledger.change_cap("visits/ann", Allowance.of(Pure("0.1")), by="olga")
    ledger.close()
    for file in ledger.path.parent.glob("ledger.db*"):
        file.unlink()
    ledger.path.write_bytes(older)
    assert any("witness" in problem for problem in verify(ledger.path.parent).problems)
