"""What an audit found: claimed against observed, in the terminal, as JSON, and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.audit.claim import Verdict
from discreet.audit.exact_check import ExactCheck
from discreet.audit.proof import Proof, Reach
from discreet.audit.report_content import report_data, report_document
from discreet.privacy.loss import Loss
from discreet.reports.document import Document
from discreet.reports.report import Report

__all__ = ["AuditReport", "Seen"]


@dataclass(frozen=True)
class Seen:
    """An outcome, or a range of them, and how often the held-out draws hit it for each input."""

    outcome: str
    """In words."""
    first: float
    """The share of draws for the first input."""
    second: float
    """The share of draws for the second input."""


@dataclass(frozen=True)
class AuditReport(Report):
    """One audit."""

    name: str
    """What was audited."""
    first: str
    """One input, as text."""
    second: str
    """Its neighbour, as text."""
    claim: Loss
    """What the mechanism says it costs."""
    verdict: Verdict
    """The conclusion."""
    draws: int
    """How many answers were drawn, for both inputs together."""
    false_alarm: float
    """How often an audit may find a mechanism guilty that keeps its claim, at most."""
    proofs: tuple[Proof, ...]
    """One for each event that was tested, those that prove most first; none where nothing was drawn."""
    reach: Reach | None
    """What so many draws can prove at best; None where nothing was drawn."""
    exact: ExactCheck | None
    """What the laws themselves say, where they are known."""
    seen: tuple[Seen, ...]
    """The two laws as the held-out draws show them."""
    notes: tuple[str, ...]
    """What else is worth knowing, each in a sentence."""

    @property
    def violated(self) -> bool:
        """Whether the claim was found to be false."""
        return self.verdict is Verdict.VIOLATION

    @property
    def best(self) -> Proof | None:
        """The event that proves most against the claim."""
        return self.proofs[0] if self.proofs else None

    @property
    def observed_epsilon(self) -> float:
        """The ε that the draws prove to be lost, at the δ of the best event; 0 where they prove nothing."""
        return self.best.epsilon if self.best is not None else 0.0

    def document(self) -> Document:
        """Claimed against observed, the events that were tested, and what else was noticed."""
        return report_document(self)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return report_data(self)
