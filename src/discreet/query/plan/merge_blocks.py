"""Blocks over the same rows and groups are one: what several questions ask about them is measured together, once.

All blocks of what is planned together are about one kind of privacy unit, since they are paid for by one price.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engines.parameters import bind_parameter
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.bind.split import SplitQuery
from discreet.query.expressions.expression import Statement
from discreet.query.parse.refusal import refuse

__all__ = ["merge_blocks"]


def merge_blocks(queries: Sequence[SplitQuery]) -> tuple[list[int], list[PrivateAggregation]]:
    """What is measured, each with all that is asked about it, and which of it each block of each query became."""
    _check_units(queries)
    found: dict[str, int] = {}
    homes: list[int] = []
    together: list[PrivateAggregation] = []
    for block in (block for query in queries for block in query.blocks):
        same = _rows_and_keys(block)
        if same not in found:
            found[same] = len(together)
            together.append(PrivateAggregation(len(together) + 1, block.rows, block.keys, block.places, top=block.top))
        homes.append(found[same])
        for aggregate in block.aggregates:
            together[found[same]].ask(aggregate)
    return homes, together


def _check_units(queries: Sequence[SplitQuery]) -> None:
    privacies = [block.rows.privacy for query in queries for block in query.blocks]
    kinds = {(privacy.unit, privacy.neighbours) for privacy in privacies if privacy}
    if len(kinds) > 1:
        rule = f"one question asks about one kind of person, not {' and '.join(sorted(unit for unit, _ in kinds))}"
        raise refuse(queries[0].above, rule, "ask one question about each")


def _rows_and_keys(block: PrivateAggregation) -> str:
    statement = Statement()
    keys = [key.write(statement) for key in block.keys]
    text = block.rows.write(statement)
    asked = [block.top, *block.aggregates] if block.top else []  # a selection measures nothing for others
    return repr((keys, text, [bind_parameter(value) for value in statement.parameters], asked))
