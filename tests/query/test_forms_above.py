"""Sums, differences, shares and growth above the aggregates: their intervals are those of their own noise."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from discreet.noise.source import SYSTEM
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.aggregates.noise_tails import LinearForm
from discreet.query.answer import cell_intervals as cells_above
from discreet.query.answer import linear_forms as forms_above
from discreet.query.answer.answer import Intervals, compute_answer
from discreet.query.question import PlannedQuestion, prepare
from discreet.query.run.measure import Measured, exact_sums, measure, public_groups
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG, World, nothing_measured
from tests.thoroughness import some

WEEKS = [date(2020, 1, 6) + timedelta(weeks=k) for k in range(103)]


def _visit(day: date, age: int, ward: str) -> tuple[object, ...]:
    return (ward, age, float(age), 1.0, 1, day, None, True, "", "x")


# 90 to 130 people a week, nobody in every fiftieth.
MANY = world_of(
    {
        1000 * k + who: Person([_visit(week, (37 * k + 23 * who) % 111, "ab"[who % 2])], [], (1, True))
        for k, week in enumerate(WEEKS)
        for who in range(0 if k % 50 == 7 else 90 + k % 41)
    }
)
WEEKLY = (
    "SELECT date_trunc('week', day) AS day, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS m FROM visits "
    "GROUP BY date_trunc('week', day)"
)
KEYED = f"SELECT day, n, s, m, weekofyear(day) AS d, year(day) AS y FROM ({WEEKLY})"
W = "WINDOW w AS (ORDER BY day)"
SHOWN = {
    "running sums": f"SELECT day, SUM(n) OVER (ORDER BY day) AS x FROM ({WEEKLY})",
    "moving means": (
        f"SELECT day, AVG(n) OVER (ORDER BY day ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS x FROM ({WEEKLY})"
    ),
    "differences": f"SELECT day, n - LAG(n) OVER w AS x, LEAD(s, 2, 0) OVER w - s AS y FROM ({WEEKLY}) {W}",
    "growth": f"SELECT day, 100.0 * (n - LAG(n) OVER w) / NULLIF(LAG(n) OVER w, 0) AS x FROM ({WEEKLY}) {W}",
    "growth in steps": (
        f"WITH t AS (SELECT day, s AS now, LAG(s) OVER (ORDER BY day) AS before FROM ({WEEKLY})) "
        "SELECT day, ROUND(now / before - 1, 3) AS x, (now - before) / before AS y FROM t"
    ),
    "shares": f"SELECT day, 1.0 * n / SUM(n) OVER () AS x, n / (SELECT SUM(n) FROM ({WEEKLY})) AS y FROM ({WEEKLY})",
    "means by hand": f"SELECT day, s / n AS x, ABS(s / n - 50) AS y, LN(s / n) AS z FROM ({WEEKLY})",
    "weights": f"SELECT day, 3 * n - 0.5 * s + d AS x, CASE WHEN d > 9 THEN -n ELSE s / 2 END AS z FROM ({KEYED})",
    "by year": f"SELECT d, SUM(CASE WHEN y = 2020 THEN n ELSE -n END) AS x, AVG(n) AS z FROM ({KEYED}) GROUP BY d",
    "union": f"SELECT day, n AS x FROM ({WEEKLY}) UNION ALL SELECT day, s - 2 * n FROM ({WEEKLY})",
    "sums of unions": (
        f"SELECT day, SUM(v) AS x FROM (SELECT day, n AS v FROM ({WEEKLY}) UNION ALL SELECT day, -s FROM ({WEEKLY})) "
        "GROUP BY day"
    ),
}
PRICES = [Pure(1), Pure(12), ZeroConcentrated(1)]


def _measured(question: PlannedQuestion, world: World, *, noise: bool = True) -> list[Measured]:
    """What answers each block; blocks that are planned together are measured once, as a curator does."""
    found: dict[int, Measured] = {}
    for plan in question.plans:
        groups = public_groups(plan)
        exact = Measured(plan, groups, exact_sums(plan, groups, world.run), [])
        found.setdefault(id(plan), measure(plan, world.run, SYSTEM) if noise else exact)
    return [found[id(plan)] for plan in question.plans]


def _ask(
    question: PlannedQuestion, measured: list[Measured], confidence: float, *, raw: bool = False
) -> tuple[pa.Table, Intervals]:
    return compute_answer(question.split, measured, {}, confidence, raw)


def _covered(question: PlannedQuestion, confidence: float, times: int) -> dict[str, list[bool]]:
    """Per column and per row that has an interval, whether it held the truth; every value is inside."""
    truth, _ = _ask(question, _measured(question, MANY, noise=False), confidence, raw=True)
    found: dict[str, list[bool]] = {}
    for _ in range(times):
        table, intervals = _ask(question, _measured(question, MANY), confidence)
        for name, column in intervals.items():
            rows = zip(truth[name].to_pylist(), table[name].to_pylist(), column, strict=True)
            known = [(float(t), float(v), i) for t, v, i in rows if t is not None and t == t and i is not None]
            assert all(low <= value <= high for _, value, (low, high) in known)
            found.setdefault(name, []).extend(low - 1e-6 <= t <= high + 1e-6 for t, _, (low, high) in known)
    return found


def _is_too_few(held: list[bool], confidence: float) -> bool:
    """Whether every seventh row, none of which shares a noise with another, was covered less often than by chance.

    That happens once in 10^9 times; some 60 columns are looked at. Rows of running sums and of shares share noises, so
    that chance is larger for them: they are looked at where the same row is asked for again and again.
    """
    return sum(held[::7]) < binom.ppf(1e-9, len(held[::7]), confidence)


@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN)
@pytest.mark.some(2)
def test_intervals_of_forms_and_quotients_cover_as_often_as_they_say(text: str) -> None:
    for price in some(PRICES, 2):
        covered = _covered(prepare(text, CATALOG, price), 0.8, times=3)
        assert covered
        for name, held in covered.items():
            assert len(held) > 130, name
            if text not in (SHOWN["running sums"], SHOWN["shares"]):
                assert not _is_too_few(held, 0.8), (name, price)


@pytest.mark.parametrize("name", ["running sums", "shares"])
@pytest.mark.some(1)
def test_one_row_that_shares_noise_with_all_others_is_covered_as_often_as_it_says(name: str) -> None:
    # Below binom.ppf(1e-9, 30, 0.8) = 9 of 30 times once in 10^9 runs.
    question = prepare(SHOWN[name], CATALOG, Pure(1))
    truth, _ = _ask(question, _measured(question, MANY, noise=False), 0.8, raw=True)
    place = truth.num_rows - 9
    true, held = float(truth["x"].to_pylist()[place]), 0
    for _ in range(30):
        _, intervals = _ask(question, _measured(question, MANY), 0.8)
        low, high = intervals["x"][place] or (0.0, 0.0)
        held += low <= true <= high
    assert held >= binom.ppf(1e-9, 30, 0.8)


GROWTH = (
    "WITH t AS (SELECT flag, COUNT(*) AS n FROM visits GROUP BY flag) "
    "SELECT flag, 100.0 * (n - LAG(n) OVER (ORDER BY flag)) / LAG(n) OVER (ORDER BY flag) AS g FROM t"
)


@pytest.mark.parametrize("price", [Pure("0.1"), Pure(1), ZeroConcentrated("0.01")])
def test_growth_is_hardly_wider_than_its_own_error(price: Pure | ZeroConcentrated) -> None:
    """From 12,000 to 13,200, say: the interval against the 95 % quantile of two million errors."""
    question = prepare(GROWTH, CATALOG, price)
    (plan,) = question.plans
    (priced,) = plan.parts
    steps = [round(count / priced.unit) for count in (12_000, 13_200)]
    counts = np.resize(np.array(steps, np.int64), len(public_groups(plan)))
    _, intervals = _ask(question, [replace(nothing_measured(plan), sums=[[counts]])], 0.95)
    low, high = next(filter(None, intervals["g"][1:]))
    before, after = (np.array(step) + priced.noise.sample(2_000_000) for step in steps)
    errors = np.abs(100.0 * (after / before - 1.1))
    quantile = float(np.quantile(errors, 0.95))
    # The quantile of two million errors is off by less than 1 % but for once in 10^9 times.
    assert 0.99 * quantile <= (high - low) / 2 <= 1.1 * quantile


@pytest.mark.parametrize("price", PRICES)
def test_forms_of_one_group_are_as_wide_as_the_noise_that_they_share(price: Pure | ZeroConcentrated) -> None:
    """A count and a sum are read from the same integers; 300,000 draws of these against each interval."""
    grouped = "SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward"
    text = f"SELECT s / n AS x, s - 30 * n AS y, s + n AS z FROM ({grouped}) WHERE ward = 'a'"
    question = prepare(text, CATALOG, price)
    (plan,), (exact,) = question.plans, _measured(question, MANY, noise=False)
    _, intervals = _ask(question, [exact], 0.95, raw=True)
    drawn = [
        [integers[0] + priced.noise.sample(300_000) for integers in sums]
        for priced, sums in zip(plan.parts, exact.sums, strict=True)
    ]
    forms = [plan.form_of(aggregate) or (0, LinearForm(())) for aggregate in plan.block.aggregates]
    (n, s), (true_n, true_s) = (
        [form.value(sums[part]) for part, form in forms]
        for sums in (drawn, [[integers[:1] for integers in sums] for sums in exact.sums])
    )
    errors = {"x": s / n - true_s / true_n, "y": s - 30 * n - true_s + 30 * true_n, "z": s + n - true_s - true_n}
    for name, error in errors.items():
        low, high = intervals[name][0] or (0.0, 0.0)
        # The quantile of 300,000 errors is off by less than 2 % but for once in 10^9 times.
        assert 0.98 <= (high - low) / 2 / float(np.quantile(np.abs(error), 0.95)) <= 1.1, name


def test_what_is_used_twice_cancels() -> None:
    text = (
        "SELECT day, n - n AS a, 1.0 * n / n AS b, SUM(n) OVER w - n - COALESCE(SUM(n) OVER v, 0) AS c "
        f"FROM ({WEEKLY}) WINDOW w AS (ORDER BY day), "
        "v AS (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    question = prepare(text, CATALOG, Pure(1))
    _, intervals = _ask(question, _measured(question, MANY), 0.95, raw=True)
    for name, value in (("a", 0.0), ("b", 1.0), ("c", 0.0)):
        known = [interval for interval in intervals[name] if interval is not None]
        assert len(known) > 90
        assert np.allclose(known, value, atol=1e-6)


def test_a_form_is_what_the_query_computes() -> None:
    """As measured, an interval lies around the value that the database computed: forms leave nothing out."""
    for text in SHOWN.values():
        question = prepare(text, CATALOG, Pure(1))
        table, intervals = _ask(question, _measured(question, MANY), 0.95, raw=True)
        for name, column in intervals.items():
            pairs = [(i, float(v)) for i, v in zip(column, table[name].to_pylist(), strict=True) if i is not None]
            middles = [(low + high) / 2 for (low, high), _ in pairs]
            if not any(word in text for word in ("ROUND", "ABS")):
                assert np.allclose(middles, [v for _, v in pairs], rtol=1e-9, atol=1e-6), text


def test_an_interval_of_counts_leaves_out_what_no_counts_give() -> None:
    text = (
        "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS x, 1.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS p "
        "FROM visits GROUP BY ward"
    )
    question = prepare(text, CATALOG, Pure(1))
    (plan,) = question.plans
    (priced,) = plan.parts
    counts = np.array([round(count / priced.unit) for count in (-9, -9, 3, 400, 3)], np.int64)
    table, intervals = _ask(question, [replace(nothing_measured(plan), sums=[[counts]])], 0.95)
    for name, most in (("x", 1e9), ("p", 1.0)):
        for value, interval in zip(table[name].to_pylist(), intervals[name], strict=True):
            low, high = interval or (0.0, 0.0)
            assert min(0.0, float(value)) <= low < high <= max(most, float(value))
            assert low <= value <= high


def test_blocks_that_were_measured_together_share_their_noise() -> None:
    grouped = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    text = f"SELECT a.ward, a.n - 2 * b.n AS x, a.n + b.n AS y FROM ({grouped}) a JOIN ({grouped}) b USING (ward)"
    question = prepare(text, CATALOG, Pure(1))
    one, other = _measured(question, MANY)
    _, together = _ask(question, [one, one], 0.95, raw=True)
    _, apart = _ask(question, [one, other], 0.95, raw=True)
    x, y = ([high - low for low, high in filter(None, [together[name][0], apart[name][0]])] for name in "xy")
    assert x[0] < x[1] / 1.5
    assert y[0] > y[1] * 1.2


def test_quotients_of_many_rows_are_hardly_narrower_and_not_much_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    question = prepare(SHOWN["growth"], CATALOG, Pure(1))
    measured = _measured(question, MANY)
    _, exact = _ask(question, measured, 0.95)
    monkeypatch.setattr(cells_above, "_MANY", 10)
    _, bound = _ask(question, measured, 0.95)
    pairs = [(one, two) for one, two in zip(exact["x"], bound["x"], strict=True) if one is not None and two is not None]
    assert len(pairs) > 80
    ratios = [(wide[1] - wide[0]) / (narrow[1] - narrow[0]) for narrow, wide in pairs]
    assert 0.8 < min(ratios) < max(ratios) < 3
    assert np.median(ratios) > 1
    assert not _every_second(_covered(question, 0.8, times=2)["x"], 0.8)


def test_a_list_too_long_for_every_row_gives_way_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    question = prepare(SHOWN["running sums"], CATALOG, Pure(1))
    measured = _measured(question, MANY)
    _, exact = _ask(question, measured, 0.95)
    monkeypatch.setattr(forms_above, "_MOST_ROWS", 10)
    _, bound = _ask(question, measured, 0.95)
    for narrow, wide in zip(exact["x"], bound["x"], strict=True):
        assert narrow is not None
        assert wide is not None
        assert narrow[1] - narrow[0] <= 1.05 * (wide[1] - wide[0]) <= 3 * (narrow[1] - narrow[0])


# Planted bugs: the checks above see them.


def _every_second(held: list[bool], confidence: float) -> bool:
    """Whether every second row, none of which shares a noise with another, was covered too rarely; see above."""
    return sum(held[::2]) < binom.ppf(1e-9, len(held[::2]), confidence)


def test_forgetting_the_noise_of_a_divisor_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    question = prepare(f"SELECT day, (n + 900) / LAG(n) OVER w AS x FROM ({WEEKLY}) {W}", CATALOG, Pure(3))
    assert not _every_second(_covered(question, 0.8, times=2)["x"], 0.8)
    monkeypatch.setattr(cells_above.Cells, "_difference", lambda self, a, b, quotient: (quotient, a.noises, a.sizes))
    # The divisor's noise counts ten times: about one row in ten is covered. That half of them are, is rarer than 1e-15.
    assert _every_second(_covered(question, 0.8, times=2)["x"], 0.8)


def test_halving_what_noises_are_multiplied_by_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = cells_above.Cells._noises_in

    def halved(self: cells_above.Cells, *given: Any) -> Any:
        found, sizes, cuts = right(self, *given)
        return found, sizes / 2, cuts

    question = prepare(SHOWN["differences"], CATALOG, ZeroConcentrated(1))
    monkeypatch.setattr(cells_above.Cells, "_noises_in", halved)
    # Half of 1.28 deviations covers 48 % of 306 rows, give or take 9: 203 are 6 times as far away.
    assert _every_second(_covered(question, 0.8, times=6)["x"], 0.8)
