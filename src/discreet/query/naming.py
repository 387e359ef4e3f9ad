"""What a column's name stands for, given the tables that are visible."""

from __future__ import annotations

from sqlglot import exp

from discreet.catalog.suggestion import suggestion
from discreet.query.expression import Expression
from discreet.query.reading import LookUp
from discreet.query.refusal import refuse
from discreet.query.relation import Relation

__all__ = ["Aliased", "names_of"]

Aliased = tuple[str, Relation]
"""A relation under the name it has in FROM."""


def names_of(sources: list[Aliased]) -> LookUp:
    """Find columns by name, without regard to case, in these relations."""

    def find(node: exp.Column) -> Expression:
        wanted = node.table.casefold()
        candidates = [relation for alias, relation in sources if wanted in ("", alias.casefold())]
        if not candidates:
            raise refuse(node, f"there is no table {node.table} here", suggestion(node.table, [a for a, _ in sources]))
        found = [field for relation in candidates for field in relation.find(node.name)]
        if len(found) > 1:
            raise refuse(node, "this name stands for several columns", "write table.column")
        if not found:
            known = [visible for relation in candidates for visible, _ in relation.columns]
            raise refuse(node, "there is no column of this name", suggestion(node.name, known))
        return found[0]

    return find
