"""Paid questions that help to write a policy: known answers, one price, and the usual door.

Statistical checks. A histogram of counts that one person moves by Δ has noise beyond t with probability below
exp(-tε/Δ); the checks leave room for t ≥ 30 Δ/ε, and exp(-30) < 1e-13. An estimate may be off by ten times its 95 %
error: for the Laplace law that is exp(-10 ln 20) < 1e-13, and a sum of a few such noises is off by that much in less
than one case of a billion. All checks together look at fewer than 10,000 numbers, nearly all of them of the first kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import dumps, loads
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.curator.advice.bounds import SuggestedBounds, find_range, together
from discreet.curator.advice.histogram import HistogramBins, bins_for, bins_of_counts, drop_bounds, offer
from discreet.curator.advice.rows_per_unit import Estimate
from discreet.curator.certificates.certificate import is_genuine
from discreet.curator.curator import Curator
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.snapshot import DuckDBSnapshot
from discreet.errors import BudgetExceeded, InvalidInput
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.question import prepare
from discreet.query.run.measure import exact_sums, public_groups

INTEGER, REAL, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT, ColumnType.BOOLEAN
DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
PEOPLE = 3000


def table_of(*columns: Column, rows_per_unit: int = 2, **more: Any) -> Table:
    person = Column("person", INTEGER)
    facts = {"unit": "person", "budget": Budget(100), "rows_per_unit": rows_per_unit} | more
    return Table("t", (person, *columns), **facts)


def curator_of(folder: Path, policy: Table, columns: dict[str, list[Any]], each: int = 1) -> Curator:
    size = len(next(iter(columns.values())))
    curator = Curator(folder)
    curator.protect(pa.table({"person": [row // each for row in range(size)]} | columns), policy)
    return curator


@pytest.fixture
def ages(tmp_path: Path) -> Curator:
    """Two rows each: ages from 0 to 99, every tenth person is 150; the policy says 0 to 50."""
    rows = [150 if row % 20 < 2 else row % 100 for row in range(2 * PEOPLE)]
    policy = table_of(Column("age", INTEGER, lower=0, upper=50), Column("name", TEXT), Column("ok", BOOLEAN))
    columns = {"age": rows, "name": ["x"] * len(rows), "ok": [True] * len(rows)}
    return curator_of(tmp_path / "c", policy, columns, each=2)


# Bounds -----------------------------------------------------------------------------------------------------------

START = datetime(2020, 3, 1)
KNOWN: list[tuple[Column, Callable[[int], Any], tuple[Any, Any]]] = [
    (Column("x0", INTEGER), lambda k: k % 100, (0, 100)),
    (Column("x1", INTEGER), lambda k: k % 101, (0, 100)),
    (Column("x2", INTEGER), lambda k: 60 + k % 30, (50, 100)),
    (Column("x3", INTEGER), lambda k: -(k % 40) - 1, (-50, 0)),
    (Column("x4", INTEGER), lambda k: k % 2000 - 1000, (-1000, 1000)),
    (Column("x5", INTEGER), lambda k: 0, (0, 1)),
    (Column("x6", INTEGER), lambda k: None if k % 3 else 7, (5, 10)),
    (Column("x7", INTEGER), lambda k: 10**9 if k % 500 == 0 else k % 100, (0, 100)),  # 0.2 % of outliers
    (Column("x8", INTEGER), lambda k: -(2**63) + 1 if k % 2 else 2**63 - 1, (-5 * 10**18, 5 * 10**18)),
    (Column("x9", INTEGER, lower=0, upper=10), lambda k: k % 100, (0, 100)),  # bounds that are too narrow
    (Column("x10", INTEGER, lower=0, upper=10, default=3), lambda k: k % 100 if k % 2 else None, (0, 100)),
    (Column("x11", INTEGER, keys=(1, 2)), lambda k: 60 + k % 30, (50, 100)),
    (Column("x12", REAL), lambda k: k % 100 / 1000, (0, Fraction(1, 10))),
    (Column("x13", REAL), lambda k: -1.5 - k % 3, (-5, -1)),
    (Column("x14", DATE), lambda k: date(2020, 3, 1) + timedelta(k % 500), (date(2020, 1, 1), date(2021, 12, 31))),
    (Column("x15", TIMESTAMP), lambda k: START + timedelta(k % 500), (datetime(2020, 1, 1), datetime(2022, 1, 1))),
]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Curator:
    """A table of all these columns."""
    columns = {column.name: [value(k) for k in range(2 * PEOPLE)] for column, value, _ in KNOWN}
    policy = table_of(*(column for column, _, _ in KNOWN), budget=Budget(1000))
    return curator_of(tmp_path_factory.mktemp("known"), policy, columns, each=2)


@pytest.mark.parametrize(("column", "bounds"), [(column, bounds) for column, _, bounds in KNOWN])
@pytest.mark.some(2)
def test_bounds_are_round_and_hold_nearly_all_values(known: Curator, column: Column, bounds: tuple[Any, Any]) -> None:
    # Noise has scale 2/20; the tail that may be cut is 30 rows, the smallest bin that must be seen has 60: t ≥ 30.
    found = known.suggest_bounds("t", column.name, epsilon=20)
    assert tuple(found) == bounds
    assert found.share > 0.98
    stated = loads(dumps(replace(table_of(column), columns=(Column("person", INTEGER),))) + f"  {found.policy}\n")
    assert stated.column(column.name) == Column(column.name, column.type, lower=bounds[0], upper=bounds[1])
    assert found.policy in str(found)
    assert ("The policy says" in str(found)) is (column.bounds is not None)


def test_a_bound_beyond_the_last_place_is_said_to_be_one(tmp_path: Path) -> None:
    values = [1e300 if k % 2 else -1.0 for k in range(2 * PEOPLE)]
    found = curator_of(tmp_path / "c", table_of(Column("x", REAL)), {"x": values}).suggest_bounds("t", "x", epsilon=20)
    assert found.goes_on
    assert "go on beyond" in str(found)


def test_bins_that_cannot_be_told_from_noise_do_not_count(ages: Curator) -> None:
    answer = ages.suggest_bounds("t", "age", epsilon=20).answer
    quiet = replace(answer, error={"n": [(0.0, 9.0)] * answer.table.num_rows})
    assert find_range(quiet) == {}
    loud = replace(answer, error={"n": [(0.0, 9.0)] * (answer.table.num_rows - 1) + [(1.0, 9.0)]})
    assert len(find_range(loud)) == 1


def test_where_nothing_stands_out_nothing_is_suggested(ages: Curator) -> None:
    answer = ages.suggest_bounds("t", "age", epsilon=20).answer
    nothing = SuggestedBounds(Column("age", INTEGER), None, None, 0.0, 44.0, False, answer)
    assert nothing.policy == ""
    assert "44 rows" in str(nothing)


@pytest.mark.parametrize("bins", [bins_for(INTEGER), bins_for(REAL), bins_for(DATE), bins_of_counts()])
def test_the_errors_of_all_bins_hold_together(bins: HistogramBins) -> None:
    """If each misses with probability p, one of n misses with probability at most np: the confidence is 95 %."""
    assert (1 - together(bins)) * len(bins) <= 0.05 + 1e-12


@pytest.mark.parametrize("kind", [INTEGER, REAL, DATE, TIMESTAMP])
def test_every_value_lies_between_the_ends_of_its_bin(kind: ColumnType) -> None:
    bins = bins_for(kind)
    values: dict[ColumnType, list[Any]] = {
        INTEGER: [-1000, -999, -1, 0, 1, 2, 3, 99, 100, 101, 10**18],
        REAL: [Fraction(v) for v in (-1000, -0.5, 0, 1e-7, 0.5, 1, 99, 100, 10**15)],
        DATE: [date(1999, 12, 31), date(2000, 1, 1), date(2000, 12, 31)],
        TIMESTAMP: [datetime(1999, 12, 31, 23, 59), datetime(2000, 1, 1), datetime(2000, 12, 31, 23)],
    }
    for value in values[kind]:
        low, high = bins.between(bins.place(value), bins.place(value))
        assert low <= value <= high


# Rows per unit ----------------------------------------------------------------------------------------------------


def people_with(sizes: list[int]) -> dict[str, list[Any]]:
    return {"person": [person for person, size in enumerate(sizes) for _ in range(size)]}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1], 1),
        ([2], 2),
        ([3], 4),
        ([1] * 99 + [40], 1),
        ([1] * 9 + [7], 8),
        ([5, 6, 7, 8, 9], 16),
        ([1] * 9 + [300], 512),
    ],
)
@pytest.mark.some(1)
def test_rows_per_unit_covers_nearly_everybody(tmp_path: Path, sizes: list[int], expected: int) -> None:
    curator = Curator(tmp_path / "c")
    curator.protect(pa.table(people_with(sizes * (PEOPLE // len(sizes)))), table_of())
    found = curator.suggest_rows_per_unit("t", epsilon=20)  # a bin has 30 people or none; noise has scale 1/20
    assert found.rows_per_unit == expected
    assert found.policy == f"rows_per_unit: {expected}"


def test_the_trade_off_between_what_is_lost_and_noise_is_shown(tmp_path: Path) -> None:
    curator = Curator(tmp_path / "c")
    curator.protect(pa.table(people_with(([1] * 9 + [7]) * (PEOPLE // 10))), table_of())
    found = curator.suggest_rows_per_unit("t", epsilon=20)
    limits = [one.rows_per_unit for one in found.trade_offs]
    assert limits == [1, 2, 4, 8]
    for one in found.trade_offs:
        truly_lost = max(7 - one.rows_per_unit, 0) * PEOPLE // 10
        assert abs(one.rows_lost - truly_lost) <= 0.5 * PEOPLE // 10 + 200  # the middle of 5 to 8 is 6.5, not 7
        assert abs(one.people_over - (0.1 if one.rows_per_unit < 8 else 0)) < 0.01
    errors = [one.error for one in found.trade_offs]
    assert errors == sorted(errors)
    assert errors[3] >= 6 * errors[0]
    assert str(found).count("\n") == 6


def is_near(found: Estimate, truth: float) -> bool:
    error = (found.high - found.low) / 2  # the value itself is rounded, and may lie beside a narrow interval
    return error < 30 and abs(found.value - truth) <= 10 * error


# What is touched --------------------------------------------------------------------------------------------------


def test_touched_people_and_values_are_estimated(ages: Curator) -> None:
    found = ages.touched("t", epsilon=30)
    # Truly: nobody has more than 2 rows; of 6,000 values 600 are 150 and 2,646 more lie above 50.
    above = sum(1 for row in range(2 * PEOPLE) if (150 if row % 20 < 2 else row % 100) > 50)
    assert is_near(found.people, PEOPLE)
    assert found.over is not None
    assert is_near(found.over, 0)
    assert is_near(found.moved["age"], above)
    assert set(found.moved) == {"age"}
    assert "the bounds of age are narrow" in found.policy
    assert found.policy in str(found)


def test_people_over_the_limit_are_counted_once_and_their_values_up_to_it(tmp_path: Path) -> None:
    sizes = [1] * 2700 + [10] * 300
    columns = people_with(sizes) | {"x": [200 if person >= 2700 else 0 for person in people_with(sizes)["person"]]}
    curator = Curator(tmp_path / "c")
    curator.protect(pa.table(columns), table_of(Column("x", INTEGER, lower=0, upper=100), rows_per_unit=2))
    found = curator.touched("t", epsilon=30)
    assert found.over is not None
    assert is_near(found.over, 300)
    assert is_near(found.moved["x"], 600)
    assert found.over.low <= found.over.value <= found.over.high
    assert "rows_per_unit is low" in found.policy


def test_where_every_row_is_a_person_values_are_counted_row_by_row(tmp_path: Path) -> None:
    policy = Table("t", (Column("x", REAL, lower=0, upper=Fraction(1, 3)),), budget=Budget(100))
    curator = Curator(tmp_path / "c")
    curator.protect(pa.table({"x": [k % 4 / 3 for k in range(4000)]}), policy)
    found = curator.touched("t", epsilon=30)
    assert found.over is None
    assert is_near(found.moved["x"], 2000)
    quiet = replace(found, moved={})
    assert "can stay" in str(quiet)


def test_people_who_are_found_through_other_tables_are_counted(tmp_path: Path) -> None:
    customers = Table("customers", (Column("id", INTEGER),), unit="id", budget=Budget(100))
    orders = Table(
        "orders",
        (Column("number", INTEGER), Column("customer", INTEGER)),
        budget=Budget(100),
        foreign_keys=(ForeignKey("customer", "customers", "id"),),
    )
    items = Table(
        "items",
        (Column("order", INTEGER), Column("price", REAL, lower=0, upper=5)),
        budget=Budget(100),
        rows_per_unit=2,
        foreign_keys=(ForeignKey("order", "orders", "number"),),
    )
    curator = Curator(tmp_path / "c")
    curator.protect(pa.table({"id": range(1000)}), customers)
    curator.protect(pa.table({"number": range(2000), "customer": [k // 2 for k in range(2000)]}), orders)
    curator.protect(pa.table({"order": [k // 2 for k in range(4000)], "price": [k % 10 for k in range(4000)]}), items)
    assert curator.suggest_rows_per_unit("items", epsilon=20).rows_per_unit == 4
    found = curator.touched("items", epsilon=30)
    assert found.over is not None
    assert is_near(found.over, 1000)
    assert curator.budget()["items"]["spent"] == curator.budget()["orders"]["spent"] == Pure(50)


# The usual door ---------------------------------------------------------------------------------------------------

ASKED: list[Callable[[Curator], Any]] = [
    lambda curator: curator.suggest_bounds("t", "age", epsilon="0.7"),
    lambda curator: curator.suggest_rows_per_unit("t", epsilon="0.7"),
    lambda curator: curator.touched("t", epsilon="0.7"),
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.some(1)
def test_a_suggestion_costs_its_price_once(ages: Curator, asked: Callable[[Curator], Any]) -> None:
    first = asked(ages)
    assert ages.budget()["t"]["spent"] == Pure("0.7")
    assert first.answer.charged
    assert is_genuine(first.answer.certificate)
    again = asked(Curator(ages.folder))
    assert not again.answer.charged
    assert str(again) == str(first)
    assert ages.budget()["t"]["spent"] == Pure("0.7")


@pytest.mark.parametrize("asked", ASKED)
def test_a_suggestion_that_cannot_be_afforded_reads_nothing(tmp_path: Path, asked: Callable[[Curator], Any]) -> None:
    policy = table_of(Column("age", INTEGER, lower=0, upper=50), budget=Budget("0.5"))
    curator = curator_of(tmp_path / "c", policy, {"age": [1] * 10})
    with pytest.raises(BudgetExceeded):
        asked(curator)
    assert curator.budget()["t"]["spent"] == Pure(0)


def test_an_analyst_pays_from_her_own_cap(tmp_path: Path) -> None:
    policy = table_of(Column("age", INTEGER, lower=0, upper=50), analysts={"ann": Budget(1)})
    curator = curator_of(tmp_path / "c", policy, {"age": [1] * 10})
    curator.touched("t", epsilon=1, analyst="ann")
    with pytest.raises(BudgetExceeded):
        curator.suggest_bounds("t", "age", epsilon=1, analyst="ann")


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.some(1)
def test_one_person_moves_a_suggestion_by_at_most_what_its_noise_hides(
    tmp_path: Path, asked: Callable[[Curator], Any]
) -> None:
    """A person with hundreds of wild values, who is there or is not: same plan, and sums within the declared moves."""
    policy = table_of(Column("age", INTEGER, lower=0, upper=50))
    crowd = {"person": [0, 0, 1, 2], "age": [1, 60, 3, None]}
    wild = {"person": [9] * 500, "age": [(-1) ** k * 10 ** (k % 18) for k in range(500)]}
    curators, plans = [], []
    for name, rows in (("without", crowd), ("with", {key: crowd[key] + wild[key] for key in crowd})):
        curator = Curator(tmp_path / name)
        curator.protect(pa.table(rows), policy)
        paper = asked(curator).answer.certificate
        is_plain = "before bounds" in paper["question"]
        planner = drop_bounds(curator, policy, [policy.columns[1]]) if is_plain else curator
        question = prepare(paper["question"], planner.catalog, Pure("0.7"))
        version = {"t": curator.engine.version("t")}
        assert question.fingerprint(version) == paper["plan"]["fingerprint"]  # it is the question that was answered
        curators.append(curator)
        plans.append(question)
    assert plans[0].fingerprint({}) == plans[1].fingerprint({})
    for plan in plans[0].plans:
        here, there = (exact_sums(plan, public_groups(plan), curator.engine.run) for curator in curators)
        moved = [_distance(mine, theirs) for mine, theirs in zip(here, there, strict=True)]
        assert all(one <= priced.l1_sensitivity for one, priced in zip(moved, plan.parts, strict=True))
        assert any(moved)


def _distance(mine: list[Any], theirs: list[Any]) -> int:
    return sum(abs(int(a) - int(b)) for x, y in zip(mine, theirs, strict=True) for a, b in zip(x, y, strict=True))


def test_bounds_that_were_left_out_once_hold_everywhere_else(ages: Curator) -> None:
    """The same words with and without bounds are two questions, whichever is asked first."""
    sql = "SELECT COUNT(*) AS n FROM t WHERE age > 50"
    policy = ages.catalog.table("t")
    without = drop_bounds(ages, policy, [column for column in policy.columns if column.bounds])
    for first, second in ((ages, without), (without, ages)):
        counts = {one is ages: one.ask(sql, epsilon=20).to_rows()[0]["n"] for one in (first, second)}
        assert counts[True] <= 5  # moved to 50, none is above it; noise has scale 2/20
        assert counts[False] > 2000
    assert ages.catalog.table("t") is policy


def test_the_ledger_says_that_values_were_taken_before_bounds(ages: Curator) -> None:
    found = ages.suggest_bounds("t", "age", epsilon=1)
    assert "before bounds" in found.answer.certificate["question"]


def test_answers_offer_the_question_how_many_are_touched(ages: Curator) -> None:
    notes = ages.explain("SELECT COUNT(*) FROM t", epsilon=1).notes
    assert offer(["t"]) in notes
    call = offer(["t"]).split(", run ", 1)[1].removesuffix("; it costs budget.")
    assert eval(call, {"curator": ages}).people.value > 0


def test_a_budget_with_a_delta_pays_in_its_own_terms(tmp_path: Path) -> None:
    policy = table_of(Column("age", INTEGER, lower=0, upper=50), budget=Budget(30, "1e-6"))
    curator = curator_of(tmp_path / "c", policy, {"age": [k % 100 for k in range(PEOPLE)]})
    # ε = 9 is ρ ≥ 1, so noise has σ ≤ 2; the tail that may be cut is 15 rows and the smallest bin has 30: 7 σ.
    found = curator.suggest_bounds("t", "age", epsilon=9)
    assert isinstance(found.answer.price, ZeroConcentrated)
    assert found.answer.price.rho >= 1
    assert tuple(found) == (0, 100)
    assert 0 <= curator.budget()["t"]["spent"].rho - found.answer.price.rho < Fraction(1, 10**9)  # rounded up


# Refusals ---------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[Callable[[Curator], Any], str]] = [
    (lambda c: c.suggest_bounds("t", "name", 1), "list its keys"),
    (lambda c: c.suggest_bounds("t", "ok", 1), "list its keys"),
    (lambda c: c.suggest_bounds("t", "person", 1), "names people"),
    (lambda c: c.suggest_bounds("t", "agee", 1), "did you mean 'age'"),
    (lambda c: c.suggest_bounds("tt", "age", 1), "did you mean 't'"),
    (lambda c: c.suggest_bounds("wards", "floor", 1), "public"),
    (lambda c: c.suggest_rows_per_unit("wards", 1), "public"),
    (lambda c: c.suggest_rows_per_unit("rows", 1), "person of its own"),
    (lambda c: c.touched("wards", 1), "public"),
    (lambda c: c.touched("rows", 1), "nothing is limited"),
    (lambda c: c.touched("nobody", 1), "must have a policy"),
    (lambda c: c.touched("t", 0), "epsilon must be positive"),
    (lambda c: c.suggest_bounds("t", "age", -1), "epsilon must be positive"),
]


def test_what_makes_no_sense_is_refused_before_anything_is_read(ages: Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    ages.protect(pa.table({"floor": [1]}), Table("wards", (Column("floor", INTEGER),), public=True))
    ages.protect(pa.table({"x": [1]}), Table("rows", (Column("x", INTEGER),), budget=Budget(1)))

    def read(*_: Any) -> None:
        raise AssertionError("rows were read")

    for kind in (DuckDBEngine, DuckDBSnapshot):
        monkeypatch.setattr(kind, "_run", read)
    before = ages.ledger.head()
    for asked, words in REFUSED:
        with pytest.raises(InvalidInput, match=words):
            asked(ages)
        assert ages.ledger.head() == before, words
