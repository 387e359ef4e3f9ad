"""What a drill counts: losses of each kind, how many trials, and how long it took until there were answers again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

__all__ = ["Kind", "Loss", "Losses"]


class Kind(Enum):
    """What must never happen."""

    FREE = "released without a charge"
    DOUBLE = "charged twice"
    CHANGED = "changed answers"
    UNANSWERED = "charged and never answered"
    CLOSED = "does not open again"
    UNSOUND = "the ledger is not sound"
    REFUSED = "refuses when the fault is over"
    READY = "says that it is ready while it refuses"
    FORGOTTEN = "forgot what was durable"


class Loss(Exception):
    """One of them happened."""

    def __init__(self, kind: Kind, words: str) -> None:
        super().__init__(f"{kind.value}: {words}")
        self.kind, self.words = kind, words


@dataclass
class Losses:
    """All that a drill found."""

    trials: int = 0
    found: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    """The losses in words, with the trial in which each was found."""
    recovery: list[float] = field(default_factory=list)
    """Seconds from the end of a fault to an answer."""
    faults: Counter[str] = field(default_factory=Counter)
    """How many faults of each kind there were."""

    def add(self, fault: str, loss: Loss | None, seconds: float | None = None, where: str = "") -> None:
        """One trial."""
        self.trials += 1
        self.faults[fault] += 1
        if seconds is not None:
            self.recovery.append(seconds)
        if loss is not None:
            self.found[loss.kind.value] += 1
            self.told.append(f"{where or fault}: {loss}")

    def join(self, other: Losses) -> None:
        """The trials of another drill, too."""
        self.trials += other.trials
        self.found += other.found
        self.faults += other.faults
        self.told += other.told
        self.recovery += other.recovery

    def check(self) -> None:
        """Fail where anything was lost."""
        assert not self.found, f"{self}\n" + "\n".join(self.told[:10])

    @property
    def slowest(self) -> float | None:
        return max(self.recovery, default=None)

    def as_json(self) -> dict[str, Any]:
        every = {kind.value: self.found[kind.value] for kind in Kind}
        facts = {"trials": self.trials, "faults": dict(self.faults), "losses": every, "losses_in_words": self.told}
        return {**facts, "slowest_recovery_seconds": self.slowest}

    def __str__(self) -> str:
        lost = ", ".join(f"{count} {kind}" for kind, count in self.found.items()) or "nothing lost"
        slowest = "" if self.slowest is None else f"; answered again within {self.slowest:.1f} s"
        return f"{self.trials:,} faults, {lost}{slowest}"
