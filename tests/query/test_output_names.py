"""Errors are told under the names that the analyst gave to the columns."""

from __future__ import annotations

import pytest

from discreet.catalog.catalog import Catalog
from discreet.catalog.policy.read import loads
from discreet.privacy.loss import Pure
from discreet.query.answer.answer import label_columns
from discreet.query.question import prepare

CATALOG = Catalog(
    [
        loads(
            "{table: visits, unit: person, budget: {epsilon: 1}, columns: {person: {type: integer}, "
            "ward: {type: text, keys: [a, b]}, age: {type: integer, lower: 0, upper: 9}}}"
        )
    ]
)


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age FROM visits GROUP BY ward", ["n", "mean_age"]),
        ("SELECT COUNT(*) AS n, SUM(age) / COUNT(*) AS each FROM visits", ["n", "sum in each"]),
        ("SELECT SUM(age) + 1 AS more, SUM(age) AS total FROM visits", ["total"]),
        ("SELECT MAX(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t", ["n"]),
        ("SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 3", ["count"]),
    ],
)
def test_errors_carry_the_names_of_the_outputs(sql: str, names: list[str]) -> None:
    question = prepare(sql, CATALOG, Pure(1))
    assert [error.column for error in label_columns(question, question.errors())] == names
