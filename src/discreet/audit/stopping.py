"""How many draws count when the time is up before all are made.

A clock may stop an audit early, and when it does can depend on the answers: a mechanism may be slow for some of them.
Then the draws that were made in time are no fair sample. But the first n draws are one for every n that is fixed in
advance. So a list of lengths is fixed, the longest one that was reached is used, and the false-alarm rate is divided by
the number of lengths. Whatever stops the audit, some length raises a false alarm with at most the sum of the parts.

>>> lengths(100)
(16, 20, 25, 32, 40, 50, 63, 79, 99, 100)
>>> reached(lengths(100), 60)
50
"""

from __future__ import annotations

__all__ = ["lengths", "reached"]

_FIRST = 16


def lengths(pairs: int) -> tuple[int, ...]:
    """Lengths at which an audit of ``pairs`` may stop, each a quarter more than the one before; the last is all."""
    found, length = [], _FIRST
    while length < pairs:
        found.append(length)
        length += -(-length // 4)
    return (*found, pairs)


def reached(stops: tuple[int, ...], pairs: int) -> int:
    """The longest of the lengths that ``pairs`` draws reach; 0 where they reach none."""
    return max((length for length in stops if length <= pairs), default=0)
