"""A table of the catalog as rows: whose they are, and which of its columns names the person."""

from __future__ import annotations

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.catalog.suggestion import suggestion
from discreet.catalog.table import Table
from discreet.catalog.unit_path import folded
from discreet.query.contribution import ONE_ROW, Contribution
from discreet.query.multiplicity import CountAlike, count_of_nothing
from discreet.query.refusal import refuse
from discreet.query.relation import FindEnds, Names, Privacy, Relation, scanned

__all__ = ["find_table", "table_rows"]


def find_table(node: exp.Expr, catalog: Catalog) -> Table:
    """The table that a name in FROM means."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise refuse(node, "FROM takes tables and subqueries", "name a table that has a policy")
    if {key for key, value in node.args.items() if value} - {"this", "alias", "db", "catalog"}:
        raise refuse(node, "only a name and an alias can be given for a table", "leave the rest out")
    name = ".".join(part.name for part in node.parts)
    table = catalog.named(name)
    if table is None:
        known = [one.name for one in catalog.nameable.values()]
        raise refuse(node, "there is no table of this name", suggestion(name, known))
    return table


def table_rows(
    table: Table,
    catalog: Catalog,
    names: Names,
    count_alike: CountAlike = count_of_nothing,
    ends: FindEnds | None = None,
) -> Relation:
    """All rows of a table; of public ones ``count_alike`` tells how many are alike, and ``ends`` where values lie."""
    unit_columns, salted_by = _unit_columns(table, catalog), _salted_by(table, catalog)
    return scanned(table, _privacy(table, catalog), names, unit_columns, count_alike, ends, salted_by)


def _privacy(table: Table, catalog: Catalog) -> Privacy | None:
    domain, path = catalog.unit_domain(table.name), catalog.unit_path(table.name)
    if domain is None or path is None:
        return None
    is_row = path.column is None and not path.steps
    return Privacy(
        unit=domain,
        neighbours=table.neighbours,
        rows=table.rows_per_unit,
        groups=table.most_groups,
        tables=frozenset([table.name]),
        one_row_each=is_row,
        contribution=ONE_ROW if is_row else Contribution.stored(table.rows_per_unit),
        most_rows=table.rows_after_joins,
        foreign_keys=frozenset(
            (folded(table.name), folded(key.column), folded(key.table), folded(key.other_column))
            for key in table.foreign_keys
        ),
    )


def _unit_columns(table: Table, catalog: Catalog) -> frozenset[str]:
    path = catalog.unit_path(table.name)
    if path is None or path.steps or path.column is None:
        return frozenset()
    return frozenset([path.column.casefold()])


def _salted_by(table: Table, catalog: Catalog) -> frozenset[str]:
    """The columns that name the unit of a row: its identifier, what leads to it, or all where every row is a unit."""
    path = catalog.unit_path(table.name)
    if path is not None and (path.steps or path.column is not None):
        named = path.steps[0].column if path.steps else path.column or ""
        return frozenset([named.casefold()])
    return frozenset(column.name.casefold() for column in table.columns)
