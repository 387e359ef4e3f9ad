"""Owners change who may ask and up to which cap, while what was spent stays counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import write
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, DiscreetError, InvalidInput, PolicyError
from discreet.privacy.loss import Pure

ROWS = pa.table({"age": list(range(50))})
COUNT = "SELECT COUNT(*) AS n FROM visits"


def policy(analysts: dict[str, Budget | None] | None = None, budget: Budget | None = None) -> Table:
    columns = (Column("age", ColumnType.INTEGER, lower=0, upper=110),)
    return Table("visits", columns, budget=budget or Budget(3), analysts=analysts or {})


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    made = Curator(tmp_path / "hospital")
    made.protect(ROWS, policy())
    return made


def older_than(age: int) -> str:
    return f"{COUNT} WHERE age > {age}"


def may_ask(curator: Curator, who: str) -> bool:
    try:
        curator.explain(COUNT, epsilon="0.1", analyst=who)
    except InvalidInput:
        return False
    return True


def test_an_analyst_may_ask_from_then_on_up_to_their_cap_also_after_opening_again(curator: Curator) -> None:
    assert not may_ask(curator, "ann")
    curator.allow("visits", "ann", Budget("0.5"), by="olga")
    for opened in (curator, Curator(curator.folder)):
        assert may_ask(opened, "ann")
        assert opened.catalog.table("visits").analysts == {"ann": Budget("0.5")}
    curator.ask(COUNT, epsilon="0.5", analyst="ann")
    with pytest.raises(BudgetExceeded):
        curator.ask(older_than(3), epsilon="0.1", analyst="ann")
    assert curator.budget()["visits/ann"]["left"] == Pure(0)
    kinds = [entry.body["kind"] for entry in curator.ledger.entries()]
    assert kinds == ["start", "account", "account", "analyst", "charge", "answer"]
    assert verify(curator.folder).is_sound


def test_a_cap_is_raised_and_lowered_within_what_was_spent_and_granted(curator: Curator) -> None:
    curator.allow("visits", "ann", Budget("0.5"))
    curator.ask(COUNT, epsilon="0.5", analyst="ann")
    curator.allow("visits", "ann", Budget(1), by="olga")
    curator.ask(older_than(3), epsilon="0.25", analyst="ann")
    before = curator.ledger.head(), curator.catalog
    with pytest.raises(InvalidInput, match="not be below what was spent"):
        curator.allow("visits", "ann", Budget("0.7"))
    for cap in (Budget(4), Budget(1, "1e-6")):
        with pytest.raises(PolicyError, match="within the table's budget"):
            curator.allow("visits", "ann", cap)
    assert (curator.ledger.head(), curator.catalog) == before
    curator.allow("visits", "ann", Budget("0.75"), by="olga")
    assert curator.budget()["visits/ann"]["left"] == Pure(0)
    assert Curator(curator.folder).catalog.table("visits").analysts == {"ann": Budget("0.75")}


def test_what_was_spent_is_still_counted_when_somebody_is_allowed_again(curator: Curator) -> None:
    curator.allow("visits", "ann", Budget("0.5"))
    curator.ask(COUNT, epsilon="0.5", analyst="ann")
    curator.disallow("visits", "ann", by="olga")
    assert not may_ask(curator, "ann")
    assert not may_ask(Curator(curator.folder), "ann")
    with pytest.raises(InvalidInput, match="named in the policy"):
        curator.ask(COUNT, epsilon="0.5", analyst="ann")
    with pytest.raises(InvalidInput, match="not be below what was spent"):
        curator.allow("visits", "ann", Budget("0.1"))
    curator.allow("visits", "ann", Budget("0.6"))
    assert curator.budget()["visits/ann"]["left"] == Pure("0.1")
    assert verify(curator.folder).is_sound


def test_what_was_spent_without_a_cap_counts_when_one_is_set(curator: Curator) -> None:
    curator.allow("visits", "ann", None)
    curator.ask(COUNT, epsilon=1, analyst="ann")
    with pytest.raises(InvalidInput, match="not be below what was spent"):
        curator.allow("visits", "ann", Budget("0.5"))
    curator.allow("visits", "ann", Budget(1))
    curator.allow("visits", "ann", None)
    curator.ask(older_than(3), epsilon=1, analyst="ann")
    curator.allow("visits", "ann", Budget("2.5"))
    assert curator.budget()["visits/ann"]["left"] == Pure("0.5")


def test_disallowing_a_stranger_changes_nothing(curator: Curator) -> None:
    before = curator.ledger.head(), curator.catalog
    curator.disallow("visits", "eve")
    assert (curator.ledger.head(), curator.catalog) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda curator: curator.allow("nothing", "ann", Budget(1)),
        lambda curator: curator.disallow("nothing", "ann"),
        lambda curator: curator.allow("visits", "_ann", Budget(1)),
        lambda curator: curator.allow("visits", "", Budget(1)),
        lambda curator: curator.allow("visits", "a\nb", None),
        lambda curator: curator.allow("wards", "ann", None),
        lambda curator: curator.disallow("wards", "ann"),
    ],
)
@pytest.mark.some(3)
def test_what_cannot_be_allowed_is_refused_and_changes_nothing(
    curator: Curator, change: Callable[[Curator], object]
) -> None:
    curator.protect(pa.table({"w": ["A"]}), Table("wards", (Column("w", ColumnType.TEXT),), public=True))
    before = curator.ledger.head(), curator.catalog
    with pytest.raises(InvalidInput):
        change(curator)
    assert (curator.ledger.head(), curator.catalog) == before


def test_taking_in_data_again_changes_no_cap(curator: Curator) -> None:
    curator.allow("visits", "ann", Budget("0.5"))
    for cap in (Budget(1), Budget("0.1"), None):
        with pytest.raises(InvalidInput, match="change it with allow"):
            curator.protect(ROWS, policy({"ann": cap}))
    curator.protect(ROWS, policy({"ann": Budget("0.5")}))
    curator.protect(ROWS, policy())
    with pytest.raises(InvalidInput, match="changed with allow"):
        curator.protect(ROWS, policy({"ann": Budget(1)}))
    curator.protect(ROWS, policy({"ann": Budget("0.5"), "bob": Budget(1)}))
    assert curator.budget()["visits/bob"]["cap"] == Pure(1)
    assert verify(curator.folder).is_sound


def test_a_budget_cannot_be_renewed_by_losing_the_policy(curator: Curator) -> None:
    for file in (curator.folder / "policies").iterdir():
        file.unlink()
    reopened = Curator(curator.folder)
    with pytest.raises(InvalidInput, match="the ledger must have the same budget"):
        reopened.protect(ROWS, policy(budget=Budget(9)))
    reopened.protect(ROWS, policy())


@pytest.mark.parametrize("name", ["VISITS", "Visits", "main.visits", "PUBLIC.visits", "visits"])
@pytest.mark.parametrize("public", [False, True])
@pytest.mark.some(3)
def test_a_table_that_has_an_account_stays_what_it_was_also_without_its_policy(
    curator: Curator, name: str, public: bool
) -> None:
    if name == "visits" and not public:
        return
    for file in (curator.folder / "policies").iterdir():
        file.unlink()
    table = replace(policy(), name=name, **({"public": True, "budget": None} if public else {}))
    for opened in (curator, Curator(curator.folder)):
        for attempt in (lambda opened=opened: opened.protect(ROWS, table), lambda opened=opened: opened.check(table)):
            with pytest.raises(InvalidInput, match="must stay"):
                attempt()
    write(table, curator.folder / "policies" / "visits.yaml")
    with pytest.raises(DiscreetError):
        curator.explain(f'SELECT COUNT(*) FROM "{name.rsplit(".", maxsplit=1)[-1]}"', 1)
    with pytest.raises(InvalidInput, match="must stay"):
        Curator(curator.folder)


def test_a_table_of_another_schema_is_another_table(curator: Curator) -> None:
    for file in (curator.folder / "policies").iterdir():
        file.unlink()
    curator.protect(ROWS, replace(policy(), name="sales.visits"))
    assert sorted(curator.budget()) == ["sales.visits", "visits"]
    Curator(curator.folder)


def test_what_changes_while_rows_are_taken_in_is_kept(curator: Curator) -> None:
    curator.allow("visits", "ann", Budget("0.5"))
    curator.allow("visits", "bob", Budget("0.5"))
    owner, changed = Curator(curator.folder), []

    def meanwhile(done: float) -> None:
        if not changed:
            changed.append(done)
            curator.disallow("visits", "ann")
            curator.allow("visits", "bob", Budget(1))
            curator.allow("visits", "cleo", Budget(2))

    many = pa.table({"age": list(range(100)) * 3000})
    table = owner.protect(many, policy({"ann": Budget("0.5"), "bob": Budget("0.5"), "dan": None}), progress=meanwhile)
    assert changed
    assert table.analysts == {"bob": Budget(1), "cleo": Budget(2), "dan": None}
    assert Curator(curator.folder).catalog.table("visits").analysts == table.analysts
