"""The editor of a question: SQL with colours, names to complete, and the refused words underlined."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from nicegui import ui

from discreet.catalog.table import Table
from discreet.engines.identifier import quoted

__all__ = ["Editor", "written"]

_SCRIPT = (Path(__file__).parent / "ask_editor.js").read_text("utf-8")
_FUNCTIONS = ("COUNT(*)", "COUNT(DISTINCT ", "SUM(", "AVG(", "MEDIAN(", "STDDEV(", "VARIANCE(", "QUANTILE_CONT(")


class Editor:
    """An editor for one question."""

    def __init__(
        self,
        tables: Iterable[Table],
        member: str,
        on_change: Callable[[], object],
        on_ask: Callable[[], object],
    ) -> None:
        """Completes names of these tables; keeps the draft of this member; tells when the text changed."""
        self._element = ui.codemirror(
            language="SQL",
            theme="githubLight",
            line_wrapping=True,
            on_change=lambda _: on_change(),
            keymap={"Mod-Enter": lambda _: on_ask()},
        ).classes("d-editor")
        settings = {"id": self._element.id, "names": _names(tables), "member": member}
        ui.run_javascript(_SCRIPT.replace("SETTINGS", json.dumps(settings)))

    @property
    def text(self) -> str:
        """What was typed so far."""
        return str(self._element.value or "")

    @text.setter
    def text(self, text: str) -> None:
        self._element.value = text

    def insert(self, text: str) -> None:
        """Put some text where the cursor is."""
        ui.run_javascript(f"discreetInsert({json.dumps(text)})")

    def focus(self) -> None:
        """Bring the editor into sight, ready to be typed into."""
        self.insert("")

    def underline(self, place: tuple[int, int] | None, words: str = "") -> None:
        """Underline the text from start to end, and say why when it is pointed at; None takes the line away."""
        marks = []
        if place is not None:
            start, end = place
            marks = [{"kind": "mark", "from": start, "to": end, "class": "d-refused", "attributes": {"title": words}}]
        # sent as a method of its own: an update of the element would carry a text that is already old
        self._element.run_method("setDecorations", marks)


def _names(tables: Iterable[Table]) -> list[dict[str, str]]:
    found = [{"label": name, "type": "function"} for name in _FUNCTIONS]
    for table in tables:
        found.append({"label": written(table.name), "type": "class", "detail": "table"})
        found += [
            {"label": quoted_name(one.name), "type": "property", "detail": f"{table.name}, {one.type.value}"}
            for one in table.columns
        ]
    return found


def written(table: str) -> str:
    """The name of a table as a question writes it."""
    return ".".join(map(quoted_name, table.split(".")))


def quoted_name(name: str) -> str:
    """A name as a question writes it: in quotes only where it needs them."""
    return name if name.isidentifier() and name.isascii() else quoted(name)
