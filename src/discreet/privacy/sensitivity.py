"""How far one unit can move an answer, and under which relation that was proved.

A histogram moves by 2 when one person is replaced and by 1 when one person joins or leaves; a sum over [a, b] by
b - a or by max(|a|, |b|). Both are right, so a sensitivity always says which one it is.

>>> Sensitivity.histogram("replace-one").value, Sensitivity.histogram("add-remove-one").value
(Fraction(2, 1), Fraction(1, 1))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.ball import sqrt_up
from discreet.exact.rational import Number, integer, rational
from discreet.privacy.format import shown
from discreet.privacy.neighbours import Neighbours

__all__ = ["Norm", "Sensitivity"]


_LARGEST = Fraction(2**100)


class Norm(Enum):
    """How a move of several answers at once is measured."""

    L1 = "L1"
    """The sum of the moves: what Laplace noise hides."""
    L2 = "L2"
    """The square root of the sum of squares: what Gaussian noise hides."""
    LINF = "L∞"
    """The largest single move: what a choice by score hides."""

    def __str__(self) -> str:
        return self.value

    @classmethod
    def of(cls, value: Norm | str) -> Norm:
        """The norm with this name; "Linf" is "L∞" for keyboards without it."""
        try:
            return cls("L∞" if value == "Linf" else value)
        except ValueError:
            raise InvalidValue("norm must be 'L1', 'L2', 'L∞' or 'Linf'", value) from None

    def bounds(self, other: Norm) -> bool:
        """Whether a vector is never longer in ``other`` than in this norm: ‖x‖∞ ≤ ‖x‖₂ ≤ ‖x‖₁."""
        order = [Norm.LINF, Norm.L2, Norm.L1]
        return order.index(other) <= order.index(self)


@dataclass(frozen=True)
class Sensitivity:
    """The most that an answer can move between neighbouring datasets."""

    value: Fraction
    """The bound itself, never too small."""
    neighbours: Neighbours
    """The relation it was proved under."""
    norm: Norm = Norm.L1
    """How a vector's move is measured; one number moves the same in every norm."""

    def __post_init__(self) -> None:
        number = rational(self.value, "sensitivity")
        if number < 0:
            raise InvalidValue("sensitivity must not be negative", self.value)
        if number > _LARGEST:
            raise InvalidValue("sensitivity must be at most 2^100", self.value, "declare tighter bounds")
        object.__setattr__(self, "value", number)
        object.__setattr__(self, "neighbours", Neighbours.of(self.neighbours))
        object.__setattr__(self, "norm", Norm.of(self.norm))

    def __str__(self) -> str:
        return f"{shown(self.value)} in {self.norm} under {self.neighbours}"

    # What the course texts compute, and what the tables of every survey repeat.

    @classmethod
    def count(cls, neighbours: Neighbours | str) -> Sensitivity:
        """How many units have a property: moves by 1 under both relations."""
        return cls(Fraction(1), Neighbours.of(neighbours))

    @classmethod
    def counts(cls, k: int, neighbours: Neighbours | str, norm: Norm | str = Norm.L1) -> Sensitivity:
        """``k`` counts at once, where one unit may have all the properties: moves by k in L1."""
        size = integer(k, "k", least=1)
        value = {Norm.L1: Fraction(size), Norm.L2: sqrt_up(size), Norm.LINF: Fraction(1)}[Norm.of(norm)]
        return cls(value, Neighbours.of(neighbours), Norm.of(norm))

    @classmethod
    def histogram(cls, neighbours: Neighbours | str, norm: Norm | str = Norm.L1) -> Sensitivity:
        """Counts of disjoint kinds, however many: replacing one unit moves two of them by 1, adding one moves one."""
        relation, measure = Neighbours.of(neighbours), Norm.of(norm)
        if relation is Neighbours.ADD_REMOVE_ONE or measure is Norm.LINF:
            return cls(Fraction(1), relation, measure)
        return cls(Fraction(2) if measure is Norm.L1 else sqrt_up(2), relation, measure)

    @classmethod
    def sum(cls, lower: Number, upper: Number, neighbours: Neighbours | str) -> Sensitivity:
        """A sum of one value per unit, each in [lower, upper]."""
        low, high = _bounds(lower, upper)
        relation = Neighbours.of(neighbours)
        return cls(high - low if relation is Neighbours.REPLACE_ONE else max(abs(low), abs(high)), relation)

    @classmethod
    def mean(cls, lower: Number, upper: Number, size: int, neighbours: Neighbours | str) -> Sensitivity:
        """A mean of ``size`` values in [lower, upper], where the size is public: replace-one alone."""
        low, high = _bounds(lower, upper)
        if Neighbours.of(neighbours) is not Neighbours.REPLACE_ONE:
            rule = "the mean has a sensitivity only where the number of units is public"
            raise InvalidValue(rule, str(neighbours), "use replace-one, or release a sum and a count and divide")
        return cls((high - low) / integer(size, "size", least=1), Neighbours.REPLACE_ONE)

    @classmethod
    def median(cls, lower: Number, upper: Number, neighbours: Neighbours | str) -> Sensitivity:
        """A median of values in [lower, upper]: one unit can carry it from one end to the other.

        For a median that is one of the values; halfway between the middle two it moves at most half as far.
        """
        low, high = _bounds(lower, upper)
        return cls(high - low, Neighbours.of(neighbours))

    @classmethod
    def vector(cls, parts: Sequence[Sensitivity], norm: Norm | str = Norm.L1) -> Sensitivity:
        """Several answers released together, where one unit may move all of them.

        Each part is a number, or a vector whose own bound is in ``norm`` or in a norm that is never smaller.
        """
        wanted = Norm.of(norm)
        for part in _list(parts):
            if not isinstance(part, Sensitivity):
                raise InvalidType("parts must be sensitivities", part, "Sensitivity.count(...), for example")
        relations = {part.neighbours for part in parts}
        if len(relations) != 1:
            raise InvalidValue("parts must share one relation", ", ".join(sorted(map(str, relations))) or "<no parts>")
        weaker = [part for part in parts if not part.norm.bounds(wanted)]
        if weaker:
            raise InvalidValue(f"parts must be bounded in {wanted}", str(weaker[0]), "use part.in_norm first")
        values = [part.value for part in parts]
        combined = {
            Norm.L1: lambda: sum(values, Fraction(0)),
            Norm.L2: lambda: sqrt_up(sum((v * v for v in values), Fraction(0))),
            Norm.LINF: lambda: max(values),
        }[wanted]()
        return cls(combined, relations.pop(), wanted)

    # The calculus.

    def scaled(self, factor: Number) -> Sensitivity:
        """The sensitivity of ``factor`` times the answer."""
        return replace(self, value=self.value * abs(rational(factor, "factor")))

    def for_group(self, size: int) -> Sensitivity:
        """When ``size`` units differ instead of one: the triangle inequality."""
        return replace(self, value=self.value * integer(size, "size", least=1))

    def under(self, neighbours: Neighbours | str) -> Sensitivity:
        """The bound under the other relation: replacing is removing and adding, so it moves at most twice as far."""
        relation = Neighbours.of(neighbours)
        if relation is self.neighbours:
            return self
        if relation is Neighbours.REPLACE_ONE:
            return replace(self, value=2 * self.value, neighbours=relation)
        rule = "a bound proved for replace-one says nothing about datasets of different sizes"
        raise NoProvedPath(rule, str(self), "prove it under add-remove-one")

    def in_norm(self, norm: Norm | str, dimension: int) -> Sensitivity:
        """The bound in another norm, for a vector of ``dimension`` answers."""
        size, wanted = integer(dimension, "dimension", least=1), Norm.of(norm)
        if self.norm.bounds(wanted):
            return replace(self, norm=wanted)
        from_largest_to_sum = self.norm is Norm.LINF and wanted is Norm.L1
        factor = Fraction(size) if from_largest_to_sum else sqrt_up(size)  # ‖x‖₁ ≤ √d ‖x‖₂ ≤ d ‖x‖∞
        return replace(self, value=self.value * factor, norm=wanted)


def _list(parts: object) -> Sequence[object]:
    if not isinstance(parts, Sequence):
        raise InvalidType("parts must be a list of sensitivities", parts)
    return parts


def _bounds(lower: Number, upper: Number) -> tuple[Fraction, Fraction]:
    low, high = rational(lower, "lower"), rational(upper, "upper")
    if low > high:
        raise InvalidValue("lower must not exceed upper", (lower, upper))
    return low, high
