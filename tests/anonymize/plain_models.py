"""Whether a released table meets a model, by the plainest definitions: for tables of a few rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.disclosure import BetaLikeness, DeltaDisclosure
from discreet.anonymize.models.k_anonymity import AlphaK, KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.t_closeness import Closeness
from tests.anonymize import reference

NEARLY = 1e-9


def meets(table: pa.Table, quasi: Sequence[str], model: Model) -> bool:
    """Whether every class of a table meets a model; the table is what classes are compared with."""
    names = [*quasi, *([model.sensitive] if model.sensitive else [])]
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    return _DEFINITIONS[type(model)](rows, len(quasi), model)


_DEFINITIONS: dict[type[Model], Callable[[Sequence[reference.Row], int, Any], bool]] = {
    KAnonymity: lambda rows, quasi, model: reference.k(rows, quasi) >= model.k,
    DistinctDiversity: lambda rows, quasi, model: reference.distinct_l(rows, quasi) >= model.l,
    EntropyDiversity: lambda rows, quasi, model: reference.entropy_l(rows, quasi) >= model.l - NEARLY,
    RecursiveDiversity: lambda rows, quasi, model: reference.recursive_c(rows, quasi, model.l) < model.c + NEARLY,
    AlphaK: lambda rows, quasi, model: (
        reference.alpha(rows, quasi) <= model.alpha + NEARLY and reference.k(rows, quasi) >= model.k
    ),
    DeltaDisclosure: lambda rows, quasi, model: reference.delta(rows, quasi) < model.delta + NEARLY,
    BetaLikeness: lambda rows, quasi, model: reference.beta(rows, quasi, model.enhanced) <= model.beta + NEARLY,
    Closeness: lambda rows, quasi, model: _furthest(rows, quasi, model) <= model.t + 1e-6,  # a solver's precision
}


def _furthest(rows: Sequence[reference.Row], quasi: int, model: Closeness) -> float:
    return reference.closeness(rows, quasi, _apart(model.distance, [row[-1] for row in rows]))


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
