"""The editor of a question: SQL with colours, names to complete, and the refused words underlined.

Beside the question stands what is public about a table: names to press, types, bounds and keys.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from nicegui import ui

from discreet.catalog.column import Column, Value
from discreet.catalog.table import Table
from discreet.console.theme import chip, heading
from discreet.engines.parameters import quote

__all__ = ["Editor", "SchemaPanel", "written"]


_SCRIPT = (Path(__file__).parent / "editor.js").read_text("utf-8")
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
    return name if name.isidentifier() and name.isascii() else quote(name)


_MOST_KEYS = 12


class SchemaPanel:
    """The tables that a principal may ask about, one at a time."""

    def __init__(
        self, tables: Sequence[Table], insert: Callable[[str], object], on_pick: Callable[[], Awaitable[None]]
    ) -> None:
        """``insert`` puts a name into the question; ``on_pick`` hears that another table was picked."""
        self._tables = {one.name: one for one in tables}
        self._insert = insert
        self._on_pick = on_pick
        self.picked = tables[0]
        """The table that is shown."""
        names = [one.name for one in tables]
        self._choice = ui.select(names, value=self.picked.name, label="Table", on_change=self._pick)
        self._choice.props("outlined dense").classes("w-full")
        self._box = ui.element("div").classes("d-schema")
        self._show()

    async def _pick(self) -> None:
        self.picked = self._tables[str(self._choice.value)]
        self._show()
        await self._on_pick()

    def _show(self) -> None:
        self._box.clear()
        table = self.picked
        with self._box:
            if table.description:
                ui.label(table.description).classes("d-muted d-small")
            ui.label(_promise(table)).classes("d-muted d-small")
            chip(table.name, lambda: self._insert(written(table.name)), name=f"Insert the table {table.name}")
            heading("Columns", 3)
            with ui.element("ul").classes("d-columns"):
                for column in table.columns:
                    self._column(table, column)

    def _column(self, table: Table, column: Column) -> None:
        with ui.element("li"):
            with ui.element("div").classes("d-row"):
                name = quoted_name(column.name)
                chip(column.name, lambda: self._insert(name), name=f"Insert the column {column.name}")
                ui.label(_facts(table, column)).classes("d-muted d-small")
            if column.description:
                ui.label(column.description).classes("d-muted d-small")
            if column.keys is not None:
                self._keys(column)

    def _keys(self, column: Column) -> None:
        keys = column.listed or ()
        with ui.element("div").classes("d-row d-keys"):
            for key in keys[:_MOST_KEYS]:
                self._key(key)
            if len(keys) > _MOST_KEYS:
                ui.label(f"and {len(keys) - _MOST_KEYS} more").classes("d-muted d-small")

    def _key(self, key: Value) -> None:
        chip(str(key), lambda: self._insert(_literal(key)), name=f"Insert the value {key}").classes("d-key")


def _promise(table: Table) -> str:
    if table.public:
        return "Public: everybody may know every row, and questions about it are free."
    if not table.unit:
        return "Every row is a person of its own."
    per = "" if table.unit_per is None else f" of a {table.unit_per.value}"
    return f"A person is one {table.unit}; at most {table.rows_per_unit} rows{per} count."


def _facts(table: Table, column: Column) -> str:
    facts = [column.type.value]
    if column.bounds is not None:
        facts.append(f"{column.lower} to {column.upper}")
    if column.name == table.unit:
        facts.append("names the person")
    return ", ".join(facts)


def _literal(value: Value) -> str:
    return str(value) if isinstance(value, (int, float)) else "'" + str(value).replace("'", "''") + "'"
