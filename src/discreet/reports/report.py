"""Something to be read: in the terminal, in a notebook, as data, and as a page that stands alone."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from typing import Any

from rich.console import Console, RenderableType

from discreet.reports.document import Document
from discreet.reports.html import document_html, framed
from discreet.reports.json import json_text, plain
from discreet.reports.terminal import WIDTH, document_text

__all__ = ["Report"]


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
