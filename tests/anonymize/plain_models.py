"""Whether a released table meets a model, by the plainest definitions: for tables of a few rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.models.alpha_k import AlphaK
from discreet.anonymize.models.beta_likeness import BetaLikeness
from discreet.anonymize.models.closeness import Closeness
from discreet.anonymize.models.delta_disclosure import DeltaDisclosure
from discreet.anonymize.models.distinct_diversity import DistinctDiversity
from discreet.anonymize.models.entropy_diversity import EntropyDiversity
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.recursive_diversity import RecursiveDiversity
from tests.anonymize import reference

NEARLY = 1e-9


def meets(table: pa.Table, quasi: Sequence[str], model: Model) -> bool:
    """Whether every class of a table meets a model; the table is what classes are compared with."""
    names = [*quasi, *([model.sensitive] if model.sensitive else [])]
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    count = len(quasi)
    match model:
        case KAnonymity(k=k):
            return reference.k(rows, count) >= k
        case DistinctDiversity(l=l):
            return reference.distinct_l(rows, count) >= l
        case EntropyDiversity(l=l):
            return reference.entropy_l(rows, count) >= l - NEARLY
        case RecursiveDiversity(c=c, l=l):
            return reference.recursive_c(rows, count, l) < c + NEARLY
        case AlphaK(alpha=alpha, k=k):
            return reference.alpha(rows, count) <= alpha + NEARLY and reference.k(rows, count) >= k
        case DeltaDisclosure(delta=delta):
            return reference.delta(rows, count) < delta + NEARLY
        case BetaLikeness(beta=beta, enhanced=enhanced):
            return reference.beta(rows, count, enhanced) <= beta + NEARLY
        case Closeness(t=t, distance=distance):
            return reference.closeness(rows, count, _apart(distance, [row[-1] for row in rows])) <= t + 1e-6
    raise AssertionError(model)


def _apart(distance: Any, values: Sequence[Any]) -> Any:
    if isinstance(distance, Hierarchy):
        tree = distance
        paths = {
            leaf: [tree.label(level, int(tree.levels[level][place])) + f"@{level}" for level in range(tree.height + 1)]
            for place, leaf in enumerate(tree.values)
        }
        return reference.by_meeting(paths)
    kinds = {"equal": lambda _: reference.equally, "ordered": reference.ranked, "numeric": reference.by_difference}
    return kinds[distance](sorted(set(values), key=lambda value: (value is None, math.inf if value is None else value)))
