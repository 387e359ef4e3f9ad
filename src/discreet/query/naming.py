"""What a name stands for, given the tables that are visible. Case makes no difference, with quotes or without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.catalog.suggestion import suggestion
from discreet.query.expression import Call, Expression, Field
from discreet.query.instead import INSTEAD, is_clock
from discreet.query.refusal import refuse
from discreet.query.relation import Relation

__all__ = ["Aliased", "Shared", "Visible", "alias_of", "names_of", "owner_of"]

Aliased = tuple[str, Relation]
"""A relation under the name it has in FROM."""
Shared = Mapping[str, tuple[Field, ...]]
"""Columns that USING made one, by folded name: the first of these fields that is not missing."""

_DEFAULT_SCHEMAS = ("main", "public", "dbo")


def alias_of(node: exp.Expr) -> str:
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


def owner_of(node: exp.Column, sources: list[Aliased]) -> int | None:
    """The number of the one source that a column's name can mean; None where it is none or several."""
    wanted = ".".join(part.name for part in node.parts[:-1]).casefold()
    found = [
        number
        for number, (alias, relation) in enumerate(sources)
        if _means(wanted, alias.casefold()) and list(relation.find(node.name))
    ]
    return found[0] if len(found) == 1 else None


def names_of(sources: list[Aliased], shared: Shared | None = None) -> Visible:
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
