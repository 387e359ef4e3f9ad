"""Prices that filters and odometers add up: in ρ, and under one relation."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import NoProvedPath
from discreet.privacy.loss import GaussianDP, Loss, Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours

__all__ = ["rho_of", "same_relation"]


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
