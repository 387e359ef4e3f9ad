"""How much evidence a run gathers: ``make test`` takes a part of what only repeats, ``make test-all`` all of it.

The first is for whoever waits for it, and takes ten minutes; the second is what a change must pass before it lands, so
that nothing that is left out here goes unchecked. What takes longer still, at full size, is ``make soak``.

A test that shows the same thing many times over (at each of twenty steps of an ingest, for each of fifty hostile
values, in ten thousand draws) takes `some` of its cases, spread evenly over all of them; a parametrized one can be
marked ``@pytest.mark.some(5)``. A whole test that gives no other evidence than a quicker one is marked
``@pytest.mark.thorough``. What a fixture has in a file and on a server takes turns from test to test: `in_turns`.
Nothing that a rule or a promise rests on alone is left out: each has at least one case in every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

__all__ = ["IS_SOAK", "IS_THOROUGH", "in_turns", "many", "some"]

T = TypeVar("T")
IS_THOROUGH = bool(os.environ.get("THOROUGH"))
"""Whether everything is wanted, in half an hour. Services refuse what begins with DISCREET_ and is no setting."""
IS_SOAK = os.environ.get("THOROUGH") == "soak"
"""Whether everything is wanted, whatever time it takes."""


def some(cases: Iterable[T], most: int, thorough: int | None = None) -> list[T]:
    """At most so many of the cases, the first and the last among them; all of them where a run is thorough.

    Cases that take an hour have a number for thorough runs, too: then all of them are left to ``make soak``.
    """
    found = list(cases)
    if IS_THOROUGH:
        most = len(found) if thorough is None or IS_SOAK else thorough
    if len(found) <= most:
        return found
    step = (len(found) - 1) / max(1, most - 1)
    return [found[round(place * step)] for place in range(most)]


def many(few: int, all_of_them: int) -> int:
    """How often something is repeated: a few times, or as often as a thorough run has time for."""
    return all_of_them if IS_THOROUGH else few


def in_turns(*values: object) -> list[Any]:
    """Parameters of a fixture, of which each test of a file takes another; all of them where a run is thorough."""
    return [pytest.param(value, marks=pytest.mark.in_turns(k, len(values))) for k, value in enumerate(values)]
