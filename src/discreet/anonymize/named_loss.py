"""The losses that a search can minimise, by name."""

from __future__ import annotations

import math
from collections.abc import Mapping

from discreet.anonymize.additive_loss import (
    AdditiveLoss,
    certainty_penalty,
    entropy_lost,
    normalised_loss,
    precision_lost,
)
from discreet.anonymize.ambiguity_loss import AmbiguityLoss
from discreet.anonymize.class_size_loss import AverageClassSize, Discernibility
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.patterns import Patterns
from discreet.anonymize.search_loss import SearchLoss
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["LOSSES", "named_loss"]

_ADDITIVE = {
    "normalised": normalised_loss,
    "ncp": certainty_penalty,
    "precision": precision_lost,
    "non-uniform entropy": entropy_lost,
}
_BY_CLASS = {"discernibility": Discernibility, "average class size": AverageClassSize}

LOSSES = (*_ADDITIVE, "ambiguity", *_BY_CLASS)
"""What ``loss`` may be."""


def named_loss(
    name: str,
    patterns: Patterns,
    hierarchies: Mapping[str, Hierarchy],
    weights: Mapping[str, float] | None,
    least_size: int,
) -> SearchLoss:
    """The loss of that name for a table. ``weights`` say how much a column counts, 1 if it is not named."""
    if name not in LOSSES:
        raise InvalidValue("the loss must be one that is known", name, f"one of {', '.join(LOSSES)}")
    if name in _ADDITIVE:
        return AdditiveLoss(_ADDITIVE[name], patterns, list(hierarchies.values()), _checked(weights or {}, hierarchies))
    if weights:
        remedy = f"leave them out, or use one of {', '.join(_ADDITIVE)}"
        raise InvalidValue("weights must go with a loss that adds up over columns", name, remedy)
    if name in _BY_CLASS:
        return _BY_CLASS[name](patterns, least_size)
    return AmbiguityLoss(patterns, list(hierarchies.values()))


def _checked(weights: Mapping[str, float], columns: Mapping[str, Hierarchy]) -> list[float]:
    for name, weight in weights.items():
        if name not in columns:
            raise InvalidValue("a weight must belong to a quasi-identifier", name, suggestion(name, columns))
        if isinstance(weight, bool) or not isinstance(weight, (int, float)):
            raise InvalidType(f"the weight of '{name}' must be a number", weight)
        if not (weight >= 0 and math.isfinite(weight)):
            raise InvalidValue(f"the weight of '{name}' must be at least 0", weight)
    found = [float(weights.get(name, 1.0)) for name in columns]
    if not any(found):
        raise InvalidValue("a column must have a weight above 0", dict(weights))
    return found
