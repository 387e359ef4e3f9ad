"""Options of ``discreet anonymize`` that cannot be meant together, in the words of the options."""

from __future__ import annotations

from discreet.anonymize.methods import METHODS, RecodingJob, ignored_settings
from discreet.anonymize.recode.lattice import GeneralizationLattice
from discreet.anonymize.recode.lattice_search import LARGEST_LATTICE
from discreet.errors import InvalidValue, OutOfReach

__all__ = ["refuse_options"]


_OPTIONS = {"suppression": "--suppression", "seconds": "--seconds", "weights": "--weight"}


def refuse_options(method: str, job: RecodingJob) -> None:
    """Refuse what a method would ignore, and a search that nobody would wait for, before it begins."""
    if method in ("optimal", "local"):
        _refuse_endless(job)
    for name in ignored_settings(method, job) if method in METHODS else ():
        rule = f"{_OPTIONS[name]} must go with a search"
        raise InvalidValue(rule, f"<--method {method}>", "leave it out, or use --method optimal or local")


def _refuse_endless(job: RecodingJob) -> None:
    heights = [job.hierarchies[name].height if name in job.hierarchies else 1 for name in job.roles.quasi]
    nodes = GeneralizationLattice(tuple(heights)).nodes
    if job.models and job.seconds is None and nodes > LARGEST_LATTICE:
        rule = f"without a time limit there must be at most {LARGEST_LATTICE:,} recodings to search"
        remedy = "pass --seconds 60 for the best of a minute and its gap, or --method taxonomy"
        raise OutOfReach(rule, f"<{len(heights)} columns with {nodes:,} recodings>", remedy)
