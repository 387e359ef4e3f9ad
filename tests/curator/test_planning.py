"""Plans are kept for texts that were asked before, and never outlive the policy or the public table they came from."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import ForeignKey, Table
from discreet.curator import planner as planner_module
from discreet.curator.curator import Curator
from discreet.curator.ledger.units import LOSS_UNITS
from discreet.errors import BudgetExceeded, InvalidInput, QueryRefused
from discreet.privacy.loss import Pure
from discreet.query import question as question_module
from discreet.query.passes import QuestionDraft

VISITS = pa.table({"person": [1, 1, 2, 3], "ward": ["a", "b", "a", "b"], "age": [20, 30, 40, 50]})
POLICY = Table(
    "visits",
    (
        Column("person", ColumnType.INTEGER),
        Column("ward", ColumnType.TEXT, keys=("a", "b"), nullable=False),
        Column("age", ColumnType.INTEGER, lower=0, upper=100, nullable=False),
    ),
    unit="person",
    budget=dp.Budget(10),
    rows_per_unit=2,
)
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
TOTAL_AGE = "SELECT SUM(age) AS total FROM visits"
BY_FLOOR = "SELECT floor, COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY floor"


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    found = Curator(tmp_path)
    found.protect(VISITS, POLICY)
    return found


def changed(column: str, **facts: object) -> Table:
    """The policy with other facts about one column."""
    columns = [replace(one, **facts) if one.name == column else one for one in POLICY.columns]  # type: ignore[arg-type]
    return replace(POLICY, columns=tuple(columns))


def test_new_keys_are_in_the_next_plan_of_a_known_text(curator: Curator) -> None:
    assert curator.explain(BY_WARD, 1).groups == 2
    curator.protect(VISITS, changed("ward", keys=("a", "b", "c")))
    assert curator.explain(BY_WARD, 1).groups == 3
    assert [row["ward"] for row in curator.ask(BY_WARD, 1).to_rows()] == ["a", "b", "c"]


def test_new_bounds_are_in_the_next_plan_of_a_known_text(curator: Curator) -> None:
    (before,) = curator.explain(TOTAL_AGE, 1).errors
    curator.protect(VISITS, changed("age", upper=1000))
    (after,) = curator.explain(TOTAL_AGE, 1).errors
    assert before.within is not None
    assert after.within == pytest.approx(10 * before.within, rel=0.01)


def test_a_column_that_is_gone_is_refused_in_a_known_text(curator: Curator) -> None:
    curator.explain(TOTAL_AGE, 1)
    curator.protect(VISITS, replace(POLICY, columns=POLICY.columns[:2]))
    with pytest.raises(QueryRefused, match="no column"):
        curator.explain(TOTAL_AGE, 1)


def test_new_rows_of_a_public_table_are_in_the_next_plan_of_a_known_text(curator: Curator) -> None:
    wards = {"ward": {"keys": ["a", "b"]}}
    curator.protect(pa.table({"ward": ["a", "b"], "floor": [1, 2]}), table="wards", public=True, columns=wards)
    assert curator.explain(BY_FLOOR, 1).groups == 2
    # By another curator on the same folder, so that this one learns of it from the store alone.
    other = Curator(curator.folder)
    other.protect(pa.table({"ward": ["a", "b", "b"], "floor": [1, 2, 3]}), policy=other.catalog.table("wards"))
    assert curator.explain(BY_FLOOR, 1).groups == 3
    assert [row["floor"] for row in curator.ask(BY_FLOOR, 1).to_rows()] == [1, 2, 3]


def count_plans(monkeypatch: pytest.MonkeyPatch) -> list[Fraction]:
    """The price of every plan that is made from now on."""
    made: list[Fraction] = []

    def note(draft: QuestionDraft) -> QuestionDraft:
        assert isinstance(draft.price, Pure)
        made.append(draft.price.epsilon)
        return draft

    monkeypatch.setattr(question_module, "PLANNING", (note, *question_module.PLANNING))
    return made


def test_whoever_hears_a_price_and_then_asks_has_one_plan_made(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = count_plans(monkeypatch)
    curator.explain(BY_WARD, "1/2")
    curator.ask(BY_WARD, "1/2")
    curator.ask(BY_WARD, "1/2")
    assert made == [Fraction(1, 2)]
    curator.ask_all([BY_WARD, TOTAL_AGE], "1/2")
    assert made == [Fraction(1, 2)] * 2


def test_of_many_plans_the_newest_are_kept(curator: Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner_module, "_MOST_PLANS", 2)
    made = count_plans(monkeypatch)
    for epsilon in (1, 2, 1, 3, 1, 2):
        curator.explain(BY_WARD, epsilon)
    assert made == [1, 2, 3, 2]
    monkeypatch.setattr(planner_module, "_MOST_PLANNED_GROUPS", 1)
    for epsilon in (4, 4):
        curator.explain(BY_WARD, epsilon)
    assert made == [1, 2, 3, 2, 4, 4]


def test_a_price_is_never_that_of_a_plan_for_another(curator: Curator) -> None:
    errors = [curator.explain(BY_WARD, epsilon).errors[0].within for epsilon in ("0.1", "1", "0.1", "10")]
    assert errors[0] == errors[2]
    assert len(set(errors)) == 3


@pytest.mark.parametrize(
    "budget", [dp.Budget(1, "1e-6"), dp.Budget("0.7", "1e-9", "1e-10"), dp.Budget(3, "1e-6", "5e-7")]
)
@pytest.mark.parametrize("select", ["COUNT(*)", "COUNT(*), SUM(age), MEDIAN(age), COUNT(DISTINCT person)"])
@pytest.mark.some(2)
def test_a_budget_with_a_delta_can_be_spent_to_its_end_in_one_question(
    tmp_path: Path, budget: dp.Budget, select: str
) -> None:
    curator = Curator(tmp_path)
    curator.protect(VISITS, replace(POLICY, budget=budget))
    curator.ask(f"SELECT ward, {select} FROM visits GROUP BY ward", budget.epsilon)
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) FROM visits", "1e-4")


def test_where_all_of_delta_is_for_keys_epsilon_adds_up_and_groups_need_fewer_people(tmp_path: Path) -> None:
    table = replace(
        POLICY, columns=(POLICY.columns[0], Column("ward", ColumnType.TEXT), POLICY.columns[2]), rows_per_unit=1
    )
    found = {}
    for keys in ("5e-7", "1e-6"):
        curator = Curator(tmp_path / keys)
        curator.protect(VISITS, replace(table, budget=dp.Budget(1, "1e-6", keys)))
        found[keys] = curator.explain(BY_WARD, "0.25")
    within = {keys: one.errors[0].within for keys, one in found.items()}
    assert within["1e-6"] < within["5e-7"] / 2
    for k in range(4):
        answer = curator.ask(BY_WARD.replace("GROUP", f"WHERE age > {k} GROUP"), "0.25")
        assert answer.price == Pure("0.25")
    loss = answer.certificate["loss"]
    assert "pure" not in loss
    assert loss["approximate"] == {
        "epsilon": {"exact": "1/4", "rounded_up": "0.25"},
        "delta": {"exact": "1/4000000", "rounded_up": "2.5e-07"},
    }
    account = curator.budget()["visits"]
    assert (account["spent"], account["delta_left"]) == (Pure(1), 0)
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) FROM visits", "1e-4")


def test_questions_of_tables_with_both_kinds_of_budget_are_priced_in_epsilon(tmp_path: Path) -> None:
    people = Table("people", POLICY.columns[:1], unit="person", budget=dp.Budget(1, "1e-6", "5e-7"))
    keys = (ForeignKey("person", "people", "person"),)
    curator = Curator(tmp_path)
    curator.protect(VISITS.select(["person"]), people)
    curator.protect(VISITS, replace(POLICY, budget=dp.Budget(1, "5e-7", "5e-7"), foreign_keys=keys))
    assert curator.ask("SELECT COUNT(*) FROM visits JOIN people USING (person)", "0.1").price == Pure("0.1")
    spent = {name: account["spent"] for name, account in curator.budget().items()}
    assert spent == dict.fromkeys(("visits", "people", "/people.person"), Pure("0.1"))
    assert curator.ledger.accounts()["people"].spent < LOSS_UNITS // 200  # e/α is less than e²/2 here


def test_a_cap_is_counted_as_its_budget_is(tmp_path: Path) -> None:
    whole = dp.Budget(1, "1e-6", "1e-6")
    for cap, is_within in (
        (dp.Budget("0.5"), True),
        (dp.Budget("0.5", "1e-7", "1e-7"), True),
        (dp.Budget("0.5", "1e-7"), False),
    ):
        if is_within:
            assert replace(POLICY, budget=whole, analysts={"ada": cap}).analysts["ada"] == cap
        else:
            with pytest.raises(InvalidInput, match="must be within"):
                replace(POLICY, budget=whole, analysts={"ada": cap})
