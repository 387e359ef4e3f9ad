"""What a name stands for, given the tables that are visible. Case makes no difference, with quotes or without.

Inside a query they also stand for queries that WITH named, and for results that may leave. A table of the catalog
becomes rows: whose they are, and which of its columns names the person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.catalog.catalog import Catalog, fold_name
from discreet.catalog.names import suggestion
from discreet.catalog.table import Table
from discreet.query.bind.contribution import ONE_ROW, ContributionBound
from discreet.query.bind.multiplicity import CountAlike, count_of_nothing
from discreet.query.bind.relation import FindEnds, Names, Privacy, Relation, scan_table
from discreet.query.expressions.expression import Call, Expression, Field
from discreet.query.parse.alternatives import INSTEAD, is_clock
from discreet.query.parse.places import refuse

__all__ = [
    "Aliased",
    "NamedQuery",
    "Released",
    "Scope",
    "Shared",
    "Visible",
    "check_alias",
    "collect_names",
    "find_owner",
    "find_table",
    "get_alias",
    "table_rows",
]


Aliased = tuple[str, Relation]
"""A relation under the name it has in FROM."""
Shared = Mapping[str, tuple[Field, ...]]
"""Columns that USING made one, by folded name: the first of these fields that is not missing."""

_DEFAULT_SCHEMAS = ("main", "public", "dbo")


def get_alias(node: exp.Expr) -> str:
    """The name of a table or subquery in FROM: its alias, or all of its own name."""
    if isinstance(node, exp.Table) and not node.alias:
        return ".".join(part.name for part in node.parts)
    return str(node.alias_or_name)


@dataclass(frozen=True)
class Visible:
    """The columns that an expression can name; called with a name, it finds the column."""

    sources: list[Aliased]
    shared: Shared = field(default_factory=dict)

    def __call__(self, node: exp.Column) -> Expression:
        """What a column's name stands for, or a refusal."""
        common = self.shared.get(node.name.casefold()) if not node.table else None
        if common is not None:
            return _first_of(common)
        candidates = self._named(node)
        found = [column for relation in candidates for column in relation.find(node.name)]
        if len(found) > 1:
            raise refuse(node, "this name stands for several columns", "write table.column")
        if not found:
            raise self._no_column(node, candidates)
        return found[0]

    def starred(self, node: exp.Expr) -> list[tuple[str, Expression]]:
        """The columns that * or table.* stands for; those that USING made one come first, and once."""
        star = node.this if isinstance(node, exp.Column) else node
        if [value for value in star.args.values() if value]:
            raise refuse(node, "EXCLUDE, REPLACE and RENAME are not understood after *", "name the columns")
        if isinstance(node, exp.Column):
            return [column for relation in self._named(node) for column in relation.columns]
        columns = [column for _, relation in self.sources for column in relation.columns]
        spelled = {visible.casefold(): visible for visible, _ in reversed(columns)}
        once: list[tuple[str, Expression]] = [(spelled[name], _first_of(each)) for name, each in self.shared.items()]
        return once + [(visible, column) for visible, column in columns if visible.casefold() not in self.shared]

    def known_as(self, fields: Mapping[str, Field]) -> Visible:
        """The same names for fields about which more is known now, such as that an outer join can leave them empty."""
        sources = [
            (alias, replace(each, columns=tuple((visible, fields[f.name]) for visible, f in each.columns)))
            for alias, each in self.sources
        ]
        return Visible(sources, {name: tuple(fields[f.name] for f in each) for name, each in self.shared.items()})

    def _named(self, node: exp.Column) -> list[Relation]:
        """The relations that the words before a column's name can mean."""
        wanted = ".".join(part.name for part in node.parts[:-1]).casefold()
        found = [relation for alias, relation in self.sources if _means(wanted, alias.casefold())]
        if not found:
            known = [alias for alias, _ in self.sources]
            raise refuse(node, f"there is no table {wanted} here", suggestion(wanted, known))
        return found

    def _no_column(self, node: exp.Column, candidates: list[Relation]) -> Exception:
        if is_clock(node.name) and not node.table:  # some dialects write it without parentheses
            return refuse(node, INSTEAD["NOW"].rule, INSTEAD["NOW"].remedy)
        known = [visible for relation in candidates for visible, _ in relation.columns]
        remedy = suggestion(node.name, known)
        if node.this.args.get("quoted") and not node.table:
            remedy = f"text is written in single quotes: '{node.name}'; {remedy}"
        return refuse(node, "there is no column of this name", remedy)


