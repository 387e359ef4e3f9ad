"""Many audits in one table: claimed against observed, for all built-in mechanisms or for a gallery of broken ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.audit.audit import audit_case
from discreet.audit.builtin import Case
from discreet.audit.claim import Verdict
from discreet.audit.report import AuditReport
from discreet.audit.report_html import survey_html
from discreet.audit.report_terminal import survey_text
from discreet.reports.report import Report

if TYPE_CHECKING:
    from rich.console import RenderableType

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

    def to_html(self) -> str:
        """The survey as one page without scripts or network."""
        return survey_html(self)

    def __rich__(self) -> RenderableType:
        return survey_text(self)


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
