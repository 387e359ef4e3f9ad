"""A loss in every definition it can be stated in: exactly where it can be written so, and rounded up to read.

Each statement is a theorem about the same release, so all of them hold at once. A definition that no theorem reaches
from the price is left out: zero-concentrated losses have no pure ε, for example.

>>> statements(Pure("0.5"), delta=0)["zero_concentrated"]
{'rho': {'exact': '1/8', 'rounded_up': '0.125'}}
>>> sorted(statements(ZeroConcentrated("0.125"), delta="1e-6"))
['approximate', 'renyi', 'zero_concentrated']
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeVar

from discreet.errors import NoProvedPath
from discreet.exact.rational import Number, rational
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated, shown

__all__ = ["number", "statements"]

_ORDERS = tuple(map(Fraction, (2, 4, 8, 16, 32, 64)))
L = TypeVar("L", bound=Loss)


def statements(price: Loss, delta: Number, own_delta: Number = 0) -> dict[str, Any]:
    """The price as pure ε, (ε, δ) at ``delta``, ρ, Rényi orders and μ, as far as theorems lead there.

    ``own_delta`` is the probability with which the release may break the promise altogether, as releases of unlisted
    keys may. It adds to every δ, and where it is not zero the definitions without a δ hold but for that probability.
    """
    slack, own = rational(delta, "delta"), rational(own_delta, "own_delta")
    found: dict[str, Any] = {}
    if isinstance(price, Pure) and own == 0:
        found["pure"] = {"epsilon": number(price.epsilon)}
    if slack > 0 or isinstance(price, (Pure, Approximate)):
        least = price.epsilon if isinstance(price, Pure) and slack == 0 else price.epsilon_at(slack)
        found["approximate"] = {"epsilon": number(least), "delta": number(slack + own)}
    but_for = {"but_for": number(own)} if own else {}
    concentrated = _stated(price, ZeroConcentrated(0))
    if concentrated is not None:
        found["zero_concentrated"] = {"rho": number(concentrated.rho)} | but_for
    renyi = _stated(price, Renyi(dict.fromkeys(_ORDERS, Fraction(0))))
    if renyi is not None:
        found["renyi"] = {"orders": {str(order): number(size) for order, size in renyi.curve}} | but_for
    gaussian = _stated(price, GaussianDP(0))
    if gaussian is not None:
        found["gaussian"] = {"mu": number(gaussian.mu)} | but_for
    return found


def number(value: Fraction) -> dict[str, str]:
    """A number for certificates: exact, and rounded up to read."""
    return {"exact": str(value), "rounded_up": shown(value)}


def _stated(price: Loss, nothing: L) -> L | None:
    """The price in the kind of ``nothing``, a loss of zero; None where no theorem leads there."""
    try:
        found = price | nothing
    except NoProvedPath:
        return None
    return found if isinstance(found, type(nothing)) else None
