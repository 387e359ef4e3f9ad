"""No row decides whether a question fails, how a key is spelled or where a point lies: on every engine, through `ask`.

Each of these told something about one person once, through the seam between the exact plan and the engine that runs it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import write
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.curator.preconditions import use_stored_columns
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.contribution_bounds import write_histogram, write_sums
from discreet.query.run.measure import exact_sums, public_groups
from tests.curator.test_attacks import with_old_policies
from tests.engines.test_postgres import as_reader, load
from tests.servers.fixtures import postgres_server, postgres_url  # noqa: F401
from tests.servers.spark import spark_session as spark_session  # noqa: PLC0414
from tests.thoroughness import some

INTEGER, REAL = ColumnType.INTEGER, ColumnType.REAL
STAFF = Table(
    "staff",
    (
        Column("person", INTEGER),
        Column("salary", INTEGER),
        Column("x", REAL),
        Column("grade", INTEGER, nullable=False),
        Column("level", INTEGER),
    ),
    unit="person",
    budget=Budget(100, "1e-5", "1e-5"),
)
PEOPLE = 20
Open = Callable[..., Curator]


def few(curator: Curator, questions: list[str]) -> list[str]:
    """All of them; of those that Spark takes seconds for, some."""
    return some(questions, 2) if curator.engine.dialect == "spark" else questions


def staff(salary: int = 68_001, x: float = 1.0, grade: int | None = 1) -> pa.Table:
    """Twenty people; what is known of the last is another's secret."""
    return pa.table(
        {
            "person": pa.array(range(PEOPLE), pa.int64()),
            "salary": pa.array([50_000] * (PEOPLE - 1) + [salary], pa.int64()),
            "x": pa.array([1.0] * (PEOPLE - 1) + [x]),
            "grade": pa.array([1] * (PEOPLE - 1) + [grade], pa.int64()),
            "level": pa.array([1] * (PEOPLE - 1) + [grade], pa.int64()),
        }
    )


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def curator_of(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens a curator on an engine, with these rows protected."""
    kind = request.param

    def opened(rows: pa.Table, policy: Table = STAFF) -> Curator:
        folder = tmp_path / f"c{len(list(tmp_path.iterdir()))}"
        if kind == "duckdb":
            curator = Curator(folder)
            # An owner who edits the policy afterwards: no ingest would believe it of these rows.
            curator.protect(rows, replace(policy, columns=tuple(replace(c, nullable=True) for c in policy.columns)))
            (file,) = (folder / "policies").glob("*.yaml")
            write(policy, file)
            return curator
        if kind == "postgres":
            url = request.getfixturevalue("postgres_url")
            load(url, policy, rows)
            curator = Curator(folder, rows=as_reader(url))
            curator.protect(f'public."{policy.name}"', policy)
            return curator
        file = tmp_path / f"{folder.name}.parquet"
        pq.write_table(rows, file)
        curator = Curator(folder, engine=SparkEngine(folder, session=request.getfixturevalue("spark_session")))
        curator.protect(str(file), policy)
        return curator

    return opened


SECRET = f"person = {PEOPLE - 1} AND salary >= 68001"
LARGE = "4611686018427388417.0"
SHIFTED = f"CAST(CASE WHEN {SECRET} THEN {LARGE} ELSE 0.0 END AS BIGINT)"
VANISHING = f"CASE WHEN {SECRET} THEN 1e46 * 3.0 - 3e46 ELSE 0.0 END"
GRADE = f"CASE WHEN {SECRET} THEN grade ELSE 1 END"
FAILED_FOR_ONE_ROW = [
    # planned as 2^62 + 513, and 2^62 + 1024 as a double
    f"SELECT SUM(GREATEST(0, LEAST(1, {SHIFTED} + 4611686018427387390))) FROM staff",
    # planned as 0, and -5e30
    f"SELECT SUM(GREATEST(0, LEAST(1, 9223372036854775807 - CAST({VANISHING} AS BIGINT)))) FROM staff",
    # the sum of two that fit
    f"SELECT COUNT(*) FROM staff WHERE CASE WHEN {SECRET} THEN 9223372036854775807 ELSE 0 END + level > 0",
    f"SELECT COUNT(*) FROM staff WHERE abs(CASE WHEN {SECRET} THEN -9223372036854775807 - 1 ELSE 0 END) > 0",
    # nullable: false, and a value is missing all the same
    f"SELECT COUNT(*) FROM staff WHERE GREATEST({GRADE}, -9223372036854775000) - 1000 > 0",
    # moved by more days than there are
    f"SELECT COUNT(*) FROM staff WHERE DATE '2020-01-01' + INTERVAL ({SHIFTED} - 4611686018427387900) DAY IS NULL",
]


def test_no_row_makes_a_question_fail(curator_of: Open) -> None:
    for rows in (staff(68_001, grade=None), staff(50_000)):
        curator = curator_of(rows)
        for sql in few(curator, FAILED_FOR_ONE_ROW):
            try:
                curator.ask(sql, epsilon="0.001")
            except QueryRefused:  # an engine that cannot say it refuses it, for these rows as for any
                assert curator.engine.dialect != "duckdb"


def planned(curator: Curator, sql: str) -> tuple[AggregationPlan, Any]:
    planner = curator._planner
    [plan] = planner.question(sql, "0.5").plans
    return use_stored_columns(plan, planner.snapshot), planner.snapshot.run


CHOSEN = [
    "SELECT MAX(CASE WHEN x = 7 THEN 4611686018427388417 ELSE 4611686018427388604 END) FROM staff",
    "SELECT MIN(CASE WHEN x = 7 THEN -4611686018427388417 ELSE 1 END) FROM staff",
    "SELECT MEDIAN(0.1) FROM staff",
    "SELECT MEDIAN(x * 0.1 - x * 0.1 + 0.3) FROM (SELECT GREATEST(0, LEAST(3, x)) AS x FROM staff)",
]


def test_points_lie_between_the_ends_that_can_be_chosen(curator_of: Open) -> None:
    for x in (7.0, 1.0):
        curator = curator_of(staff(x=x))
        for sql in few(curator, CHOSEN):
            plan, run = planned(curator, sql)
            [choice] = plan.choices
            points = run(*write_histogram(plan, choice))["x"].to_pylist()
            assert points, sql
            assert all(choice.ends[0] <= point <= choice.ends[1] for point in points), sql
            assert max(map(abs, choice.ends)) <= 2**50, sql


INFINITE = "SELECT x, x * 1e308 * 1e308 AS q FROM staff"
SPELLED = f"""
SELECT k, COUNT(*) AS n
FROM (SELECT CASE WHEN x = 1 THEN m ELSE -m END AS k FROM (SELECT x, q - q AS m FROM ({INFINITE}) AS a) AS b) AS c
GROUP BY k
"""


def test_equal_keys_have_one_spelling(curator_of: Open) -> None:
    spellings = set()
    for x in (1.0, 2.0):
        rows = staff().set_column(2, "x", pa.array([x] * PEOPLE))
        plan, run = planned(curator_of(rows), SPELLED)
        spellings |= {struct.pack("d", key) for key in run(*write_sums(plan))["k0"].to_pylist()}
    assert len(spellings) == 1


def test_what_a_policy_says_of_missing_values_is_not_believed(curator_of: Open) -> None:
    plan, run = planned(curator_of(staff(grade=None)), "SELECT COUNT(grade) FROM staff")
    [[found]] = exact_sums(plan, public_groups(plan), run)
    assert found.tolist() == [(PEOPLE - 1) * plan.weight]


def test_rows_of_another_process_bring_their_own_facts(tmp_path: Path) -> None:
    """One process checked that nothing is missing; another took in rows since in which something is."""
    Curator(tmp_path).protect(staff(), STAFF)
    first = with_old_policies(Curator(tmp_path))
    loose = replace(STAFF, columns=tuple(replace(column, nullable=True) for column in STAFF.columns))
    Curator(tmp_path).protect(staff(grade=None), loose)
    plan, run = planned(first, "SELECT COUNT(grade) FROM staff")
    [[found]] = exact_sums(plan, public_groups(plan), run)
    assert found.tolist() == [(PEOPLE - 1) * plan.weight]


def test_what_an_ingest_saw_is_relied_on(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(staff(), STAFF)
    plan, _ = planned(curator, "SELECT COUNT(grade) FROM staff")
    assert [one.argument for one in plan.block.aggregates] == [None]  # it is COUNT(*)


FAILED_ALWAYS = [
    "SELECT floor(1e300) AS k, COUNT(*) FROM staff GROUP BY 1",
    "SELECT COUNT(*) FROM staff WHERE make_date(extract(year FROM CAST(NULL AS DATE)), 2, 3) IS NULL",
    f"SELECT COUNT(*) FROM staff GROUP BY {SHIFTED} + 4611686018427387390",
    "SELECT COUNT(*) FROM staff HAVING COUNT(*) > 'quarter'",
    "SELECT CAST('quarter' AS INTEGER) + COUNT(*) FROM staff",
]


def test_what_fails_whatever_the_rows_are_is_answered_or_costs_nothing(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(staff(), replace(STAFF, budget=Budget(100)))
    answers = 0
    for sql in FAILED_ALWAYS:
        try:
            assert curator.ask(sql, epsilon=1).to_rows(), sql
            answers += 1
        except QueryRefused:
            assert curator.budget()["staff"]["spent"] == Pure(answers), sql


def test_a_statement_that_the_database_does_not_run_is_refused_before_the_charge(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(staff(), STAFF)
    heard: list[str] = []
    snapshot = curator.engine.snapshot()
    snapshot.owner_log = heard.append
    with pytest.raises(QueryRefused, match="whatever the rows are"):
        snapshot.rehearse("SELECT make_date(CAST(1.5 AS DOUBLE), 1, 2)")
    assert "make_date" in heard[0]
    snapshot.rehearse('SELECT 1 // (person - person) AS x FROM "staff" WHERE person = $1', [1])  # by no row


def test_the_same_real_values_of_a_person_are_kept_everywhere(curator_of: Open) -> None:
    """Large reals are printed with other digits by PostgreSQL, so digits must not say which of them are kept."""
    values = [5.024711093969922e16, 2.411040512643257e16, 9.999999e19, 4.817927464779286e16, 1.0, -0.0, 0.0, 2.5]
    rows = {"person": [k % 5 for k in range(40)], "x": [values[(3 * k + k // 5) % len(values)] for k in range(40)]}
    columns = (Column("person", INTEGER), Column("x", REAL))
    policy = Table("staff", columns, unit="person", rows_per_unit=2, budget=Budget(100))
    plan, run = planned(curator_of(pa.table(rows), policy), "SELECT COUNT(DISTINCT x) FROM staff")
    [[found]] = exact_sums(plan, public_groups(plan), run)
    kept = {v for p in range(5) for v in sorted({x for q, x in zip(*rows.values(), strict=True) if q == p})[:2]}
    assert found.tolist() == [len(kept)]
