"""Intervals of whatever is computed above the aggregates: they hold the truth, at least as often as they say."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from scipy.stats import binom
from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.noise.source import SYSTEM
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.answer import answer as answering
from discreet.query.answer import interval_expressions as expression_ends
from discreet.query.answer.answer import compute_answer, extension, shown
from discreet.query.answer.interval_propagation import describe_shape, with_intervals
from discreet.query.answer.interval_rules import BoundExpressions
from discreet.query.answer.intervals import noisy_table
from discreet.query.answer.noisy_columns import NoisyTable
from discreet.query.answer.notes import notes_above
from discreet.query.answer.sandbox import post_process
from discreet.query.bind.public_tables import PublicMultiplicity, PublicValues
from discreet.query.question import PlannedQuestion, prepare
from discreet.query.run.measure import Measured, exact_sums, measure, public_groups
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG, COUNT_ALIKE, PUBLIC_VALUES, World, nothing_measured, read_queries
from tests.thoroughness import many, some

# Arithmetic, on every combination of ends around zero.

BOXES = [(low, low + width, at) for low in (-3, -1, 0, 1, 2.5) for width in (0, 1, 4) for at in (0, 0.5, 1)]
GRID = [(a, b) for a in BOXES for b in BOXES]


def _grid() -> pa.Table:
    columns: dict[str, list[float]] = {"k0": [(a * 7) % 5 - 2 for a in range(len(GRID))]}
    for place in (0, 1):
        ends = [pair[place] for pair in GRID]
        columns[f"a{place}"] = [low + (high - low) * at for low, high, at in ends]
        for divisor in (1, 2):
            columns[f"a{place}_low_{divisor}"] = [float(low) for low, _, _ in ends]
            columns[f"a{place}_high_{divisor}"] = [float(high) for _, high, _ in ends]
    return pa.table(columns)


def _on_the_grid(expression: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    text = f"SELECT {expression} AS x FROM _block1"
    for name in ("k0", "a0", "a1"):
        text = text.replace(name, f'"_block1"."{name}"')
    query = sqlglot.parse_one(text, read="duckdb")
    assert isinstance(query, exp.Query)
    extended = with_intervals(query, {"_block1": NoisyTable(("k0", "a0", "a1"), 1, is_noisy=True)})
    (followed,) = extended.followed
    result = post_process(extended.query, {"_block1": _grid()})
    added = result.select(list(range(1, result.num_columns))).rename_columns(list(extended.added))
    value, low, high = result.column(0).to_pylist(), *answering._ends_in(added, followed)
    return np.array(value, float), np.array(low, float), np.array(high, float)


def _outside(expression: str) -> int:
    """How many values lie outside their ends; what is NULL or no number lies nowhere."""
    value, low, high = _on_the_grid(expression)
    assert (np.isnan(low) == np.isnan(high)).all()
    known = np.isfinite(value) & ~np.isnan(low)
    value, low, high = value[known], low[known], high[known]
    slack = 1e-9 * np.maximum(np.abs(value), 1)
    return int(np.sum((value < low - slack) | (value > high + slack)))


TIGHT = [
    "a0 + a1",
    "a0 - a1",
    "-a0",
    "a0 * a1",
    "-3 * a0",
    "k0 * a0",
    "a0 / a1",
    "100.0 * a0 / a1",
    "a0 / -2",
    "1 / a1",
]
SURE = [
    *TIGHT, "a0 / k0", "a0 * -2 + 3 * a1", "(a0 - a1) * (a0 + a1)", "a0 / (a0 + a1)", "100.0 * a0 / NULLIF(a0 + a1, 0)",
    "a0 / (a1 + 1.5 + a0)", "(a0 - a1) / a1", "100 * (a0 - a1) / NULLIF(a1, 0)", "CAST(a0 AS DOUBLE) / (a0 + a1)",
    "k0 * a0 / (a0 + a1)", "ABS(a0)", "ABS(a0 - a1)", "ROUND(a0)", "ROUND(a0 * a1, 1)", "FLOOR(a0) - CEIL(a1)",
    "CAST(a0 AS INTEGER)", "CAST(a0 / 3 AS DECIMAL(10, 1))", "CAST(a0 AS DOUBLE)", "SIGN(a0)", "SQRT(a0)", "LN(a0)",
    "LOG10(a0)", "LOG(a0)", "EXP(a0 * a1)", "CBRT(a0)", "POWER(a0, 2)", "a0 ** 3", "POWER(a0, 0.5)",
    "GREATEST(a0, a1, 0)", "LEAST(a0, k0) - GREATEST(a1, 1)", "LEAST(1, GREATEST(0, a0 / a1))", "COALESCE(a0, a1)",
    "COALESCE(a0 / NULLIF(a1, 0), -1)", "NULLIF(a0, a1)", "CASE WHEN k0 > 0 THEN a0 ELSE -a1 END",
    "CASE WHEN a1 > 0 THEN a0 / a1 END", "CASE WHEN a1 > a0 THEN a0 ELSE 0 END",
    "CASE k0 WHEN 1 THEN a0 WHEN 2 THEN NULL ELSE 7 END",
    "IF(k0 > 0, a0, a1) * 2", "CASE WHEN a0 > 0 THEN NULL ELSE a1 END", "a0 * a0 - a1 * a1",
]  # fmt: skip


@pytest.mark.parametrize("expression", SURE)
@pytest.mark.some(20)
def test_a_value_lies_between_its_ends_whenever_its_parts_do(expression: str) -> None:
    assert _outside(expression) == 0
    _, low, _ = _on_the_grid(expression)
    assert np.isfinite(low).mean() > 0.1


@pytest.mark.parametrize("expression", TIGHT)
def test_where_every_value_stands_once_the_ends_are_reached(expression: str) -> None:
    value, low, high = _on_the_grid(expression)
    is_corner = [at_a != 0.5 and at_b != 0.5 for (_, _, at_a), (_, _, at_b) in GRID]
    boxes: dict[tuple[float, ...], list[int]] = {}
    for place, ((al, ah, _), (bl, bh, _)) in enumerate(GRID):
        if is_corner[place] and np.isfinite(low[place]) and "k0" not in expression:
            boxes.setdefault((al, ah, bl, bh), []).append(place)
    for places in boxes.values():
        assert np.isclose(low[places[0]], value[places].min())
        assert np.isclose(high[places[0]], value[places].max())


@pytest.mark.parametrize("expression", ["a0 / a1", "LN(a1)", "1 / (a1 * a1)"])
def test_ends_are_unknown_where_zero_is_possible(expression: str) -> None:
    _, low, high = _on_the_grid(expression)
    holds_zero = np.asarray([b[0] <= 0 <= b[1] for _, b in GRID])
    assert np.isnan(low[holds_zero]).all()
    assert np.isnan(high[holds_zero]).all()


def test_a_share_of_two_counts_is_between_nothing_and_all() -> None:
    _, low, high = _on_the_grid("a0 / (a0 + a1)")
    is_part = np.asarray([a[0] >= 0 and b[0] >= 0 for a, b in GRID])
    assert (low[is_part] >= 0).all()
    assert (high[is_part] <= 1).all()


def test_a_product_too_long_to_write_has_no_ends() -> None:
    query = sqlglot.parse_one(f"SELECT {' * '.join(['(a0 + a1)'] * 12)} AS x FROM _block1", read="duckdb")
    assert isinstance(query, exp.Query)
    extended = with_intervals(query, {"_block1": NoisyTable(("a0", "a1"), 1, is_noisy=True)})
    assert extended.followed == ()
    assert extended.query == query


def _unguarded(x: BoundExpressions, y: BoundExpressions) -> BoundExpressions:
    corners = [
        exp.Paren(this=exp.Div(this=a.copy(), expression=b.copy())) for a in (x.low, x.high) for b in (y.low, y.high)
    ]
    low, high = (exp.Anonymous(this=name, expressions=[c.copy() for c in corners]) for name in ("LEAST", "GREATEST"))
    return BoundExpressions(low, high)


def _one_sided(x: BoundExpressions, y: BoundExpressions) -> BoundExpressions:
    low, high = (
        exp.Paren(this=exp.Mul(this=a.copy(), expression=b.copy())) for a, b in ((x.low, y.low), (x.high, y.high))
    )
    return BoundExpressions(low, high)


@pytest.mark.parametrize(
    ("name", "bug", "expression"),
    [
        ("divide", _unguarded, "1 / a1"),
        ("negate", lambda x: BoundExpressions(x.low, x.high), "-a0"),
        ("multiply", _one_sided, "k0 * a0"),
        (
            "subtract",
            lambda x, y: BoundExpressions(exp.Sub(this=x.low.copy(), expression=y.low.copy()), x.high),
            "a0 - a1",
        ),
    ],
)
def test_planted_bugs_in_the_arithmetic_are_caught(
    monkeypatch: pytest.MonkeyPatch, name: str, bug: object, expression: str
) -> None:
    kinds = {"divide": exp.Div, "negate": exp.Neg, "multiply": exp.Mul, "subtract": exp.Sub}
    rule = expression_ends._one(bug) if name == "negate" else expression_ends._two(bug)  # type: ignore[arg-type]
    monkeypatch.setitem(expression_ends._RULES, kinds[name], rule)
    assert _outside(expression) > 0


# Coverage. A group is a repetition: its noise is its own, and so is its truth.

DAYS = [date(2020, 1, 1) + timedelta(days=k) for k in range(731)]


def _visit(day: date | None, age: int, ward: str = "a") -> tuple[object, ...]:
    row = [ward, age, float(age), 1.0, 1, day, None, True, "", "x", None]
    return tuple(row[: len(CATALOG.table("visits").columns) - 1])


# Days differ: on every third nobody comes, on the others one to six people.
CROWD = world_of(
    {
        10 * k + who: Person([_visit(day, (37 * k + 23 * who) % 111)], [], (1, True))
        for k, day in enumerate(DAYS)
        for who in range(k % 3 * (1 + k % 2 * 2))
    }
)
BUSY = world_of(
    {k: Person([_visit(DAYS[k % 731], (37 * k) % 111, "ab"[k // 731 % 2])], [], (1, True)) for k in range(731 * 10)}
)
SMALL = world_of({k: Person([_visit(DAYS[0], k % 111, "aab"[k % 3])], [], (1, True)) for k in range(300)})
EMPTY = World({})
OLD, YOUNG = "COUNT(*) FILTER (WHERE age > 60)", "COUNT(*) FILTER (WHERE age <= 60)"
EXPRESSIONS = [
    f"{OLD} - {YOUNG}",
    f"{OLD} + 2 * {YOUNG}",
    f"100.0 * {OLD} / ({OLD} + {YOUNG})",
    f"{OLD} * 1.0 / NULLIF({YOUNG}, 0)",
    f"({OLD} - {YOUNG}) / {YOUNG}",
    f"{OLD} * {YOUNG}",
    f"SQRT(ABS({OLD} - {YOUNG}))",
    f"GREATEST({OLD}, {YOUNG}, 3) - LEAST({OLD}, {YOUNG})",
    f"SUM(age) / {OLD}",
    "ROUND(SUM(age) - 3 * AVG(age), 1)",
]
DAILY = "SELECT day, " + ", ".join(f"{e} AS x{k}" for k, e in enumerate(EXPRESSIONS)) + " FROM visits GROUP BY day"


def _without_noise(question: PlannedQuestion, world: World) -> list[Measured]:
    pairs = [(plan, public_groups(plan)) for plan in question.plans]
    return [Measured(plan, groups, exact_sums(plan, groups, world.run), []) for plan, groups in pairs]


def _covered(question: PlannedQuestion, world: World, confidence: float, times: int) -> dict[str, tuple[int, int]]:
    """Per column: how often its interval held the truth, and how often there was one to hold it."""
    public = world.public(question)
    extended = extension(question.split, question.plans, public)
    truth, _ = shown(extended, question.split, _without_noise(question, world), public, confidence, raw=True)
    found: dict[str, tuple[int, int]] = {}
    for _ in range(times):
        measured = [measure(plan, world.run, SYSTEM) for plan in question.plans]
        _, intervals = shown(extended, question.split, measured, public, confidence, raw=False)
        for name, column in intervals.items():
            cells = [(t, i) for t, i in zip(truth[name].to_pylist(), column, strict=True) if t is not None and t == t]
            held = sum(i is None or i[0] - 1e-6 <= float(t) <= i[1] + 1e-6 for t, i in cells)
            before = found.get(name, (0, 0))
            found[name] = before[0] + held, before[1] + len(cells)
    return found


def _too_few(covered: dict[str, tuple[int, int]], confidence: float) -> list[str]:
    """Columns that covered less often than chance allows once in 10^9 times; some 200 are looked at in this file."""
    return [name for name, (held, times) in covered.items() if held < binom.ppf(1e-9, times, confidence)]


@pytest.mark.parametrize("price", [Pure("0.3"), Pure(3), Pure(40), ZeroConcentrated(1)])
@pytest.mark.parametrize("world", [CROWD, BUSY], ids=["hardly anybody", "many"])
@pytest.mark.some(2)
def test_intervals_of_arithmetic_cover_as_often_as_they_say(world: World, price: Pure | ZeroConcentrated) -> None:
    covered = _covered(prepare(DAILY, CATALOG, price), world, 0.9, times=1)
    assert len(covered) == len(EXPRESSIONS)
    assert min(times for _, times in covered.values()) > 200
    assert _too_few(covered, 0.9) == []


def test_at_a_high_price_every_kind_of_expression_has_an_interval() -> None:
    question = prepare(DAILY, CATALOG, Pure(400))
    measured = [measure(plan, BUSY.run, SYSTEM) for plan in question.plans]
    _, intervals = compute_answer(question.split, measured, {}, 0.9, raw=False)
    assert all(sum(i is not None for i in column) >= 700 for column in intervals.values())


# True values are 5 and 5 in each group: this is within its ends when both counts are within theirs, and only then.
_OFF = [f"ABS(COUNT(*) FILTER (WHERE ward = '{ward}') - 5)" for ward in "ab"]
JOINT = f"SELECT day, GREATEST({', '.join(_OFF)}) AS x FROM visits GROUP BY day"


def test_two_cells_hold_together_as_often_as_the_answer_says() -> None:
    question = prepare(JOINT, CATALOG, Pure(5))
    assert _too_few(_covered(question, BUSY, 0.5, times=1), 0.5) == []


def test_ends_at_the_confidence_of_a_single_cell_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "confidence_of_each", lambda confidence, cells: confidence)
    question = prepare(JOINT, CATALOG, Pure(5))
    # Both hold with probability 1/4: of 732 groups at least 285 do with probability below 1e-15.
    assert _too_few(_covered(question, BUSY, 0.5, times=1), 0.5) == ["x"]


# Outer queries.

GROUPED = "SELECT ward, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS m FROM visits GROUP BY ward"
FOLLOWED = {
    f"SELECT ward, n FROM ({GROUPED}) WHERE ward <> 'b' ORDER BY ward LIMIT 3": {"n": 1},
    f"WITH t AS ({GROUPED}) SELECT * FROM t": {"n": 1, "s": 1, "m": 1},
    f"WITH t AS ({GROUPED}) SELECT t.*, s / n AS q FROM t WHERE ward = 'a'": {"n": 1, "s": 1, "m": 1, "q": 1},
    f"WITH t AS ({GROUPED}), u AS (SELECT ward, 2 * n AS d FROM t) SELECT d + 1 AS e, ward FROM u": {"e": 1},
    f"SELECT w.floor, t.n FROM ({GROUPED}) t JOIN wards w ON w.name = t.ward": {"n": 1},
    f"SELECT w.floor, COALESCE(t.n, 0) AS n FROM wards w LEFT JOIN ({GROUPED}) t ON w.name = t.ward": {"n": 1},
    f"WITH t AS ({GROUPED}) SELECT a.n - b.n AS d FROM t a JOIN t b ON a.ward < b.ward": {"d": 1},
    f"SELECT n * 2 AS d, d + 1 AS e FROM ({GROUPED})": {"d": 1, "e": 1},
    f"SELECT SUM(n) AS x, AVG(s) AS y, MAX(n) - MIN(n) AS r, COUNT(*) AS k FROM ({GROUPED})": {"x": 1, "y": 1, "r": 5},
    f"SELECT SUM(s) / SUM(n) AS q, SUM(n) / COUNT(*) AS p, MEDIAN(m) AS c FROM ({GROUPED})": {"q": 1, "p": 1, "c": 5},
    f"SELECT floor, SUM(n) AS x FROM ({GROUPED}) t JOIN wards w ON w.name = t.ward GROUP BY floor": {"x": 1},
    f"SELECT SUM(n) FILTER (WHERE ward <> 'b') AS x FROM ({GROUPED})": {"x": 1},
    f"SELECT 2 * x AS y FROM (SELECT SUM(n) AS x FROM ({GROUPED}))": {"y": 1},
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS p FROM visits GROUP BY ward": {"p": 1},
    f"SELECT (SELECT SUM(n) FROM ({GROUPED})) AS x, (SELECT COUNT(*) FROM visits) - 1 AS y": {"x": 1, "y": 1},
    f"SELECT s / n - m AS d, ROUND(s / n * m, 1) AS p, n * s AS v FROM ({GROUPED})": {"d": 2, "p": 2, "v": 2},
    "SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM patients": {"n": 1},
    f"SELECT SUM(n) AS x FROM (SELECT n FROM ({GROUPED}) UNION ALL SELECT s FROM ({GROUPED}))": {"x": 1},
    f"SELECT ward, m * n AS n FROM ({GROUPED}) UNION ALL SELECT 'all', SUM(n) / 2 FROM ({GROUPED})": {"n": 2},
    f"SELECT SUM(n) OVER () AS x, ROW_NUMBER() OVER (ORDER BY n) AS r FROM ({GROUPED})": {"x": 1},
    f"SELECT SUM(n) OVER (ORDER BY ward) AS x, AVG(n) FILTER (WHERE ward <> 'b') OVER () AS y FROM ({GROUPED})": {
        "x": 1,
        "y": 1,
    },
    f"SELECT ward, 100.0 * n / SUM(n) OVER w AS p, n - LAG(n, 1, 0) OVER w AS d, ROUND(n / LAG(n) OVER w - 1, 3) AS g "
    f"FROM ({GROUPED}) WINDOW w AS (ORDER BY ward)": {"p": 1, "d": 1, "g": 1},
}
UNKNOWN = [
    "SELECT DISTINCT COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits UNION SELECT COUNT(*) FROM patients",
    f"SELECT SUM(n) OVER (ORDER BY n) AS x, LAG(n) OVER (ORDER BY s) AS y FROM ({GROUPED})",
    f"SELECT RANK() OVER (ORDER BY n) AS r FROM ({GROUPED})",
    f"SELECT SUM(n) OVER () AS x FROM ({GROUPED}) WHERE n > 5",
    f"SELECT SUM(n) FILTER (WHERE s > 0) OVER () AS x, AVG(NULLIF(n, 0)) OVER () AS y FROM ({GROUPED})",
    f"SELECT n, COUNT(*) AS k FROM ({GROUPED}) GROUP BY n",
    f"SELECT COUNT(*) AS k, SUM(DISTINCT n) AS d, SUM(n) FILTER (WHERE n > 2) AS f FROM ({GROUPED}) WHERE n > 5",
    f"SELECT SUM(s / n) AS q, AVG(NULLIF(n, 0)) AS z FROM ({GROUPED})",
    f"SELECT n > 5 AS b, CAST(n AS VARCHAR) AS t, n % 2 AS h, CASE WHEN n > 5 THEN 'many' END AS c FROM ({GROUPED})",
    "SELECT CASE WHEN COUNT(*) > 5 THEN 1 ELSE 0 END AS x FROM visits",
    f"SELECT MIN(ward) AS k, SUM(1) AS c FROM ({GROUPED}) WHERE n > 5",
    "SELECT MIN(age) + MAX(n) AS x FROM (SELECT age, COUNT(*) AS n FROM visits GROUP BY age HAVING n > 5)",
    f"SELECT (SELECT ward FROM ({GROUPED}) ORDER BY n LIMIT 1) AS k, (SELECT MAX(ward) FROM ({GROUPED})) AS m",
]


def _extended(text: str) -> tuple[dict[str, int], PlannedQuestion]:
    """Per column with ends, of how many cells it is made."""
    question = prepare(text, CATALOG, Pure(1))
    pairs = zip(question.split.blocks, question.plans, strict=True)
    shapes = {block.name: describe_shape(block, plan) for block, plan in pairs}
    shapes |= {"wards": NoisyTable(("name", "floor"), 4, is_noisy=False)}
    extended = with_intervals(question.split.above, shapes)
    names = [each.alias_or_name for each in extended.query.selects]
    return {names[each.position]: each.cells for each in extended.followed}, question


@pytest.mark.parametrize("text", FOLLOWED)
@pytest.mark.some(8)
def test_an_interval_follows_its_column(text: str) -> None:
    cells, question = _extended(text)
    assert cells == FOLLOWED[text]
    covered = _covered(question, BUSY, 0.9, times=1)
    assert set(covered) == set(cells)


@pytest.mark.parametrize("text", UNKNOWN)
def test_where_no_interval_is_known_none_is_shown(text: str) -> None:
    cells, question = _extended(text)
    assert cells == {}
    assert _covered(question, BUSY, 0.9, times=1) == {}


@pytest.mark.parametrize("text", [*read_queries("answers.sql"), *read_queries("measured.sql"), *FOLLOWED, *UNKNOWN])
@pytest.mark.some(30)
def test_ends_never_stop_a_query_and_change_nothing_in_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def once(query: exp.Query, tables: dict[str, pa.Table]) -> pa.Table:
        try:
            return post_process(query, tables)
        except QueryRefused as refused:
            raise AssertionError(str(refused)) from refused

    monkeypatch.setattr(answering, "post_process", once)
    question = prepare(
        text, CATALOG, Pure(1), public_values=PublicValues(CATALOG, EMPTY.run, str), count_alike=COUNT_ALIKE
    )
    measured = [nothing_measured(plan) for plan in question.plans]
    public = EMPTY.public(question)
    table, intervals = compute_answer(question.split, measured, public, 0.95, raw=False)
    pairs = zip(question.split.blocks, measured, strict=True)
    noisy = {block.name: noisy_table(one, 0.95, raw=False, block=block) for block, one in pairs}
    assert table.schema == post_process(question.split.above, public | noisy).schema
    assert set(intervals) <= set(table.column_names)


SUMS = [
    f"SELECT SUM(n) AS x, MAX(n) - MIN(n) AS r, AVG(m) AS q, AVG(s) AS y FROM ({GROUPED})",
    f"WITH t AS ({GROUPED}) SELECT MAX(a.n - b.n) AS d FROM t a JOIN t b ON a.ward <> b.ward",
    f"SELECT SUM(n) AS x FROM ({GROUPED}) WHERE n > 0",
]


@pytest.mark.parametrize("text", SUMS)
@pytest.mark.some(1)
def test_intervals_over_groups_cover_as_often_as_they_say(text: str) -> None:
    # Ends that hold 30 % of the time are caught with probability 0.99 in 60 times; of 120 times, those that hold 40 %.
    covered = _covered(prepare(text, CATALOG, Pure(1)), SMALL, 0.8, times=many(60, 120))
    assert _too_few(covered, 0.8) == []


# Nobody is there: the greatest of all counts is zero, and is covered when none of them leaves its ends upwards.
GREATEST = "SELECT MAX(n) AS x FROM (SELECT ward, kind, flag, COUNT(*) AS n FROM visits GROUP BY ward, kind, flag)"


def test_counting_the_groups_as_one_cell_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    question = prepare(GREATEST, CATALOG, Pure(1))
    assert _too_few(_covered(question, EMPTY, 0.8, times=60), 0.8) == []
    monkeypatch.setattr(answering, "confidence_of_each", lambda confidence, cells: confidence)
    # All 30 counts hold with probability 0.9^30 < 0.05: that 27 of 60 times do has probability below 1e-20.
    assert _too_few(_covered(question, EMPTY, 0.8, times=60), 0.8) == ["x"]


# Rows that noise chose.


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 5",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 5",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY 2 DESC LIMIT 1",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY COUNT(*) LIMIT 1",
        f"SELECT ward FROM ({GROUPED}) WHERE n > 5",
        f"SELECT * FROM ({GROUPED}) WHERE ward IN (SELECT ward FROM ({GROUPED}) ORDER BY n LIMIT 2)",
        f"SELECT * FROM ({GROUPED}) QUALIFY ROW_NUMBER() OVER (ORDER BY n) = 1",
        f"SELECT ROUND(n, -1) AS r, COUNT(*) AS k FROM ({GROUPED}) GROUP BY r",
        f"SELECT * FROM wards JOIN ({GROUPED}) ON floor < n",
        f"SELECT (SELECT n FROM ({GROUPED}) ORDER BY n LIMIT 1) AS least",
        f"SELECT n FROM ({GROUPED}) EXCEPT SELECT s FROM ({GROUPED})",
    ],
)
def test_a_choice_by_noise_is_said(text: str) -> None:
    note = notes_above(prepare(text, CATALOG, Pure(1)))[0]
    assert note.startswith("Rows were chosen by their noisy values;")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING ward <> 'a' ORDER BY ward LIMIT 2",
        f"SELECT floor, SUM(n) AS n FROM ({GROUPED}) t JOIN wards w ON w.name = t.ward WHERE floor > 1 GROUP BY floor",
        f"SELECT * FROM ({GROUPED}) LIMIT 2",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM patients",
    ],
)
def test_a_choice_by_public_values_needs_no_word(text: str) -> None:
    assert notes_above(prepare(text, CATALOG, Pure(1))) == []


def test_keys_that_noise_chose_are_said_and_what_is_computed_over_them_has_no_interval() -> None:
    question = prepare(
        "SELECT note, COUNT(*) AS n FROM visits GROUP BY note", CATALOG, Pure(1), delta=Fraction(1, 10**6)
    )
    assert len(notes_above(question)) == 1
    shapes = {"_block1": NoisyTable(("k0", "a0"), None, is_noisy=True)}
    query = sqlglot.parse_one('SELECT SUM(n) AS x FROM (SELECT "_block1"."a0" AS n FROM _block1)', read="duckdb")
    assert isinstance(query, exp.Query)
    assert with_intervals(query, shapes).followed == ()
    least = "SELECT MIN(note) AS k, MIN(big) AS b FROM (SELECT note, big, COUNT(*) AS n FROM visits GROUP BY note, big)"
    question = prepare(least, CATALOG, Pure(1), delta=Fraction(1, 10**6))
    table, intervals = compute_answer(question.split, [nothing_measured(question.plans[0])], {}, 0.95, raw=False)
    assert (table.to_pylist(), intervals) == ([{"k": None, "b": None}], {})


def test_what_is_computed_over_no_groups_is_missing_and_so_is_its_interval() -> None:
    nowhere = World({"sites": []})
    groups = "SELECT region, COUNT(*) AS n FROM visits v JOIN sites s ON v.ward = s.ward GROUP BY region"
    values = PublicValues(CATALOG, nowhere.run, lambda _: "1")
    text, count = f"SELECT SUM(n) AS x, MAX(n) AS y FROM ({groups})", PublicMultiplicity(CATALOG, nowhere.run, str)
    question = prepare(text, CATALOG, Pure(1), public_values=values, count_alike=count)
    measured = [measure(plan, nowhere.run, SYSTEM) for plan in question.plans]
    table, intervals = compute_answer(question.split, measured, {}, 0.95, raw=False)
    assert table.to_pylist() == [{"x": None, "y": None}]
    assert all(known == [None] for known in intervals.values())


def test_a_confidence_too_near_to_one_leaves_no_interval_rather_than_a_short_one() -> None:
    question = prepare(f"SELECT SUM(n) AS x FROM ({GROUPED})", CATALOG, Pure(1))
    measured = [nothing_measured(plan) for plan in question.plans]
    for confidence, is_known in ((0.999999, True), (1 - 2.0**-39, True), (1 - 2.0**-53, False)):
        _, intervals = compute_answer(question.split, measured, {}, confidence, raw=False)
        assert (intervals["x"] != [None]) == is_known


TOTALS = "SELECT SUM(n) AS x, AVG(n) AS y, SUM(s) AS z FROM (SELECT ward, kind, flag, COUNT(*) AS n, SUM(age) AS s"


@pytest.mark.parametrize("price", [Pure("0.5"), Pure(30), ZeroConcentrated(1)])
@pytest.mark.parametrize("world", [SMALL, EMPTY], ids=["some", "nobody"])
@pytest.mark.some(1)
def test_totals_of_many_groups_cover_as_often_as_they_say(world: World, price: Pure | ZeroConcentrated) -> None:
    question = prepare(f"{TOTALS} FROM visits GROUP BY ward, kind, flag)", CATALOG, price)
    covered = _covered(question, world, 0.8, times=60)
    assert set(covered) == {"x", "y", "z"}
    assert _too_few(covered, 0.8) == []


def test_a_total_is_narrower_than_all_groups_at_their_worst() -> None:
    question = prepare(f"{TOTALS} FROM visits GROUP BY ward, kind, flag)", CATALOG, Pure(1))
    worst = prepare(f"{TOTALS} FROM visits GROUP BY ward, kind, flag) WHERE s < 1e9", CATALOG, Pure(1))
    measured = [measure(plan, SMALL.run, SYSTEM) for plan in question.plans]
    widths = []
    for each in (question, worst):
        _, intervals = compute_answer(each.split, measured, {}, 0.95, raw=True)
        ((low, high),) = [interval for interval in intervals["z"] if interval is not None]
        widths.append(high - low)
    assert widths[0] < widths[1] / 4


def test_a_total_of_rows_that_noise_chose_is_made_of_all_groups() -> None:
    joined = f"SELECT SUM(n) AS x FROM ({GROUPED}) t JOIN wards w ON w.name = t.ward"
    for text in (
        f"SELECT SUM(n) AS x FROM ({GROUPED}) WHERE n > 1",
        f"SELECT SUM(n) AS x FROM (SELECT n FROM ({GROUPED}) ORDER BY n LIMIT 3)",
    ):
        assert _extended(text)[0] == {"x": 5}
    for text in (f"SELECT SUM(2 * n) AS x FROM ({GROUPED})", joined):
        assert _extended(text)[0] == {"x": 1}


PICKING = [
    *read_queries("answers.sql"),
    *read_queries("measured.sql"),
    "SELECT ward, ward, COUNT(*) AS ward, COUNT(*) AS n, AVG(age) AS n, SUM(cost) AS n_1 FROM visits GROUP BY ward",
    "SELECT COUNT(*), COUNT(*), MEDIAN(age), MODE(kind), MIN(day), VARIANCE(cost) FROM visits",
    'SELECT day, flag, COUNT(*) AS "it\'s; ""odd" FROM visits GROUP BY day, flag',
    "SELECT MAX(met), date_trunc('month', met) AS month FROM visits GROUP BY month",
]


def test_columns_that_are_picked_are_those_that_a_database_would_pick() -> None:
    asked = (prepare(one, CATALOG, Pure(1), public_values=PUBLIC_VALUES, count_alike=COUNT_ALIKE) for one in PICKING)
    picking = [question for question in asked if question.split.only_picks]
    assert len(picking) > 50
    for question in some(picking, 25):
        split, measured = question.split, [measure(plan, EMPTY.run, SYSTEM) for plan in question.plans]
        extended = extension(split, question.plans, {})
        for confidence, raw in product([0.5, 0.95, 1 - 2.0**-53], [False, True]):
            table, intervals = compute_answer(split, measured, {}, confidence, raw)
            other, others = shown(extended, split, measured, {}, confidence, raw)
            assert table.schema == other.schema, split.above
            assert repr(table.to_pylist()) == repr(other.to_pylist()), split.above
            assert repr(intervals) == repr(others), split.above
