"""An answer as CSV: one line per row, perhaps with the ends of its error bars beside each value."""

from __future__ import annotations

import csv
import io
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.curator.answer import Answer

__all__ = ["csv_text"]


def csv_text(answer: Answer, intervals: bool) -> str:
    """The answer's rows; a missing value is an empty field, and so is an error bar that is not known."""
    columns: dict[str, list[Any]] = {}
    for name in answer.table.column_names:
        columns[_fresh(name, columns)] = answer.table[name].to_pylist()
        if intervals and name in answer.error:
            for place, end in enumerate(("low", "high")):
                values = [None if interval is None else interval[place] for interval in answer.error[name]]
                columns[_fresh(f"{name}_{end}", [*columns, *answer.table.column_names])] = values
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _fresh(name: str, taken: Any) -> str:
    """The name, with a number where another column has it."""
    tries = (name if count == 0 else f"{name}_{count}" for count in itertools.count())
    return next(candidate for candidate in tries if candidate not in taken)
