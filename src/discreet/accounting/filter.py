"""Filters: budgets that hold even when each price is chosen after seeing all answers so far.

A filter refuses the first question that would pass the budget, and the transcript of everything it let through then
satisfies the budget, whoever chose the prices and however. For pure budgets the sum of ε is such a filter (Rogers et
al. 2016); for (ε, δ) budgets the sum of ρ is, when the budget is first turned into ρ (Whitehouse, Ramdas, Rogers, Wu
2023, theorem 1). `EitherFilter` holds both sums and lets a question through while either fits, which is proved in
`docs/explanation/composition.md`. Numeric composition is no filter: its proofs need the batch to be fixed in advance.

>>> budget = PureFilter(Pure(1))
>>> for _ in range(10): budget.charge(Pure(0.1))
>>> budget.left
Pure(ε=0)
>>> budget.charge(Pure(1e-6))
Traceback (most recent call last):
    ...
discreet.errors.BudgetExceeded: the price must fit what is left, Pure(ε=0), got Pure(ε=1e-06); nothing was spent

A single question with Laplace noise can have the whole ε of an (ε, δ) budget; the sum of ρ alone would refuse it:

>>> EitherFilter(Approximate(1, "1e-6")).affords(Pure(1)), ConcentratedFilter(Approximate(1, "1e-6")).affords(Pure(1))
(True, False)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from threading import Lock

from discreet.accounting.calibration import largest
from discreet.errors import BudgetExceeded, InvalidType, InvalidValue, NoProvedPath
from discreet.exact.rational import Number, probability
from discreet.privacy.conversion import best_order, renyi_delta
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours

__all__ = ["ConcentratedFilter", "DeltaFilter", "EitherFilter", "Filter", "PureFilter", "rho_of", "same_relation"]


def same_relation(held: Neighbours | None, price: object) -> Neighbours | None:
    """The relation of everything so far and of ``price``; a price under another one is refused."""
    said = price.neighbours if isinstance(price, Loss) else None
    if held is not None and said is not None and said is not held:
        rule = f"the prices so far are about {held}, and prices under two relations do not add up"
        raise NoProvedPath(rule, repr(price), "state a price for add-remove-one with .under('replace-one')")
    return said if held is None else held


def rho_of(price: Loss) -> Fraction:
    """The ρ of a concentrated, Gaussian or pure price: ρ itself, μ²/2 or ε²/2 (Bun and Steinke 2016)."""
    if isinstance(price, ZeroConcentrated):
        return price.rho
    if isinstance(price, GaussianDP):
        return price.mu_squared / 2
    if isinstance(price, Pure):
        return price.epsilon**2 / 2
    raise NoProvedPath("a price in ρ must be concentrated, Gaussian or pure", repr(price))


class Filter(ABC):
    """An allowance that adaptively chosen prices cannot pass, also when several threads ask at once."""

    def __init__(self, neighbours: Neighbours | None = None) -> None:
        self._lock = Lock()
        self.neighbours = neighbours
        """The relation of the budget, or of the first price that says one."""

    @property
    @abstractmethod
    def spent(self) -> Loss:
        """What the questions so far cost together."""

    @property
    @abstractmethod
    def left(self) -> Loss:
        """What may still be spent."""

    @abstractmethod
    def affords(self, price: Loss) -> bool:
        """Whether ``price`` still fits."""

    @abstractmethod
    def _take(self, price: Loss) -> None:
        """Record a price that fits."""

    def charge(self, price: Loss) -> None:
        """Spend ``price``, or refuse and spend nothing."""
        with self._lock:  # two askers must not both be promised the same remainder
            relation = same_relation(self.neighbours, price)
            if not self.affords(price):
                raise BudgetExceeded(f"the price must fit what is left, {self.left!r}", price, "nothing was spent")
            self._take(price)
            self.neighbours = relation


class PureFilter(Filter):
    """A pure budget: the sum of ε never passes it."""

    def __init__(self, budget: Pure) -> None:
        if not isinstance(budget, Pure):
            raise InvalidType("budget must be a pure loss", budget, "use ConcentratedFilter for (ε, δ)")
        super().__init__(budget.neighbours)
        self.budget = budget
        self._spent = Fraction(0)

    @property
    def spent(self) -> Pure:
        """The sum of ε so far."""
        return Pure(self._spent)

    @property
    def left(self) -> Pure:
        """The ε that may still be spent."""
        return Pure(self.budget.epsilon - self._spent)

    def affords(self, price: Loss) -> bool:
        """Whether the price is pure and fits."""
        return self._spent + _pure(price) <= self.budget.epsilon

    def _take(self, price: Loss) -> None:
        self._spent += _pure(price)


class DeltaFilter(Filter):
    """An (ε, δ) budget, turned into the largest ρ that implies it.

    The budget's δ is divided once, in the open: ``delta_for_events`` is kept for releases that carry a δ of their own
    (keys shown past a threshold), the rest pays for turning ρ into (ε, δ).
    """

    def __init__(self, budget: Approximate, delta_for_events: Number = 0) -> None:
        if not isinstance(budget, Approximate):
            raise InvalidType("budget must be an (ε, δ) loss", budget, "use PureFilter for a pure one")
        if budget.delta == 0:
            raise InvalidValue("budget must have a delta above 0", budget, "use PureFilter for delta 0")
        super().__init__(budget.neighbours)
        self.budget = budget
        self.delta_for_events = probability(delta_for_events, "delta_for_events")
        self._conversion = budget.delta - self.delta_for_events
        if self._conversion <= 0:
            raise InvalidValue("delta_for_events must be below the budget's delta", delta_for_events)
        self.rho = largest(
            lambda rho: ZeroConcentrated(rho).epsilon_at(self._conversion) <= budget.epsilon, most=budget.epsilon
        )
        """The sum of ρ that may be spent."""
        self._spent_rho = Fraction(0)
        self._spent_delta = Fraction(0)

    @property
    def delta_left(self) -> Fraction:
        """The δ that may still be spent on events."""
        return self.delta_for_events - self._spent_delta


class ConcentratedFilter(DeltaFilter):
    """An (ε, δ) budget, held by the sum of ρ."""

    @property
    def spent(self) -> ZeroConcentrated:
        """The sum of ρ so far."""
        return ZeroConcentrated(self._spent_rho)

    @property
    def left(self) -> ZeroConcentrated:
        """The ρ that may still be spent."""
        return ZeroConcentrated(self.rho - self._spent_rho)

    def affords(self, price: Loss) -> bool:
        """Whether the price fits, in ρ and in δ."""
        rho, delta = _concentrated(price)
        return self._spent_rho + rho <= self.rho and self._spent_delta + delta <= self.delta_for_events

    def _take(self, price: Loss) -> None:
        rho, delta = _concentrated(price)
        self._spent_rho += rho
        self._spent_delta += delta


class EitherFilter(DeltaFilter):
    """An (ε, δ) budget that holds while either of two sums fits: that of ε, or that of Rényi divergences of one order.

    A pure price e is a divergence of at most min(αe²/2, e) at order α. A price that is not pure, such as that of
    Gaussian noise, ends the sum of ε for good.
    """

    def __init__(self, budget: Approximate, delta_for_events: Number = 0, order: Fraction | None = None) -> None:
        """By default the ``order`` is the one that leaves the most for Gaussian noise."""
        super().__init__(budget, delta_for_events)
        self.order = best_order(self.rho, self._conversion) if order is None else order
        """The order α at which divergences are turned into (ε, δ)."""
        self.rho = largest(
            lambda rho: renyi_delta(self.order, self.order * rho, budget.epsilon) <= self._conversion,
            most=budget.epsilon,
        )
        self._spent_epsilon: Fraction | None = Fraction(0)

    @property
    def spent(self) -> Pure | Renyi:
        """The sum of ε while all prices were pure, else that of the divergences of the order."""
        return self._as_loss(self._spent_epsilon, self._spent_rho)

    @property
    def left(self) -> Pure | Renyi:
        """What may still be spent: of the sum of ε while something is left of it, else of the other."""
        epsilon = Fraction(0) if self._spent_epsilon is None else self.budget.epsilon - self._spent_epsilon
        return self._as_loss(epsilon if epsilon > 0 else None, max(self.rho - self._spent_rho, Fraction(0)))

    def affords(self, price: Loss) -> bool:
        """Whether one of the two sums still fits with the price, and its δ."""
        epsilon, rho, delta = self._sums_with(price)
        fits = (epsilon is not None and epsilon <= self.budget.epsilon) or rho <= self.rho
        return fits and delta <= self.delta_for_events

    def _take(self, price: Loss) -> None:
        self._spent_epsilon, self._spent_rho, self._spent_delta = self._sums_with(price)

    def _sums_with(self, price: Loss) -> tuple[Fraction | None, Fraction, Fraction]:
        rho, delta = _concentrated(price)
        epsilon = None
        if isinstance(price, (Pure, Approximate)):
            rho = min(rho, price.epsilon / self.order)
            epsilon = None if self._spent_epsilon is None else self._spent_epsilon + price.epsilon
        return epsilon, self._spent_rho + rho, self._spent_delta + delta

    def _as_loss(self, epsilon: Fraction | None, rho: Fraction) -> Pure | Renyi:
        return Renyi({self.order: self.order * rho}) if epsilon is None else Pure(epsilon)


def _pure(price: Loss) -> Fraction:
    if isinstance(price, Pure) or (isinstance(price, Approximate) and price.delta == 0):
        return price.epsilon
    raise NoProvedPath("a pure budget takes pure prices", repr(price))


def _concentrated(price: Loss) -> tuple[Fraction, Fraction]:
    """ρ and δ: (ε, δ) privacy is ε²/2-zCDP but for an event of probability δ (Kairouz et al.; Bun and Steinke)."""
    if isinstance(price, Approximate):
        return price.epsilon**2 / 2, price.delta
    return rho_of(price), Fraction(0)