def find_owner(node: exp.Column, sources: list[Aliased]) -> int | None:
    """The number of the one source that a column's name can mean; None where it is none or several."""
    wanted = ".".join(part.name for part in node.parts[:-1]).casefold()
    found = [
        number
        for number, (alias, relation) in enumerate(sources)
        if _means(wanted, alias.casefold()) and list(relation.find(node.name))
    ]
    return found[0] if len(found) == 1 else None


def collect_names(sources: list[Aliased], shared: Shared | None = None) -> Visible:
    """Find columns by name in these relations."""
    return Visible(sources, shared or {})


def _means(wanted: str, alias: str) -> bool:
    """Whether the words before a column's name can mean the table that FROM calls ``alias``."""
    if wanted in ("", alias, alias.rpartition(".")[2]):
        return True
    schema, _, table = wanted.rpartition(".")
    return schema in _DEFAULT_SCHEMAS and table == alias


def _first_of(fields: tuple[Field, ...]) -> Expression:
    if len(fields) == 1:
        return fields[0]
    interval = fields[0].interval
    for other in fields[1:]:
        interval = interval.hull(other.interval)
    slots = ", ".join(f"{{{k}}}" for k in range(len(fields)))
    nullable = all(each.nullable for each in fields)
    return Call(fields[0].type, interval, nullable, f"COALESCE({slots})", fields)


@dataclass(frozen=True)
class Released:
    """A query whose result may leave: its text refers to noisy and public tables alone."""

    above: exp.Query


@dataclass(frozen=True)
class NamedQuery:
    """A query that WITH named."""

    query: exp.Query
    scope: Scope
    """What it can see itself: the names before its own."""


@dataclass(frozen=True)
class Scope:
    """The named queries that a query can see, by folded name."""

    queries: dict[str, NamedQuery] = field(default_factory=dict)

    def extended(self, node: exp.Expr) -> Scope:
        """The names that a query sees inside, with those of its own WITH."""
        clause = node.args.get("with_")
        scope = self
        if clause is None:
            return scope
        if clause.args.get("recursive"):
            raise refuse(clause, "recursive queries are not answered", "leave RECURSIVE out")
        for named in clause.expressions:
            check_alias(named)
            scope = Scope(scope.queries | {named.alias.casefold(): NamedQuery(named.this, scope)})
        return scope

    def find(self, table: exp.Table) -> NamedQuery | None:
        """The named query that a table's name means, if it is one."""
        return None if table.args.get("db") else self.queries.get(table.name.casefold())


def check_alias(node: exp.Expr) -> None:
    """New names for columns after an alias are refused: dropping them would change what the query means."""
    alias = node.args.get("alias")
    if isinstance(alias, exp.TableAlias) and not isinstance(alias.this, (exp.Identifier, type(None))):
        raise refuse(node, "an alias is a name", "write FROM visits AS v")
    if isinstance(alias, exp.TableAlias) and alias.args.get("columns"):
        raise refuse(node, "columns cannot be renamed after an alias", "write SELECT … AS name inside")


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
    return scan_table(table, _privacy(table, catalog), names, unit_columns, count_alike, ends, salted_by)


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
        contribution=ONE_ROW if is_row else ContributionBound.stored(table.rows_per_unit),
        most_rows=table.rows_after_joins,
        foreign_keys=frozenset(
            (fold_name(table.name), fold_name(key.column), fold_name(key.table), fold_name(key.other_column))
            for key in table.foreign_keys
        ),
        periods=frozenset((table.name, period.name) for period in table.closed),
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
