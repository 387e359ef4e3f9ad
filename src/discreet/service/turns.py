"""Turns: of those who wait, everybody comes once before anybody comes twice, so that nobody is kept waiting by one.

>>> turns: Turns[int] = Turns()
>>> for member, number in (("ana", 1), ("ana", 2), ("ana", 3), ("ben", 4)):
...     turns.add(member, number)
>>> [turns.take() for _ in range(5)]
[1, 4, 2, 3, None]
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

__all__ = ["Turns"]

T = TypeVar("T")


class Turns(Generic[T]):
    """What waits, by who waits for it; one thread at a time may use it."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()

    def add(self, member: str, what: T) -> None:
        """Let a member wait for something more, behind what they wait for already."""
        self._waiting.setdefault(member, deque()).append(what)

    def take(self) -> T | None:
        """What is next; None where nobody waits."""
        if not self._waiting:
            return None
        member, own = self._waiting.popitem(last=False)
        found = own.popleft()
        if own:
            self._waiting[member] = own
        return found
