"""An answer: a table with an error bar per cell, what it cost, and the paper that proves it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.curator.answers.cell import Interval, cell_text, with_ends
from discreet.curator.answers.formats import csv_text, html_table, json_text
from discreet.curator.answers.plot import extra, plot_answer
from discreet.curator.ledger.account_names import join_name, split_name
from discreet.curator.ledger.units import amount, balance, balance_as_json
from discreet.privacy.loss import Loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Answer", "notes_on_values"]


_MOST_ROWS = 50


def _whom(account: str) -> str:
    """Who pays from an account; the name of that of people begins with a slash."""
    return f"the people of {account[1:]}" if account.startswith("/") else account


def _left_in_words(left: Mapping[str, Loss]) -> list[str]:
    """What is left for whom; of several periods, what is left of the one with least."""
    found: dict[tuple[str, str], list[tuple[str | None, Loss]]] = {}
    for account, amount_left in left.items():
        table, whose, period = split_name(account)
        found.setdefault((_whom(join_name(table, whose)), amount(amount_left)[:1]), []).append((period, amount_left))
    return [_left_for(whom, each) for (whom, _), each in found.items()]


def _left_for(whom: str, amounts: list[tuple[str | None, Loss]]) -> str:
    least = balance(min((one for _, one in amounts), key=lambda one: Fraction(balance_as_json(one)["exact"])))
    names = [period for period, _ in amounts if period is not None]
    if len(names) < 2:
        return f"{least} left for {whom}{''.join(f' in {name}' for name in names)}"
    return f"at least {least} left for {whom} in each of {names[0]} to {names[-1]}"


@dataclass(frozen=True)
class Answer:
    """What came back for a question. Printed, and in a notebook, it is a table with error bars."""

    table: pa.Table
    """The noisy values."""
    error: dict[str, list[Interval | None]]
    """Per column that is an aggregate, an interval per row; None where none is known."""
    confidence: float
    """How often an interval covers the truth, at least."""
    price: Loss | None
    """What it cost when it was first asked; None for public tables."""
    charged: bool
    """Whether this call spent anything; a question that was asked before is free."""
    notes: tuple[str, ...]
    """What was clamped, weighted or left out, in plain words."""
    certificate: dict[str, Any]
    """Query, plan, loss and ledger position, signed."""
    left: Mapping[str, Loss] = field(default_factory=dict)
    """Per account that pays for such a question, what is left after it."""
    entry: int | None = None
    """The position of the answer in the ledger; None where the ledger knows nothing of it."""

    def to_arrow(self, *, intervals: bool = False) -> pa.Table:
        """The values as an Arrow table; ``intervals`` adds the ends of error bars, as columns x_low and x_high."""
        return with_ends(self.table, self.error) if intervals else self.table

    def to_pandas(self, *, intervals: bool = False) -> Any:
        """The values as a pandas DataFrame; ``intervals`` adds the columns x_low and x_high."""
        extra("pandas", "frames")
        return self.to_arrow(intervals=intervals).to_pandas()

    def to_polars(self, *, intervals: bool = False) -> Any:
        """The values as a Polars DataFrame; ``intervals`` adds the columns x_low and x_high."""
        return extra("polars", "frames").from_arrow(self.to_arrow(intervals=intervals))

    def to_rows(self, *, intervals: bool = False) -> list[dict[str, Any]]:
        """One dictionary per row; ``intervals`` adds x_low and x_high."""
        return list(self.to_arrow(intervals=intervals).to_pylist())

    def to_json(self) -> str:
        """Rows, intervals, price, what is left and the ledger entry as JSON."""
        return json_text(self)

    def to_csv(self, path: str | os.PathLike[str] | None = None, *, intervals: bool = False) -> str | None:
        """The rows as CSV, written to ``path`` or returned; ``intervals`` adds the columns x_low and x_high."""
        text = csv_text(self, intervals)
        if path is None:
            return text
        Path(path).write_text(text, encoding="utf-8")
        return None

    def plot(self, column: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw a column with its error bars: bars over groups, points over dates and numbers. Returns the axes."""
        return plot_answer(self, column, ax)

    def cell(self, name: str, row: int) -> str:
        """One value as people read it, with its error bar and no more digits than that leaves."""
        intervals = self.error.get(name)
        return cell_text(self.table[name][row].as_py(), None if intervals is None else intervals[row])

    def receipt(self) -> str:
        """What it cost, what is left and where the ledger has it, in one line."""
        if self.price is None:
            return "free: public tables alone"
        if self.entry is None and not self.charged:
            return f"would cost {amount(self.price)}"
        cost = f"{'cost' if self.charged else 'asked before, free now; it cost'} {amount(self.price)}"
        return "; ".join(
            [cost, *_left_in_words(self.left), *([] if self.entry is None else [f"ledger record {self.entry}"])]
        )

    def left_out(self, shown: int) -> list[str]:
        """What to say about the rows after the first ``shown``."""
        more = self.table.num_rows - shown
        return [f"… {more:,} more rows"] if more > 0 else []

    def __str__(self) -> str:
        names, count = self.table.column_names, min(self.table.num_rows, _MOST_ROWS)
        grid = [names, *([self.cell(name, row) for name in names] for row in range(count))]
        widths = [max(len(line[k]) for line in grid) for k in range(len(names))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in grid]
        return "\n".join(filter(None, [*lines, *self.left_out(count), *self.notes, self.receipt()]))

    def _repr_html_(self) -> str:
        return html_table(self)


def notes_on_values(table: pa.Table) -> tuple[str, ...]:
    """What to say about values that are no ordinary numbers."""
    odd = [name for name in table.column_names if _has_odd(table[name])]
    return tuple(f"{name}: inf or nan comes from a division by a noisy count of 0; AVG is NULL there." for name in odd)


def _has_odd(column: pa.ChunkedArray) -> bool:
    return pa.types.is_floating(column.type) and bool(pc.any(pc.invert(pc.is_finite(column))).as_py())
