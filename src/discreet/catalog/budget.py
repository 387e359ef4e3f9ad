"""Budgets: what may be spent, in the terms people use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real

from discreet.catalog.names import suggestion
from discreet.catalog.problems import Complaints
from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import Number, positive, probability
from discreet.privacy.loss import Approximate, Pure

__all__ = ["Budget", "BudgetStated", "add_up"]


_FIELDS = ("epsilon", "delta", "delta_for_keys")
_FORM = 'write 3, {"epsilon": 3, "delta": "1e-6"} or Budget(3)'


@dataclass(frozen=True)
class Budget:
    """An allowance in the terms people use: ε, and perhaps δ.

    >>> Budget(epsilon=3, delta="1e-6").loss
    Approximate(ε=3, δ=1e-06)
    """

    epsilon: Fraction
    """The ε of everything together."""
    delta: Fraction = Fraction(0)
    """The δ of everything together; zero for a pure budget."""
    delta_for_keys: Fraction = Fraction(0)
    """The part of δ kept for releases that carry a δ of their own, such as groups that nobody listed. The rest pays for
    composition; where nothing is left for it, ε adds up question by question, as in a pure budget."""

    def __init__(self, epsilon: Number, delta: Number = 0, delta_for_keys: Number = 0) -> None:
        found = Complaints()
        total = found.checked(("epsilon",), positive, epsilon, "epsilon")
        slack = found.checked(("delta",), _below_one, delta, "delta")
        keys = None
        if slack is not None:
            keys = found.checked(("delta_for_keys",), _part_for_keys, delta_for_keys, slack)
        found.refuse_any()
        object.__setattr__(self, "epsilon", total)
        object.__setattr__(self, "delta", slack)
        object.__setattr__(self, "delta_for_keys", keys)

    @classmethod
    def of(cls, stated: BudgetStated, name: str = "a budget") -> Budget:
        """The budget that somebody wrote down: ε alone, its fields, or a `Budget`.

        >>> Budget.of(3) == Budget.of({"epsilon": 3}) == Budget(3)
        True
        """
        if isinstance(stated, Budget):
            return stated
        if isinstance(stated, Mapping):
            return cls._of_fields(stated, name)
        if isinstance(stated, (str, Decimal, Real)) and not isinstance(stated, bool):
            return cls(stated)
        raise InvalidType(f"{name} must be ε, or ε and δ", stated, _FORM)

    @classmethod
    def _of_fields(cls, stated: Mapping[str, Number], name: str) -> Budget:
        for field in stated:
            if field not in _FIELDS:
                raise InvalidValue(f"{name} has no such field", field, suggestion(str(field), list(_FIELDS)))
        if "epsilon" not in stated:
            raise InvalidValue(f"{name} must have an epsilon", dict(stated), _FORM)
        return cls(**stated)

    @property
    def adds_up(self) -> bool:
        """Whether the ε of questions adds up; else they are counted in ρ, which many small questions need less of."""
        return self.delta == self.delta_for_keys

    @property
    def loss(self) -> Pure | Approximate:
        """The same as a loss."""
        return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)


def add_up(budgets: Iterable[Budget]) -> tuple[Fraction, Fraction]:
    """The ε and the δ of several budgets together (basic composition)."""
    found = list(budgets)
    return sum((one.epsilon for one in found), Fraction(0)), sum((one.delta for one in found), Fraction(0))


def _below_one(value: Number, name: str) -> Fraction:
    number = probability(value, name)
    if number == 1:
        raise InvalidValue(f"{name} must be below 1", value, "usual values are far below one in the number of people")
    return number


def _part_for_keys(stated: Number, delta: Fraction) -> Fraction:
    part = probability(stated, "delta_for_keys")
    if part > delta:
        raise InvalidValue("delta_for_keys must be a part of delta", stated, "half of delta is usual")
    return part


BudgetStated = Budget | Number | Mapping[str, Number]
"""What can be written for a budget: ``3``, ``{"epsilon": 3, "delta": "1e-6"}`` or a `Budget`."""
