"""Something to be read: in the terminal, in a notebook, as data, and as a page that stands alone."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from typing import Any

from rich.console import Console, RenderableType

from discreet.reports.page import framed

__all__ = ["Report"]


_WIDTH = 100


class Report(ABC):
    """One content, several views."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""

    @abstractmethod
    def to_html(self) -> str:
        """The report as one page that needs nothing else: no network, no scripts."""

    @abstractmethod
    def __rich__(self) -> RenderableType: ...

    def to_json(self) -> str:
        """The report as JSON; what no JSON number can hold is null."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def _repr_html_(self) -> str:
        return framed(self.to_html())

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=_WIDTH, highlight=False, no_color=True)
        with console.capture() as captured:
            console.print(self)
        return captured.get()
