"""Aggregates are classes in one registry: nothing else asks which one it is, and none is forgotten."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fractions import Fraction
from inspect import isabstract
from pathlib import Path

import discreet
from discreet.privacy.loss import Pure
from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.aggregates.quantile import MaximumAggregate, MinimumAggregate
from discreet.query.aggregates.registry import AGGREGATES
from discreet.query.question import prepare
from tests.query.world import CATALOG, COUNT_ALIKE, PUBLIC_VALUES, read_queries

SHARED = {"aggregate", "argument", "estimate", "noise_tails", "registry", "statistics"}
"""What modules of other packages may use: nothing in them is about one aggregate."""
NAMED = {
    "query/plan/sensitivity.py": {"counts"},  # keys that are not public are shown by the number of people
    "query/run/fingerprint.py": {"counts", "mode", "quantile"},  # the words of what is stored never change
    "audit/replay/compare.py": {"quantile"},  # computes what a mechanism does a second time
}


def _kinds_below(kind: type) -> Iterator[type]:
    for below in kind.__subclasses__():
        yield below
        yield from _kinds_below(below)


def test_every_aggregate_is_registered_once_under_a_name_and_spellings_of_its_own() -> None:
    ours = [kind for kind in _kinds_below(Aggregate) if kind.__module__.startswith("discreet.")]
    assert {kind for kind in ours if not isabstract(kind) and not kind.__name__.startswith("_")} == {*AGGREGATES}
    assert len({kind.name for kind in AGGREGATES}) == len(AGGREGATES)
    spelled = [node for kind in AGGREGATES for node in kind.spellings]
    assert len(spelled) == len({*spelled})
    assert all(kind.spellings or kind.forms for kind in AGGREGATES)


def test_every_aggregate_is_asked_for_in_the_fixtures() -> None:
    asked: set[type] = set()
    for sql in (*read_queries("answers.sql"), *read_queries("measured.sql")):
        question = prepare(sql, CATALOG, Pure(1), public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE)
        asked |= {type(aggregate) for block in question.split.blocks for aggregate in block.aggregates}
    assert asked == {*AGGREGATES}


def test_only_an_aggregate_itself_knows_which_one_it_is() -> None:
    folder = Path(discreet.__file__).parent
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith("query/aggregates/"):
            found[name] = _used(path) - SHARED
    assert {name: used for name, used in found.items() if used} == NAMED


def _used(path: Path) -> set[str]:
    """The modules of aggregates that a module imports."""
    text = path.read_text(encoding="utf-8")
    if "discreet.query.aggregates." not in text:
        return set()
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    modules = [str(node.module) for node in nodes]
    return {module.rpartition(".")[2] for module in modules if module.startswith("discreet.query.aggregates.")}


def test_the_quantile_of_no_rows_is_the_minimum_and_of_all_the_maximum() -> None:
    """However it is written, it is one choice, and paid for once."""
    low = "MIN(age), quantile_cont(age, 0), percentile_cont(1) WITHIN GROUP (ORDER BY age DESC)"
    high = "MAX(age), approx_quantile(age, 1.0), percentile_disc(0) WITHIN GROUP (ORDER BY age DESC)"
    (plan,) = prepare(f"SELECT {low}, {high} FROM visits", CATALOG, Pure(1)).plans
    assert [type(choice.aggregate) for choice in plan.choices] == [MinimumAggregate, MaximumAggregate]
    assert [choice.epsilon for choice in plan.choices] == [Fraction(1, 2)] * 2
