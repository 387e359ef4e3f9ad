"""The desk of the lab: who may run something now. Runs take a whole processor, so there are few places."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import TooManyRequests

__all__ = ["DESK", "Desk"]

_PLACES = 2


class Desk:
    """So many places, and one for each visitor at most."""

    def __init__(self, places: int = _PLACES) -> None:
        self._places = places
        self._taken: set[str] = set()

    @contextmanager
    def place(self, visitor: str) -> Iterator[None]:
        """A place for a visitor, until they leave it; refused where there is none."""
        if visitor in self._taken:
            raise TooManyRequests("one visitor runs one thing at a time", None, "wait for it, or stop it")
        if len(self._taken) >= self._places:
            rule = f"the lab runs {self._places} things at a time"
            raise TooManyRequests(rule, None, "somebody else is at work; try again in a minute")
        self._taken.add(visitor)
        try:
            yield
        finally:
            self._taken.discard(visitor)


DESK = Desk()
"""The desk of this process."""
