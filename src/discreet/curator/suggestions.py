"""Paid questions that help an owner to write a policy: bounds, rows per unit, and what these touch.

Each is one ordinary question through the ordinary door, so it is planned without looking, charged before a row is read,
stored, certified, and free when it is asked again. Nothing here adds noise or reads rows by itself.

Some of them need values as they were taken in, before bounds move them: they are planned against the same catalog with
the bounds of some columns left out. That is as private as any question. Unit, neighbours, rows per unit and budget stay
as they are, and the noise of a plan follows from the catalog it was planned with: a column without bounds is one about
which less is known, so that less is answered about it (counts, and no sums), never with less noise. A plan's statement
says which bounds it applies, so that answers with and without them are never taken for each other.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column
from discreet.catalog.suggestion import suggestion
from discreet.catalog.table import Table
from discreet.engines.identifier import quoted
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = [
    "AS_TAKEN_IN",
    "Offers",
    "is_unit_column",
    "offer",
    "offer_of_groups",
    "people_of",
    "planning_with",
    "protected_table",
    "the_column",
    "without_bounds",
]

AS_TAKEN_IN = "/* values as they were taken in, before bounds and defaults */ "
"""Stands before a question in the ledger and in its certificate, which show its text."""


class Offers(Enum):
    """How the paid questions that help to write a policy are named: as their reader would ask them."""

    NONE = "none"
    PYTHON = "python"
    COMMANDS = "commands"

    def touched(self, table: str) -> str:
        """The question how many people and values the policy's limits touch."""
        return self._named(f"touched({_in_quotes(table)}, epsilon=0.1)", "touched", table, "-e", "0.1")

    def groups(self, table: str, columns: Sequence[str]) -> str:
        """The question in how many groups people are."""
        names = [_in_quotes(name) for name in columns]
        by = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
        call = f"left_out({_in_quotes(table)}, by={by}, epsilon=0.1)"
        return self._named(call, "groups", table, *columns, "-e", "0.1")

    def rows(self, table: str) -> str:
        """The question how many rows of a person should count."""
        return self._named(f"suggest_rows_per_unit({_in_quotes(table)}, epsilon=…)", "rows", table, "-e", "…")

    def bounds(self, table: str, column: str) -> str:
        """The question which bounds hold most values of a column."""
        call = f"suggest_bounds({_in_quotes(table)}, {_in_quotes(column)}, epsilon=…)"
        return self._named(call, "bounds", table, column, "-e", "…")

    def _named(self, call: str, *words: str) -> str:
        if self is Offers.COMMANDS:
            return "discreet suggest " + " ".join(word if word == "…" else shlex.quote(word) for word in words)
        return f"curator.{call}"


def offer(tables: Iterable[str], offers: Offers = Offers.PYTHON) -> str:
    """The sentence that offers the paid question how many people and values the policy's limits touch."""
    calls = " or ".join(offers.touched(name) for name in sorted(tables))
    return f"To estimate how many people this affects, run {calls}; it costs budget."


def offer_of_groups(table: str, columns: Sequence[str], offers: Offers = Offers.PYTHON) -> str:
    """The sentence that offers the paid question how many groups of people are left out."""
    return f"To estimate what share is missing, run {offers.groups(table, columns)}; it costs budget."


def _in_quotes(name: str) -> str:
    """A name as Python reads it."""
    return json.dumps(name, ensure_ascii=False)


def protected_table(catalog: Catalog, name: str) -> Table:
    """The protected table of this name."""
    table = catalog.table(name)
    if table.public:
        rule = "only a protected table has bounds and limits to be found for a price"
        raise InvalidValue(rule, name, "everybody may see the rows of a public table: look at them")
    return table


def the_column(table: Table, name: str) -> Column:
    """The column of this name."""
    column = table.column(name)
    if column is None:
        near = suggestion(name, (known.name for known in table.columns))
        raise InvalidValue(f"{table.name}: there is no column of this name", name, near)
    return column


def is_unit_column(catalog: Catalog, table: Table, column: Column) -> bool:
    """Whether a column names the person, here or through a foreign key."""
    path = catalog.unit_path(table.name)
    return path is not None and not path.steps and path.column == column.name


def without_bounds(curator: Curator, table: Table, columns: Iterable[Column]) -> Curator:
    """The same curator, which plans without the bounds, keys and defaults of these columns."""
    names = {column.name for column in columns}
    bare = tuple(_bare(column) if column.name in names else column for column in table.columns)
    return planning_with(curator, replace(table, columns=bare))


def planning_with(curator: Curator, table: Table) -> Curator:
    """The same curator, with the same store, ledger and accounts, which plans with another policy of one table."""
    other = copy(curator)
    other.is_pinned = True
    other.catalog = curator.catalog.with_table(table)
    return other


def _bare(column: Column) -> Column:
    return replace(column, lower=None, upper=None, keys=None, default=None)


def people_of(catalog: Catalog, table: Table) -> tuple[str, str] | None:
    """FROM and GROUP BY of a subquery with one row per person; None where every row is a person.

    The table itself is called t0. Where people are found through foreign keys, the tables on the way are joined.
    """
    path = catalog.unit_path(table.name)
    if path is None or path.column is None:
        return None
    source = f"{quoted(table.name)} t0"
    for place, key in enumerate(path.steps):
        source += (
            f" JOIN {quoted(catalog.table(key.table).name)} t{place + 1}"
            f" ON t{place}.{quoted(key.column)} = t{place + 1}.{quoted(key.other_column)}"
        )
    return source, f"t{len(path.steps)}.{quoted(path.column)}"
