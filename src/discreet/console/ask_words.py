"""Words and places for a question: which words were refused, how large an error is, how much of a budget is gone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction

from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.question import ExpectedError
from discreet.service.telling import Balance

__all__ = [
    "EPSILONS",
    "error_words",
    "least",
    "nearest",
    "part_words",
    "refused_words",
    "rounded",
    "share_of",
    "too_dear",
    "when",
]

_WORD = re.compile(r"\w+|\S")
_LARGE = 1000
_LITTLE = 0.01
_STEPS = (1, Fraction(3, 2), 2, 3, 4, 5, 6, 8)

EPSILONS = (*(Fraction(10) ** power * step for power in range(-3, 1) for step in _STEPS), Fraction(10))
"""The prices that the slider offers: round ones, each a little larger than the one before."""


def nearest(epsilon: Fraction) -> int:
    """The place on the slider that is nearest to a price."""
    return min(range(len(EPSILONS)), key=lambda place: abs(EPSILONS[place] / epsilon - 1))


def refused_words(text: str, refusal: QueryRefused) -> tuple[int, int] | None:
    """Where in a text the refused words stand: start and end; None where the refusal names no place.

    >>> refused_words("SELECT AVG(agee) FROM visits", QueryRefused("no such column", "agee", line=1, column=12))
    (11, 15)
    """
    if refusal.line is None or refusal.column is None:
        return None
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: refusal.line - 1]) + refusal.column - 1
    words = str(refusal.value or "<>")[1:-1].removesuffix("…").split()
    quoted = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE).match(text, start) if words else None
    if quoted is not None:
        return quoted.span()
    found = _WORD.search(text, start) or _WORD.search(text)
    return None if found is None else found.span()


def rounded(reach: float) -> str:
    """An error with as many digits as anybody needs."""
    return f"{reach:,.0f}" if reach >= _LARGE else f"{reach:.3g}"


def error_words(error: ExpectedError, confidence: float = 0.95) -> str:
    """How far a column may be off, in words."""
    if error.within is None:
        return "depends on the answer"
    return f"± {rounded(error.within)}, {confidence:.0%} of the time".replace("%", " %")


def share_of(part: Pure | ZeroConcentrated, whole: Pure | ZeroConcentrated) -> float:
    """Which part of a budget this is, both in the same unit; at most 1."""
    return min(float(_size(part) / _size(whole)), 1.0) if _size(whole) else 1.0


def least(left: Iterable[Pure | ZeroConcentrated]) -> Pure | ZeroConcentrated:
    """The balance that ends first."""
    return min(left, key=_size)


def part_words(price: Pure | ZeroConcentrated, left: Pure | ZeroConcentrated) -> str:
    """Which part of what is left a price takes, in words."""
    if _size(price) > _size(left):
        return "more than what is left"
    share = share_of(price, left)
    return f"{share:.0%} of what is left".replace("%", " %") if share >= _LITTLE else "less than 1 % of what is left"


def too_dear(balances: Iterable[Balance]) -> str:
    """What to do about a question that costs more than what is left."""
    is_over = any(not _size(one.left) for one in balances)
    way = "Nothing is left: the owner decides about caps" if is_over else "Ask for a lower price, or a larger error"
    return f"This costs more than what is left. {way}."


def _size(loss: Pure | ZeroConcentrated) -> Fraction:
    return loss.epsilon if isinstance(loss, Pure) else loss.rho


def when(seconds: float) -> str:
    """A moment, to the minute, in universal time."""
    return f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y, %H:%M} UTC"
