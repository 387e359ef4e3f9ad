"""The split of a price: larger shares for what matters more, so that the errors together are least.

Noise for a share s of ε has variance proportional to 1/s², and for a share of ρ to 1/s. The sum of importance times
variance is least when shares are proportional to the cube root of importance, or to its square root for ρ (Lagrange).

>>> [str(share) for share in split_price(Pure(1), [Fraction(1), Fraction(8)])]
['1/3', '2/3']

Several blocks share one price. Blocks over the same rows and groups are one, and measured once. Blocks restricted to
different keys of a column with one value per person form a set apart: a person is in at most one of them, so each of
them may cost the whole share of the set. Where one person is replaced by another, both are touched by one block each,
and two blocks' prices must fit the share together. All blocks are about one kind of privacy unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.engines.parameters import bind_parameter
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.bind.split import SplitQuery
from discreet.query.expressions.expression import Statement
from discreet.query.parse.places import refuse

__all__ = [
    "Price",
    "block_shares",
    "combine_prices",
    "get_magnitude",
    "merge_blocks",
    "split_price",
    "with_magnitude",
]


Price = Pure | ZeroConcentrated
_FINENESS = 1000


def split_price(price: Price, importances: Sequence[Fraction]) -> list[Fraction]:
    """The share of each, in ε or ρ; together they are the price."""
    root = 3 if isinstance(price, Pure) else 2
    # Rounded, so that the same question has the same plan on every machine.
    roots = [max(round(_FINENESS * float(importance) ** (1 / root)), 1) for importance in importances]
    return [get_magnitude(price) * each / sum(roots) for each in roots]


def get_magnitude(price: Price) -> Fraction:
    """ε or ρ."""
    return price.epsilon if isinstance(price, Pure) else price.rho


def with_magnitude(price: Price, amount: Fraction) -> Price:
    """A loss of ``amount`` in the same measure (ε or ρ) as ``price``."""
    return Pure(amount) if isinstance(price, Pure) else ZeroConcentrated(amount)


def combine_prices(price: Price, importances: Sequence[Fraction]) -> Fraction:
    """The importance of several parts that divide a share between them in the best way."""
    root = 3 if isinstance(price, Pure) else 2
    return Fraction(round(sum(float(each) ** (1 / root) for each in importances) ** root * _FINENESS), _FINENESS)


_COARSE = 10**9
"""Shares are whole numbers of these parts where they can be, so that rounding them up adds nothing to their sum."""


def block_shares(
    blocks: Sequence[PrivateAggregation], importances: Sequence[Sequence[Fraction]], price: Price
) -> list[Fraction]:
    """The share of every block, so that no person is charged more than the price."""
    sets = _sets_apart(blocks)
    each = [combine_prices(price, importance) for importance in importances]
    shares = _round(split_price(price, [sum((each[k] for k in one), Fraction(0)) for one in sets]), price)
    found = [Fraction(0)] * len(blocks)
    for one, share in zip(sets, shares, strict=True):
        for k in one:
            found[k] = share / 2 if len(one) > 1 and _replaces(blocks[k]) else share
    return found


def _sets_apart(blocks: Sequence[PrivateAggregation]) -> list[list[int]]:
    """Blocks by their positions, put together where no person can be in two of them."""
    sets: list[list[int]] = []
    for k, block in enumerate(blocks):
        fitting = [one for one in sets if all(_are_apart(block, blocks[other]) for other in one)]
        if fitting:
            fitting[0].append(k)
        else:
            sets.append([k])
    return sets


def _are_apart(block: PrivateAggregation, other: PrivateAggregation) -> bool:
    mine, theirs = block.restriction, other.restriction
    return mine is not None and theirs is not None and mine.is_apart_from(theirs)


def _replaces(block: PrivateAggregation) -> bool:
    return block.rows.privacy is not None and block.rows.privacy.neighbours is Neighbours.REPLACE_ONE


def _round(shares: list[Fraction], price: Price) -> list[Fraction]:
    coarse = [Fraction(int(share * _COARSE), _COARSE) for share in shares[:-1]]
    if not all(coarse):
        return shares
    return [*coarse, get_magnitude(price) - sum(coarse, Fraction(0))]


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
