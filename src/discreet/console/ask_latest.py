"""The latest of several: what was asked for last is shown, and what older ones find is dropped, however late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["Latest"]

Found = TypeVar("Found")


class Latest:
    """Works that replace each other."""

    def __init__(self) -> None:
        """Nothing was asked for yet."""
        self._turn = 0

    async def run(
        self, work: Callable[[], Awaitable[Found]], show: Callable[[Found], object], pause: float = 0.0
    ) -> None:
        """After ``pause`` seconds do the work, and show what it found, unless another was asked for meanwhile."""
        self._turn += 1
        turn = self._turn
        await asyncio.sleep(pause)
        if turn == self._turn:
            found = await work()
            if turn == self._turn:
                show(found)
