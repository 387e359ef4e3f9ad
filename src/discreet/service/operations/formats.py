"""Formats of an answer: JSON for pages, CSV for sheets, an Arrow stream that is the whole answer.

Values in CSV are as they are, for programs. Sheets take a text that begins with = + - @ for a formula; for them such
texts, which a policy's keys or a question can hold, get an apostrophe in front. Numbers are never changed.

>>> defused("=1+1"), defused("surgery"), defused(-3)
("'=1+1", 'surgery', -3)
>>> choose_format("text/csv;q=0.5, application/json"), choose_format("image/*, text/*;q=0.1")
(<Format.JSON: 'application/json'>, <Format.CSV: 'text/csv'>)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Any

import pyarrow as pa
from fastapi import HTTPException

from discreet.curator.answers.answer import Answer
from discreet.service.operations.ask import StoredAnswer

__all__ = ["Format", "choose_format", "defused", "for_sheets", "write_answer"]


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Format(StrEnum):
    """The media types of an answer."""

    JSON = "application/json"
    """Rows, error bars, price and notes; the certificate has an address of its own."""
    CSV = "text/csv"
    """The rows, perhaps with the ends of their error bars."""
    ARROW = "application/vnd.apache.arrow.stream"
    """The whole answer, certificate and all, to be read back as the same answer."""


def choose_format(accept: str) -> Format:
    """The format that an Accept header prefers; one that wants none of them is refused."""
    weighed = list(_weigh(accept or "*/*"))
    best = max(Format, key=lambda one: _weight(one, weighed))  # the first of equals, in the order above
    if _weight(best, weighed) <= 0:
        raise HTTPException(406, f"An answer is {', '.join(Format)}; send one of these in Accept.")
    return best


def _weigh(accept: str) -> Iterator[tuple[str, float]]:
    """Patterns such as text/* with their weights; what is not readable weighs nothing."""
    for part in accept.split(","):
        pattern, *parameters = (piece.strip().lower() for piece in part.split(";"))
        stated = [each[2:] for each in parameters if each.startswith("q=")]
        yield pattern, _number(stated[0]) if stated else 1.0


def _number(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0


def _weight(one: Format, weighed: list[tuple[str, float]]) -> float:
    """The weight of the pattern that fits most closely."""
    for pattern in (one.value, f"{one.value.split('/', maxsplit=1)[0]}/*", "*/*"):
        found = [weight for each, weight in weighed if each == pattern]
        if found:
            return max(found)
    return 0.0


def write_answer(
    kept: StoredAnswer, form: Format, certificate: str, *, intervals: bool = False, sheets: bool = False
) -> bytes:
    """The answer in a format; ``certificate`` is the address of its certificate, and ``sheets`` defuses CSV."""
    if form is Format.ARROW:
        return kept.arrow
    answer = kept.answer
    if form is Format.CSV:
        return ((for_sheets(answer) if sheets else answer).to_csv(intervals=intervals) or "").encode()
    body = {"request": kept.job.request, **json.loads(answer.to_json())}
    body |= {"certificate": certificate if answer.certificate else None}
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def for_sheets(answer: Answer) -> Answer:
    """The answer with no text that a sheet takes for a formula."""
    columns = [_defused_column(column) for column in answer.table.columns]
    names = [defused(name) for name in answer.table.column_names]
    error = {defused(name): intervals for name, intervals in answer.error.items()}
    return replace(answer, table=pa.Table.from_arrays(columns, names=names), error=error)


def _defused_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    return pa.chunked_array([[defused(value) for value in column.to_pylist()]], type=column.type)


def defused(value: Any) -> Any:
    """A text that no sheet takes for a formula; anything else as it is."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
