"""Many audits in one table: claimed against observed, for all built-in mechanisms or for a gallery of broken ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from discreet.audit.audit import audit_case
from discreet.audit.builtin import Case
from discreet.audit.mechanism import Verdict
from discreet.audit.report import TONES, AuditReport, claim_figure, event_words, exact_figure, observed_figure
from discreet.reports.document import Alert, Document, Section, Stacked, TableBlock, TableCell, Toned
from discreet.reports.report import Report

__all__ = ["AuditSuite", "SuiteLine", "survey"]


@dataclass(frozen=True)
class SuiteLine:
    """One case and what its audit found."""

    case: Case
    """What was audited."""
    report: AuditReport
    """What was found."""

    @property
    def is_as_expected(self) -> bool:
        """Whether a broken mechanism was found out, or a sound one was let pass."""
        if self.case.keeps_its_claim:
            return self.report.verdict in (Verdict.CONSISTENT, Verdict.TOO_FEW)
        return self.report.violated


@dataclass(frozen=True)
class AuditSuite(Report):
    """Audits side by side."""

    title: str
    """What was surveyed."""
    lines: tuple[SuiteLine, ...]
    """One audit each, in the order of the cases."""

    @property
    def is_as_expected(self) -> bool:
        """Whether every audit ended as it should."""
        return all(line.is_as_expected for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """The survey as plain data."""
        lines = [
            {"about": line.case.about, "as_expected": line.is_as_expected, **line.report.to_dict()}
            for line in self.lines
        ]
        return {"title": self.title, "as_expected": self.is_as_expected, "audits": lines}

    def document(self) -> Document:
        """The summary, and what was audited."""
        summary = self.summary()
        about = TableBlock((), [(line.case.name, Stacked(line.case.about, _seen_in(line))) for line in self.lines])
        return replace(summary, blocks=[*summary.blocks, Section("What they are, and where most was seen", [about])])

    def summary(self) -> Document:
        """What the audits come to, and one line for each."""
        verdict = Alert(self._words(), tone="good" if self.is_as_expected else "bad")
        observed = TableBlock(_COLUMNS, [_cells(line) for line in self.lines])
        return Document(self.title, [verdict, Section("Claimed against observed", [observed])])

    def _words(self) -> str:
        """What the audits come to."""
        sound = [line.is_as_expected for line in self.lines if line.case.keeps_its_claim]
        broken = [line.is_as_expected for line in self.lines if not line.case.keeps_its_claim]
        kept = f"{sum(sound)} of {len(sound)} mechanisms show nothing against their claim."
        found = f"{sum(broken)} of {len(broken)} broken mechanisms were found out."
        return " ".join([*([kept] if sound else []), *([found] if broken else [])])


_COLUMNS = ("mechanism", "claimed", "exact", "observed", "verdict")


def _cells(line: SuiteLine) -> tuple[TableCell, ...]:
    report = line.report
    unlike = "" if line.is_as_expected else ": not as it should be"
    return (
        line.case.name,
        claim_figure(report.claim),
        exact_figure(report),
        observed_figure(report),
        Toned(f"{report.verdict}{unlike}", TONES[report.verdict] if line.is_as_expected else "worst"),
    )


def _seen_in(line: SuiteLine) -> str:
    return "" if line.report.best is None else event_words(line.report.best)


def survey(
    cases: Iterable[Case], title: str = "Audits", *, told: Callable[[str, int, int], None] | None = None, **options: Any
) -> AuditSuite:
    """Audit every case; ``told`` hears the name of each, how many are done and how many there are."""
    listed = list(cases)
    lines = []
    for done, case in enumerate(listed):
        if told is not None:
            told(case.name, done, len(listed))
        lines.append(SuiteLine(case, audit_case(case, **options)))
    return AuditSuite(title, tuple(lines))
