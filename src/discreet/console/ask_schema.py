"""What is public about a table, beside the question: names to press, types, bounds and keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from nicegui import ui

from discreet.catalog.column import Column, Value
from discreet.catalog.table import Table
from discreet.console.ask_editor import quoted_name, written
from discreet.console.look import chip, heading

__all__ = ["Schema"]

_MOST_KEYS = 12


class Schema:
    """The tables that a visitor may ask about, one at a time."""

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
    person = f"A person is one {table.unit}" if table.unit else "Every row is a person of its own"
    return f"{person}; at most {table.rows_per_unit} rows count." if table.unit else f"{person}."


def _facts(table: Table, column: Column) -> str:
    facts = [column.type.value]
    if column.bounds is not None:
        facts.append(f"{column.lower} to {column.upper}")
    if column.name == table.unit:
        facts.append("names the person")
    return ", ".join(facts)


def _literal(value: Value) -> str:
    return str(value) if isinstance(value, (int, float)) else "'" + str(value).replace("'", "''") + "'"
