"""A table of shares, each cell the warmer the worse it is; the words and a bar in the cell say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from discreet.errors import InvalidValue
from discreet.pages.charts import meter

__all__ = ["HeatCell", "heat_table"]

_WARMEST = 0.5
"""How much of the colour the worst cell takes: more would swallow its words."""


@dataclass(frozen=True)
class HeatCell:
    """One share."""

    value: float | None
    """How bad it is, from 0 to 1; None where there is nothing to measure."""
    text: str
    """What the cell says."""
    tip: str = ""
    """More words, for whoever points at the cell."""

    def __post_init__(self) -> None:
        if self.value is not None and not 0 <= self.value <= 1:
            raise InvalidValue("a share must lie from 0 to 1", self.value, "None where there is nothing to measure")


def heat_table(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[HeatCell]], corner: str = ""
) -> str:
    """A table with a name for each row and column; ``cells`` holds a sequence for each row."""
    if len(cells) != len(rows) or any(len(line) != len(columns) for line in cells):
        rule = "there must be a cell for each row and column"
        raise InvalidValue(rule, [len(line) for line in cells], f"{len(rows)} rows of {len(columns)}")
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_cell, line))}</tr>'
        for name, line in zip(rows, cells, strict=True)
    )
    return (
        f'<div class="scroll"><table class="heat"><thead><tr><th scope="col">{escape(corner)}</th>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(cell: HeatCell) -> str:
    tip = f' title="{escape(cell.tip)}"' if cell.tip else ""
    if cell.value is None:
        return f'<td class="unknown"{tip}>{escape(cell.text)}</td>'
    heat = _WARMEST * cell.value
    return f'<td style="--heat:{heat:.3f}"{tip}>{escape(cell.text)}{meter(cell.value, "danger")}</td>'
