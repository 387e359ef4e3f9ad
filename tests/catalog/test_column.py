"""Columns check themselves, in Python as in a file."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.errors import InvalidInput, PolicyError

FAR_EAST = timezone(timedelta(hours=14))


def test_numbers_are_kept_exactly() -> None:
    assert Column("x", ColumnType.REAL, 0.1, Decimal("0.3")).bounds == (Fraction(1, 10), Fraction(3, 10))
    assert Column("x", ColumnType.INTEGER, Fraction(4, 2), 3).bounds == (2, 3)


def test_a_type_can_be_named_by_its_word() -> None:
    assert Column("x", "integer").type is ColumnType.INTEGER  # type: ignore[arg-type]


def test_a_timestamp_with_a_zone_is_moved_to_utc_and_one_without_is_taken_as_utc() -> None:
    column = Column("t", ColumnType.TIMESTAMP, datetime(2024, 1, 1), datetime(2024, 1, 2, 1, tzinfo=FAR_EAST))
    assert column.bounds == (datetime(2024, 1, 1), datetime(2024, 1, 1, 11))


def test_two_spellings_of_one_instant_are_one_key() -> None:
    noon = datetime(2024, 1, 1, 12)
    with pytest.raises(PolicyError, match="keys must differ"):
        Column("t", ColumnType.TIMESTAMP, keys=(noon, noon.replace(tzinfo=UTC)))


WRONG: list[tuple[ColumnType, dict[str, Any], str]] = [
    (ColumnType.INTEGER, {"lower": True, "upper": 5}, "lower must be an integer, got True"),
    (ColumnType.INTEGER, {"lower": 0, "upper": 2**63}, "upper must lie between"),
    (ColumnType.INTEGER, {"lower": 0, "upper": 10**5000}, "upper must lie between"),
    (ColumnType.INTEGER, {"lower": 0, "upper": 5.0}, "upper must be an integer, got 5.0"),
    (ColumnType.INTEGER, {"default": "5"}, "default must be an integer, got '5'"),
    (ColumnType.INTEGER, {"lower": 5, "upper": 5}, "lower must be below upper"),
    (ColumnType.REAL, {"lower": float("nan"), "upper": 1}, "lower must be finite"),
    (ColumnType.REAL, {"lower": 0, "upper": float("inf")}, "upper must be finite"),
    (ColumnType.REAL, {"lower": 0, "upper": Fraction(10) ** 400}, "a column of reals can hold"),
    (ColumnType.REAL, {"default": "0.5"}, "default must be a number"),
    (ColumnType.TEXT, {"lower": "a", "upper": "b"}, "only numbers, dates and timestamps have bounds"),
    (ColumnType.TEXT, {"keys": "abc"}, "keys must be a list of at least one value, got 'abc'"),
    (ColumnType.TEXT, {"keys": ()}, "keys must be a list of at least one value"),
    (ColumnType.TEXT, {"keys": ("a", 1)}, "keys must be text"),
    (ColumnType.TEXT, {"keys": ("a", None, None)}, "keys must differ"),
    (ColumnType.TEXT, {"keys": ("a", None), "nullable": False}, "keys list null only where values may be missing"),
    (ColumnType.TEXT, {"keys": ("a",), "keys_from": "codes.code"}, "keys are listed once"),
    (ColumnType.TEXT, {"keys_from": "code"}, "keys_from must name a public table and its column"),
    (ColumnType.TEXT, {"keys": ("\ud800",)}, "keys must be valid Unicode"),
    (ColumnType.BOOLEAN, {"lower": False, "upper": True}, "only numbers, dates and timestamps have bounds"),
    (ColumnType.BOOLEAN, {"keys": (0, 1)}, "keys must be true or false"),
    (ColumnType.DATE, {"default": datetime(2024, 1, 1)}, "default must be a date"),
    (ColumnType.DATE, {"default": "2024-01-01"}, "default must be a date"),
    (ColumnType.TIMESTAMP, {"default": date(2024, 1, 1)}, "default must be a timestamp"),
    (ColumnType.TIMESTAMP, {"default": datetime.min.replace(tzinfo=FAR_EAST)}, "between the years 1 and 9999"),
    (ColumnType.TEXT, {"nullable": 1}, "nullable must be true or false, got 1"),
    (ColumnType.TEXT, {"constant_per_unit": "no"}, "constant_per_unit must be true or false"),
    (ColumnType.TEXT, {"description": 5}, "description must be text"),
]


@pytest.mark.parametrize(("kind", "facts", "said"), WRONG, ids=[said[:40] for *_, said in WRONG])
def test_a_fact_that_does_not_fit_is_refused(kind: ColumnType, facts: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Column("x", kind, **facts)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", ["", " ", " x", "x ", "_x", "a\nb", "a\x00", "\ud800", "x" * 151, 5, None])
def test_a_name_that_cannot_be_written_is_refused(name: Any) -> None:
    with pytest.raises(InvalidInput, match="a column's name must"):
        Column(name, ColumnType.TEXT)


def test_a_type_that_does_not_exist_is_refused_with_a_suggestion() -> None:
    with pytest.raises(PolicyError, match=r"got 'integr'; did you mean 'integer'\?"):
        Column("x", "integr")  # type: ignore[arg-type]


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(PolicyError) as refused:
        Column("x", ColumnType.TEXT, lower=1, keys=("a", "a"), default="b", nullable=False)
    assert [problem.path for problem in refused.value.problems] == [("lower",), ("keys", 1), ("default",), ("default",)]
