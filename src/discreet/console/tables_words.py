"""Tables and their policies in words, as an owner reads them."""

from __future__ import annotations

from discreet.anonymize.figures import counted
from discreet.catalog.budget import Budget
from discreet.catalog.column import Column
from discreet.catalog.literal import number_text, written
from discreet.catalog.table import Table
from discreet.service.role import Role
from discreet.service.visitor import Visitor

__all__ = ["budget_words", "column_rows", "no_table_hint", "table_words"]

_MOST_KEYS = 6
_NO_TABLE = {
    Role.OWNER: "Protect one on the page Tables.",
    Role.ANALYST: "It appears here once the owner has let you ask about a table.",
    Role.AUDITOR: "It appears here once the owner has protected a table.",
}


def budget_words(budget: Budget | None) -> str:
    """A budget in letters; what has none may spend all of the table's.

    >>> budget_words(Budget("0.5", "1e-6")), budget_words(None)
    ('ε 0.5, δ 1e-6', 'all of the budget')
    """
    if budget is None:
        return "all of the budget"
    return f"ε {number_text(budget.epsilon)}" + (f", δ {number_text(budget.delta)}" if budget.delta else "")


def no_table_hint(visitor: Visitor) -> str:
    """What to do where a visitor has no table."""
    return _NO_TABLE[visitor.role]


def table_words(table: Table) -> str:
    """A table in a line."""
    columns = counted(len(table.columns), "column", "columns")
    if table.public:
        return f"public, {columns}"
    person = table.unit or ("the person behind a foreign key" if table.foreign_keys else "each row")
    asking = counted(len(table.analysts), "analyst", "analysts")
    return f"{budget_words(table.budget)} in all, protects {person}, {columns}, {asking}"


def column_rows(table: Table) -> list[tuple[str, ...]]:
    """For every column its name, its type, and what is public about its values."""
    return [(one.name, one.type.value, _values(one), _more(one)) for one in table.columns]


def _values(column: Column) -> str:
    said = []
    if column.lower is not None and column.upper is not None:
        said.append(f"{written(column.lower)} to {written(column.upper)}")
    keys = column.listed
    if keys is not None:
        shown = ", ".join(written(key) for key in keys[:_MOST_KEYS])
        said.append(shown + (f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""))
    if column.keys_from is not None:
        said.append(f"values of {column.keys_from}")
    return "; ".join(said)


def _more(column: Column) -> str:
    missing = "may be missing, as a group" if column.lists_missing else "may be missing"
    said = ([missing] if column.may_be_missing else []) + (["same for a person"] if column.constant_per_unit else [])
    if column.rows_per_key is not None:
        said.append(f"{column.rows_per_key} of a person in a group")
    return ", ".join(said)
