"""Where names are looked up while a statement is written: the relations of one SELECT, and what a branch knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.engines.translation.written import Written

__all__ = ["Columns", "Facts", "Rows", "Scope"]

Columns = Mapping[str, Written]
"""The columns of a relation, by the names that plans give them; the text of each is how it is written there."""
Facts = Mapping[str, tuple[Fraction, Fraction]]
"""Bounds of expressions, by their text in the language of plans."""


@dataclass(frozen=True)
class Rows:
    """A query that was written."""

    text: str
    """The query."""
    columns: Columns
    """What it returns, in order."""


@dataclass(frozen=True)
class Scope:
    """What an expression may name."""

    relations: Mapping[str, Columns]
    """By alias."""
    facts: Facts = field(default_factory=dict)
    """What the conditions around the expression say about others."""

    def column(self, name: str, relation: str) -> Written:
        """The column with this name, of one relation or of the first that has it."""
        for alias, columns in self.relations.items():
            if relation in ("", alias) and name in columns:
                found = columns[name]
                return replace(found, text=f"{alias}.{found.text}") if relation else found
        raise KeyError(name)

    def knowing(self, facts: Facts) -> Scope:
        """The same names, where more is known."""
        return replace(self, facts={**self.facts, **facts})
