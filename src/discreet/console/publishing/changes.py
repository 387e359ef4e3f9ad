"""What a release changed: column by column in words, and rows of both tables to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from discreet.anonymize.coded import label_of
from discreet.anonymize.figures import share
from discreet.anonymize.roles import Role
from discreet.console.publishing.candidates import Candidate

__all__ = ["ColumnChange", "column_changes", "spread_rows"]

_LONGEST = 60


@dataclass(frozen=True)
class ColumnChange:
    """What happened to one column."""

    name: str
    """The column."""
    role: Role
    """What it says about a person."""
    words: str
    """What happened, in words."""
    loss: float
    """How much of it is lost, from 0 to 1."""


def column_changes(candidate: Candidate, columns: Sequence[str]) -> list[ColumnChange]:
    """What a candidate did to the columns of its table, in their order."""
    roles = candidate.report.checked.roles
    compared = candidate.report.comparison
    losses = {one.column: one.normalised for one in compared.losses} if compared is not None else {}
    return [_change(name, roles.role_of(name), losses.get(name, 0.0)) for name in columns]


def _change(name: str, role: Role, loss: float) -> ColumnChange:
    match role:
        case Role.IDENTIFYING:
            return ColumnChange(name, role, "left out", 1.0)
        case Role.QUASI_IDENTIFYING:
            words = "as it is" if not loss else f"coarser: {share(loss)} of it is lost"
            return ColumnChange(name, role, words, loss)
        case Role.SENSITIVE:
            return ColumnChange(name, role, "kept; the models are about it", 0.0)
        case Role.INSENSITIVE:
            return ColumnChange(name, role, "released as it is", 0.0)


def spread_rows(table: pa.Table, count: int) -> list[tuple[str, ...]]:
    """Some rows from everywhere in a table, as they are written.

    >>> spread_rows(pa.table({"a": [1, 2, 3, 4, 5], "b": ["x", None, "y", "z", "w"]}), 3)
    [('1', 'x'), ('3', 'y'), ('5', 'w')]
    """
    rows = table.num_rows
    last = max(min(count, rows) - 1, 1)
    places = range(rows) if rows <= count else [round(number * (rows - 1) / last) for number in range(count)]
    chosen = table.take(pa.array(list(places), type=pa.int64()))
    return [tuple(_short(label_of(cell)) for cell in row.values()) for row in chosen.to_pylist()]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
