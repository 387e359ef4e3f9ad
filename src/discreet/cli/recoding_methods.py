"""The methods of ``discreet anonymize``: from a table and its models to the rows to publish, and how they were made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.anonymize.figures import share
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.lattice import Lattice
from discreet.anonymize.lattice_search import LARGEST_LATTICE
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidValue, OutOfReach

if TYPE_CHECKING:
    from discreet.anonymize.certificate import Certificate
    from discreet.anonymize.recoded import Recoded

__all__ = ["METHODS", "Job", "Release", "release_of"]

METHODS = ("optimal", "local", "mondrian", "taxonomy", "microaggregate")
"""What ``--method`` may be."""


@dataclass(frozen=True, eq=False)
class Job:
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
    """Whether Mondrian may tear equal values apart."""


@dataclass(frozen=True, eq=False)
class Release:
    """The rows to publish."""

    table: pa.Table
    """The rows."""
    how: str
    """How they were found, in a sentence."""


def release_of(method: str, job: Job, progress: Callable[[float], None]) -> Release:
    """Recode a table by one of the methods."""
    if not job.models:
        raise InvalidValue("a table must be published under a model", "<none>", "--k 5 is the least")
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
            return _microaggregated(job, progress)
    raise InvalidValue("the method must be known", method, f"one of {', '.join(METHODS)}")


def _optimal(job: Job, progress: Callable[[float], None]) -> Release:
    from discreet.anonymize.optimal import optimal

    _refuse_endless(job)
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
    return Release(found.table, f"Optimal full-domain recoding, {found.certificate}. {levels}.")


def _proved(certificate: Certificate) -> float:
    """How far the bound has come towards the loss."""
    return certificate.lower_bound / certificate.loss if 0 < certificate.loss < float("inf") else 0.0


def _suppression(job: Job) -> float:
    return 0.02 if job.suppression is None else job.suppression


def _refuse_endless(job: Job) -> None:
    """Say how many recodings there are before a search begins that nobody would wait for."""
    heights = [job.hierarchies[name].height if name in job.hierarchies else 1 for name in job.roles.quasi]
    nodes = Lattice(tuple(heights)).nodes
    if job.seconds is None and nodes > LARGEST_LATTICE:
        rule = f"without a time limit there must be at most {LARGEST_LATTICE:,} recodings to search"
        remedy = "pass --seconds 60 for the best of a minute and its gap, or --method taxonomy"
        raise OutOfReach(rule, f"<{len(heights)} columns with {nodes:,} recodings>", remedy)


def _local(job: Job, progress: Callable[[float], None]) -> Release:
    from discreet.anonymize.local_recoding import local_recoding

    _refuse_endless(job)
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
    return _recoded("Local recoding by repeated search", found)


def _mondrian(job: Job, progress: Callable[[float], None]) -> Release:
    from discreet.anonymize.mondrian import mondrian

    _refuse_settings(job, "mondrian")
    found = mondrian(
        job.table,
        job.roles,
        job.models,
        hierarchies=job.hierarchies,
        labels="hierarchy" if job.hierarchies else "range",
        relaxed=job.relaxed,
        progress=progress,
    )
    return _recoded(f"{'Relaxed' if job.relaxed else 'Strict'} Mondrian", found)


def _taxonomy(job: Job, progress: Callable[[float], None]) -> Release:
    from discreet.anonymize.taxonomy_mondrian import taxonomy_mondrian

    _refuse_settings(job, "taxonomy")
    found = taxonomy_mondrian(job.table, job.roles, job.hierarchies, job.models, progress=progress)
    return _recoded("Mondrian along the hierarchies", found)


def _microaggregated(job: Job, progress: Callable[[float], None]) -> Release:
    from discreet.anonymize.microaggregation import microaggregate

    _refuse_settings(job, "microaggregate")
    if job.hierarchies:
        raise InvalidValue("means need no hierarchies", sorted(job.hierarchies), "leave --hierarchy out")
    k = max((model.k for model in job.models if isinstance(model, KAnonymity)), default=None)
    if k is None:
        raise InvalidValue("the groups of microaggregation must have a size", "<none>", "pass --k 5")
    others = [model for model in job.models if not isinstance(model, KAnonymity)]
    found = microaggregate(job.table, job.roles, k, models=others, progress=progress)
    return Release(found.table, f"Numbers are means of near rows; {share(found.loss)} of their variance is lost.")


def _refuse_settings(job: Job, method: str) -> None:
    """Refuse what a method would ignore."""
    given: dict[str, Any] = {"--suppression": job.suppression, "--seconds": job.seconds, "--weight": job.weights}
    for option, value in given.items():
        if value is not None:
            rule = f"{option} must go with a search"
            raise InvalidValue(rule, f"<--method {method}>", "leave it out, or use --method optimal or local")


def _recoded(words: str, found: Recoded) -> Release:
    return Release(found.table, f"{words}; a cell covers {share(found.loss)} of its column on average.")
