"""What can be audited: one of our measurements, anybody's function of one value, or a function that answers many times.

>>> def coin(value, size):
...     return [value] * size
>>> Batched(coin)(1, 3)
[1, 1, 1]

Any value as a text of bounded length, also where the value has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.errors import InvalidType
from discreet.mechanisms.measurement import Measurement

__all__ = ["Batched", "Mechanism", "checked_mechanism", "mechanism_name", "shown"]


@dataclass(frozen=True)
class Batched:
    """A function ``f(value, size)`` that gives ``size`` independent answers at once, as a sequence or an array.

    An array of two dimensions has one answer in each row. Answers of one call must be as independent as those of
    different calls: bounds on how often something happens rest on that.
    """

    function: Callable[[Any, int], Any]
    """What answers."""

    def __call__(self, value: Any, size: int) -> Any:
        """``size`` answers about ``value``."""
        return self.function(value, size)


Mechanism: TypeAlias = Measurement | Batched | Callable[[Any], Any]
"""A measurement, a function of one value that gives one answer, or a `Batched` one."""


def checked_mechanism(mechanism: Mechanism) -> Mechanism:
    """The mechanism, or a refusal where it is none."""
    if isinstance(mechanism, Measurement) or callable(mechanism):
        return mechanism
    remedy = "pass a function of one value, Batched(function) or a mechanism such as Laplace(1)"
    raise InvalidType("what is audited must be callable", mechanism, remedy)


def mechanism_name(mechanism: Mechanism) -> str:
    """What to call it in a report."""
    if isinstance(mechanism, Measurement):
        return repr(mechanism)
    function = mechanism.function if isinstance(mechanism, Batched) else mechanism
    return str(getattr(function, "__name__", type(function).__name__))


_LONGEST = 80


def shown(value: Any, longest: int = _LONGEST) -> str:
    """The value as text."""
    try:
        text = f"{value:.6g}" if isinstance(value, float) else " ".join(repr(value).split())
    except Exception:  # a value of others may fail in any way, and Python spells no integer of thousands of digits
        text = f"<a {type(value).__name__} without text>"
    return text if len(text) <= longest else text[: longest - 1] + "…"
