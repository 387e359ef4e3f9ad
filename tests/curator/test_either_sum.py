"""Budgets with δ: ε and ρ are both counted, one of them must fit, and a part is paid by the better noise."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.accounting.filter import EitherFilter
from discreet.curator.curator import Curator
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import Allowance, LedgerPrice, price_in_units
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, InvalidInput
from discreet.privacy.loss import Approximate, Pure, ZeroConcentrated

BUDGET = Approximate(2, "1e-6")
ALLOWANCE = Allowance.of(BUDGET)
VISITS = pa.table({"id": list(range(300)), "ward": ["a", "b", "c"] * 100})
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def some_loss(chance: random.Random) -> Pure | ZeroConcentrated:
    if chance.random() < 0.6:
        return Pure(Fraction(chance.randrange(1, 60), 100))
    return ZeroConcentrated(Fraction(chance.randrange(1, 400), 10_000))


def price(loss: Pure | ZeroConcentrated) -> LedgerPrice:
    return price_in_units(loss, ALLOWANCE.measure, order=ALLOWANCE.order)


@pytest.mark.parametrize("seed", range(10))
def test_the_ledger_admits_what_the_proved_filter_admits(tmp_path: Path, seed: int) -> None:
    chance, proved = random.Random(seed), EitherFilter(BUDGET)
    ledger = Ledger.create(tmp_path)
    ledger.open_account("visits", ALLOWANCE)
    for step in range(60):
        loss = some_loss(chance)
        fits = proved.affords(loss)
        assert ledger.affords({"visits": price(loss)}) is fits
        if not fits:
            with pytest.raises(BudgetExceeded):
                ledger.charge(f"r{step}", b"", {"visits": price(loss)}, {})
        elif chance.random() < 0.2:  # charged, and returned: as if nothing had been
            ledger.charge(f"r{step}", b"", {"visits": price(loss)}, {})
            assert ledger.give_back(f"r{step}")
        else:
            ledger.charge(f"r{step}", b"", {"visits": price(loss)}, {})
            proved.charge(loss)
    assert verify(tmp_path).problems == []


def test_one_gaussian_release_ends_the_sum_of_epsilon_until_it_is_returned(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path)
    ledger.open_account("visits", ALLOWANCE)
    whole, little = {"visits": price(Pure(2))}, {"visits": price(ZeroConcentrated("0.001"))}
    assert ledger.affords(whole)
    ledger.charge("gaussian", b"", little, {})
    assert not ledger.affords(whole)
    assert ledger.give_back("gaussian")
    assert ledger.affords(whole)
    ledger.charge("all", b"", whole, {})
    assert not ledger.affords(little)
    assert not ledger.affords({"visits": price(Pure("0.001"))})
    assert ledger.accounts()["visits"].left == Pure(0)
    assert verify(tmp_path).problems == []


def test_the_database_itself_refuses_what_fits_neither_sum(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path)
    ledger.open_account("visits", ALLOWANCE)
    ledger.charge("all", b"", {"visits": price(Pure(2))}, {})
    for statement in ("impure = 1", "spent_pure = spent_pure + 1"):
        with pytest.raises(Exception, match="CHECK"):
            ledger.database.execute(f"UPDATE account_2 SET {statement}")


def test_a_plan_of_another_noise_is_not_run_for_what_a_pure_one_was_charged() -> None:
    from discreet.curator.ledger.unanswered import covers

    pure, gaussian = price(Pure("0.5")), price(ZeroConcentrated("0.001"))
    assert gaussian.loss < pure.loss
    assert not covers({"visits": pure}, {"visits": gaussian})
    assert covers({"visits": pure}, {"visits": price(Pure("0.4"))})
    assert not covers({"visits": pure}, {"visits": price(Pure("0.6"))})
    assert covers({"visits": price(ZeroConcentrated("0.05"))}, {"visits": price(Pure("0.1"))})


# Parts of a budget ----------------------------------------------------------------------------------------------------


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    made = Curator(tmp_path)
    budget: Any = {"epsilon": 2, "delta": "1e-6"}
    columns: Any = {"ward": {"keys": ["a", "b", "c"]}}
    made.protect(VISITS, table="visits", unit="id", budget=budget, columns=columns, rows_per_unit=3)
    return made


def test_a_part_is_paid_by_the_noise_that_is_better_for_it(curator: Curator) -> None:
    large, small = curator.explain(BY_WARD, part="1/2"), curator.explain(BY_WARD, part="1/20")
    assert [type(one.price) for one in (large, small)] == [Pure, ZeroConcentrated]
    for found in (large, small):
        taken = min(found.options, key=lambda one: one.errors[0].within or 0)
        assert (taken.price, taken.errors) == (found.price, found.errors)
        assert {one.noise for one in found.options} == {"Laplace", "Gaussian"}
    assert "Gaussian for ρ" in str(large)
    assert large.to_dict()["options"][0]["noise"] == "Laplace"


def test_all_parts_of_a_budget_can_be_spent_and_no_more(curator: Curator) -> None:
    first = curator.ask(BY_WARD, part="1/2")
    assert first.price == Pure(1)
    assert not curator.ask(BY_WARD, part="1/2").charged
    second = curator.ask("SELECT COUNT(*) FROM visits", part="1/2")
    assert second.price == Pure(1)
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) FROM visits", part="1/100")
    assert not curator.ask(BY_WARD, part="1/2").charged  # also now that nothing is left
    assert verify(curator.folder).problems == []


def test_a_part_that_only_fits_with_the_other_noise_is_paid_so(curator: Curator) -> None:
    assert isinstance(curator.ask(BY_WARD, part="1/50").price, ZeroConcentrated)
    found = curator.explain(BY_WARD, part="9/10")
    assert [one.affordable for one in found.options] == [False, True]
    assert isinstance(curator.ask(BY_WARD, part="9/10").price, ZeroConcentrated)


def test_a_part_is_of_the_cap_of_who_asks(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(VISITS, table="visits", unit="id", budget=2, analysts={"ann": "0.5"})
    assert curator.ask("SELECT COUNT(*) FROM visits", part="1/2", analyst="ann").price == Pure("0.25")
    assert curator.ask("SELECT COUNT(*) FROM visits", part="1/2").price == Pure(1)


@pytest.mark.parametrize("part", [0, "5/4", "-1/2", "x"])
def test_a_part_that_is_none_is_refused(curator: Curator, part: Any) -> None:
    with pytest.raises(InvalidInput):
        curator.ask(BY_WARD, part=part)
    with pytest.raises(InvalidInput, match="a price, an error, or a part"):
        curator.ask(BY_WARD, 1, part="1/2")


def test_a_whole_release_under_a_delta_is_as_good_as_without(tmp_path: Path) -> None:
    wide = pa.table({"id": list(range(260)), "g": list(range(260))})
    columns: Any = {"g": {"keys": list(range(260))}}
    errors = {}
    for name, budget in (("pure", 2), ("both", {"epsilon": 2, "delta": "1e-6"})):
        made = Curator(tmp_path / name)
        stated: Any = budget
        made.protect(wide, table="t", unit="id", budget=stated, columns=columns, rows_per_unit=3)
        sql = "SELECT g, COUNT(*) FROM t GROUP BY g"
        errors[name] = made.explain(sql, part=1).errors[0].within
        errors[f"{name} by ε"] = made.explain(sql, 2).errors[0].within
    assert errors["both"] == errors["pure"]
    assert errors["both by ε"] > 2 * errors["both"]
