"""An answer: a table with an error bar per cell, what it cost, and the paper that proves it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from discreet.privacy.loss import Loss

__all__ = ["Answer"]

_FEW = 2


@dataclass(frozen=True)
class Answer:
    """What came back for a question."""

    table: pa.Table
    """The noisy values."""
    error: dict[str, list[tuple[float, float] | None]]
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

    def to_arrow(self) -> pa.Table:
        """The table."""
        return self.table

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        return self.table.to_pandas()

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary per row."""
        return list(self.table.to_pylist())

    def to_json(self) -> str:
        """Rows, intervals and price as JSON."""
        body = {"rows": self.to_rows(), "error": self.error, "confidence": self.confidence, "price": repr(self.price)}
        return json.dumps(body, default=str, ensure_ascii=False)

    def __str__(self) -> str:
        names = self.table.column_names
        shown = [[self.cell(name, row) for name in names] for row in range(min(self.table.num_rows, 50))]
        widths = [max(len(name), *(len(line[k]) for line in shown), 0) for k, name in enumerate(names)]
        lines = ["  ".join(name.ljust(width) for name, width in zip(names, widths, strict=True))]
        lines += ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in shown]
        if self.table.num_rows > len(shown):
            lines.append(f"… {self.table.num_rows - len(shown)} more rows")
        return "\n".join([*lines, *self.notes])

    def cell(self, name: str, row: int) -> str:
        """One value as people read it, with its error bar and no more digits than that leaves."""
        value = self.table[name][row].as_py()
        interval = self.error.get(name, [None] * (row + 1))[row]
        if value is None:
            return "NULL"
        if interval is None:
            return (
                _number(value, _FEW) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
            )
        reach = max(value - interval[0], interval[1] - value)  # an end that stops at a bound does not shorten the other
        decimals = max(1 - math.floor(math.log10(reach)), 0) if 0 < reach < math.inf else _FEW
        return f"{_number(value, decimals)} ± {_number(reach, decimals)}"


def _number(value: float, decimals: int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{decimals}f}"
