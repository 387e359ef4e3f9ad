"""One person in several published tables: the secret is in the class that fits, in every one of them.

>>> import pyarrow as pa
>>> first = pa.table({"age": ["<30", "<30", "≥30"], "ill": ["flu", "cancer", "cancer"]})
>>> second = pa.table({"age": ["2*", "2*", "3*"], "ill": ["cold", "flu", "flu"]})
>>> found = intersect([first, second], {"age": 28})
>>> found.candidates, found.pinned
(('flu',), 'flu')
>>> found.counts
({'flu': 1, 'cancer': 1}, {'cold': 1, 'flu': 1})

A chart shows how many people are pinned down against the number of tables. Every table holds the same targets among
other people, and each is safe by its own definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.table import arrow_table
from discreet.attacks.attack import Counts, Defence
from discreet.attacks.linkage.matching import fitting
from discreet.attacks.methods.releases import combined, likeliest
from discreet.attacks.people import Codes, People
from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue
from discreet.exact.binomial import Proportion
from discreet.noise.experiment import Chance, experiment
from discreet.reports.document import LineChart, Series

__all__ = ["Candidates", "Composed", "composition", "composition_chart", "intersect"]


@dataclass(frozen=True)
class Candidates:
    """What the secret of one person can be."""

    counts: tuple[Mapping[Any, int], ...]
    """For every release how often each secret occurs in the rows that fit."""

    @property
    def candidates(self) -> tuple[Any, ...]:
        """The secrets that are in every release, the likeliest first; those that are equally likely as they came."""
        left = [secret for secret in self.counts[0] if all(secret in one for one in self.counts)]
        return tuple(sorted(left, key=lambda secret: -prod(one[secret] for one in self.counts)))

    @property
    def pinned(self) -> Any:
        """The one secret that is left; None where there are several, or none."""
        return self.candidates[0] if len(self.candidates) == 1 else None

    @property
    def likelihoods(self) -> Mapping[Any, float]:
        """For every candidate its share of the product of the counts: how likely it is, if no secret was before."""
        products = {secret: prod(one[secret] for one in self.counts) for secret in self.candidates}
        return {secret: float(product / sum(products.values())) for secret, product in products.items()}


def intersect(
    releases: Sequence[Any],
    target: Mapping[str, Any],
    secret: str | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Candidates:
    """What the ``secret`` of a person can be who is in all ``releases``, for whoever knows ``target`` of the person.

    ``target`` maps columns to what is known. A release that lacks a column is read by the others. The secret is by
    default the one column that all releases have and that is not known.
    """
    if not isinstance(target, Mapping):
        raise InvalidType("what is known of the target must map columns to values", f"<{type(target).__name__}>")
    tables = [arrow_table(release) for release in releases]
    if not tables:
        raise InvalidValue("there must be a release", list(releases))
    column = _secret(tables, target, secret)
    return Candidates(tuple(_fitting_secrets(table, target, column, hierarchies) for table in tables))


def _secret(tables: Sequence[pa.Table], target: Mapping[str, Any], secret: str | None) -> str:
    common = [name for name in tables[0].column_names if all(name in table.column_names for table in tables)]
    unknown = [name for name in common if name not in target]
    if secret is not None:
        if secret not in common:
            raise InvalidValue("the secret must be a column of every release", secret, suggestion(secret, common))
        return secret
    if len(unknown) != 1:
        raise InvalidValue("the secret must be named unless one column alone is unknown", unknown)
    return str(unknown[0])


def _fitting_secrets(
    table: pa.Table, target: Mapping[str, Any], secret: str, hierarchies: Mapping[str, Hierarchy] | None
) -> dict[Any, int]:
    on = [name for name in target if name in table.column_names]
    if not on:
        rule = "a release must have a column that is known of the target"
        raise InvalidValue(rule, f"<{', '.join(table.column_names)}>", f"known: {', '.join(target)}")
    fits = fitting(table, pa.table({name: [target[name]] for name in on}), on, hierarchies)
    inside = np.isin(fits.classes.number, fits.group)
    return dict(Counter(table[secret].filter(pa.array(inside)).to_pylist()))


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
        found.append(_compose(len(seen), combined(seen), truth))
        if len(seen) == releases:
            break
    return found


def composition_chart(curves: Mapping[str, Sequence[Composed]]) -> LineChart:
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
    return LineChart(
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


def _compose(releases: int, scores: npt.NDArray[np.float64], truth: Codes) -> Composed:
    left = np.isfinite(scores).sum(axis=1)
    right = likeliest(scores) == truth
    pinned = (left == 1) & right
    return Composed(
        releases,
        Proportion(int(pinned.sum()), len(truth)),
        Proportion(int(right.sum()), len(truth)),
        float(left.mean()),
    )
