"""The strictest parameter of every model that a table satisfies, whatever was asked of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from discreet.anonymize.classes import Classes, ClassHistogram
from discreet.anonymize.figures import figure
from discreet.anonymize.models.alpha_k import AlphaK
from discreet.anonymize.models.beta_likeness import BetaLikeness
from discreet.anonymize.models.closeness import Closeness
from discreet.anonymize.models.delta_disclosure import DeltaDisclosure
from discreet.anonymize.models.distinct_diversity import DistinctDiversity
from discreet.anonymize.models.entropy_diversity import EntropyDiversity
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Histograms, Model
from discreet.anonymize.models.recursive_diversity import RecursiveDiversity

__all__ = ["Measure", "measures", "strictest_words"]


@dataclass(frozen=True)
class Measure:
    """The strictest parameter with which a model holds."""

    model: str
    """The model, with letters for its parameters."""
    column: str | None
    """The sensitive column it speaks of, if it speaks of one."""
    parameter: str
    """The letter of the parameter."""
    value: float
    """The largest k or l, the smallest c, t, α, δ or β; infinite where none holds."""
    is_largest: bool
    """Whether the model holds for all smaller parameters, as with k and l, or for all larger ones."""
    is_open: bool
    """Whether the value itself does not hold, and every looser one does."""

    @classmethod
    def of(cls, model: Model, classes: Classes, histograms: Histograms) -> Measure:
        """The measure of a model, whose own parameter plays no part."""
        value = model.strictest(classes, histograms)
        return cls(model.title, model.sensitive, model.parameter, value, model.larger_is_stricter, model.bound_is_open)


def measures(classes: Classes, histograms: Histograms) -> tuple[Measure, ...]:
    """The measure of every model, for every sensitive column."""
    models = [KAnonymity(1), *(model for name, one in histograms.items() for model in _models(name, one))]
    return tuple(Measure.of(model, classes, histograms) for model in models)


def _models(column: str, histogram: ClassHistogram) -> Iterator[Model]:
    yield DistinctDiversity(column, 1)
    yield EntropyDiversity(column, 1)
    yield RecursiveDiversity(column, 1, 2)
    yield Closeness(column, 0)
    if _is_numeric(histogram):
        yield Closeness(column, 0, "ordered")
        yield Closeness(column, 0, "numeric")
    yield AlphaK(column, 1)
    yield DeltaDisclosure(column, 1)
    yield BetaLikeness(column, 1)
    yield BetaLikeness(column, 1, enhanced=True)


def _is_numeric(histogram: ClassHistogram) -> bool:
    """Whether the values are numbers with finite differences, none missing."""
    return all(isinstance(value, (int, float)) and abs(value) < float("inf") for value in histogram.domain)


def strictest_words(measure: Measure) -> str:
    """The strictest parameter that holds.

    >>> strictest_words(Measure("k-anonymity", None, "k", 4.0, True, False))
    'k up to 4'
    """
    if not math.isfinite(measure.value):
        return f"no {measure.parameter} holds"
    if measure.is_largest:
        return f"{measure.parameter} up to {figure(measure.value)}"
    return f"{measure.parameter} {'above' if measure.is_open else 'from'} {figure(measure.value)}"
