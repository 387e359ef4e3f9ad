"""The split of a price: larger shares for what matters more, so that the errors together are least.

Noise for a share s of ε has variance proportional to 1/s², and for a share of ρ to 1/s. The sum of importance times
variance is least when shares are proportional to the cube root of importance, or to its square root for ρ (Lagrange).

>>> [str(share) for share in split_price(Pure(1), [Fraction(1), Fraction(8)])]
['1/3', '2/3']
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.privacy.loss import Pure, ZeroConcentrated

__all__ = ["Price", "amount_of", "combined", "of_amount", "split_price"]

Price = Pure | ZeroConcentrated
_FINENESS = 1000


def split_price(price: Price, importances: Sequence[Fraction]) -> list[Fraction]:
    """The share of each, in ε or ρ; together they are the price."""
    root = 3 if isinstance(price, Pure) else 2
    # Rounded, so that the same question has the same plan on every machine.
    roots = [max(round(_FINENESS * float(importance) ** (1 / root)), 1) for importance in importances]
    return [amount_of(price) * each / sum(roots) for each in roots]


def amount_of(price: Price) -> Fraction:
    """ε or ρ."""
    return price.epsilon if isinstance(price, Pure) else price.rho


def of_amount(price: Price, amount: Fraction) -> Price:
    """So much, in the terms of ``price``."""
    return Pure(amount) if isinstance(price, Pure) else ZeroConcentrated(amount)


def combined(price: Price, importances: Sequence[Fraction]) -> Fraction:
    """The importance of several parts that divide a share between them in the best way."""
    root = 3 if isinstance(price, Pure) else 2
    return Fraction(round(sum(float(each) ** (1 / root) for each in importances) ** root * _FINENESS), _FINENESS)
