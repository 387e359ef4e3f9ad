"""Prices in ρ: what concentrated filters and odometers add up."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import NoProvedPath
from discreet.privacy.loss import GaussianDP, Loss, Pure, ZeroConcentrated

__all__ = ["rho_of"]


def rho_of(price: Loss) -> Fraction:
    """The ρ of a concentrated, Gaussian or pure price: ρ itself, μ²/2 or ε²/2 (Bun and Steinke 2016)."""
    if isinstance(price, ZeroConcentrated):
        return price.rho
    if isinstance(price, GaussianDP):
        return price.mu_squared / 2
    if isinstance(price, Pure):
        return price.epsilon**2 / 2
    raise NoProvedPath("a price in ρ must be concentrated, Gaussian or pure", repr(price))
