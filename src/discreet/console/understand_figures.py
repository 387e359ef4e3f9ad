"""The figures of the page about ε: everything that one choice of numbers leads to, computed once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from discreet.exact.rational import Number
from discreet.understanding.believing import Belief, Believing
from discreet.understanding.exposure import Exposure
from discreet.understanding.given import Given
from discreet.understanding.groups import Group, groups
from discreet.understanding.guessing import Guessing
from discreet.understanding.two_laws import TwoLaws
from discreet.understanding.usefulness import Useful, Usefulness
from discreet.understanding.verdict import Verdict, verdict

__all__ = ["Figures", "figures"]

_SIZES = tuple(10**power for power in range(1, 8))
_KNOWN = 512


@dataclass(frozen=True)
class Figures:
    """What the page shows for one choice."""

    given: Given
    """What was chosen."""
    verdict: Verdict
    """One word, and why."""
    laws: TwoLaws
    """A noisy count with and without Alice."""
    guessing: Guessing
    """How well anybody can tell the two apart."""
    believing: Believing
    """What anybody can believe afterwards."""
    belief: Belief
    """The same for the chosen prior."""
    groups: tuple[Group, ...]
    """The promise to several people together."""
    group: Group
    """The promise to the chosen number of them."""
    errors: tuple[Useful, ...]
    """The error of a count, a mean and a histogram for the chosen number of people."""
    by_people: tuple[tuple[int, tuple[Useful, ...]], ...]
    """The same for tables of many sizes."""
    exposure: Exposure | None
    """What δ allows; None where it is 0."""


@lru_cache(maxsize=_KNOWN)
def figures(epsilon: Number, delta: Number, group: int, prior: Number, n: int) -> Figures:
    """What these numbers mean; numbers that mean nothing are refused."""
    given = Given.of(epsilon, delta, group, prior, n)
    laws, guessing, believing = TwoLaws.of(given), Guessing.of(given), Believing.of(given)
    exposure = Exposure.of(given) if given.delta else None
    together = groups(given)
    return Figures(
        given=given,
        verdict=verdict(given, guessing, laws, exposure),
        laws=laws,
        guessing=guessing,
        believing=believing,
        belief=next(one for one in believing.beliefs if one.before == given.prior),
        groups=together,
        group=next(one for one in together if one.size == given.group),
        errors=Usefulness.of(given).central,
        by_people=tuple((people, Usefulness.of(replace(given, n=people)).central) for people in _SIZES),
        exposure=exposure,
    )
