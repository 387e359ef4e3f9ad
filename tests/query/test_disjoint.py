"""Parts of which a row counts in one at most share one share of the price; what is not proved apart does not."""

from __future__ import annotations

import pytest

from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.plan import disjoint
from discreet.query.plan.budget_split import Price
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.measure import exact_sums, public_groups
from tests.query.hostile import Person, world_of
from tests.query.world import prepared

APART = [
    ("ward = 'a'", "ward = 'b'"),
    ("ward IN ('a', 'c')", "ward IN ('b', 'd')"),
    ("age < 20", "age >= 20"),
    ("age BETWEEN 0 AND 9", "age BETWEEN 10 AND 19"),
    ("cost < 5", "cost > 7"),
    ("5 > cost", "7.5 <= cost"),
    ("day < DATE '2020-02-01'", "day = DATE '2020-02-01'"),
    ("flag", "NOT flag"),
    ("flag IS TRUE", "flag IS FALSE"),
    ("ward IS NULL", "ward = 'a'"),
    ("age IS NULL", "age > 3"),
    ("ward = 'a' AND age > 3", "age < 9 AND ward = 'b'"),
    ("ward = 'a' OR ward = 'b'", "ward = 'c'"),
    ("age + 1 = 3", "age + 1 = 4"),
    ("NOT (age < 20)", "age < 20"),
    ("upper(ward) = 'A'", "upper(ward) IN ('B')"),
]
NOT_PROVED = [
    ("ward = 'a'", "ward <> 'b'"),
    ("ward = 'a'", "kind = 'x'"),
    ("age <= 20", "age >= 20"),
    ("age < 20", "age + 1 > 30"),
    ("age < 20", "cost > 30"),
    ("ward = 'a' OR age > 3", "ward = 'b'"),
    ("ward = 'a' OR ward = 'b'", "ward IN ('b', 'c')"),
    ("ward < 'a'", "ward > 'b'"),
    ("ward IS NULL", "age IS NULL"),
    ("ward IS NOT NULL", "ward = 'a'"),
    ("(ward = 'a') IS NOT TRUE", "ward = 'b'"),
    ("age < 20 OR ward = 'a'", "age >= 20"),
]


def _plan(text: str, price: Price | None = None) -> AggregationPlan:
    (plan,) = prepared(text, price or Pure(1)).plans
    return plan


def _counts(*tests: str) -> str:
    return f"SELECT {', '.join(f'COUNT(*) FILTER (WHERE {test})' for test in tests)} FROM visits"


def test_conditions_that_exclude_each_other_share_a_share() -> None:
    assert [pair for pair in APART if _plan(_counts(*pair)).families != ((0, 1),)] == []


def test_conditions_that_are_not_proved_apart_do_not() -> None:
    assert [pair for pair in NOT_PROVED if _plan(_counts(*pair)).families != ((0,), (1,))] == []


@pytest.mark.parametrize("price", [Pure(1), ZeroConcentrated(1)], ids=str)
def test_three_filters_have_the_noise_of_one(price: Price) -> None:
    one = _plan("SELECT COUNT(*) FROM visits WHERE ward = 'a'", price)
    three = _plan(_counts("ward = 'a'", "ward = 'b'", "ward = 'c'"), price)
    assert {repr(noise) for noise in three.noises} == {repr(one.noises[0])}
    assert three.shares == [(tuple(three.block.aggregates), one.parts[0].share)]


@pytest.mark.parametrize(
    ("text", "families"),
    [
        (
            "SELECT SUM(CASE WHEN flag THEN cost ELSE 0 END), SUM(CASE WHEN NOT flag THEN age ELSE 0 END) FROM visits",
            ((0, 1),),
        ),
        (
            "SELECT COUNT(CASE WHEN ward = 'a' THEN 1 END), AVG(CASE WHEN ward = 'b' THEN age END) FROM visits",
            ((0, 1),),
        ),
        ("SELECT SUM(CASE WHEN flag THEN cost ELSE 1 END), COUNT(*) FILTER (WHERE NOT flag) FROM visits", ((0,), (1,))),
        ("SELECT AVG(CASE WHEN flag THEN cost ELSE 0 END), COUNT(*) FILTER (WHERE NOT flag) FROM visits", ((0,), (1,))),
        ("SELECT COUNT(DISTINCT patient_id) FILTER (WHERE flag), COUNT(*) FILTER (WHERE NOT flag) FROM visits", None),
        ("SELECT COUNT(*), COUNT(*) FILTER (WHERE flag), COUNT(*) FILTER (WHERE NOT flag) FROM visits", ((0,), (1, 2))),
    ],
)
def test_case_is_a_condition_where_it_leaves_rows_out(text: str, families: tuple[tuple[int, ...], ...] | None) -> None:
    assert _plan(text).families == (families or ((0,), (1,)))


def test_who_is_replaced_leaves_one_number_and_joins_another() -> None:
    """A count alone moves once; two of a family move together by twice as much."""
    alone, family = _plan("SELECT COUNT(*) FROM swaps"), _plan(_counts("flag", "NOT flag").replace("visits", "swaps"))
    assert family.parts[0].l1_sensitivity == family.parts[1].l1_sensitivity == 2 * alone.parts[0].l1_sensitivity


def test_one_person_moves_a_family_by_no_more_than_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows in three parts; the planted bug takes overlapping conditions for disjoint ones, and is caught."""
    row = (50, 1000.0, 1.0, 1, None, None, True, "tea", "x")
    worst = world_of({0: Person([(ward, *row) for ward in ("a", "b", "it's")], [], (1, True))})

    def spent(*tests: str) -> object:
        plan = _plan(_counts(*tests))
        moved = exact_sums(plan, public_groups(plan), worst.run)
        (family,) = plan.families
        return sum(abs(int(moved[k][0][0])) / plan.parts[k].l1_sensitivity for k in family)

    assert spent("ward = 'a'", "ward = 'b'", "ward = 'it''s'") == pytest.approx(1)
    monkeypatch.setattr(disjoint, "_contradict", lambda first, second: True)
    assert spent("ward >= 'a'", "ward >= 'b'", "age > 3") == pytest.approx(2 + 2 / 3)
