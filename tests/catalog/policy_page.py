"""The tables of fields in docs/reference/policy.md, from the docstrings: ``python -m tests.catalog.policy_page``."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import MISSING, Field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column
from discreet.catalog.period import TimeColumn
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.table import ForeignKey, Table

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "policy.md"
TABLES: dict[str, type] = {
    "table": Table,
    "time column": TimeColumn,
    "budget": Budget,
    "foreign key": ForeignKey,
    "column": Column,
    "CSV format": CSVFormat,
}
NEEDED = {"table", "columns", "type", "epsilon", "column", "other_column", "every", "from"}
"""What every file states; unit and budget are stated by every protected table."""
ELSEWHERE = {"unit_name", "unit_budget", "unit_per", "budget_per", "lifetime", "closed"}
"""What a file states with the unit and the budget, and what it does not state."""


def sentences(cls: type) -> dict[str, str]:
    """Field → the docstring under it."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body  # type: ignore[attr-defined]
    found = {}
    for line, after in pairwise(body):
        if isinstance(line, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[line.target.id] = " ".join(str(after.value.value).split())  # type: ignore[union-attr]
    return found


def written_name(cls: type, field: Field[Any]) -> str:
    written = {(Table, "name"): "table", (TimeColumn, "first"): "from"}
    return written.get((cls, field.name), field.name)


def when(cls: type, field: Field[Any]) -> str:
    if cls is Table and field.name in ("unit", "budget"):
        return "in protected tables"
    if written_name(cls, field) in NEEDED:
        return "always"
    if field.default in (MISSING, None, "", ()):
        return "may be left out"
    default = str(field.default).lower()
    return f"else {default}"


def rows(cls: type) -> str:
    said = sentences(cls)
    hidden = {"name"} if cls is Column else ELSEWHERE
    shown = [field for field in fields(cls) if field.name not in hidden]
    lines = [f"| `{written_name(cls, field)}` | {said[field.name]} | {when(cls, field)} |" for field in shown]
    return "\n".join(["| field | meaning | stated |", "| --- | --- | --- |", *lines])


def filled(page: str) -> str:
    """The page with every table between its markers written anew."""
    for name, cls in TABLES.items():
        block = re.compile(rf"(<!-- fields of a {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        assert block.search(page), name
        page = block.sub(lambda match, cls=cls: match[1] + rows(cls) + match[2], page)  # type: ignore[misc]
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
