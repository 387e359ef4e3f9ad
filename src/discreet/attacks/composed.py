"""What several published tables tell together: how many people are pinned down, against the number of tables.

Every table holds the same targets among other people, and each is safe by its own definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attacks.defence import Defence
from discreet.attacks.methods.intersection import combined, likeliest
from discreet.attacks.people import Codes, People
from discreet.attacks.view import Counts
from discreet.errors import InvalidValue
from discreet.evidence.proportion import Proportion
from discreet.noise.experiment import Chance, experiment
from discreet.pages.line_chart import Series, line_chart

__all__ = ["Composed", "composition", "composition_chart"]

_TARGETS = 3  # one in so many people is in every table
_MOST_TARGETS = 5000


@dataclass(frozen=True)
class Composed:
    """What is learned from the first tables."""

    releases: int
    """How many tables."""
    pinned: Proportion
    """Targets for whom one secret alone is in all classes, and it is theirs."""
    right: Proportion
    """Targets whose likeliest secret is theirs."""
    candidates: float
    """How many secrets are left on average."""


def composition(people: People, defence: Defence, releases: int = 10, seed: int = 0) -> list[Composed]:
    """What one, two, … tables tell of a third of the people, who are in all of them; each has half of the others.

    ``defence`` must publish a table.
    """
    if releases < 1:
        raise InvalidValue("the number of releases must be at least 1", releases)
    if people.size < _TARGETS:
        raise InvalidValue(f"there must be at least {_TARGETS} people", people.size)
    chance = experiment(seed)
    everybody = people.renumbered()
    targets, others = np.split(chance.permutation(people.size), [min(people.size // _TARGETS, _MOST_TARGETS)])
    truth = everybody.secret.codes[targets]
    seen: list[Counts] = []
    found = []
    for counts in _tables(everybody, defence, targets, others, chance):
        seen.append(counts)
        found.append(_composed(len(seen), combined(seen), truth))
        if len(seen) == releases:
            break
    return found


def composition_chart(curves: Mapping[str, Sequence[Composed]]) -> str:
    """The share of people pinned down against the number of tables, one line for every defence by name."""
    if not curves:
        raise InvalidValue("there must be at least one curve", 0)
    lines = [
        Series(
            name,
            [(float(one.releases), one.pinned.rate) for one in found],
            band=[one.pinned.interval() for one in found],
            marks=True,
        )
        for name, found in curves.items()
    ]
    return line_chart(
        lines,
        title="People for whom one secret alone is in all tables",
        x_label="published tables that hold them",
        y_label="people pinned down",
        y_holds=(0.0,),
    )


def _tables(everybody: People, defence: Defence, targets: Codes, others: Codes, chance: Chance) -> Iterator[Counts]:
    """The class of every target in one table after the other."""
    while True:
        chosen = chance.permutation(others)[: len(others) // 2]
        view = defence.defend(everybody.take(np.sort(np.concatenate([targets, chosen]))), everybody, chance)
        if view.published is None:
            raise InvalidValue(
                "the defence must publish a table", defence.name, "k-anonymity, l-diversity or t-closeness"
            )
        group = view.published.class_of[targets]
        yield np.where(group[:, None] >= 0, view.published.histograms[group], np.nan)


def _composed(releases: int, scores: npt.NDArray[np.float64], truth: Codes) -> Composed:
    left = np.isfinite(scores).sum(axis=1)
    right = likeliest(scores) == truth
    pinned = (left == 1) & right
    return Composed(
        releases,
        Proportion(int(pinned.sum()), len(truth)),
        Proportion(int(right.sum()), len(truth)),
        float(left.mean()),
    )
