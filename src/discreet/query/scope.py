"""What names stand for inside a query: queries that WITH named, and results that may leave."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from discreet.query.refusal import refuse

__all__ = ["NamedQuery", "Released", "Scope", "check_alias"]


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
