"""Rows that say how many rows their unit has are answered as rows that do not, and no unit weighs more by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from discreet.catalog.catalog import Catalog
from discreet.curator.preconditions import use_stored_columns
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.bind.relation import RowCounts
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare
from discreet.query.run import contribution_bounds as statement
from discreet.query.run.contribution_bounds import (
    add_up,
    count_apart,
    write_histogram,
    write_statements,
    write_sums,
    write_weights,
)
from tests.engines.same_everywhere import tables
from tests.query import test_unlisted_keys
from tests.query.world import CATALOG, COUNT_ALIKE, PUBLIC_VALUES, read_pairs, read_queries
from tests.thoroughness import some


@cache
def plans() -> list[tuple[str, AggregationPlan]]:
    queries = [*read_queries("answers.sql"), *read_queries("measured.sql")]
    queries += [query for name in ("spelled.sql", "weighted.sql") for query, _ in read_pairs(name)]
    asked = [
        (one, prepare(one, CATALOG, Pure(1), public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE))
        for one in dict.fromkeys(queries)
    ]
    for groups in (1, 2):
        few = Catalog([replace(t, groups_per_unit=groups) if t.unit == "patient_id" else t for t in CATALOG])
        price, delta = ZeroConcentrated(1), Fraction(1, 10**6)
        asked += [
            (one, prepare(one, few, price, delta=delta, count_alike=COUNT_ALIKE)) for one in test_unlisted_keys.QUERIES
        ]
    return [(query, plan) for query, question in asked for plan in question.plans]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBEngine]:
    folder: Path = tmp_path_factory.mktemp("tallied")
    with DuckDBEngine(folder, threads=1) as engine:
        rows = tables()
        for table in CATALOG:
            engine.take_in(table, rows[table.name], catalog=CATALOG)
        yield engine


def _counted(plan: AggregationPlan, tallied: RowCounts | None = None) -> AggregationPlan:
    """The plan for rows that are counted, which say as much about its rows as they do, or as ``tallied`` claims."""
    rows = replace(plan.block.rows, tallied=tallied or plan.block.rows.tallied)
    return replace(plan, block=replace(plan.block, rows=rows), counted=True)


def unmarked(plan: AggregationPlan, engine: DuckDBEngine) -> AggregationPlan:
    """The plan for rows of which nothing was kept but the salts of their units: it finds all the rest itself."""
    kept = use_stored_columns(plan, engine)
    salts = {
        name: replace(one, held={}, alike={}, limits={}, steps={}, counted=False) for name, one in kept.stored.items()
    }
    return replace(plan, stored=salts, secret=kept.secret)


def same(engine: DuckDBEngine, one: AggregationPlan, two: AggregationPlan) -> bool:
    """Whether two plans find the same, in however many statements."""
    return write_statements(one) == write_statements(two) or _found(engine, one) == _found(engine, two)


def _found(engine: DuckDBEngine, plan: AggregationPlan) -> list[str]:
    """What a plan finds in each group, part by part; a zero is as good as no row."""
    together, found = add_up(plan), []
    for row in _rows(engine, *write_sums(plan)) if together else []:
        for k, priced in together.items():
            found.append((f"part {k}", _keys_of(row), [row[f"s{k}_{j}"] for j in range(priced.part.size)]))
    for k, priced in enumerate(plan.parts):
        if k not in together:
            found += [(f"part {k}", _keys_of(row), [row["s"]]) for row in _rows(engine, *count_apart(plan, priced))]
    chosen = [write_histogram(plan, choice) for choice in plan.choices]
    chosen += [] if plan.top is None else [write_weights(plan, plan.top)]
    for place, histogram in enumerate(chosen):
        found += [(f"choice {place}", (*_keys_of(row), row.get("x")), [row["s"]]) for row in _rows(engine, *histogram)]
    return sorted(repr(each) for each in found if any(each[2]))


def _keys_of(row: dict[str, Any]) -> tuple[object, ...]:
    return tuple(value for name, value in row.items() if name[0] == "k")


def _rows(engine: DuckDBEngine, text: str, values: list[object]) -> list[dict[str, Any]]:
    return list(engine.run(text, values).to_pylist())


def test_the_whole_corpus_is_answered_as_without_counts(engine: DuckDBEngine) -> None:
    found = [(query, plan) for query, plan in plans() if plan.block.rows.tallied is not RowCounts.NOTHING]
    assert {plan.block.rows.tallied for _, plan in found} == {RowCounts.EXACTLY, RowCounts.AT_MOST}
    assert sum("_n" in text for _, plan in found for text, _ in write_statements(_counted(plan))) > 100
    assert [query for query, plan in some(found, 20) if not same(engine, _counted(plan), plan)] == []


def test_rows_that_are_left_out_before_a_join_are_the_same_as_without_counts(engine: DuckDBEngine) -> None:
    found = [
        (query, plan) for query, plan in plans() if "UNION ALL SELECT _unit" in write_statements(_counted(plan))[0][0]
    ]
    assert len(found) > 10
    assert [query for query, plan in found if not same(engine, _counted(plan), plan)] == []


def test_rows_of_which_nothing_is_known_are_counted_in_every_question() -> None:
    """A public table that matches a row twice gives its unit more rows than the table has."""
    (plan,) = prepare(
        "SELECT COUNT(*) FROM visits JOIN wards ON ward = name", CATALOG, Pure(1), count_alike=COUNT_ALIKE
    ).plans
    assert plan.block.rows.tallied is RowCounts.NOTHING
    others = [plan for _, plan in plans() if plan.block.rows.tallied is RowCounts.NOTHING]
    texts = [text for other in others for text, _ in write_statements(_counted(other))]
    assert len(texts) > 50
    assert [text for text in texts if "WHEN _n" in text or "FROM _rows WHERE _n" in text] == []


def test_a_filter_that_left_the_number_as_it_was_would_be_seen(engine: DuckDBEngine) -> None:
    """The planted bug."""
    (plan,) = prepare("SELECT COUNT(*), SUM(age) FROM visits WHERE age > 50", CATALOG, Pure(1)).plans
    assert plan.block.rows.tallied is RowCounts.AT_MOST
    assert same(engine, _counted(plan), plan)
    assert not same(engine, _counted(plan, RowCounts.EXACTLY), plan)


def test_counts_that_are_too_low_would_be_seen(engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: units with a row more than counts in full are taken for light ones."""
    honest = statement._with_weights
    monkeypatch.setattr(
        statement, "_with_weights", lambda *given: honest(*given).replace("WHERE _n > ", "WHERE _n > 1 + ")
    )
    found = [plan for _, plan in plans() if plan.block.rows.tallied is RowCounts.AT_MOST]
    assert not all(same(engine, _counted(plan), plan) for plan in found)
