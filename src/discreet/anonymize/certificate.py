"""What a search proves about the recoding it found."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Certificate"]


@dataclass(frozen=True)
class Certificate:
    """How much of the lattice was looked at, and how much better another recoding could be at most."""

    nodes: int
    """How many recodings there are."""
    checked: int
    """How many of them were inspected."""
    loss: float
    """The loss of the best recoding that was found; infinite if none was."""
    lower_bound: float
    """No recoding within the limits loses less. It equals the loss, up to rounding, when optimality is proved."""
    is_optimal: bool
    """Whether it is proved that no recoding loses less."""

    @property
    def pruned(self) -> int:
        """How many recodings were ruled out by what others proved, or were not reached in time."""
        return self.nodes - self.checked

    @property
    def gap(self) -> float:
        """How much less another recoding might lose; 0 when optimality is proved."""
        return 0.0 if self.is_optimal else self.loss - self.lower_bound

    def __str__(self) -> str:
        looked = f"{self.checked:,} of {self.nodes:,} recodings were inspected"
        if self.is_optimal:
            return f"optimal: {looked}, the others are proved to be no better than {self.loss:.6f}"
        return f"not proved optimal: {looked}; the loss is {self.loss:.6f}, none is below {self.lower_bound:.6f}"
