"""What an audit can conclude."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Verdict"]


class Verdict(StrEnum):
    """The conclusion of an audit, from the worst."""

    VIOLATION = "violation"
    """The claim is false: proved, or seen in so many draws that a sound one shows it hardly ever."""
    UNSTEADY = "unsteady"
    """The law changed between calls, so that the draws say nothing about any one of them."""
    TOO_FEW = "too few draws"
    """Not even the worst mechanism could be found out with so few draws."""
    CONSISTENT = "consistent"
    """Nothing speaks against the claim."""
