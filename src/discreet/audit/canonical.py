"""Any output as something that can be counted: what can be told apart stays apart, and nothing else does.

Lists, tuples and arrays become tuples, mappings become sorted pairs, NaN becomes one value that equals itself, and an
exception becomes an outcome like any other, because whoever asks can see it. Objects that cannot be hashed, or that
equal nothing but themselves, are taken by their text.

>>> canonical([1, float("nan"), {"b": 2, "a": 1}])
(1, NaN, (('a', 1), ('b', 2)))
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Set
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from discreet.errors import InvalidType

__all__ = ["NotANumber", "OutcomeKind", "Raised", "Unhashable", "canonical", "key_of"]


_LONGEST_MESSAGE = 200
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLAIN = (bool, int, str, bytes, type(None))


@dataclass(frozen=True)
class Raised:
    """The outcome of a call that raised an exception."""

    kind: str
    """The name of the exception's type."""
    message: str
    """What it said."""

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """The outcome that this exception is."""
        return cls(type(error).__name__, str(error)[:_LONGEST_MESSAGE])

    def __repr__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


@dataclass(frozen=True)
class NotANumber:
    """NaN, which equals itself here."""

    def __repr__(self) -> str:
        return "NaN"


@dataclass(frozen=True)
class Unhashable:
    """An output that cannot be hashed, by its text."""

    kind: str
    """The name of its type."""
    text: str
    """Its ``repr``."""
    is_blank: bool = False
    """Whether its text says nothing of what it holds: its type has no ``repr`` of its own, or one that fails."""

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class OutcomeKind:
    """What sort of thing an outcome is."""

    words: str
    """In words, such as "a whole number"."""

    def __str__(self) -> str:
        return self.words

    @classmethod
    def of(cls, outcome: Any) -> OutcomeKind:
        """The kind of one canonical outcome."""
        if isinstance(outcome, Raised):
            return cls(outcome.kind)
        if isinstance(outcome, tuple):
            return cls(f"a list of {len(outcome)}")
        if isinstance(outcome, float) and math.isnan(outcome):
            return cls("NaN")
        return cls(_KINDS.get(type(outcome), f"a {type(outcome).__name__}"))


_KINDS: dict[type, str] = {
    bool: "yes or no",
    int: "a whole number",
    float: "a real number",
    str: "a text",
    bytes: "bytes",
    type(None): "None",
    NotANumber: "NaN",
    Unhashable: "an unhashable object",
}


def canonical(output: Any) -> Hashable:
    """The outcome that this output is counted as."""
    if type(output) in _PLAIN:
        return output  # type: ignore[no-any-return]
    if isinstance(output, (float, np.floating)):
        return NotANumber() if math.isnan(output) else float(output)
    if isinstance(output, (np.ndarray, np.generic)):
        return canonical(output.tolist())
    if isinstance(output, (tuple, list)):
        return tuple(map(canonical, output))
    if isinstance(output, BaseException):
        return Raised.of(output)
    return _of_other(output)


def _of_other(output: Any) -> Hashable:
    if isinstance(output, Iterator):
        rule = "an answer must be a value, and not something that is yet to be computed"
        raise InvalidType(rule, f"<a {type(output).__name__}>", "return a list of what it gives")
    if isinstance(output, Mapping):
        return tuple(sorted(((canonical(k), canonical(v)) for k, v in output.items()), key=repr))
    if isinstance(output, Set):
        return tuple(sorted(map(canonical, output), key=repr))
    if isinstance(output, Integral):
        return int(output)
    try:
        hash(output)
        is_itself = bool(output == output)
    except Exception:  # an audited object may fail in any way
        is_itself = False
    return output if is_itself and not _is_bare(output) else _by_text(output)


def _is_bare(output: Any) -> bool:
    """Whether an object only equals itself, so that no two answers would ever be the same."""
    return getattr(type(output), "__eq__", None) is object.__eq__ and not isinstance(output, (Real, type))


def _by_text(output: Any) -> Unhashable:
    name, spelled = type(output).__name__, getattr(type(output), "__repr__", None)
    try:
        return Unhashable(name, _ADDRESS.sub("", repr(output)), spelled is object.__repr__)
    except Exception:  # an audited object may fail in any way
        return Unhashable(name, f"<a {name} without text>", is_blank=True)


def key_of(outcome: Hashable) -> Hashable:
    """What an outcome is counted under: 1, 1.0 and True, or 0.0 and -0.0, are equal in Python and can be told apart."""
    if isinstance(outcome, tuple):
        return (tuple, *map(key_of, outcome))
    if outcome == 0 and isinstance(outcome, float):
        return (float, str(outcome))
    return (type(outcome), outcome)
