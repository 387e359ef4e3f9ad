"""What a table meets of a model, by the plainest definitions: for tables of a few rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.disclosure import BetaLikeness, DeltaDisclosure
from discreet.anonymize.models.k_anonymity import AlphaK, KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.t_closeness import Closeness
from discreet.errors import InvalidInput
from tests.anonymize import reference

NEARLY = 1e-9


def meets(table: pa.Table, quasi: Sequence[str], model: Model) -> bool:
    """Whether every class of a table meets a model; the table is what classes are compared with."""
    names = [*quasi, *([model.sensitive] if model.sensitive else [])]
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    found, slack = strictest(rows, len(quasi), model), 1e-6 if isinstance(model, Closeness) else NEARLY
    holds = found >= model.value - slack if model.larger_is_stricter else found <= model.value + slack
    return holds and reference.k(rows, len(quasi)) >= getattr(model, "k", 1)  # (α, k)-anonymity asks for both


def strictest(rows: Sequence[reference.Row], quasi: int, model: Model) -> float:
    """The strictest parameter with which the first ``quasi`` columns and the last one meet a model."""
    return DEFINITIONS[type(model)](rows, quasi, model)


def with_parameter(model: Model, value: float) -> Model:
    """The same model with a parameter near ``value``, as far as it takes such a one."""
    for wanted in (value / 4, min(1.0, value / 10), max(1, round(value))):
        with suppress(InvalidInput):
            return replace(model, **{model.field or model.parameter: wanted})  # type: ignore[type-var]
    raise AssertionError(f"{model.title} takes no parameter that others take")


DEFINITIONS: dict[type[Model], Callable[[Sequence[reference.Row], int, Any], float]] = {
    KAnonymity: lambda rows, quasi, model: reference.k(rows, quasi),
    DistinctDiversity: lambda rows, quasi, model: reference.distinct_l(rows, quasi),
    EntropyDiversity: lambda rows, quasi, model: reference.entropy_l(rows, quasi),
    RecursiveDiversity: lambda rows, quasi, model: reference.recursive_c(rows, quasi, model.l),
    AlphaK: lambda rows, quasi, model: reference.alpha(rows, quasi),
    DeltaDisclosure: lambda rows, quasi, model: reference.delta(rows, quasi),
    BetaLikeness: lambda rows, quasi, model: reference.beta(rows, quasi, model.enhanced),
    Closeness: lambda rows, quasi, model: reference.closeness(
        rows, quasi, _apart(model.distance, [row[-1] for row in rows])
    ),
}


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
