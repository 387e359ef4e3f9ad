"""The tables that the texts print, and the two questions they ask of them: how large, and how varied, is each class."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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


def classes(table: Sequence[Row], sensitive: int = 1) -> dict[Row, list[Row]]:
    """Rows that agree in all but the last ``sensitive`` columns, with what those columns say."""
    found: dict[Row, list[Row]] = defaultdict(list)
    for row in table:
        found[row[:-sensitive]].append(row[-sensitive:])
    return dict(found)


def anonymity(table: Sequence[Row], sensitive: int = 1) -> int:
    return min(map(len, classes(table, sensitive).values()))


def diversity(table: Sequence[Row]) -> int:
    return min(len(set(values)) for values in classes(table).values())


def fits(age: int, generalized: str) -> bool:
    """Whether an age lies in the range that a table prints."""
    if generalized.endswith("*"):
        return str(age)[:-1] == generalized[:-1]
    limit = int(generalized[1:])
    return {"<": age < limit, ">": age > limit, "≥": age >= limit}[generalized[0]]


def possible_conditions(table: Sequence[Row], zip_code: str, age: int) -> set[str]:
    """What the condition of a person in the table can be, for an attacker who knows the zip code and the age."""
    return {condition for zips, ages, condition in table if zip_code.startswith(zips.rstrip("*")) and fits(age, ages)}
