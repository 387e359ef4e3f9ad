"""The catalog finds tables by name and people by foreign keys, and refuses what does not fit together."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.errors import InvalidValue, PolicyError


def table(name: str, columns: str, unit: str | None = None, keys: str = "", **facts: Any) -> Table:
    """``table("orders", "id customer", keys="customer>customers.id")``, all columns integers."""
    made = tuple(Column(column, ColumnType.INTEGER) for column in columns.split())
    links = [key.replace(">", ".").split(".") for key in keys.split()]
    if not facts.get("public"):
        facts = {"budget": Budget(1)} | facts
    return Table(name, made, unit=unit, foreign_keys=tuple(ForeignKey(*link) for link in links), **facts)


CUSTOMERS = table("Customers", "id age", "id")
ORDERS = table("orders", "id customer", keys="customer>customers.ID")
ITEMS = table("items", "order_id price ware", keys="order_id>Orders.id ware>wares.id")
WARES = table("wares", "id", public=True)
SHOP = Catalog([CUSTOMERS, ORDERS, ITEMS, WARES])


# Names --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["orders", "ORDERS", "main.orders", "Main.Orders", "public.orders"])
def test_a_table_is_found_without_regard_to_case_or_default_schema(name: str) -> None:
    assert SHOP.table(name) is ORDERS
    assert name in SHOP


@pytest.mark.parametrize(
    ("name", "hint"),
    [("order", "did you mean 'orders'"), ("sales.orders", "did you mean 'orders'"), ("zzz", "known: Customers, items")],
)
def test_an_unknown_table_is_refused_with_a_suggestion(name: str, hint: str) -> None:
    assert SHOP.find(name) is None
    with pytest.raises(InvalidValue, match=hint):
        SHOP.table(name)


def test_a_bare_name_finds_a_table_of_a_schema_when_there_is_one_only() -> None:
    north, south = table("north.sales", "id"), table("south.sales", "id")
    assert Catalog([north]).table("sales") is north
    both = Catalog([north, south])
    assert both.find("sales") is None
    assert both.table("NORTH.sales") is north


def test_an_exact_name_wins_over_a_qualified_one() -> None:
    bare, qualified = table("sales", "id"), table("main.sales", "id")
    both = Catalog([bare, qualified])
    assert both.table("sales") is bare
    assert both.table("main.sales") is qualified


def test_two_tables_of_one_name_are_refused() -> None:
    with pytest.raises(PolicyError, match="tables must have different names"):
        Catalog([table("a", "id"), table("A", "id")])


def test_an_empty_catalog_has_nothing_to_suggest() -> None:
    with pytest.raises(InvalidValue, match="there is none yet"):
        Catalog().table("visits")


def test_a_table_can_be_added_replaced_and_taken_out() -> None:
    more = SHOP.with_table(table("ORDERS", "id customer other", keys="customer>customers.id"))
    assert len(more) == len(SHOP) == 4
    assert more.table("orders").column("other") is not None
    assert "items" not in SHOP.without("items")
    assert "items" in SHOP


def test_a_table_that_others_lead_to_cannot_be_taken_out() -> None:
    with pytest.raises(PolicyError, match="orders: a foreign key must lead to a table with a policy, got 'customers'"):
        SHOP.without("customers")


# People -------------------------------------------------------------------------------------------------------------


def test_a_unit_column_is_there_at_once() -> None:
    path = SHOP.unit_path("customers")
    assert path is not None
    assert (path.steps, path.holder, path.column) == ((), CUSTOMERS, "id")


def test_a_key_to_the_unit_column_is_the_unit_without_a_join() -> None:
    path = SHOP.unit_path("orders")
    assert path is not None
    assert (path.steps, path.holder, path.column) == ((), ORDERS, "customer")


def test_a_longer_way_lists_its_joins() -> None:
    path = SHOP.unit_path("items")
    assert path is not None
    assert path.steps == (ForeignKey("order_id", "Orders", "id"),)
    assert (path.holder, path.column) == (ORDERS, "customer")


def test_the_way_goes_on_as_far_as_it_must() -> None:
    parts = table("parts", "item", keys="item>pieces.id")
    pieces = table("pieces", "id order_id", keys="order_id>orders.id")
    path = SHOP.with_table(pieces).with_table(parts).unit_path("parts")
    assert path is not None
    assert [key.table for key in path.steps] == ["pieces", "orders"]
    assert path.holder is ORDERS


def test_a_public_table_has_no_unit() -> None:
    assert SHOP.unit_path("wares") is None
    assert SHOP.unit_domain("wares") is None
    assert not SHOP.same_unit("wares", "wares")


def test_a_table_without_unit_or_keys_to_people_has_its_rows_as_units() -> None:
    visits = table("visits", "ward", keys="ward>wares.id")
    catalog = SHOP.with_table(visits)
    path = catalog.unit_path("visits")
    assert path is not None
    assert path.column is None
    assert catalog.unit_domain("visits") == "rows of visits"


@pytest.mark.parametrize("name", ["customers", "orders", "items"])
def test_tables_linked_by_foreign_keys_share_their_unit(name: str) -> None:
    assert SHOP.unit_domain(name) == "Customers.id"
    assert SHOP.same_unit(name, "orders")


def test_equal_names_of_unit_columns_prove_nothing() -> None:
    catalog = Catalog([table("patients", "id", "id"), table("nurses", "id", "id")])
    assert not catalog.same_unit("patients", "nurses")


def test_a_stated_unit_that_is_a_foreign_key_shares_the_unit_it_leads_to() -> None:
    visits = table("visits", "patient doctor", "patient", keys="patient>patients.id doctor>doctors.id")
    catalog = Catalog([visits, table("patients", "id", "id"), table("doctors", "id", "id")])
    assert catalog.same_unit("visits", "patients")
    assert not catalog.same_unit("visits", "doctors")


def test_a_key_to_another_column_than_the_unit_does_not_share_it() -> None:
    groups = table("groups", "id person", "person")
    visits = table("visits", "group", "group", keys="group>groups.id")
    catalog = Catalog([groups, visits])
    assert catalog.unit_domain("visits") == "visits.group"
    assert not catalog.same_unit("groups", "visits")


def test_two_tables_without_a_table_of_people_can_share_a_unit() -> None:
    drugs = table("drugs", "patient", "patient", keys="patient>visits.patient")
    catalog = Catalog([table("visits", "patient", "patient"), drugs])
    assert catalog.same_unit("drugs", "visits")
    assert catalog.unit_domain("drugs") == "visits.patient"


# What does not fit together -------------------------------------------------------------------------------------------


def refusal(*tables: Table) -> str:
    with pytest.raises(PolicyError) as refused:
        Catalog(tables)
    return str(refused.value)


def test_a_key_to_nowhere_is_refused_with_a_suggestion() -> None:
    assert "did you mean 'Customers'?" in refusal(CUSTOMERS, table("o", "c", keys="c>customer.id"))
    assert "a column of Customers, got 'idd'; did you mean 'id'?" in refusal(
        CUSTOMERS, table("o", "c", keys="c>customers.idd")
    )


def test_all_keys_to_nowhere_are_told_at_once() -> None:
    said = refusal(table("a", "x", keys="x>b.id x>c.id"), table("d", "x", keys="x>e.id"))
    assert said.startswith("3 problems:")


def test_a_key_joins_columns_of_one_type() -> None:
    orders = Table(
        "o", (Column("c", ColumnType.TEXT),), foreign_keys=(ForeignKey("c", "customers", "id"),), budget=Budget(1)
    )
    assert "columns of one type, got <text and integer>" in refusal(CUSTOMERS, orders)


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_a_circle_is_refused_and_drawn(length: int) -> None:
    ring = [table(f"t{n}", "id next", keys=f"next>t{(n + 1) % length}.id") for n in range(length)]
    said = refusal(*ring)
    assert "not in a circle" in said
    assert "<t0 → " in said


def test_two_unit_columns_that_name_each_other_are_a_circle() -> None:
    said = refusal(table("a", "p", "p", keys="p>b.p"), table("b", "p", "p", keys="p>a.p"))
    assert "<a → b → a>" in said


def test_a_manager_is_a_column_like_any_other_when_the_unit_is_stated() -> None:
    staff = table("staff", "id manager", "id", keys="manager>staff.id")
    assert Catalog([staff]).unit_domain("staff") == "staff.id"


def test_a_row_that_would_belong_to_two_people_is_refused() -> None:
    transfers = table("transfers", "a b", keys="a>customers.id b>customers.id")
    said = refusal(CUSTOMERS, transfers)
    assert "a row must belong to one person" in said
    assert "got 'a, b'" in said


def test_a_row_with_two_people_is_accepted_when_the_owner_says_whose_it_is() -> None:
    transfers = table("transfers", "a b", "a", keys="a>customers.id b>customers.id")
    assert Catalog([CUSTOMERS, transfers]).same_unit("transfers", "customers")


def test_a_unit_of_two_kinds_is_refused() -> None:
    both = table("both", "p", "p", keys="p>patients.id p>nurses.id")
    assert "the unit must be of one kind, got <patients.id and nurses.id>" in refusal(
        table("patients", "id", "id"), table("nurses", "id", "id"), both
    )


def test_a_key_to_a_table_of_rows_is_refused_with_what_to_say_there() -> None:
    said = refusal(table("people", "id"), table("orders", "person", keys="person>people.id"))
    assert "say unit: id in the policy of people" in said


def test_a_public_table_must_not_lead_to_a_protected_one() -> None:
    assert "a public table must not lead" in refusal(
        CUSTOMERS, table("list", "id", keys="id>customers.id", public=True)
    )


def test_tables_of_one_unit_agree_on_neighbours() -> None:
    orders = table("orders", "customer", keys="customer>customers.id", neighbours="replace-one")
    said = refusal(CUSTOMERS, orders)
    assert "orders: tables of one unit must agree on neighbours, got 'replace-one'" in said
    assert "Customers says add-remove-one for Customers.id" in said
