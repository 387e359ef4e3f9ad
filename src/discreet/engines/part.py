"""Parts of a source: rows of one shape that DuckDB can read, and the columns in them that a policy declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.catalog.column import ColumnType
from discreet.catalog.csv_format import CSVFormat
from discreet.catalog.suggestion import suggestion
from discreet.catalog.table import Table
from discreet.engines.casts import total_cast
from discreet.engines.identifier import quoted
from discreet.engines.looks import look
from discreet.errors import InvalidType, InvalidValue

__all__ = ["Cast", "Given", "Part", "declared", "selection", "unreadable"]


@dataclass(frozen=True)
class Given:
    """A column of a source."""

    name: str
    """As the source spells it."""
    label: str
    """What DuckDB calls it, which differs where the source has one name twice."""
    native: str
    """DuckDB's word for its type."""


@dataclass(frozen=True)
class Part:
    """Rows of one shape."""

    columns: tuple[Given, ...]
    """The columns that can be read."""
    relation: str
    """What to select from."""
    patient_relation: str | None = None
    """A slower way to read the same rows that gets past rows with too few fields."""
    open_quotes: str | None = None
    """A query for the files in which a quote is not closed. The slower way would take all that follows for one value,
    and lose every row in it without a word."""
    names: tuple[str, ...] = ()
    """Every name there is, for suggestions."""
    spelled: CSVFormat | None = None
    """How texts spell values, where the policy says so; of CSV files alone."""


def declared(table: Table) -> frozenset[str]:
    """The folded names of the columns that a policy declares."""
    return frozenset(column.name.casefold() for column in table.columns)


Cast = Callable[[Given, ColumnType], str | None]
"""An expression that cannot fail, for a column of a source as another type; None where they have nothing in common."""


def selection(table: Table, part: Part, total: Cast | None = None) -> list[str]:
    """One total cast per declared column, in the order of the policy; or a refusal that names the column."""

    def embedded(given: Given, wanted: ColumnType) -> str | None:
        return total_cast(quoted(given.label), given.native, wanted, part.spelled)

    total = total or embedded
    chosen = [_chosen(table, name, part) for name in (column.name for column in table.columns)]
    casts = []
    for column, given in zip(table.columns, chosen, strict=True):
        cast = total(given, column.type)
        if cast is None:
            rule = f"{table.name}.{column.name}: the source must hold what can be read as {column.type.value}"
            raise InvalidType(rule, f"<{given.native}>", "declare another type, or convert it first")
        casts.append(cast)
    return casts


def unreadable(table: Table, part: Part, casts: Sequence[str]) -> list[str]:
    """Per declared column, how a value looks that its cast turns into nothing; see `look`."""
    given = [_chosen(table, column.name, part) for column in table.columns]
    is_stated = part.spelled is not None and bool(part.spelled.decimal or part.spelled.thousands)
    return [
        look(quoted(one.label), one.native, column.type, cast, is_stated=is_stated)
        for column, one, cast in zip(table.columns, given, casts, strict=True)
    ]


def _chosen(table: Table, name: str, part: Part) -> Given:
    found = [given for given in part.columns if given.name.casefold() == name.casefold()]
    if not found:
        known: Sequence[str] = part.names or tuple(given.name for given in part.columns)
        raise InvalidValue(f"{table.name}: the source must have the declared columns", name, suggestion(name, known))
    if len(found) > 1:
        spelled = ", ".join(given.name for given in found)
        rule = f"{table.name}: a declared column must be in the source once, without regard to case"
        raise InvalidValue(rule, f"<{spelled}>", "rename all but one")
    return found[0]
