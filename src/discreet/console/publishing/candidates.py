"""Candidates for a publication: what every attempt gives, how much it loses and how likely people are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from discreet.anonymize.cell_loss import mean_loss
from discreet.anonymize.checked_release import checked_report
from discreet.anonymize.models.beta_likeness import BetaLikeness
from discreet.anonymize.models.closeness import Closeness
from discreet.anonymize.models.delta_disclosure import DeltaDisclosure
from discreet.anonymize.recoding_methods import Release, release_of
from discreet.anonymize.report import TableReport
from discreet.console.publishing.attempts import Attempt
from discreet.errors import DiscreetError

__all__ = ["Candidate", "Found", "Said", "tried"]

_COMPARING = (Closeness, BetaLikeness, DeltaDisclosure)
"""Models that compare a class with the whole table."""
Said = Callable[[float, str], None]
"""What is told on the way: the share that is done, and what is being tried."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A release that could be published; it met its models when it was checked again."""

    title: str
    """What it is called."""
    method: str
    """How it was made."""
    release: Release
    """The rows, and a sentence about them."""
    report: TableReport
    """What there is to say about it."""

    @property
    def loss(self) -> float:
        """How much of the quasi-identifiers is lost, from 0 to 1."""
        compared = self.report.comparison
        return 0.0 if compared is None else mean_loss(compared.losses, "normalised") or 0.0

    @property
    def highest_risk(self) -> float:
        """The risk of the row that is easiest to find."""
        return self.report.risks.prosecutor.highest

    @property
    def average_risk(self) -> float:
        """The mean risk of a row."""
        return self.report.risks.prosecutor.average

    @property
    def left_out(self) -> int:
        """How many rows are not released."""
        return 0 if self.report.comparison is None else self.report.comparison.suppressed

    @property
    def needs_reference(self) -> bool:
        """Whether the models can be checked beside the original alone: they compare with rows that are left out."""
        compared = any(isinstance(one.model, _COMPARING) for one in self.report.checked.verdicts)
        return compared and self.left_out > 0

    @property
    def count_error(self) -> float:
        """How far 95 % of random counts are off at most, in rows."""
        return 0.0 if self.report.comparison is None else self.report.comparison.query_error.absolute_95


@dataclass(frozen=True, eq=False)
class Found:
    """What came of all attempts."""

    candidates: tuple[Candidate, ...] = ()
    """Those that gave a release, the least loss first."""
    refusals: dict[str, str] = field(default_factory=dict)
    """Why the others gave none, by their titles."""

    @property
    def best(self) -> Candidate | None:
        """The one that loses least."""
        return self.candidates[0] if self.candidates else None


def tried(attempts: Sequence[Attempt], name: str, said: Said) -> Found:
    """Try all attempts; one that is refused does not keep the others from being tried."""
    candidates: list[Candidate] = []
    refusals: dict[str, str] = {}
    for number, attempt in enumerate(attempts):
        try:
            candidates.append(_tried(attempt, name, _part(said, number, len(attempts), attempt.title)))
        except DiscreetError as refusal:
            refusals[attempt.title] = str(refusal)
    return Found(tuple(sorted(candidates, key=lambda one: (one.loss, one.average_risk))), refusals)


def _tried(attempt: Attempt, name: str, progress: Callable[[float], None]) -> Candidate:
    progress(0.0)
    release = release_of(attempt.method, attempt.job, progress)
    return Candidate(attempt.title, attempt.method, release, checked_report(attempt.job, release, name=name))


def _part(said: Said, number: int, count: int, title: str) -> Callable[[float], None]:
    """Progress of one attempt as a part of all of them."""

    def progress(share: float) -> None:
        said((number + min(max(share, 0.0), 1.0)) / count, title)

    return progress
