"""An answer as CSV: one line per row, perhaps with the ends of its error bars beside each value."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from discreet.curator.answer_cell import with_ends

if TYPE_CHECKING:
    from discreet.curator.answer import Answer

__all__ = ["csv_text"]


def csv_text(answer: Answer, intervals: bool) -> str:
    """The answer's rows; a missing value is an empty field, and so is an error bar that is not known."""
    table = with_ends(answer.table, answer.error) if intervals else answer.table
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return text.getvalue()
