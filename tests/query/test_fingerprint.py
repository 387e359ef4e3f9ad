"""Fingerprints stay what they are: stored answers are found by them, whatever classes and fields are called by now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, make_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, get_args, get_type_hints

import pytest

from discreet.catalog.column import ColumnType
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.aggregate import PlannedSelection
from discreet.query.aggregates.noise_tails import Noise
from discreet.query.aggregates.registry import AGGREGATES
from discreet.query.aggregates.statistics import ValueScale
from discreet.query.expressions.expression import Call, Expression, Field, Type
from discreet.query.expressions.interval import UNKNOWN
from discreet.query.plan.budget_split import Price
from discreet.query.plan.sensitivity import AggregationPlan, KeyRule, PricedStatistic
from discreet.query.plan.top_groups import TopSelection
from discreet.query.question import PlannedQuestion, prepare
from discreet.query.run.fingerprint import MEMBERS, PLANNED, RECORDED, Recorded, check_tables, write_recorded
from tests.query.world import CATALOG, COUNT_ALIKE, PUBLIC_VALUES, read_pairs
from tests.renaming import renamed

PRICES = {"epsilon": Pure("1/3"), "rho": ZeroConcentrated("1/7")}
VERSIONS = {"visits": "1"}


def _asked(sql: str, price: str) -> PlannedQuestion:
    public = {"public_values": PUBLIC_VALUES, "count_alike": COUNT_ALIKE}
    return prepare(sql, CATALOG, PRICES[price], delta=Fraction(1, 10**6), **public)


@pytest.fixture(scope="module")
def pinned() -> list[tuple[PlannedQuestion, str]]:
    pairs = [(sql, *said.split()) for sql, said in read_pairs("fingerprints.sql")]
    return [(_asked(sql, price), fingerprint) for sql, price, fingerprint in pairs]


def test_fingerprints_are_those_of_the_first_release(pinned: list[tuple[PlannedQuestion, str]]) -> None:
    assert [question.fingerprint(VERSIONS) for question, _ in pinned] == [fingerprint for _, fingerprint in pinned]


def test_fingerprints_do_not_follow_the_names_of_classes(pinned: list[tuple[PlannedQuestion, str]]) -> None:
    with renamed():
        assert ColumnType.REAL.name == "OTHER_REAL"
        assert "Pure" not in repr(Pure(1))
        assert "Scale" not in repr(ValueScale(Fraction(0), Fraction(1), 0, 1))
        assert [question.fingerprint(VERSIONS) for question, _ in pinned] == [fingerprint for _, fingerprint in pinned]


def test_the_pinned_questions_have_every_kind_of_what_is_written(pinned: list[tuple[PlannedQuestion, str]]) -> None:
    seen: set[object] = set()
    for question, _ in pinned:
        for plan in question.plans:
            seen |= {type(plan), type(plan.loss), *map(type, plan.noises)}
            seen |= {*_met([plan.rule, plan.top, *plan.parts, *plan.choices])}
    classes = {*RECORDED, *PLANNED, *get_args(Noise), *get_args(Price)}
    assert classes <= seen, classes - seen
    assert set(ColumnType) <= seen


def _met(value: object) -> Iterator[object]:
    """Every class in a value, and every member of an enumeration."""
    yield value if isinstance(value, Enum) else type(value)
    inside = [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else value
    for part in inside if isinstance(inside, (list, tuple)) else ():
        yield from _met(part)


def test_the_parts_of_a_column_are_named_as_they_always_were() -> None:
    """The ledger keeps what was spent on each of them by this name; under another one, it would add up."""
    parts = {"age = 5": ("survey", "age", "['0', '110', None]"), "ok": ("survey", "ok", "[None, None, None]")}
    for condition, part in parts.items():
        (plan,) = _asked(f"SELECT COUNT(*) FROM survey WHERE {condition}", "epsilon").plans
        assert plan.block.restriction is not None
        assert plan.block.restriction.part == part


# What is not in the tables has no text, and nothing is forgotten in them.


def _kinds_below(kind: type) -> Iterator[type]:
    for below in kind.__subclasses__():
        yield below
        yield from _kinds_below(below)


def test_every_class_that_a_plan_is_made_of_is_in_the_tables() -> None:
    ours = {kind for kind in _kinds_below(Expression) if kind.__module__.startswith("discreet.")}
    assert len(ours) >= 3
    decimals = {kind for kind in get_args(Type) if not issubclass(kind, Enum)}
    ranked = {kind for kind in AGGREGATES if kind.ranks_groups}  # a text has no other aggregate
    assert ours | decimals | ranked | {TopSelection, KeyRule, ValueScale} <= RECORDED.keys()
    assert {AggregationPlan, PricedStatistic, *_kinds_below(PlannedSelection)} <= PLANNED.keys()
    assert {*ColumnType, *Neighbours} == MEMBERS.keys()
    check_tables(RECORDED, PLANNED)


@pytest.mark.parametrize("kind", [*RECORDED, *PLANNED])
def test_a_field_that_is_added_must_be_spoken_of(kind: type) -> None:
    more = make_dataclass("More", [("added", int, 0)], bases=(kind,), frozen=True)
    recorded = {more: RECORDED[kind]} if kind in RECORDED else {}
    planned = {more: PLANNED[kind]} if kind in PLANNED else {}
    with pytest.raises(AssertionError, match=r"each field of .*More.*, not of \{'added'\}"):
        check_tables(recorded, planned)


def test_a_field_that_is_renamed_must_be_renamed_in_the_tables() -> None:
    with pytest.raises(AssertionError, match="each field"):
        check_tables({ValueScale: Recorded("Scale", {"origin": "origin", "step": "step", "first": "first"})}, {})


@dataclass(frozen=True)
class Unheard(Call):
    """An expression of a kind that nobody registered."""


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    "value",
    [
        Unheard(ColumnType.TEXT, UNKNOWN, False, "{0}", ()),
        Colour.RED,
        Decimal(1),
        object(),
        {"a": 1},
        type("Text", (str,), {})("a"),
    ],
)
def test_what_is_not_in_the_tables_has_no_text(value: Any) -> None:
    for held in (value, [value], (1, value)):
        with pytest.raises(AssertionError, match="must have a text for"):
            write_recorded(held)


def test_every_field_that_a_text_has_changes_it() -> None:
    plain = Field(ColumnType.INTEGER, UNKNOWN, False, "c1")
    others: dict[str, Any] = {
        name: "other" if kind in ("str", str) else 5 for name, kind in get_type_hints(Field).items()
    }
    texts = {write_recorded(plain)}
    for name, value in others.items():
        changed = Field(**{one.name: getattr(plain, one.name) for one in fields(plain)} | {name: value})
        texts.add(write_recorded(changed))
    assert len(texts) == 1 + len(fields(Field))


def test_values_of_python_are_written_as_they_always_were() -> None:
    values = [None, True, 7, 0.1, -0.0, "it's \n Ω", date(2020, 1, 2), datetime(2020, 1, 2, 3, 4, 5, 6), (), (1,), []]
    assert write_recorded(values) == (
        '[None, True, 7, 0.1, -0.0, "it\'s \\n Ω", datetime.date(2020, 1, 2),'
        " datetime.datetime(2020, 1, 2, 3, 4, 5, 6), (), (1,), []]"
    )
    assert write_recorded(Pure("1/3", Neighbours.REPLACE_ONE)) == "Pure(ε=0.33334, replace-one)"
    assert (
        write_recorded(ZeroConcentrated("1/7", Neighbours.ADD_REMOVE_ONE))
        == "ZeroConcentrated(ρ=0.14286, add-remove-one)"
    )
    assert write_recorded(DiscreteLaplace(Fraction(7, 2))) == "DiscreteLaplace(scale=7/2)"
