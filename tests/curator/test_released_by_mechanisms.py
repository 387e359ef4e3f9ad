"""What a curator answers is released by mechanisms: those that the contract suite and the exact checks run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.exact.grid import Integers
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run import measure as measure_module
from discreet.query.run.measure import Groups

PEOPLE = 60
ROWS = pa.table(
    {
        "person": list(range(PEOPLE)),
        "ward": ["a" if k % 3 else "b" for k in range(PEOPLE)],
        "note": ["tea" if k % 4 else "milk" for k in range(PEOPLE)],
        "age": [(7 * k) % 100 for k in range(PEOPLE)],
    }
)
PURE, CONCENTRATED = "visits", "stays"


def _policy(name: str, budget: Budget) -> Table:
    columns = (
        Column("person", ColumnType.INTEGER),
        Column("ward", ColumnType.TEXT, keys=("a", "b", "c"), nullable=False),
        Column("note", ColumnType.TEXT),
        Column("age", ColumnType.INTEGER, lower=0, upper=100, nullable=False),
    )
    return Table(name, columns, unit="person", budget=budget)


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Curator:
    made = Curator(tmp_path_factory.mktemp("mechanisms") / "hospital")
    made.protect(ROWS, _policy(PURE, Budget(1000, Fraction(1, 100), Fraction(1, 100))))
    made.protect(ROWS, _policy(CONCENTRATED, Budget(1000, Fraction(1, 100), Fraction(1, 200))))
    return made


@dataclass
class Traced:
    """What was entered while a question was answered."""

    mechanisms: set[tuple[str, str]] = field(default_factory=set)
    """Classes of mechanisms and their methods."""
    drawn_in: set[str] = field(default_factory=set)
    """The modules in which noise was drawn from a law."""

    def look(self, frame: FrameType, event: str, _: object) -> None:
        """What `sys.setprofile` calls."""
        if event != "call":
            return
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module.startswith("discreet.mechanisms.") and "self" in frame.f_locals:
            self.mechanisms.add((type(frame.f_locals["self"]).__name__, name))
        if module.startswith("discreet.noise.") and name in {"draw", "podium", "podiums"} and frame.f_back is not None:
            self.drawn_in.add(frame.f_back.f_globals.get("__name__", ""))


@contextmanager
def traced() -> Iterator[Traced]:
    found, before = Traced(), sys.getprofile()
    sys.setprofile(found.look)
    try:
        yield found
    finally:
        sys.setprofile(before)


ASKED = [
    ("SELECT COUNT(*) FROM visits", {("Laplace", "add_noise")}),
    ("SELECT SUM(age), COUNT(*) FROM stays", {("Gaussian", "add_noise")}),
    ("SELECT MEDIAN(age) FROM visits", {("WeightedQuantile", "pick")}),
    ("SELECT ward, MAX(age) FROM stays GROUP BY ward", {("WeightedQuantile", "pick")}),
    ("SELECT MODE(ward) FROM visits", {("Exponential", "pick")}),
    ("SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1", {("TopK", "pick")}),
    ("SELECT note, AVG(age) FROM visits GROUP BY note", {("KeyThreshold", "show"), ("Laplace", "add_noise")}),
    ("SELECT note, AVG(age) FROM stays GROUP BY note", {("KeyThreshold", "show"), ("Gaussian", "add_noise")}),
]


def is_outside(module: str) -> bool:
    return not module.startswith(("discreet.mechanisms.", "discreet.noise."))


@pytest.mark.parametrize(("sql", "entered"), ASKED)
@pytest.mark.some(3)
def test_an_answer_is_released_by_mechanisms_and_nothing_else_draws(
    curator: Curator, sql: str, entered: set[tuple[str, str]]
) -> None:
    with traced() as found:
        curator.ask(sql, 1)
    releasing = {(kind, name) for kind, name in found.mechanisms if name in {"add_noise", "pick", "show"}}
    assert releasing == entered
    assert found.drawn_in
    assert not list(filter(is_outside, found.drawn_in))


def test_noise_that_is_drawn_beside_a_mechanism_is_seen(curator: Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: the right noise, from elsewhere."""

    def beside(plan: AggregationPlan, which: tuple[int, int], _: Groups, exact: Integers, *how: Any) -> Integers:
        return exact + plan.parts[which[0]].noise.draw(len(exact), how[0])

    monkeypatch.setattr(measure_module, "_noisy", beside)
    with traced() as found:
        curator.ask("SELECT COUNT(*) FROM visits WHERE age > 3", 1)
    assert list(filter(is_outside, found.drawn_in)) == [__name__]
    assert not {name for _, name in found.mechanisms} & {"add_noise", "pick", "show"}
