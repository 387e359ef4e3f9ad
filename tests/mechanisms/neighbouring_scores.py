"""Scores that neighbours can have: every way to move each one by at most Δ, in all directions or in one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product


def moved_anyhow(scores: Sequence[int], by: int = 1) -> list[tuple[list[int], list[int]]]:
    """Pairs where each score rises or falls by ``by``, or stays."""
    return _pairs(scores, (-by, 0, by))


def moved_together(scores: Sequence[int], by: int = 1) -> list[tuple[list[int], list[int]]]:
    """Pairs where each score rises by ``by`` or stays: what adding one unit does to counts."""
    return _pairs(scores, (0, by))


def replaced_one(scores: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Pairs of histograms where one unit moved from one kind to another."""
    found = []
    for giver, taker in product(range(len(scores)), repeat=2):
        if giver != taker and scores[giver] > 0:
            other = list(scores)
            other[giver], other[taker] = other[giver] - 1, other[taker] + 1
            found.append((list(scores), other))
    return found


def _pairs(scores: Sequence[int], moves: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    shifts = product(moves, repeat=len(scores))
    return [(list(scores), [s + d for s, d in zip(scores, shift, strict=True)]) for shift in shifts]
