"""Turns: of those who wait, everybody comes once before anybody comes twice, so that nobody is kept waiting by one.

Who has a question at the rows comes behind all who have none. Nobody has all places: the last one is left to others,
for whoever held it could keep everybody else waiting for as long as a run may take. Where a process has one place
alone, it is not for those who have one in another process.

>>> turns: Turns[int] = Turns(places=3)
>>> for member, number in (("ana", 1), ("ana", 2), ("ana", 3), ("ben", 4)):
...     turns.add(member, number)
>>> [turns.take() for _ in range(4)]
[1, 4, 2, None]
>>> turns.leave("ana")
>>> turns.take()
3
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Turns"]

T = TypeVar("T")


class Turns(Generic[T]):
    """What waits, by who waits for it, and who is at the rows; one thread at a time may use it."""

    def __init__(self, places: int) -> None:
        """Nobody waits for any of the ``places``. Where there is one alone, whoever has it has all."""
        self._most = max(1, places - 1)
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._running: Counter[str] = Counter()

    def add(self, member: str, what: T) -> None:
        """Let a member wait for something more, behind what they wait for already."""
        self._waiting.setdefault(member, deque()).append(what)

    def take(self, may_come: Callable[[str], bool] = lambda _: True) -> T | None:
        """What is next; None where nobody waits who may come now. Its member is at the rows until they leave.

        Members are asked about by ``may_come`` in their order, until one may.
        """
        free = sorted(self._waiting, key=lambda one: self._running[one])  # of those with as many, who waits longest
        member = next((one for one in free if self._running[one] < self._most and may_come(one)), None)
        if member is None:
            return None
        own = self._waiting.pop(member)
        found = own.popleft()
        if own:
            self._waiting[member] = own
        self._running[member] += 1
        return found

    def leave(self, member: str) -> None:
        """A member has one question less at the rows."""
        self._running[member] -= 1
        if not self._running[member]:
            del self._running[member]

    def clear(self) -> list[T]:
        """All that waited, which nobody waits for any more."""
        found = [what for own in self._waiting.values() for what in own]
        self._waiting.clear()
        return found
