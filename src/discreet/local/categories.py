"""The possible answers to a question, fixed before anybody answers, and the position of each among them.

>>> Categories.named(["red", "green", "blue"]).positions(["blue", "red"]).tolist()
[2, 0]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import length_hint
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.grid import Integers
from discreet.mechanisms.candidates import named_once

__all__ = ["MOST_CATEGORIES", "Categories", "Category", "is_many"]

Category: TypeAlias = str | int
"""What can be written in JSON and read back as the same thing; True and False are integers."""

MOST_CATEGORIES = 2**24
"""Every estimate needs a number for each of them."""


@dataclass(frozen=True)
class Categories:
    """Different names in a fixed order."""

    names: tuple[Category, ...]
    """Every possible answer."""

    @classmethod
    def named(cls, names: Iterable[Hashable]) -> Categories:
        """At least two texts or whole numbers, each once."""
        if isinstance(names, Categories):
            return names
        listed = named_once(map(_plain, _not_too_many(names)), "categories", least=2)
        return cls(tuple(_written(name) for name in listed))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Category]:
        return iter(self.names)

    def positions(self, values: Any) -> Integers:
        """Where each value stands; one value counts as a list of one. Any other value is refused, and not shown."""
        listed = _flat(values) if is_many(values) else [values]
        if isinstance(listed, np.ndarray) and listed.dtype.kind in "biu" and self._counts_up:
            return self._counted(listed)
        entries = listed.tolist() if isinstance(listed, np.ndarray) else listed
        try:
            return np.fromiter(map(self._position.__getitem__, entries), np.int64, len(entries))
        except (KeyError, TypeError):
            raise _another_answer() from None

    def _counted(self, numbers: np.ndarray[Any, Any]) -> Integers:
        if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < len(self):
            raise _another_answer()
        return numbers.astype(np.int64)

    @cached_property
    def _position(self) -> dict[Category, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _counts_up(self) -> bool:
        return self.names == tuple(range(len(self)))


def is_many(values: Any) -> bool:
    """Whether these are several values; a text, a number or a truth value is one."""
    return isinstance(values, (list, tuple, range)) or getattr(values, "ndim", 0) > 0


def _flat(values: Any) -> Any:
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType("values must not be masked", "<a masked array>", "fill or drop what is masked first")
    if not hasattr(values, "ndim"):
        return values
    array = np.asarray(values)
    if array.ndim != 1:
        raise InvalidType("several values must form a flat list or array", f"<shape {array.shape}>")
    return array


def _not_too_many(names: Iterable[Hashable]) -> list[Hashable]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise InvalidType("categories must be a list of names", names, "['yes', 'no'], for example")
    if length_hint(names) <= MOST_CATEGORIES:
        first = list(islice(names, MOST_CATEGORIES + 1))
        if len(first) <= MOST_CATEGORIES:
            return first
    rule, remedy = f"categories must be at most {MOST_CATEGORIES}", "find the frequent ones by prefixes"
    raise InvalidValue(rule, "<more>", remedy)


def _plain(name: Hashable) -> Hashable:
    return name.item() if isinstance(name, np.generic) else name


def _written(name: Hashable) -> Category:
    if not isinstance(name, (str, int)):
        raise InvalidType("categories must be texts or whole numbers", name, "write it as a text")
    if isinstance(name, str) and any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InvalidValue("categories must be texts that can be written", name)
    return name


def _another_answer() -> InvalidValue:
    rule = "each answer must be one of the categories"
    return InvalidValue(rule, "<another answer>", "add a category such as 'other' before collecting")
