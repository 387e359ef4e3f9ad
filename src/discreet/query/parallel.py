"""The price of several blocks: those about people who cannot be the same share one part of it.

Blocks restricted to different keys of a column with one value per person form a set apart: a person is in at most one
of them, so each of them may cost the whole share of the set. Where one person is replaced by another, both are touched
by one block each, and two blocks' prices must fit the share together.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.privacy.neighbours import Neighbours
from discreet.query.block import Block
from discreet.query.shares import Price, amount_of, combined, split_price

__all__ = ["block_shares"]

_COARSE = 10**9
"""Shares are whole numbers of these parts where they can be, so that rounding them up adds nothing to their sum."""


def block_shares(blocks: Sequence[Block], importances: Sequence[Sequence[Fraction]], price: Price) -> list[Fraction]:
    """The share of every block, so that no person is charged more than the price."""
    sets = _sets_apart(blocks)
    each = [combined(price, importance) for importance in importances]
    shares = _rounded(split_price(price, [sum((each[k] for k in one), Fraction(0)) for one in sets]), price)
    found = [Fraction(0)] * len(blocks)
    for one, share in zip(sets, shares, strict=True):
        for k in one:
            found[k] = share / 2 if len(one) > 1 and _replaces(blocks[k]) else share
    return found


def _sets_apart(blocks: Sequence[Block]) -> list[list[int]]:
    """Blocks by their positions, put together where no person can be in two of them."""
    sets: list[list[int]] = []
    for k, block in enumerate(blocks):
        fitting = [one for one in sets if all(_are_apart(block, blocks[other]) for other in one)]
        if fitting:
            fitting[0].append(k)
        else:
            sets.append([k])
    return sets


def _are_apart(block: Block, other: Block) -> bool:
    mine, theirs = block.restriction, other.restriction
    return mine is not None and theirs is not None and mine.is_apart_from(theirs)


def _replaces(block: Block) -> bool:
    return block.rows.privacy is not None and block.rows.privacy.neighbours is Neighbours.REPLACE_ONE


def _rounded(shares: list[Fraction], price: Price) -> list[Fraction]:
    coarse = [Fraction(int(share * _COARSE), _COARSE) for share in shares[:-1]]
    if not all(coarse):
        return shares
    return [*coarse, amount_of(price) - sum(coarse, Fraction(0))]
