"""Tables and budgets check themselves, in Python as in a file."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.errors import InvalidInput, PolicyError
from discreet.privacy.loss import Approximate, Pure
from discreet.privacy.neighbours import Neighbours

COLUMNS = (Column("id", ColumnType.INTEGER), Column("Ward", ColumnType.TEXT))


def table(**facts: Any) -> Table:
    return Table("visits", **({"columns": COLUMNS, "budget": Budget(1)} | facts))


def test_a_column_is_found_without_regard_to_case() -> None:
    assert table().column("wARD") is COLUMNS[1]
    assert table().column("wards") is None


def test_lists_and_words_are_taken_for_what_they_mean() -> None:
    made = table(columns=list(COLUMNS), neighbours="replace-one", foreign_keys=[ForeignKey("id", "t", "id")])
    assert made.columns == COLUMNS
    assert made.neighbours is Neighbours.REPLACE_ONE


def test_a_table_does_not_change_when_the_dictionary_of_its_analysts_does() -> None:
    analysts: dict[str, Budget | None] = {"ann": None}
    made = table(analysts=analysts)
    analysts["eve"] = None
    assert made.analysts == {"ann": None}


def test_equal_tables_have_equal_hashes() -> None:
    assert hash(table(analysts={"ann": None})) == hash(table(analysts={"ann": None}))


WRONG = [
    ({"columns": ()}, "at least one column"),
    ({"columns": (*COLUMNS, Column("WARD", ColumnType.TEXT))}, "columns must have different names"),
    ({"unit": "patient"}, "the unit must be one of the columns"),
    ({"budget": None}, "a protected table must have a budget"),
    ({"budget": Pure(3)}, "visits: a budget must be ε, or ε and δ, got Pure(ε=3); write 3,"),
    ({"budget": True}, "a budget must be ε, or ε and δ, got True"),
    ({"budget": {"epsilom": 3}}, "a budget has no such field, got 'epsilom'; did you mean 'epsilon'?"),
    ({"budget": {"delta": 0.1}}, "a budget must have an epsilon"),
    ({"budget": -3}, "epsilon must be positive, got -3"),
    ({"unit": 4.5}, "the unit must be the name of a column, got 4.5; write"),
    ({"public": "yes"}, "public must be true or false, got 'yes'"),
    ({"analysts": ["ann"]}, "analysts must be names with their caps, got ['ann']; write"),
    ({"analysts": {"ann": [1]}}, "the cap of ann must be ε, or ε and δ, got [1]"),
    ({"columns": ["id"]}, "columns must be a list of Column, got ['id']; write"),
    ({"foreign_keys": [{"column": "id"}]}, "a foreign key has the fields column, table and other_column"),
    ({"foreign_keys": {"column": "id"}}, "foreign_keys must be a list"),
    ({"foreign_keys": ["id"]}, "a foreign key must have three fields, got 'id'; write"),
    ({"rows_per_unit": 2}, "every row is a person of its own"),
    ({"unit": "id", "rows_per_unit": 2.0}, "rows_per_unit must be an integer"),
    ({"unit": "id", "rows_per_unit": 2**21}, "rows_per_unit must be at most"),
    ({"groups_per_unit": 0}, "groups_per_unit must be at least 1"),
    ({"groups_per_unit": True}, "groups_per_unit must be an integer"),
    ({"neighbours": "swap"}, "neighbours must be"),
    ({"analysts": {"": None}}, "an analyst's name must not be empty"),
    ({"analysts": {"ann": Budget(2)}}, "the cap of ann must be within the table's budget"),
    ({"analysts": {"ann": Budget(1, 1e-6)}}, "pure when it is pure"),
    ({"budget": Budget(1, 1e-6), "analysts": {"ann": Budget(1, 1e-5)}}, "within the table's budget"),
    ({"public": True}, "a public table has no budget"),
    ({"public": True, "budget": None, "unit": "id"}, "a public table has no unit"),
    ({"public": True, "budget": None, "analysts": {"ann": None}}, "a public table has no analysts"),
    ({"public": True, "budget": None, "groups_per_unit": 2}, "a public table has no groups_per_unit"),
    ({"foreign_keys": [ForeignKey("no", "t", "id")]}, "a foreign key must start at one of the columns"),
    ({"foreign_keys": [ForeignKey("id", "t", "id")] * 2}, "foreign keys must differ"),
]


@pytest.mark.parametrize(("facts", "said"), WRONG, ids=[said[:40] for *_, said in WRONG])
def test_a_table_that_contradicts_itself_is_refused(facts: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as refused:
        table(**facts)
    assert said in str(refused.value)
    assert len(refused.value.problems) == (2 if "different names" in said else 1)


@pytest.mark.parametrize("facts", [{"lower": 0, "upper": 9}, {"keys": (1, 2)}, {"default": 0}])
def test_a_unit_column_has_no_facts_that_could_merge_two_people(facts: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="the unit column names people"):
        table(unit="ID", columns=(Column("id", ColumnType.INTEGER, **facts),))


def test_what_is_plain_is_taken_as_it_is_meant() -> None:
    for budget in (3, "3", 3.0, Fraction(3), {"epsilon": 3}, Budget(3)):
        assert table(budget=budget).budget == Budget(3)
    assert table(budget={"epsilon": 1, "delta": "1e-6"}).budget == Budget(1, "1e-6")
    assert table(analysts={"ann": 0.5, "bob": "all", "eve": None}).analysts == {
        "ann": Budget("0.5"),
        "bob": None,
        "eve": None,
    }
    stated = {"column": "id", "table": "t", "other_column": "id"}
    assert table(foreign_keys=[stated]).foreign_keys == (ForeignKey("id", "t", "id"),)


def test_a_foreign_key_names_three_things() -> None:
    with pytest.raises(PolicyError, match="the table of a foreign key must not be empty"):
        ForeignKey("id", "", "id")


# Budgets ------------------------------------------------------------------------------------------------------------


def test_a_budget_is_exact() -> None:
    assert Budget(0.1, 1e-6).loss == Approximate(Fraction(1, 10), Fraction(1, 10**6))
    assert Budget("1/3").loss == Pure(Fraction(1, 3))


def test_half_of_delta_is_kept_for_keys_unless_stated() -> None:
    assert Budget(1, 1e-6).delta_for_keys == 0  # nothing is set aside unless the owner says so
    assert Budget(1, 1e-6, 0).delta_for_keys == 0
    assert Budget(1).delta_for_keys == 0


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ((0,), "epsilon must be positive"),
        ((-1,), "epsilon must be positive"),
        ((float("nan"),), "epsilon must be finite"),
        ((float("inf"),), "epsilon must be finite"),
        (("1e400",), "epsilon must lie between"),
        ((5e-324,), "epsilon must lie between"),
        ((True,), "epsilon must be a number"),
        ((None,), "epsilon must be a number"),
        ((1, 1), "delta must be below 1"),
        ((1, -1e-9), "delta must lie between 0 and 1"),
        ((1, 1e-6, 2e-6), "delta_for_keys must be a part of delta"),
        ((1, 0, 1e-9), "delta_for_keys must be a part of delta"),
    ],
)
def test_a_budget_that_promises_nothing_is_refused(facts: tuple[Any, ...], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Budget(*facts)
