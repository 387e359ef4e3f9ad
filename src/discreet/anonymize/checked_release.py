"""The report of a release that was made, which checks it again: a method that errs is found out here."""

from __future__ import annotations

from typing import Any

from discreet.anonymize.recoding_methods import Job, Release
from discreet.anonymize.report import TableReport, table_report
from discreet.errors import OutOfReach

__all__ = ["checked_report"]


def checked_report(
    job: Job, found: Release, *, name: str, file: str | None = None, population: Any = None
) -> TableReport:
    """What is to be said about a release; refused where it does not meet the models of its job."""
    report = table_report(
        found.table,
        job.roles,
        job.models,
        original=job.table,
        hierarchies=job.hierarchies,
        population=population,
        name=name,
        file=file,
        how=found.how,
    )
    if not report.checked.holds:
        broken = ", ".join(one.model.name for one in report.checked.verdicts if not one.holds)
        raise OutOfReach("a release must meet its models when it is checked again", f"<{broken}>", "it is not released")
    return report
