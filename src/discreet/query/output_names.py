"""Which column of the answer shows which aggregate, in the analyst's own words.

A block's aggregates are called a0, a1, … inside; people know them by the names in their SELECT.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from discreet.query.question import ExpectedError, Question
from discreet.query.shares import Price, of_amount

__all__ = ["HIDDEN", "labelled", "output_names", "shares_of"]

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


def shares_of(question: Question) -> tuple[tuple[str, Price], ...]:
    """How the price is divided: what each share answers, under the names of the outputs, and the share."""
    shown, used = output_names(question.split.above)
    found: dict[tuple[int, int], tuple[list[str], Price]] = {}
    for block, plan in zip(question.split.blocks, question.plans, strict=True):
        names = {a: (block.name, f"a{k}") for k, a in enumerate(block.aggregates)}
        for number, (aggregates, share) in enumerate(plan.shares):
            labels, _ = found.setdefault((id(plan), number), ([], of_amount(plan.loss, share)))
            places = [(a, names[a]) for a in aggregates if a in names]
            labels += [shown.get(place) or used.get(place) or a.kind.value for a, place in places]
    return tuple((", ".join(dict.fromkeys(labels)) or HIDDEN, share) for labels, share in found.values())


HIDDEN = "which groups are shown"
"""What a share is for that no output shows: the number of people who hold a key."""


def _aggregate(node: exp.Expr) -> Place | None:
    if isinstance(node, exp.Column) and node.table.startswith("_block") and node.name.startswith("a"):
        return node.table, node.name
    return None
