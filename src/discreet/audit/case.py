"""A mechanism together with what it claims and two neighbouring inputs that put the claim to the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.audit.mechanism import Mechanism
from discreet.privacy.loss import Loss

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """One line of a table of audits."""

    name: str
    """How people ask for it, such as ``laplace``."""
    mechanism: Mechanism
    """What is audited."""
    first: Any
    """One input."""
    second: Any
    """A neighbour of it."""
    claim: Loss
    """What the mechanism says it costs."""
    about: str = ""
    """One sentence: what it is, and what is wrong with it where something is."""
    draws: int = 1_000_000
    """How many answers are enough to see it."""
    keeps_its_claim: bool = True
    """Whether the claim is true; where it is not, an audit must say so."""
    outcomes: Sequence[Any] | None = None
    """The outcomes to compare exactly, for a measurement that does not list its own."""
