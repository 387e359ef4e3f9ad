"""Replays find nothing wrong with the curator, and every bug that is planted in it. Nothing here is estimated."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from discreet.audit.replay import watch as watching
from discreet.audit.replay.replay import ReplayReport, replay, replay_worlds
from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import ForeignKey, Table
from discreet.curator import answering
from discreet.curator.curator import Curator
from discreet.engines.parameters import quote
from discreet.errors import DiscreetError, InvalidValue, QueryRefused
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_threshold import KeyThreshold
from discreet.noise.source import Source
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.quantile import QuantileAggregate
from discreet.query.aggregates.statistics import DistinctUnits
from discreet.query.bind import relation as relation_module
from discreet.query.plan import sensitivity as plan_module
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run import contribution_bounds as statement_module
from discreet.query.run import measure as measure_module
from discreet.query.run.measure import Measured, MeasurementObserver, Run
from tests.audit.replayed_fixtures import QUESTIONS as FIXTURES
from tests.audit.replayed_fixtures import replayed
from tests.query.world import sharpen
from tests.thoroughness import some

Patch = pytest.MonkeyPatch

PEOPLE = 24
ROWS = pa.table(
    {
        "person": [k // 2 for k in range(2 * PEOPLE)] + [5] * 9,
        "ward": (["a", "b", "c", "elsewhere"] * PEOPLE)[: 2 * PEOPLE] + ["b"] * 9,
        "age": [(7 * k) % 130 for k in range(2 * PEOPLE)] + [44] * 9,
        "cost": [float(13 * k % 170) - 20 for k in range(2 * PEOPLE)] + [None] * 9,
        "note": ["tea" if k % 3 else "milk" for k in range(2 * PEOPLE + 9)],
    }
)
COLUMNS = (
    Column("person", ColumnType.INTEGER),
    Column("ward", ColumnType.TEXT, keys=("a", "b", "c")),
    Column("age", ColumnType.INTEGER, lower=0, upper=100),
    Column("cost", ColumnType.REAL, lower=0, upper=100),
    Column("note", ColumnType.TEXT),
)
QUESTIONS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT ward, COUNT(*), AVG(age), SUM(cost) FROM visits GROUP BY ward",
    "SELECT MEDIAN(age), MODE(ward), MAX(cost) FROM visits",
    "SELECT COUNT(DISTINCT person), COUNT(DISTINCT age) FROM visits WHERE cost > 20",
    "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1",
    "SELECT note, COUNT(*), SUM(cost) FROM visits GROUP BY note",
    "SELECT * FROM visits",
    "SELECT COUNT(*) FROM visits",
    "SELECT 1 AS one",
]
REFUSED_ALWAYS = "SELECT * FROM visits"


def test_choices_in_groups_with_few_rows_of_a_person_cost_what_they_claim() -> None:
    """In ρ their squares add up; a sum of ε, squared, would cry wolf where a person is in several groups."""
    columns = (
        Column("person", ColumnType.INTEGER),
        Column("ward", ColumnType.TEXT, keys=("a", "b", "c", "d"), nullable=False, rows_per_key=1),
        Column("kind", ColumnType.TEXT, keys=("x", "y"), nullable=False),
    )
    policy = Table("visits", columns, unit="person", budget=Budget(8, delta="1e-6"), rows_per_unit=4)
    rows = pa.table({"person": [0] * 4 + [1] * 4, "ward": list("abcd") * 2, "kind": ["x"] * 8})
    report = replay(rows, policy, ["SELECT ward, MODE(kind) FROM visits GROUP BY ward"], epsilon=1, neighbours=2)
    assert report.is_sound
    assert report.lines[0].claimed / 5 < report.lines[0].observed


def policy(neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE, budget: Budget | None = None) -> Table:
    return Table(
        "visits",
        COLUMNS,
        unit="person",
        budget=budget or Budget(100),
        rows_per_unit=3,
        groups_per_unit=2,
        neighbours=neighbours,
    )


BUDGETS = {"pure": Budget(5), "concentrated": Budget(5, "1e-6", "5e-7")}


@pytest.mark.parametrize(("neighbours", "kind"), some(itertools.product(Neighbours, BUDGETS), 2))
def test_the_door_as_it_is_tells_no_neighbours_apart(neighbours: Neighbours, kind: str) -> None:
    report = replay(ROWS, policy(neighbours, BUDGETS[kind]), QUESTIONS, epsilon="0.5", neighbours=2)
    assert report.is_sound, str(report)
    assert len(report.neighbours) == 2
    assert not report.skipped
    for line in report.lines:
        if line.claimed:
            assert line.observed is not None
            assert 0 <= line.observed <= line.claimed * (1 + 1e-6)
    lines = dict(zip(QUESTIONS[1:], report.lines[1:], strict=True))
    assert lines[REFUSED_ALWAYS].refusal is not None
    assert lines["SELECT COUNT(*) FROM visits"].claimed == 0  # asked before
    assert lines["SELECT 1 AS one"].claimed is None


@pytest.mark.parametrize("relation", Neighbours)
def test_the_questions_of_the_projects_own_fixtures_tell_nothing(relation: Neighbours) -> None:
    """Some of them; all are replayed in ``make soak``."""
    report = replayed(relation, some(FIXTURES[relation], 2))
    assert report.is_sound, str(report)
    assert any(line.observed for line in report.lines)


def test_a_neighbour_of_another_relation_is_found_out() -> None:
    """Under add-remove-one a replaced person is two steps away, and costs up to twice the price."""
    people = [("someone replaced", [(ROWS.set_column(1, "ward", pa.array(["c"] * ROWS.num_rows)), policy())])]
    report = replay_worlds([(ROWS, policy())], people, [BY_WARD], epsilon="0.5")
    assert {finding.words for finding in report.findings} >= {TOO_FAR, "one person costs more than was charged"}


def test_one_person_who_counts_in_full_costs_exactly_what_was_charged() -> None:
    report = replay(ROWS, policy(), QUESTIONS[:2], epsilon="0.5", neighbours=2)
    assert [line.observed for line in report.lines] == pytest.approx([0.5, 0.5], rel=1e-4)


def test_a_report_is_words_and_data() -> None:
    report = replay(ROWS, policy(), [QUESTIONS[0], REFUSED_ALWAYS], epsilon="0.5", neighbours=2)
    assert "nothing but noise tells them apart" in " ".join(str(report).split())
    assert re.search(r"ε 0\.5 +ε 0\.5 +SELECT COUNT", str(report))
    assert "refused" in str(report)
    data = json.loads(report.to_json())
    assert data["sound"] is True
    assert [line["claimed"] for line in data["questions"]] == [0.5, None]
    page = report.to_html()
    assert "<code>SELECT * FROM visits</code>" in page
    assert "<script" not in page


def test_rows_that_are_people_need_no_unit() -> None:
    table = replace(policy(), unit=None, rows_per_unit=1, columns=COLUMNS[1:])
    report = replay(ROWS, table, QUESTIONS[:3], epsilon=1, neighbours=2)
    assert report.is_sound, str(report)
    assert report.lines[0].observed == 1


def test_rows_without_a_name_are_people_of_their_own() -> None:
    names = pa.array([None if k % 9 == 0 else k for k in ROWS["person"].to_pylist()], pa.int64())
    report = replay(ROWS.set_column(0, "person", names), policy(), QUESTIONS[:1], epsilon=1, neighbours=4)
    assert report.is_sound, str(report)
    assert "a person whose person is missing removed" in report.neighbours


def test_people_may_be_named_by_anything_and_values_may_be_promised() -> None:
    days = pa.array([date(2020, 1, 1 + k) for k in ROWS["person"].to_pylist()])
    columns = (Column("person", ColumnType.DATE), COLUMNS[1], replace(COLUMNS[3], nullable=False))
    rows = ROWS.set_column(0, "person", days).set_column(3, "cost", pa.array([5.0] * ROWS.num_rows))
    report = replay(rows, replace(policy(), columns=columns), ["SELECT SUM(cost) FROM visits"], neighbours=5)
    assert report.is_sound, str(report)
    assert not report.skipped
    assert len(report.neighbours) == 5


def test_several_tables_are_replayed_with_neighbours_of_ones_own() -> None:
    people = Table("people", (Column("id", ColumnType.INTEGER),), unit="id", budget=Budget(100))
    visits = replace(policy(), unit=None, foreign_keys=(ForeignKey("person", "people", "id"),))
    names = pa.table({"id": list(range(PEOPLE))})
    fewer, left = names.slice(1), ROWS.filter(pc.greater(ROWS["person"], 0))
    report = replay_worlds(
        [(names, people), (ROWS, visits)],
        [("the first person removed", [(fewer, people), (left, visits)])],
        ["SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM visits"],
        epsilon=1,
    )
    assert report.is_sound, str(report)
    assert [line.observed for line in report.lines] == [1, pytest.approx(2 / 3)]


# Planted bugs, each where the real curator uses it.


def forgotten_weights(patch: Patch) -> None:
    write_sums = measure_module.write_sums
    patch.setattr(measure_module, "write_sums", lambda plan: write_sums(replace(plan, rows_per_unit=1000)))


def missing_clamps(patch: Patch) -> None:
    def unclamped(argument: Any, origin: Fraction, step: Fraction, ends: Any, kind: str, statement: Any) -> str:
        value = f"GREATEST(-1e6, LEAST(1e6, {argument.write(statement)}))"  # or it would fail, which is another bug
        return f"CAST(({value} - {float(origin)}) * {float(1 / step)} AS {kind})"

    patch.setattr(statement_module, "_on_grid", unclamped)
    patch.setattr(relation_module, "normalise", lambda column, *_: quote(column.name))


def replacing_counted_as_removing(patch: Patch) -> None:
    patch.setattr(plan_module, "_times", lambda *_: 1)


def choices_too_sharp(patch: Patch) -> None:
    select = QuantileAggregate.select
    patch.setattr(QuantileAggregate, "select", lambda *given: sharpen(select(*given), 8))


def people_in_every_group_they_hold(patch: Patch) -> None:
    counted, together = measure_module.count_apart, measure_module.add_up

    def sums_alone(plan: AggregationPlan) -> dict[int, plan_module.PricedStatistic]:
        return {k: priced for k, priced in together(plan).items() if not isinstance(priced.part, DistinctUnits)}

    def unlimited(plan: AggregationPlan, priced: plan_module.PricedStatistic) -> Any:
        assert plan.rule is not None
        ten = KeyThreshold(Laplace(1, 10), plan.rule.delta, keys_per_unit=10)
        return counted(replace(plan, rule=replace(plan.rule, mechanism=ten)), replace(priced, max_contribution=10))

    patch.setattr(measure_module, "count_apart", unlimited)
    patch.setattr(measure_module, "add_up", sums_alone)


def _people_of(curator: Curator) -> int:
    return int(curator.engine.run('SELECT COUNT(DISTINCT person) AS n FROM "visits"')["n"][0].as_py())


def small_tables_refused(patch: Patch) -> None:
    explain = Curator.explain

    def careful(curator: Curator, sql: str, *given: Any, **named: Any) -> Any:
        if _people_of(curator) < PEOPLE:
            raise QueryRefused("there must be enough people")
        return explain(curator, sql, *given, **named)

    patch.setattr(Curator, "explain", careful)


def a_price_by_the_number_of_people(patch: Patch) -> None:
    ask = Curator.ask

    def by_people(curator: Curator, sql: str, epsilon: Any) -> Any:
        return ask(curator, sql, Fraction(_people_of(curator), 100))

    patch.setattr(Curator, "ask", by_people)


def statements_by_the_number_of_people(patch: Patch) -> None:
    ask = Curator.ask

    def twice_for_many(curator: Curator, *given: Any, **named: Any) -> Any:
        if _people_of(curator) > PEOPLE:
            _people_of(curator)
        return ask(curator, *given, **named)

    patch.setattr(Curator, "ask", twice_for_many)


def a_cast_that_fails_on_one_row(patch: Patch) -> None:
    patch.setattr(
        statement_module, "_on_grid", lambda argument, *others: f"CAST({argument.write(others[-1])} AS SMALLINT)"
    )
    patch.setattr(relation_module, "normalise", lambda column, *_: quote(column.name))


def a_run_that_always_fails(patch: Patch) -> None:
    patch.setattr(measure_module, "write_sums", lambda plan: ("SELECT error('a row')", []))


def noise_by_the_data(patch: Patch) -> None:
    measure = watching.measure

    def scaled(plan: AggregationPlan, run: Run, source: Source, onlooker: MeasurementObserver) -> Measured:
        (count,) = run('SELECT COUNT(*) AS n FROM "visits"', [])["n"].to_pylist()
        parts = [replace(priced, mechanism=Laplace(1, priced.mechanism.law.scale + count)) for priced in plan.parts]
        return measure(replace(plan, parts=parts), run, source, onlooker)

    patch.setattr(watching, "measure", scaled)


def less_noise_than_planned(patch: Patch) -> None:
    measure = watching.measure

    def quieter(plan: AggregationPlan, run: Run, source: Source, onlooker: MeasurementObserver) -> Measured:
        parts = [replace(priced, mechanism=Laplace(2 * priced.share, priced.l1_sensitivity)) for priced in plan.parts]
        return measure(replace(plan, parts=parts), run, source, onlooker)

    patch.setattr(watching, "measure", quieter)


def rounded_after_the_noise(patch: Patch) -> None:
    encode_noisy = answering.encode_noisy

    def rounded(found: list[Measured]) -> bytes:
        return encode_noisy(
            [replace(one, sums=[[each // 10**4 * 10**4 for each in part] for part in one.sums]) for one in found]
        )

    patch.setattr(answering, "encode_noisy", rounded)


def chosen_again(patch: Patch) -> None:
    encode_noisy = answering.encode_noisy

    def other(found: list[Measured]) -> bytes:
        return encode_noisy([replace(one, chosen=[each + 1 for each in one.chosen]) for one in found])

    patch.setattr(answering, "encode_noisy", other)


TOO_FAR = "one person moves what noise hides by more than was declared"


BY_WARD = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
BY_NOTE = "SELECT note, COUNT(*) FROM visits GROUP BY note"


@pytest.mark.parametrize(
    ("bug", "question", "words", "neighbours"),
    [
        (forgotten_weights, QUESTIONS[0], {TOO_FAR}, 1),
        (missing_clamps, QUESTIONS[1], {TOO_FAR}, 1),
        (replacing_counted_as_removing, BY_WARD, {TOO_FAR}, 1),
        (choices_too_sharp, "SELECT MEDIAN(age) FROM visits", {TOO_FAR}, 2),
        (people_in_every_group_they_hold, BY_NOTE, {TOO_FAR}, 5),
        (
            small_tables_refused,
            QUESTIONS[0],
            {"what is refused depends on the rows", "rows are read when only a price is asked for"},
            2,
        ),
        (
            a_price_by_the_number_of_people,
            QUESTIONS[0],
            {"the price depends on the rows", "what the ledger holds depends on the rows"},
            1,
        ),
        (statements_by_the_number_of_people, QUESTIONS[0], {"the statements that are run depend on the rows"}, 1),
        (a_cast_that_fails_on_one_row, "SELECT SUM(cost) FROM visits", {"what is refused depends on the rows"}, 1),
        (a_run_that_always_fails, QUESTIONS[0], {"a run over the rows failed, and others might not"}, 1),
        (noise_by_the_data, QUESTIONS[0], {"the law of the noise depends on the rows"}, 1),
        (
            less_noise_than_planned,
            QUESTIONS[0],
            {"one person costs more than was charged", "the noise is not the planned one"},
            1,
        ),
        (rounded_after_the_noise, QUESTIONS[0], {"something is released that is not the exact value plus noise"}, 1),
        (chosen_again, "SELECT MEDIAN(age) FROM visits", {"something is released that was not chosen with noise"}, 1),
    ],
)
@pytest.mark.some(3)
def test_a_planted_bug_is_found(
    monkeypatch: Patch, bug: Callable[[Patch], None], question: str, words: set[str], neighbours: int
) -> None:
    replaced = bug is replacing_counted_as_removing
    budget = Budget(100, "1e-6", "5e-7") if question == BY_NOTE else Budget(100)
    table = policy(Neighbours.REPLACE_ONE if replaced else Neighbours.ADD_REMOVE_ONE, budget)
    bug(monkeypatch)
    report = replay(ROWS, table, [question], epsilon="0.5", neighbours=neighbours)
    assert not report.is_sound
    assert words <= {finding.words for finding in report.findings}, str(report)
    assert all(one in " ".join(str(report).split()) for one in words)


def test_neighbours_that_the_policy_forbids_are_left_out_with_the_reason() -> None:
    table = replace(policy(), columns=(*COLUMNS[:2], replace(COLUMNS[2], constant_per_unit=True), *COLUMNS[3:]))
    constant = ROWS.set_column(2, "age", pa.array([7 * p for p in ROWS["person"].to_pylist()]))
    broken = constant.set_column(2, "age", pa.array(range(ROWS.num_rows)))
    report = replay_worlds([(constant, table)], [("ages that differ", [(broken, table)])], QUESTIONS[:1])
    assert report.neighbours == ()
    assert report.skipped[0].startswith("ages that differ: ")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: replay(ROWS, policy(), []), "list of questions"),
        (lambda: replay(ROWS, policy(), QUESTIONS[0]), "list of questions"),
        (lambda: replay(ROWS, policy(), QUESTIONS, neighbours=0), "neighbours"),
        (lambda: replay(ROWS.slice(0, 0), policy(Neighbours.REPLACE_ONE), QUESTIONS), "without people"),
        (lambda: replay(ROWS, Table("visits", COLUMNS[1:2], public=True), QUESTIONS), "public"),
        (lambda: replay(ROWS.drop_columns(["age"]), policy(), QUESTIONS), "age"),
        (lambda: replay(ROWS, policy(), QUESTIONS, epsilon=-1), "epsilon"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_words(call: Callable[[], ReplayReport], words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        call()


def test_tables_whose_people_are_found_elsewhere_are_refused() -> None:
    visits = replace(policy(), unit=None, foreign_keys=(ForeignKey("person", "people", "id"),))
    with pytest.raises(InvalidValue, match="name their people"):
        replay(ROWS, visits, QUESTIONS)
