"""Losses: how much one unit's presence or data can show in what was released.

Five kinds, from the strictest: `Pure` ε, `Approximate` (ε, δ), `ZeroConcentrated` ρ, `Renyi` (a curve of orders),
`GaussianDP` μ. A loss adds to another (``+``: both were released, the second perhaps chosen after seeing the
first), repeats (``3 * loss``), extends to groups, converts along proved paths, and rounds only upwards.

``a <= b`` says that whoever keeps the promise a also keeps the promise b, term by term in the kind of b. Where no
theorem states a in that kind, as for a zero-concentrated loss against a pure one, comparing raises `NoProvedPath`, so
that no price passes a budget by accident. ``a | b`` covers both: the loss when one of the two is released.

A loss says under which relation between datasets it was proved, where that is known, and keeps it: losses under two
relations do not add. `Loss.under` states a loss that was proved for one unit that joins or leaves as one for a unit
that is replaced. A loss without a relation takes that of the losses it is added to.

>>> Pure(0.1) + Pure(0.2)
Pure(ε=0.3)
>>> ZeroConcentrated(0.5).approximate(delta=1e-6)
Approximate(ε=5.2216, δ=1e-06)
>>> Pure(0.1, "add-remove-one").under("replace-one") + Pure(0.3, "replace-one")
Pure(ε=0.5, replace-one)
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, Self

from discreet.errors import InvalidType, InvalidValue, NoProvedPath
from discreet.exact.ball import Ball, ball, exp_up, round_up, sqrt_up, upper, working_precision
from discreet.exact.rational import Number, integer, probability, rational
from discreet.privacy import conversion
from discreet.privacy.format import shown
from discreet.privacy.neighbours import Neighbours

__all__ = [
    "RECORDED_NEIGHBOURS",
    "Approximate",
    "GaussianDP",
    "Loss",
    "Pure",
    "Renyi",
    "ZeroConcentrated",
    "shown",
    "write_loss",
]


_LARGEST = Fraction(2**100)


class Loss(ABC):
    """What one release, or many together, cost one unit in privacy."""

    name: ClassVar[str]
    neighbours: Neighbours | None
    """The relation it was proved under; None where that was not said."""

    @abstractmethod
    def _plus(self, other: Self) -> Self:
        """The loss of both, the second adaptively chosen."""

    @abstractmethod
    def _repeated(self, times: int) -> Self:
        """The loss of ``times`` releases of this loss."""

    @abstractmethod
    def _within(self, other: Self) -> bool:
        """Whether this loss is no larger than ``other``."""

    @abstractmethod
    def _or(self, other: Self) -> Self:
        """The least loss of this kind that is no smaller than either."""

    @abstractmethod
    def _grouped(self, size: int) -> Self:
        """The loss for ``size`` ≥ 1 units together."""

    def group(self, size: int) -> Self:
        """The loss for ``size`` units together, such as a family: go from x to x' by changing one unit at a time.

        For k units: kε of a pure loss, k²ρ, kμ, and (kε, δ (e^(kε) - 1)/(e^ε - 1)) of (ε, δ).
        """
        return self._grouped(integer(size, "size", least=1))._said(self.neighbours)

    @abstractmethod
    def delta_at(self, epsilon: Number) -> Fraction:
        """The least δ that this loss proves at ``epsilon``, rounded up."""

    @abstractmethod
    def epsilon_at(self, delta: Number) -> Fraction:
        """The least ε that this loss proves at ``delta``, rounded up."""

    def approximate(self, delta: Number) -> Approximate:
        """The same promise stated as (ε, δ)."""
        return Approximate(self.epsilon_at(delta), rational(delta, "delta"), self.neighbours)

    def under(self, neighbours: Neighbours | str) -> Self:
        """The loss under this relation: replacing is removing and adding, so it costs what a group of two does.

        A loss without a relation is taken at the caller's word. From replace-one there is no way to add-remove-one.
        """
        relation = Neighbours.of(neighbours)
        if self.neighbours in (None, relation):
            return self._said(relation)
        if relation is Neighbours.REPLACE_ONE:
            return self.group(2)._said(relation)
        rule = "a loss proved for replace-one says nothing about datasets of different sizes"
        raise NoProvedPath(rule, f"<{self!r}>", "prove it under add-remove-one")

    def _said(self, relation: Neighbours | None) -> Self:
        """The same numbers under this relation."""
        if self.neighbours is relation:
            return self
        said = copy.copy(self)
        object.__setattr__(said, "neighbours", relation)
        return said

    def _shown(self, terms: str) -> str:
        return f"{type(self).__name__}({terms}{'' if self.neighbours is None else f', {self.neighbours}'})"

    def _into(self, other: Loss) -> Loss | None:
        """The same promise in the kind of ``other``, or None where no theorem does that without more information."""
        return self if type(self) is type(other) else None

    def _proves(self, other: Loss) -> bool | None:
        """Whether this promise implies ``other``; None where no theorem compares the two kinds."""
        moved = self._into(other)
        if moved is not None:
            return moved._within(other)
        if isinstance(other, Approximate):
            # Two readings of one curve; each is a proof, and rounding may let one of them miss by a hair.
            if self.delta_at(other.epsilon) <= other.delta:
                return True
            return other.delta > 0 and self.epsilon_at(other.delta) <= other.epsilon
        return None

    def __add__(self, other: object) -> Loss:
        if not isinstance(other, Loss):
            return NotImplemented
        relation = _one_relation(self, other)
        first, second = _common(self, other)
        return first._plus(second)._said(relation)

    def __radd__(self, other: object) -> Loss:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __or__(self, other: object) -> Loss:
        if not isinstance(other, Loss):
            return NotImplemented
        relation = _one_relation(self, other)
        first, second = _common(self, other)
        return first._or(second)._said(relation)

    def __mul__(self, times: object) -> Self:
        return self._repeated(integer(times, "times", least=0))._said(self.neighbours)

    __rmul__ = __mul__

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Loss):
            return NotImplemented
        relation = other.neighbours
        stated = self if self.neighbours is None or relation is None else self.under(relation)
        proved = stated._proves(other)
        if proved is None:
            raise _no_path(self, other)
        return proved

    def _is_within(self, other: Loss) -> bool:
        try:
            return self <= other
        except NoProvedPath:
            return False

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Loss):
            return NotImplemented
        return self <= other and not other._is_within(self)

    def __ge__(self, other: object) -> bool:
        return other.__le__(self) if isinstance(other, Loss) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return other.__lt__(self) if isinstance(other, Loss) else NotImplemented


@dataclass(frozen=True, repr=False, order=False)
class Pure(Loss):
    """ε-differential privacy: P(A(x) ∈ E) ≤ e^ε P(A(x') ∈ E) for all neighbours x, x' and all events E."""

    epsilon: Fraction
    neighbours: Neighbours | None = None
    name: ClassVar[str] = "pure"

    def __init__(self, epsilon: Number, neighbours: Neighbours | str | None = None) -> None:
        object.__setattr__(self, "epsilon", _size(epsilon, "epsilon"))
        object.__setattr__(self, "neighbours", _relation(neighbours))

    def __repr__(self) -> str:
        return self._shown(f"ε={shown(self.epsilon)}")

    def __str__(self) -> str:
        factor = shown(exp_up(self.epsilon)) if self.epsilon < 50 else "e^" + shown(self.epsilon)
        return f"ε = {shown(self.epsilon)}: one unit makes no outcome more than {factor} times likelier or less likely"

    def _plus(self, other: Pure) -> Pure:
        return Pure(self.epsilon + other.epsilon)

    def _repeated(self, times: int) -> Pure:
        return Pure(times * self.epsilon)

    def _within(self, other: Pure) -> bool:
        return self.epsilon <= other.epsilon

    def _or(self, other: Pure) -> Pure:
        return max(self, other, key=lambda loss: loss.epsilon)

    def _grouped(self, size: int) -> Pure:
        """The loss of a group of k is kε: go from x to x' by changing one unit at a time."""
        return Pure(size * self.epsilon)

    def delta_at(self, epsilon: Number) -> Fraction:
        """The least δ at ``epsilon``; zero from ε on."""
        return conversion.pure_delta(self.epsilon, Fraction(0), _size(epsilon, "epsilon"))

    def epsilon_at(self, delta: Number) -> Fraction:
        """The least ε at ``delta``."""
        return conversion.pure_epsilon(self.epsilon, Fraction(0), _delta(delta))

    def _into(self, other: Loss) -> Loss | None:
        if isinstance(other, Approximate):
            return Approximate(self.epsilon, 0)
        if isinstance(other, ZeroConcentrated):  # Bun and Steinke 2016, proposition 3.3
            return ZeroConcentrated(self.epsilon**2 / 2)
        if isinstance(other, Renyi):
            return Renyi({a: min(self.epsilon, a * self.epsilon**2 / 2) for a, _ in other.curve})
        if isinstance(other, GaussianDP):
            return self._as_gaussian()
        return super()._into(other)

    def _as_gaussian(self) -> GaussianDP:
        # Both trade-off curves pass through (c, c) with c = 1/(1+e^ε); the Gaussian one is convex, hence below the
        # chords that form the other. Solving Φ(-μ/2) = c gives μ = 2√2 · erfc⁻¹(2c).
        with working_precision():
            return GaussianDP(round_up(upper(2 * Ball(2).sqrt() * (2 / (1 + ball(self.epsilon).exp())).erfcinv())))


@dataclass(frozen=True, repr=False, order=False)
class Approximate(Loss):
    """(ε, δ)-differential privacy: P(A(x) ∈ E) ≤ e^ε P(A(x') ∈ E) + δ for all neighbours and all events."""

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours | None = None
    name: ClassVar[str] = "approximate"

    def __init__(self, epsilon: Number, delta: Number, neighbours: Neighbours | str | None = None) -> None:
        object.__setattr__(self, "epsilon", _size(epsilon, "epsilon"))
        object.__setattr__(self, "delta", _delta(delta))
        object.__setattr__(self, "neighbours", _relation(neighbours))

    def __repr__(self) -> str:
        return self._shown(f"ε={shown(self.epsilon)}, δ={shown(self.delta)}")

    def __str__(self) -> str:
        if self.delta == 0:
            return str(Pure(self.epsilon))
        return f"ε = {shown(self.epsilon)} but for a probability of δ = {shown(self.delta)}"

    def _plus(self, other: Approximate) -> Approximate:
        return Approximate(self.epsilon + other.epsilon, _capped(self.delta + other.delta))

    def _repeated(self, times: int) -> Approximate:
        return Approximate(times * self.epsilon, _capped(times * self.delta))

    def _within(self, other: Approximate) -> bool:
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def _or(self, other: Approximate) -> Approximate:
        return Approximate(max(self.epsilon, other.epsilon), max(self.delta, other.delta))

    def _grouped(self, size: int) -> Approximate:
        """The loss of a group of k is (kε, δ (e^(kε) - 1)/(e^ε - 1)): each step's δ grows with the steps after it."""
        if size == 1 or self.delta == 0 or self.epsilon == 0:
            return Approximate(size * self.epsilon, _capped(size * self.delta))
        with working_precision():
            growth = ball(size * self.epsilon).expm1().log() - ball(self.epsilon).expm1().log()
            delta = conversion.probability_up(
                growth + ball(self.delta).log(), self.delta.denominator.bit_length() + 400
            )
        return Approximate(size * self.epsilon, _capped(delta))

    def delta_at(self, epsilon: Number) -> Fraction:
        """The least δ at ``epsilon``; this loss's own δ from its ε on."""
        return conversion.pure_delta(self.epsilon, self.delta, _size(epsilon, "epsilon"))

    def epsilon_at(self, delta: Number) -> Fraction:
        """The least ε at ``delta``, which must not be below this loss's own."""
        return conversion.pure_epsilon(self.epsilon, self.delta, _delta(delta))

    def _into(self, other: Loss) -> Loss | None:
        if self.delta == 0:
            pure = Pure(self.epsilon)
            return self if isinstance(other, Approximate) else pure._into(other)
        return super()._into(other)


@dataclass(frozen=True, repr=False, order=False)
class ZeroConcentrated(Loss):
    """ρ-zCDP: the Rényi divergence of every order α > 1 between neighbours is at most αρ (Bun and Steinke 2016)."""

    rho: Fraction
    neighbours: Neighbours | None = None
    name: ClassVar[str] = "zero-concentrated"

    def __init__(self, rho: Number, neighbours: Neighbours | str | None = None) -> None:
        object.__setattr__(self, "rho", _size(rho, "rho"))
        object.__setattr__(self, "neighbours", _relation(neighbours))

    def __repr__(self) -> str:
        return self._shown(f"ρ={shown(self.rho)}")

    def __str__(self) -> str:
        return f"ρ = {shown(self.rho)}: as private as Gaussian noise √(1/2ρ) times the sensitivity"

    def _plus(self, other: ZeroConcentrated) -> ZeroConcentrated:
        return ZeroConcentrated(self.rho + other.rho)

    def _repeated(self, times: int) -> ZeroConcentrated:
        return ZeroConcentrated(times * self.rho)

    def _within(self, other: ZeroConcentrated) -> bool:
        return self.rho <= other.rho

    def _or(self, other: ZeroConcentrated) -> ZeroConcentrated:
        return max(self, other, key=lambda loss: loss.rho)

    def _grouped(self, size: int) -> ZeroConcentrated:
        """The loss of a group of k is k²ρ (Bun and Steinke 2016, proposition 1.9)."""
        return ZeroConcentrated(size**2 * self.rho)

    def delta_at(self, epsilon: Number) -> Fraction:
        """The δ at ``epsilon``, optimised over all orders."""
        wanted = _size(epsilon, "epsilon")
        return conversion.concentrated_delta(self.rho, wanted) if self.rho else Fraction(0)

    def epsilon_at(self, delta: Number) -> Fraction:
        """The ε at ``delta`` > 0, optimised over all orders."""
        wanted = _positive_delta(delta)
        return conversion.concentrated_epsilon(self.rho, wanted) if self.rho else Fraction(0)

    def _into(self, other: Loss) -> Loss | None:
        if isinstance(other, Renyi):
            return Renyi({a: a * self.rho for a, _ in other.curve})
        return super()._into(other)


@dataclass(frozen=True, repr=False, order=False)
class Renyi(Loss):
    """Rényi privacy: for each listed order α > 1, the divergence between neighbours is at most ε(α) (Mironov 2017)."""

    curve: tuple[tuple[Fraction, Fraction], ...]
    neighbours: Neighbours | None = None
    name: ClassVar[str] = "Rényi"

    def __init__(
        self,
        curve: Mapping[Fraction, Fraction] | Mapping[int, Number] | Mapping[Fraction, Number],
        neighbours: Neighbours | str | None = None,
    ) -> None:
        if not isinstance(curve, Mapping):
            raise InvalidType("a Rényi curve must map orders to losses", curve, "{2: 0.1, 8: 0.4}, for example")
        points = {_order(a): _size(e, "epsilon") for a, e in curve.items()}
        if not points:
            raise InvalidValue("a Rényi curve must have at least one order", "<none>")
        object.__setattr__(self, "curve", tuple(sorted(points.items())))
        object.__setattr__(self, "neighbours", _relation(neighbours))

    def __repr__(self) -> str:
        first, *rest = self.curve
        more = f", … {len(rest)} more" if rest else ""
        return self._shown(f"{shown(first[0])}: {shown(first[1])}{more}")

    def __str__(self) -> str:
        points = ", ".join(f"{shown(e)} at order {shown(a)}" for a, e in self.curve[:3])
        return f"Rényi divergence at most {points}" + (", …" if len(self.curve) > 3 else "")

    def _shared(self, other: Renyi) -> list[tuple[Fraction, Fraction, Fraction]]:
        mine, theirs = dict(self.curve), dict(other.curve)
        orders = sorted(mine.keys() & theirs.keys())
        if not orders:
            raise NoProvedPath("two Rényi curves must share an order", f"<{self!r} and {other!r}>")
        return [(a, mine[a], theirs[a]) for a in orders]

    def _plus(self, other: Renyi) -> Renyi:
        return Renyi({a: mine + theirs for a, mine, theirs in self._shared(other)})

    def _repeated(self, times: int) -> Renyi:
        return Renyi({a: times * e for a, e in self.curve})

    def _within(self, other: Renyi) -> bool:
        # A Rényi divergence grows with its order, so any higher order of mine bounds a lower order of theirs.
        return all(any(a >= order and e <= limit for a, e in self.curve) for order, limit in other.curve)

    def _or(self, other: Renyi) -> Renyi:
        return Renyi({a: max(mine, theirs) for a, mine, theirs in self._shared(other)})

    def _grouped(self, size: int) -> Renyi:
        """Groups of up to 2^c: order α/2^c with 3^c ε(α), for α ≥ 2^(c+1) (Mironov 2017, proposition 2)."""
        doublings = (size - 1).bit_length()
        reached = {a / 2**doublings: 3**doublings * e for a, e in self.curve if a >= 2 ** (doublings + 1)}
        if doublings and not reached:
            rule = f"groups of {size} need an order of at least {2 ** (doublings + 1)}"
            raise NoProvedPath(rule, f"orders up to {shown(self.curve[-1][0])}")
        return Renyi(reached) if doublings else self

    def delta_at(self, epsilon: Number) -> Fraction:
        """The δ at ``epsilon``, from the best listed order."""
        wanted = _size(epsilon, "epsilon")
        return min(conversion.renyi_delta(a, e, wanted) for a, e in self.curve)

    def epsilon_at(self, delta: Number) -> Fraction:
        """The ε at ``delta`` > 0, from the best listed order."""
        wanted = _positive_delta(delta)
        return min(conversion.renyi_epsilon(a, e, wanted) for a, e in self.curve)


@dataclass(frozen=True, repr=False, order=False)
class GaussianDP(Loss):
    """μ-GDP: telling neighbours apart is as hard as telling N(0, 1) from N(μ, 1) (Dong, Roth, Su 2022)."""

    mu_squared: Fraction
    """μ², which adds up exactly where μ itself would need a square root."""
    neighbours: Neighbours | None = None
    name: ClassVar[str] = "Gaussian"

    def __init__(self, mu: Number, neighbours: Neighbours | str | None = None) -> None:
        object.__setattr__(self, "mu_squared", _size(mu, "mu") ** 2)
        object.__setattr__(self, "neighbours", _relation(neighbours))

    @classmethod
    def of_squared(cls, mu_squared: Number, neighbours: Neighbours | str | None = None) -> GaussianDP:
        """The loss with this μ², such as Δ²/σ² for Gaussian noise."""
        loss = cls(0, neighbours)
        object.__setattr__(loss, "mu_squared", _size(mu_squared, "mu squared", _LARGEST**2))
        return loss

    @property
    def mu(self) -> Fraction:
        """μ itself: exact where it is rational, else rounded up."""
        root = Fraction(math.isqrt(self.mu_squared.numerator), math.isqrt(self.mu_squared.denominator))
        return root if root**2 == self.mu_squared else round_up(sqrt_up(self.mu_squared))

    def __repr__(self) -> str:
        return self._shown(f"μ={shown(self.mu)}")

    def __str__(self) -> str:
        return f"μ = {shown(self.mu)}: as hard as telling two bell curves apart whose centres are μ deviations away"

    def _plus(self, other: GaussianDP) -> GaussianDP:
        return GaussianDP.of_squared(self.mu_squared + other.mu_squared)

    def _repeated(self, times: int) -> GaussianDP:
        return GaussianDP.of_squared(times * self.mu_squared)

    def _within(self, other: GaussianDP) -> bool:
        return self.mu_squared <= other.mu_squared

    def _or(self, other: GaussianDP) -> GaussianDP:
        return max(self, other, key=lambda loss: loss.mu_squared)

    def _grouped(self, size: int) -> GaussianDP:
        """The loss of a group of k is kμ (Dong, Roth, Su 2022, theorem 2.14)."""
        return GaussianDP.of_squared(size**2 * self.mu_squared)

    def delta_at(self, epsilon: Number) -> Fraction:
        """The δ at ``epsilon``; this is the exact curve."""
        return conversion.gaussian_delta(self.mu_squared, _size(epsilon, "epsilon"))

    def epsilon_at(self, delta: Number) -> Fraction:
        """The ε at ``delta`` > 0; this is the exact curve."""
        return conversion.gaussian_epsilon(self.mu_squared, _positive_delta(delta))

    def _into(self, other: Loss) -> Loss | None:
        concentrated = ZeroConcentrated(self.mu_squared / 2) if isinstance(other, (ZeroConcentrated, Renyi)) else None
        return super()._into(other) if concentrated is None else concentrated._into(other)


def _common(first: Loss, second: Loss) -> tuple[Loss, Loss]:
    """The two losses in one kind, the stricter one stated in the kind of the other."""
    moved = None if isinstance(second, Pure) else first._into(second)  # nothing is stricter than a pure loss
    if moved is not None:
        return moved, second
    moved = second._into(first)
    if moved is not None:
        return first, moved
    raise _no_path(first, second)


def _one_relation(first: Loss, second: Loss) -> Neighbours | None:
    """The relation of both, or of the one that says it."""
    said = {loss.neighbours for loss in (first, second)} - {None}
    if len(said) > 1:
        rule = "losses that were proved under two relations do not add up"
        remedy = "state the one for add-remove-one with .under('replace-one') first"
        raise NoProvedPath(rule, f"<{first!r} and {second!r}>", remedy)
    return said.pop() if said else None


def _relation(value: Neighbours | str | None) -> Neighbours | None:
    return None if value is None else Neighbours.of(value)


def _no_path(first: Loss, second: Loss) -> NoProvedPath:
    rule = f"{first.name} and {second.name} losses have no theorem that adds or compares them as they are"
    return NoProvedPath(rule, f"<{first!r} and {second!r}>", "convert with .approximate(delta=…) first")


def _size(value: Number, name: str, largest: Fraction = _LARGEST) -> Fraction:
    number = rational(value, name)
    if number < 0:
        raise InvalidValue(f"{name} must not be negative", value)
    if number > largest:
        rule = f"{name} must be at most 2^{largest.numerator.bit_length() - 1}"
        raise InvalidValue(rule, value, "such a loss promises nothing")
    return number


def _delta(value: Number) -> Fraction:
    number = probability(value, "delta")
    if number == 1:
        raise InvalidValue("delta must be below 1", value, "usual values are far below one in the number of units")
    return number


def _positive_delta(value: Number) -> Fraction:
    number = _delta(value)
    if number == 0:
        raise InvalidValue("delta must be positive to state this loss as (ε, δ)", value, "1e-6, for example")
    return number


def _order(value: Number) -> Fraction:
    number = rational(value, "order")
    if number <= 1:
        raise InvalidValue("a Rényi order must be above 1", value)
    return number


def _capped(delta: Fraction) -> Fraction:
    """A sum of deltas; from 1 on it promises nothing, and is refused rather than printed."""
    if delta >= 1:
        raise InvalidValue("the deltas together must stay below 1", shown(delta), "nothing would be promised")
    return delta


RECORDED_NEIGHBOURS: dict[Enum, str] = {
    Neighbours.REPLACE_ONE: "replace-one",
    Neighbours.ADD_REMOVE_ONE: "add-remove-one",
}
"""What records call the relations; these words are never changed."""
_RECORDED_LOSSES: dict[type[Loss], tuple[str, str]] = {
    Pure: ("Pure(ε=", "epsilon"),
    ZeroConcentrated: ("ZeroConcentrated(ρ=", "rho"),
}


def write_loss(loss: Loss) -> str:
    """A price as ledgers, certificates and fingerprints hold it: by words that stay, whatever classes are called.

    >>> write_loss(Pure("0.25", "replace-one"))
    'Pure(ε=0.25, replace-one)'
    """
    begins, size = _RECORDED_LOSSES[type(loss)]
    relation = "" if loss.neighbours is None else f", {RECORDED_NEIGHBOURS[loss.neighbours]}"
    return f"{begins}{shown(getattr(loss, size))}{relation})"
