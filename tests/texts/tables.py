"""The tables that the texts print, as releases that can be checked, and how the texts read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from discreet.anonymize.check import CheckReport, check
from discreet.anonymize.models.model import Model
from discreet.anonymize.roles import Roles

Row = tuple[str, ...]

FIGURE_1 = [
    ("130**", "<30", "AIDS"),
    ("130**", "<30", "Heart Disease"),
    ("130**", "<30", "Viral Infection"),
    ("130**", "<30", "Viral Infection"),
    ("130**", "≥40", "Cancer"),
    ("130**", "≥40", "Heart Disease"),
    ("130**", "≥40", "Viral Infection"),
    ("130**", "≥40", "Viral Infection"),
    ("130**", "3*", "Cancer"),
    ("130**", "3*", "Cancer"),
    ("130**", "3*", "Cancer"),
    ("130**", "3*", "Cancer"),
]
"""The 4-anonymous table of two of the texts: zip code, age, condition."""

FIGURE_2 = [
    ("130**", "<35", "AIDS"),
    ("130**", "<35", "Tuberculosis"),
    ("130**", "<35", "Flu"),
    ("130**", "<35", "Tuberculosis"),
    ("130**", "<35", "Cancer"),
    ("130**", "<35", "Cancer"),
    ("130**", "≥35", "Cancer"),
    ("130**", "≥35", "Cancer"),
    ("130**", "≥35", "Cancer"),
    ("130**", "≥35", "Tuberculosis"),
    ("130**", "≥35", "Viral Infection"),
    ("130**", "≥35", "Viral Infection"),
]
"""The 6-anonymous table of the same texts."""


def published(rows: Sequence[Sequence[Any]], columns: Sequence[str] = ("zip", "age", "condition")) -> pa.Table:
    """The printed rows as a table that is released."""
    return pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))


def checked(table: pa.Table, *sensitive: str, models: Sequence[Model] = ()) -> CheckReport:
    """What a check says where all columns but the sensitive ones are known to others."""
    quasi = [name for name in table.column_names if name not in sensitive]
    return check(table, Roles.of(table.column_names, quasi=quasi, sensitive=sensitive), models)


def fits(age: int, generalized: str) -> bool:
    """Whether an age lies in the range that a table prints."""
    if generalized.endswith("*"):
        return str(age)[:-1] == generalized[:-1]
    limit = int(generalized[1:])
    return {"<": age < limit, ">": age > limit, "≥": age >= limit}[generalized[0]]


def possible_conditions(table: Sequence[Row], zip_code: str, age: int) -> set[str]:
    """What the condition of a person in the table can be, for an attacker who knows the zip code and the age."""
    return {condition for zips, ages, condition in table if zip_code.startswith(zips.rstrip("*")) and fits(age, ages)}
