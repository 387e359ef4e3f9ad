"""One person in several published tables: the secret is in the class that fits, in every one of them.

>>> import pyarrow as pa
>>> first = pa.table({"age": ["<30", "<30", "≥30"], "ill": ["flu", "cancer", "cancer"]})
>>> second = pa.table({"age": ["2*", "2*", "3*"], "ill": ["cold", "flu", "flu"]})
>>> found = intersect([first, second], {"age": 28})
>>> found.candidates, found.pinned
(('flu',), 'flu')
>>> found.counts
({'flu': 1, 'cancer': 1}, {'cold': 1, 'flu': 1})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.source import arrow_table
from discreet.attacks.fitting import fitting
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["Candidates", "intersect"]


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
