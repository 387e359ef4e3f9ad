"""The methods by name: from a table and its models to the rows to publish, and how they were made in a sentence.

The report of a release checks it again, so that a method that errs is found out here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.recode.lattice_search import Certificate
from discreet.anonymize.recode.local import local_recoding
from discreet.anonymize.recode.microaggregation import microaggregate
from discreet.anonymize.recode.mondrian import mondrian
from discreet.anonymize.recode.optimal import optimal
from discreet.anonymize.recode.recoding import Recoded
from discreet.anonymize.recode.taxonomy_mondrian import taxonomy_mondrian
from discreet.anonymize.report.report import TableReport, table_report
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidValue, OutOfReach
from discreet.reports.format import share

__all__ = ["METHODS", "CheckedRows", "RecodingJob", "checked_report", "ignored_settings", "release_of"]


METHODS = ("optimal", "local", "mondrian", "taxonomy", "microaggregate")
"""The names of the methods."""
_SEARCHES = ("optimal", "local")


@dataclass(frozen=True, eq=False)
class RecodingJob:
    """What is to be done to a table."""

    table: pa.Table
    """The table."""
    roles: Roles
    """The roles of its columns."""
    models: Sequence[Model]
    """What must hold."""
    hierarchies: Mapping[str, Hierarchy]
    """The hierarchies that were given."""
    suppression: float | None = None
    """The largest share of rows that may be left out; None leaves it to the method."""
    seconds: float | None = None
    """How long a search may take."""
    loss: str = "normalised"
    """What an optimal search minimises."""
    weights: Mapping[str, float] | None = None
    """How much columns count for an optimal search, 1 where they are not named."""
    relaxed: bool = False
    """Relaxed Mondrian: rows with equal values may go to different classes."""


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """The rows to publish."""

    table: pa.Table
    """The rows."""
    how: str
    """How they were found, in a sentence."""


def release_of(method: str, job: RecodingJob, progress: Callable[[float], None]) -> CheckedRows:
    """Recode a table by one of the methods."""
    if not job.models:
        raise InvalidValue("a table must be published under a model", "<none>", "k = 5 is the least")
    _refuse_ignored(method, job)
    match method:
        case "optimal":
            return _optimal(job, progress)
        case "local":
            return _local(job, progress)
        case "mondrian":
            return _mondrian(job, progress)
        case "taxonomy":
            return _taxonomy(job, progress)
        case "microaggregate":
            return _microaggregate(job, progress)
    raise InvalidValue("the method must be known", method, f"one of {', '.join(METHODS)}")


def _optimal(job: RecodingJob, progress: Callable[[float], None]) -> CheckedRows:
    found = optimal(
        job.table,
        job.roles,
        job.hierarchies,
        job.models,
        suppression=_suppression(job),
        loss=job.loss,
        weights=job.weights,
        seconds=job.seconds,
        progress=lambda one: progress(_proved(one)),
    )
    levels = "; ".join(f"{name}: {words}" for name, words in found.recoding.described().items())
    return CheckedRows(found.table, f"Optimal full-domain recoding, {found.certificate}. {levels}.")


def _proved(certificate: Certificate) -> float:
    """How far the bound has come towards the loss."""
    return certificate.lower_bound / certificate.loss if 0 < certificate.loss < float("inf") else 0.0


def _suppression(job: RecodingJob) -> float:
    return 0.02 if job.suppression is None else job.suppression


def _local(job: RecodingJob, progress: Callable[[float], None]) -> CheckedRows:
    found = local_recoding(
        job.table,
        job.roles,
        job.hierarchies,
        job.models,
        suppression=job.suppression or 0.0,
        loss=job.loss,
        weights=job.weights,
        seconds=job.seconds,
        progress=lambda done, rows: progress(done / rows),
    )
    return _recode("Local recoding by repeated search", found)


def _mondrian(job: RecodingJob, progress: Callable[[float], None]) -> CheckedRows:
    found = mondrian(
        job.table,
        job.roles,
        job.models,
        hierarchies=job.hierarchies,
        labels="hierarchy" if job.hierarchies else "range",
        relaxed=job.relaxed,
        progress=progress,
    )
    return _recode(f"{'Relaxed' if job.relaxed else 'Strict'} Mondrian", found)


def _taxonomy(job: RecodingJob, progress: Callable[[float], None]) -> CheckedRows:
    found = taxonomy_mondrian(job.table, job.roles, job.hierarchies, job.models, progress=progress)
    return _recode("Mondrian along the hierarchies", found)


def _microaggregate(job: RecodingJob, progress: Callable[[float], None]) -> CheckedRows:
    if job.hierarchies:
        raise InvalidValue("means need no hierarchies", sorted(job.hierarchies), "leave them out")
    k = max((model.k for model in job.models if isinstance(model, KAnonymity)), default=None)
    if k is None:
        raise InvalidValue("the groups of microaggregation must have a size", "<none>", "ask for k = 5")
    others = [model for model in job.models if not isinstance(model, KAnonymity)]
    found = microaggregate(job.table, job.roles, k, models=others, progress=progress)
    return CheckedRows(found.table, f"Numbers are means of near rows; {share(found.loss)} of their variance is lost.")


def ignored_settings(method: str, job: RecodingJob) -> tuple[str, ...]:
    """The settings that were given and that a method would ignore, by name."""
    given = {"suppression": job.suppression, "seconds": job.seconds, "weights": job.weights}
    return () if method in _SEARCHES else tuple(name for name, value in given.items() if value is not None)


def _refuse_ignored(method: str, job: RecodingJob) -> None:
    for name in ignored_settings(method, job) if method in METHODS else ():
        raise InvalidValue(f"{name} must go with a search", f"<{method}>", "leave it out, or use optimal or local")


def _recode(words: str, found: Recoded) -> CheckedRows:
    return CheckedRows(found.table, f"{words}; a cell covers {share(found.loss)} of its column on average.")


def checked_report(
    job: RecodingJob, found: CheckedRows, *, name: str, file: str | None = None, population: Any = None
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
