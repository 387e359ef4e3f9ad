"""An event: a set of outcomes, in words that a person can check."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Event"]


@dataclass(frozen=True)
class Event:
    """Some of the outcomes, chosen before the draws that prove anything were looked at."""

    family: str
    """The family that found it."""
    words: str
    """What happens, such as "the answer ≥ 3"."""
    holds: npt.NDArray[np.bool_]
    """For each outcome, whether it belongs to the event."""
    favours_second: bool
    """Whether it was chosen because it is likelier for the second input."""
