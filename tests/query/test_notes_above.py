"""Where no error bar is known, the answer says for which columns and why, before it is asked."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.privacy.loss import Pure
from discreet.query.answer.answer import compute_answer
from discreet.query.answer.notes import notes_above
from discreet.query.question import prepare
from tests.query.test_unclipped_totals import measured_counts
from tests.query.world import CATALOG, nothing_measured

GROUPED = "SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward"
BY_NOISE = "noise decides which rows go in, or in which order"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"SELECT ward, RANK() OVER (ORDER BY n) AS r, n > 5 AS b FROM ({GROUPED})", "r, b: ranks, comparisons"),
        (f"SELECT ward, n, SUM(n) OVER (ORDER BY n) AS x FROM ({GROUPED})", f"x: {BY_NOISE}"),
        (f"SELECT SUM(n) OVER () AS x FROM ({GROUPED}) WHERE n > 5", f"x: {BY_NOISE}"),
        (f"SELECT COUNT(*) AS k FROM ({GROUPED}) WHERE n > 5", f"k: {BY_NOISE}"),
        ("SELECT DISTINCT COUNT(*) AS n FROM visits GROUP BY ward", "n: rows that are alike were put together"),
        ("SELECT COUNT(*) AS n FROM visits UNION SELECT COUNT(*) FROM patients", "n: rows that are alike"),
        (f"SELECT n % 2 AS h, n AS m FROM ({GROUPED})", "h: no rule bounds the error of such"),
        (f"WITH t AS (SELECT ward, n % 2 > 0 AS b FROM ({GROUPED})) SELECT b FROM t", "b: ranks, comparisons"),
        (
            f"SELECT ward, n FROM ({GROUPED}) UNION ALL SELECT ward, RANK() OVER (ORDER BY s) FROM ({GROUPED})",
            "n: ranks, comparisons",
        ),
    ],
)
def test_a_note_names_the_columns_without_an_error_bar_and_says_why(text: str, note: str) -> None:
    question = prepare(text, CATALOG, Pure(1))
    (found,) = [each for each in notes_above(question) if each.startswith("No error bar for ")]
    assert found.startswith(f"No error bar for {note}")
    measured = [nothing_measured(plan) for plan in question.plans]
    table, intervals = compute_answer(question.split, measured, {}, 0.95, raw=False)
    named = found.removeprefix("No error bar for ").split(":")[0].split(", ")
    assert set(named) <= set(table.column_names)
    assert not set(named) & set(intervals)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward, COUNT(*) AS n, AVG(age) AS m, MEDIAN(age) AS q FROM visits GROUP BY ward",
        f"SELECT ward, n - LAG(n) OVER (ORDER BY ward) AS d, SUM(n) OVER () AS x FROM ({GROUPED})",
        "SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM patients",
    ],
)
def test_where_every_column_has_its_error_bar_nothing_is_said(text: str) -> None:
    assert notes_above(prepare(text, CATALOG, Pure(1))) == []


def test_a_quotient_is_missing_where_its_count_may_be_zero() -> None:
    text = (
        "WITH t AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) "
        "SELECT ward, 7.0 / n AS q, 1.0 * n / LAG(n) OVER (ORDER BY ward) AS g, 7.0 / (n + 100) AS h "
        "FROM t WHERE ward IS NOT NULL ORDER BY ward"
    )
    question, measured = measured_counts(text, [400, 1, 300, -3])
    table, intervals = compute_answer(question.split, measured, {}, 0.95, raw=False)
    assert [value is None for value in table["q"].to_pylist()] == [False, True, False, True]
    assert [value is None for value in table["g"].to_pylist()] == [True, False, True, False]
    assert None not in table["h"].to_pylist()
    assert [each is None for each in intervals["q"]] == [False, True, False, True]
    assert any("where the divisor is a count, it is missing" in note for note in notes_above(question))
    inner = f"SELECT AVG(q) AS x FROM ({text})"
    question, measured = measured_counts(inner, [400, 1, 300, -3])
    table, _ = compute_answer(question.split, measured, {}, 0.95, raw=False)
    assert table["x"].to_pylist() == pytest.approx([np.mean([7 / 400, 7 / 300])])
    table, _ = compute_answer(question.split, measured, {}, 0.95, raw=True)
    assert table["x"].to_pylist() == pytest.approx([np.mean([7 / 400, 7, 7 / 300, -7 / 3])])
