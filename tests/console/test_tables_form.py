"""What an owner fills in becomes a policy that reads back, or one whose problems have their lines."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.policy.read import loads
from discreet.catalog.policy.write import Schema
from discreet.console.tables.form import ColumnForm, PolicyForm, first_form, policy_text, preview_lines
from discreet.errors import PolicyError
from tests.thoroughness import many

SCHEMA = Schema({"patient": "BIGINT", "ward": "VARCHAR", "day": "DATE", "cost": "DECIMAL(10,2)", "tags": "VARCHAR[]"})


def test_a_form_begins_with_names_and_types_alone() -> None:
    form = first_form("Visits 2025-03", SCHEMA)
    assert form.table == "Visits_2025_03"
    assert [one.type for one in form.columns][:2] == [ColumnType.INTEGER, ColumnType.TEXT]
    assert [one.is_named for one in form.columns] == [True, True, True, True, False]
    assert "tags" not in policy_text(form)


def test_a_form_that_is_filled_in_reads_back_as_it_was_meant() -> None:
    form = first_form("visits", SCHEMA)
    patient, ward, day, cost, tags = form.columns
    ward = replace(ward, keys="cardiology, eye, no\nyes, 3: c, #1", nullable=False, constant_per_unit=True)
    ward = replace(ward, rows_per_key=" 2 ")
    filled = replace(
        form, unit="patient", epsilon="3", delta="1e-6", rows_per_unit="8", description="No: really, # it is fine",
        columns=(patient, ward, replace(day, lower="2025-01-01", upper="2025-12-31"),
                 replace(cost, lower="-0.5", upper="4000"), tags),
    )  # fmt: skip
    table = loads(policy_text(filled))
    assert table.unit == "patient"
    assert table.budget is not None
    assert (table.budget.epsilon, table.budget.delta, table.rows_per_unit) == (3, Fraction(1, 10**6), 8)
    assert table.columns[1] == Column(
        "ward", ColumnType.TEXT, keys=("cardiology", "eye", "no", "yes", "3: c", "#1"), nullable=False,
        constant_per_unit=True, rows_per_key=2,
    )  # fmt: skip
    assert (table.columns[3].lower, table.columns[3].upper) == (Fraction(-1, 2), 4000)
    assert table.description == "No: really, # it is fine"


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        ({}, "unit:", "unit must be filled in"),
        ({"unit": "patent"}, "unit:", "did you mean 'patient'?"),
        ({"unit": "patient", "epsilon": "-1"}, "budget:", "must be positive"),
        ({"unit": "patient", "epsilon": "much"}, "budget:", "'much'"),
        ({"unit": "patient", "rows_per_unit": "many"}, "rows_per_unit:", "'many'"),
    ],
)
def test_problems_stand_in_their_lines(change: dict[str, str], line: str, words: str) -> None:
    text = policy_text(replace(first_form("visits", SCHEMA), **change))  # type: ignore[arg-type]
    with pytest.raises(PolicyError) as refused:
        loads(text)
    marked = [one for one in preview_lines(text, refused.value.problems) if one.problems]
    assert any(one.text.startswith(line) and words in " ".join(one.problems) for one in marked), marked


def test_a_column_called_row_is_told_from_every_row() -> None:
    columns = (ColumnForm("row", ColumnType.TEXT),)
    assert loads(policy_text(PolicyForm("t", columns, unit="row"))).unit == "row"
    assert loads(policy_text(PolicyForm("t", (ColumnForm("a", ColumnType.TEXT),), unit="row"))).unit is None


WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=12)


@settings(max_examples=many(40, 150), deadline=None)
@given(key=WORDS, lower=WORDS, epsilon=WORDS, unit=WORDS, description=WORDS)
def test_whatever_is_typed_is_a_policy_or_a_list_of_problems(
    key: str, lower: str, epsilon: str, unit: str, description: str
) -> None:
    columns = (ColumnForm("a", ColumnType.TEXT, keys=key), ColumnForm("b", ColumnType.REAL, lower=lower, upper="9"))
    text = policy_text(PolicyForm("t", columns, unit=unit, epsilon=epsilon, description=description))
    typed = tuple(part.strip() for part in re.split(r"[,\n]", key) if part.strip())
    try:
        table = loads(text)
    except PolicyError as refused:
        placed = preview_lines(text, refused.problems)
        known = sum(len(line.problems) for line in placed)
    else:
        placed, known = [], 0
        assert table.columns[0].keys == (typed or None)
        assert table.description == description
    assert known > 0 or not placed
