"""Balances stand where they hold: people, their tables, analysts, periods; periods that are alike share a line."""

from __future__ import annotations

from typing import Any

from discreet.curator.balances import Balances, BalanceTree, build_tree
from discreet.privacy.loss import Pure

TREE = BalanceTree(
    {"visits": "/patient", "labs": "/patient", "/patient per week": "/patient"},
    {"visits": "week", "visits/ann": "week"},
)


def balance(spent: str) -> dict[str, Any]:
    return {"cap": Pure(1), "spent": Pure(spent), "left": Pure(2), "more": None}


def shape(names: dict[str, str], tree: BalanceTree = TREE) -> list[tuple[int, str, tuple[str, ...]]]:
    balances = {name: balance(spent) for name, spent in names.items()}
    return [(node.depth, node.name, node.through) for node in build_tree(balances, tree)]


def test_tables_are_inside_their_people_and_analysts_inside_tables() -> None:
    names = dict.fromkeys(("labs", "labs/bob", "/patient", "other"), "1")
    assert shape(names) == [(0, "/patient", ()), (1, "labs", ()), (2, "labs/bob", ()), (0, "other", ())]


def test_periods_that_are_alike_and_next_to_each_other_share_a_line() -> None:
    spent = {"2026-W02": "1/4", "2026-W03": "1/4", "2026-W04": "1/2", "2026-W05": "1/4"}
    names = {"visits": "1", **{f"visits//{week}": each for week, each in spent.items()}}
    assert shape(names) == [
        (0, "visits", ()),
        (1, "visits", ("2026-W02", "2026-W03")),
        (1, "visits", ("2026-W04",)),
        (1, "visits", ("2026-W05",)),
    ]


def test_no_account_is_left_out_and_none_stands_twice() -> None:
    names = ["/patient", "labs/ann", "gone/bob/2026-W02", "/patient per week/2026-W02", "/nurses", "labs/a%2Fb"]
    names += ["visits", "visits/ann", "visits//2026-W02", "visits/ann/2026-W02", "gone//2026-W02", "labs"]
    found = shape({name: str(k + 1) for k, name in enumerate(names)})
    assert len([one for one in found if one[2]]) == sum("W02" in name for name in names)
    assert {name for _, name, through in found if not through} >= {name for name in names if "W02" not in name}
    assert len(set(found)) == len(found)


def test_a_table_called_as_an_analyst_is_another_one() -> None:
    found = shape(dict.fromkeys(("ann", "visits", "visits/ann"), "1"), BalanceTree({"ann": "/nurses"}))
    assert found == [(0, "ann", ()), (0, "visits", ()), (1, "visits/ann", ())]


def test_what_every_period_is_granted_stands_beside_the_table() -> None:
    shown = Balances({name: balance("1/4") for name in ("visits", "visits//2026-W02", "visits//2026-W03")})
    shown.tree = TREE
    lines = [line.split() for line in str(shown).splitlines()]
    assert lines[1] == ["visits", "ε", "1", "a", "week"]
    assert lines[2][:4] == ["each", "of", "2026-W02", "to"]


def test_balances_without_policies_are_still_all_there() -> None:
    shown = Balances({"visits//2026-W02": balance("1/4"), "/patient": balance("1")})
    assert [line.split("  ")[0].strip() or line.split()[0] for line in str(shown).splitlines()[1:]] == [
        "people of patient",
        "visits",
        "2026-W02",
    ]
