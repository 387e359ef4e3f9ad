"""Something to be read: in the terminal, in a notebook, as a page that stands alone, and as data that JSON can hold.

>>> from fractions import Fraction
>>> plain({"share": Fraction(1, 4), "loss": float("inf"), "sizes": (2, 3)})
{'share': 0.25, 'loss': None, 'sizes': [2, 3]}
"""

from __future__ import annotations

import io
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, get_args

from rich.console import Console, RenderableType

from discreet.reports.document import Document, DocumentBlock, TableCell
from discreet.reports.html import document_html, framed
from discreet.reports.terminal import WIDTH, document_text

__all__ = [
    "Report",
    "json_text",
    "plain",
]


_KINDS = tuple(kind for kind in (*get_args(DocumentBlock), *get_args(TableCell)) if kind is not str)


def plain(value: Any) -> Any:
    """The value as dictionaries, lists, texts and numbers; a number that JSON cannot hold is None.

    A block or a cell of a document says its kind, because others may stand in its place.
    """
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if is_dataclass(value):
        kind = {"kind": type(value).__name__} if isinstance(value, _KINDS) else {}
        return kind | {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, Fraction):
        return float(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(value: Any) -> str:
    """The value as JSON, for people to read as well."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False)


class Report(ABC):
    """One document, several renderers."""

    @abstractmethod
    def document(self) -> Document:
        """Everything the report says."""

    def summary(self) -> Document:
        """What the terminal shows: all of it, unless that is too much to read there."""
        return self.document()

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        found: dict[str, Any] = plain(self.document())
        return found

    def to_html(self) -> str:
        """The report as one page that needs nothing else: no network, no scripts."""
        return document_html(self.document())

    def to_json(self) -> str:
        """The report as JSON; what no JSON number can hold is null."""
        return json_text(self.to_dict())

    def __rich__(self) -> RenderableType:
        return document_text(self.summary())

    def _repr_html_(self) -> str:
        return framed(self.to_html())

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=WIDTH, highlight=False, no_color=True)
        with console.capture() as captured:
            console.print(self)
        return captured.get()
