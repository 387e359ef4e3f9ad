"""Pages: whatever is listed comes in parts, and the last one that was seen says where the next part begins.

>>> page(["ana", "ben", "cy"], str, "ana", limit=1)
['ben']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Annotated, Any, TypeVar

from fastapi import Query

__all__ = ["LONGEST_PAGE", "Limit", "page"]


T = TypeVar("T")
LONGEST_PAGE = 1000
"""How many are in one part, at most."""
Limit = Annotated[int, Query(ge=1, le=LONGEST_PAGE, description="How many to list, at most; fewer mean that it ends.")]


def page(found: Iterable[T], key: Callable[[T], Any], seen: Any, *, limit: int, down: bool = False) -> list[T]:
    """The first of what comes behind ``seen``, in the order of ``key``; ``down`` where the greatest comes first."""
    left = (one for one in found if seen is None or (key(one) < seen if down else key(one) > seen))
    return list(islice(left, limit))
