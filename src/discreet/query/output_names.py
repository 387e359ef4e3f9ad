"""Which column of the answer shows which aggregate, in the analyst's own words.

A block's aggregates are called a0, a1, … inside; people know them by the names in their SELECT.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from discreet.query.question import ExpectedError, Question

__all__ = ["labelled", "output_names"]

Place = tuple[str, str]
"""An aggregate: its block, and its column there."""


def output_names(above: exp.Query) -> tuple[dict[Place, str], dict[Place, str]]:
    """The outputs that are an aggregate as it stands, and those that are computed from one; outer queries first."""
    shown: dict[Place, str] = {}
    used: dict[Place, str] = {}
    for select in above.find_all(exp.Select):
        for projection in select.expressions:
            whole = _aggregate(projection.unalias())
            if whole is not None:
                shown.setdefault(whole, projection.alias_or_name)
            for part in map(_aggregate, projection.find_all(exp.Column)):
                if part is not None:
                    used.setdefault(part, projection.alias_or_name)
    return shown, used


def labelled(question: Question, errors: list[ExpectedError]) -> tuple[ExpectedError, ...]:
    """The expected errors under the names of the outputs: ``visits``, or ``sum in cost_each`` where it is computed."""
    places = [(block.name, f"a{k}") for block in question.split.blocks for k in range(len(block.aggregates))]
    shown, used = output_names(question.split.above)
    found = []
    for place, error in zip(places, errors, strict=True):
        within = f"{error.column} in {used[place]}" if used.get(place) else error.column
        found.append(replace(error, column=shown.get(place) or within))
    return tuple(found)


def _aggregate(node: exp.Expr) -> Place | None:
    if isinstance(node, exp.Column) and node.table.startswith("_block") and node.name.startswith("a"):
        return node.table, node.name
    return None
