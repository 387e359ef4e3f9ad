"""The order of a question is data: planning walks `PASSES`, and a fixture shows what each pass makes of a question.

Questions that are planned together stand in a fixture with & between them. `python -m tests.query.test_passes` prints
the fixtures as the code is now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.curator.curator import Curator
from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query import passes
from discreet.query import question as question_module
from discreet.query.expressions.expression import Statement
from discreet.query.parse.clock import AsOf
from discreet.query.passes import PASSES, PLANNING, READING, Pass, QuestionDraft, walk
from discreet.query.plan.budget_split import get_magnitude
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import prepare
from discreet.query.run import contribution_bounds
from discreet.query.run.fingerprint import write_recorded
from tests.query.world import CATALOG, COUNT_ALIKE, FIXTURES, PUBLIC_VALUES, read_pairs

NAMES = [one.__name__ for one in PASSES]
DELTA = Fraction(1, 10**6)


def _draft(sql: str) -> QuestionDraft:
    known: dict[str, Any] = {"count_alike": COUNT_ALIKE, "public_values": PUBLIC_VALUES, "as_of": AsOf.of("2026-02-16")}
    return QuestionDraft(sql.split("\n&\n"), catalog=CATALOG, price=Pure(1), delta=DELTA, **known)


# What each pass adds, in words.


def _of_trees(draft: QuestionDraft) -> Iterator[str]:
    yield from (tree.sql(dialect="duckdb") for tree in draft.trees)


def _of_cuts(draft: QuestionDraft) -> Iterator[str]:
    for query in draft.queries:
        for block in query.blocks:
            asked = ", ".join(f"{name} is the {one.name}" for one, name in block.asked.items())
            read = sorted(block.rows.privacy.tables if block.rows.privacy else ()) + sorted(block.rows.public)
            yield f"{block.name} of {' and '.join(read)}, {len(block.keys)} keys: {asked}"
        yield f"above: {query.above.sql(dialect='duckdb')}"


def _of_merged(draft: QuestionDraft) -> Iterator[str]:
    old = [f"{block.name} of question {k}" for k, query in enumerate(draft.queries, 1) for block in query.blocks]
    yield ", ".join(f"{name} is measured in {home + 1}" for name, home in zip(old, draft.homes, strict=True))
    yield from (f"{block.number}: {', '.join(one.name for one in block.aggregates)}" for block in draft.blocks)


def _of_listings(draft: QuestionDraft) -> Iterator[str]:
    for listing in draft.listings:
        yield "not public" if listing is None else f"{len(listing)} groups: {listing.tuples()}"


def _of_layouts(draft: QuestionDraft) -> Iterator[str]:
    for layout in draft.layouts:
        for each in layout.laid:
            asked = ", ".join(aggregate.name for aggregate in each.aggregates)
            yield f"{type(each.part).__name__} of {each.part.size} integers: {asked} (importance {each.importance})"
        yield from (f"choice: {one.name} (importance {one.importance})" for one in layout.chosen)
        if layout.picks:
            yield f"choice: the {layout.picks} largest groups"


def _of_prices(draft: QuestionDraft) -> Iterator[str]:
    yield from (f"{get_magnitude(price)} and δ = {delta}" for price, delta in draft.prices)


def _of_plans(draft: QuestionDraft) -> Iterator[str]:
    for plan in draft.plans:
        for one in plan.parts:
            moved = f"moves by {one.l1_sensitivity} in L1, {one.l2_sensitivity_squared} squared in L2"
            yield f"{type(one.part).__name__} {moved}: {write_recorded(one.noise)} for {one.share}"
        yield from (f"{type(one).__name__} among {one.points}: factor {one.factor}" for one in plan.choices)
        yield from (f"keys of {one.threshold} people and more" for one in [plan.rule] if one)


def _of_statements(draft: QuestionDraft) -> Iterator[str]:
    for plan in draft.plans:
        assert plan.written
        yield from (text for text, _ in contribution_bounds.write_statements(plan))


SHOWN: dict[str, Callable[[QuestionDraft], Iterator[str]]] = {
    "parse": _of_trees,
    "set_clock": _of_trees,
    "expand_shorthands": _of_trees,
    "cut_at_aggregates": _of_cuts,
    "merge_blocks": _of_merged,
    "list_groups": _of_listings,
    "share_statistics": _of_layouts,
    "divide_price": _of_prices,
    "derive_sensitivity": _of_plans,
    "write_statements": _of_statements,
}


def _shown(name: str, sql: str) -> str:
    """What a question is after a pass of this name."""
    return "\n".join(SHOWN[name](walk(_draft(sql), PASSES[: NAMES.index(name) + 1])))


def test_every_pass_has_a_fixture_and_every_fixture_a_pass() -> None:
    assert sorted(path.stem for path in (FIXTURES / "passes").iterdir()) == sorted(NAMES) == sorted(SHOWN)
    assert (*READING, *PLANNING) == PASSES


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_makes_of_a_question_what_its_fixture_shows(name: str) -> None:
    pairs = read_pairs(f"passes/{name}.sql")
    assert pairs
    for sql, wanted in pairs:
        assert _shown(name, sql) == wanted, sql


def test_the_page_about_the_architecture_walks_the_passes_too() -> None:
    page = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
    walk_table = page.read_text(encoding="utf-8").partition("## The walk of a question")[2].partition("\n## ")[0]
    steps = [line.split("|")[1].strip() for line in walk_table.splitlines() if line.startswith("| ")]
    assert [step.strip("`") for step in steps if step.startswith("`")] == NAMES


# Planning walks the tuple and nothing else.


def test_planning_walks_the_passes_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[str] = []

    def seen(one: Pass) -> Pass:
        def through(draft: QuestionDraft) -> QuestionDraft:
            walked.append(one.__name__)
            return one(draft)

        return through

    monkeypatch.setattr(passes, "READING", tuple(map(seen, READING)))
    monkeypatch.setattr(question_module, "PLANNING", tuple(map(seen, PLANNING)))
    plain = prepare("SELECT ward, COUNT(*) FROM visits GROUP BY ward", CATALOG, Pure(1))
    assert walked == NAMES
    assert plain.plans


def test_no_pass_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _planned_without(None, monkeypatch) == [True]
    assert [_planned_without(one, monkeypatch) for one in PASSES] == [None] * (len(PASSES) - 1) + [[False]]


def _planned_without(left_out: Pass | None, monkeypatch: pytest.MonkeyPatch) -> list[bool] | None:
    """Whether each plan has its statements; None where there is no plan."""
    monkeypatch.setattr(passes, "READING", tuple(one for one in READING if one is not left_out))
    monkeypatch.setattr(question_module, "PLANNING", tuple(one for one in PLANNING if one is not left_out))
    try:
        text = "SELECT ward, COUNT(*) AS n FROM visits WHERE age < YEAR(CURRENT_DATE) GROUP BY ALL"
        question = prepare(text, CATALOG, Pure(1), as_of=AsOf.of("2026-02-16"))
    except (QueryRefused, LookupError, ValueError, RuntimeError):
        return None
    return [bool(plan.written) for plan in question.plans]


# What is planned is written once.


def test_a_statement_is_written_once_for_the_plan_and_once_for_the_rows_as_they_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    honest = contribution_bounds._opened

    def seen(plan: AggregationPlan, **how: bool) -> Statement:
        opened.append(id(plan))
        return honest(plan, **how)

    monkeypatch.setattr(contribution_bounds, "_opened", seen)
    rows = pa.table({"person": [k // 2 for k in range(200)], "age": list(range(200)), "ward": ["a", "b"] * 100})
    facts = {"age": (0, 90), "ward": {"keys": ["a", "b"]}}
    curator = Curator(tmp_path / "curator")
    curator.protect(rows, table="visits", unit="person", budget=10, rows_per_unit=2, columns=facts)
    curator.ask("SELECT ward, COUNT(*), MEDIAN(age), COUNT(DISTINCT person) FROM visits GROUP BY ward", epsilon=1)
    curator.engine.close()
    assert sorted(opened.count(plan) for plan in {*opened}) == [3, 3]


def _print_fixtures() -> None:
    for name in NAMES:
        path = FIXTURES / "passes" / f"{name}.sql"
        heading = path.read_text(encoding="utf-8").splitlines()[0]
        pairs = "".join(f"{sql};\n{_shown(name, sql)};\n\n" for sql, _ in read_pairs(f"passes/{name}.sql"))
        print(f"==> {path.name}\n{heading}\n{pairs}")


if __name__ == "__main__":
    _print_fixtures()
