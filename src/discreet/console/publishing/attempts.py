"""What an owner asks for, and the attempts that follow from it: each method, once or with larger k."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from discreet.anonymize.recoding_methods import METHODS, Job
from discreet.anonymize.wanted_models import Wanted
from discreet.console.publishing.brought_table import Brought
from discreet.console.publishing.column_plan import Plans, hierarchies_of, roles_of
from discreet.errors import InvalidValue

__all__ = ["METHOD_WORDS", "Asked", "Attempt", "attempts_of"]

METHOD_WORDS = {
    "optimal": "One level for each column, the best of all, with a proof. May leave rows out.",
    "local": "Searches again for the rows that the best level would leave out. Less loss.",
    "taxonomy": "Splits along the hierarchies, class by class. Often the least loss.",
    "mondrian": "Cuts at medians; cells become ranges and sets, hierarchies are not used.",
    "microaggregate": "Averages near rows; numbers stay numbers. Needs columns of numbers.",
}
"""What each method does, in a sentence or two."""
_WITH_HIERARCHIES = ("optimal", "local", "taxonomy")
_SEARCHES = ("optimal", "local")
_STRICTER = (2, 4)


@dataclass(frozen=True)
class Asked:
    """What an owner asks for, whatever the table is."""

    wanted: Wanted = field(default_factory=lambda: Wanted(k=5, l=2))
    """The models."""
    suppression: float = 0.02
    """The largest share of rows that a search may leave out."""
    methods: tuple[str, ...] = ("optimal", "local", "taxonomy", "mondrian")
    """Which methods to try."""
    also_stricter: bool = False
    """Whether to try twice and four times the k as well."""
    seconds: float = 60.0
    """How long one search may take."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """One thing to try."""

    title: str
    """What it is called in lists and charts."""
    method: str
    """The method."""
    job: Job
    """What is to be done."""


def attempts_of(brought: Brought, plans: Plans, asked: Asked) -> list[Attempt]:
    """The attempts, in the order of the methods; each method gets what it understands and nothing else."""
    if not asked.methods:
        raise InvalidValue("there must be a method to try", "<none>", "choose one, optimal for example")
    roles = roles_of(plans)
    whole = Job(brought.table, roles, (), hierarchies_of(brought.table, plans))
    return [
        Attempt(title, method, _narrowed(replace(whole, models=tuple(wanted.models(roles))), method, asked))
        for method in METHODS
        if method in asked.methods
        for title, wanted in _variants(method, asked)
    ]


def _variants(method: str, asked: Asked) -> Iterator[tuple[str, Wanted]]:
    yield method, asked.wanted
    k = asked.wanted.k
    for times in _STRICTER if asked.also_stricter and k is not None else ():
        yield f"{method}, k = {times * (k or 1)}", replace(asked.wanted, k=times * (k or 1))


def _narrowed(job: Job, method: str, asked: Asked) -> Job:
    """The job as one method takes it."""
    if not job.models:
        raise InvalidValue("a table must be published under a model", "<none>", "k = 5 is the least")
    if method not in _WITH_HIERARCHIES:
        job = replace(job, hierarchies={})
    return replace(job, suppression=asked.suppression, seconds=asked.seconds) if method in _SEARCHES else job
