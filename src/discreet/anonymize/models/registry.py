"""The registry of models, and those that somebody asks for by their letters: k, l, t, α, β and δ.

Every check reports the strictest parameter of every model of the registry, and the tests compare each with its plain
definition. Whoever asks by letters gets a model for every sensitive column.

>>> roles = Roles.of(["zip", "disease"], quasi="zip", sensitive="disease")
>>> [model.name for model in RequestedModels(k=5, l=2).models(roles)]
['5-anonymity', 'distinct 2-diversity of disease']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from discreet.anonymize.models.disclosure import BetaLikeness, DeltaDisclosure
from discreet.anonymize.models.k_anonymity import AlphaK, KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.roles import Roles
from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["ABOUT_CLASSES", "RequestedModels", "asked_models", "models_about", "sensitive_of"]


ABOUT_CLASSES: tuple[Model, ...] = (KAnonymity(1),)
"""The models about classes alone, with a parameter that every table meets."""


def models_about(column: str, *, numeric: bool) -> Iterator[Model]:
    """Every model about a sensitive column, with some parameter; ``numeric`` where its values have differences."""
    yield DistinctDiversity(column, 1)
    yield EntropyDiversity(column, 1)
    yield RecursiveDiversity(column, 1, 2)
    yield Closeness(column, 0)
    if numeric:
        yield Closeness(column, 0, "ordered")
        yield Closeness(column, 0, "numeric")
    yield AlphaK(column, 1)
    yield DeltaDisclosure(column, 1)
    yield BetaLikeness(column, 1)
    yield BetaLikeness(column, 1, enhanced=True)


@dataclass(frozen=True)
class RequestedModels:
    """The letters that were given; None where a model is not asked for."""

    k: int | None = None
    """How many rows look alike at least."""
    l: float | None = None  # noqa: E741  the letter of the model
    """How many values a sensitive column has in every class at least."""
    diversity: str = "distinct"
    """How values are counted for l: distinct, entropy or recursive."""
    c: float = 3.0
    """The c of recursive (c, l)-diversity."""
    t: float | None = None
    """How far a class may be from the table at most."""
    distance: str = "equal"
    """How distances are measured for t: equal, ordered or numeric."""
    alpha: float | None = None
    """The largest share of one sensitive value in a class."""
    beta: float | None = None
    """How much likelier a value may be in a class than in the table."""
    delta: float | None = None
    """How far the logarithm of that may go, up or down."""

    def models(self, roles: Roles) -> list[Model]:
        """The models, each for every sensitive column it speaks of."""
        about_columns = [self.l, self.t, self.alpha, self.beta, self.delta]
        if any(one is not None for one in about_columns) and not roles.sensitive:
            rule = "l, t, α, β and δ must be about a sensitive column"
            raise InvalidValue(rule, "<none>", "name it as sensitive")
        found: list[Model] = [] if self.k is None else [KAnonymity(self.k)]
        return [*found, *(model for name in roles.sensitive for model in self._about(name))]

    def _about(self, column: str) -> Iterator[Model]:
        if self.l is not None:
            yield self._diversity(column, self.l)
        if self.t is not None:
            yield Closeness(column, self.t, self.distance)
        if self.alpha is not None:
            yield AlphaK(column, self.alpha)
        if self.beta is not None:
            yield BetaLikeness(column, self.beta)
        if self.delta is not None:
            yield DeltaDisclosure(column, self.delta)

    def _diversity(self, column: str, least: float) -> Model:
        whole: Any = int(least) if least == int(least) else least
        match self.diversity:
            case "distinct":
                return DistinctDiversity(column, whole)
            case "entropy":
                return EntropyDiversity(column, least)
            case "recursive":
                return RecursiveDiversity(column, self.c, whole)
        raise InvalidValue("the diversity must be known", self.diversity, "one of distinct, entropy, recursive")


def asked_models(models: Model | Iterable[Model], roles: Roles) -> tuple[Model, ...]:
    """The models as a tuple: at least one, each about a sensitive column of ``roles`` if it is about one."""
    asked = (models,) if isinstance(models, Model) else tuple(models)
    if not asked:
        raise InvalidValue("a table must be published under a model", [], "KAnonymity(5) is the least")
    for model in asked:
        if not isinstance(model, Model):
            raise InvalidType("a model must be one of discreet.anonymize.models", model, "KAnonymity(5), for example")
        if model.sensitive is not None and model.sensitive not in roles.sensitive:
            rule = f"{model.name} must speak of a sensitive column"
            raise InvalidValue(rule, model.sensitive, suggestion(model.sensitive, roles.sensitive))
    return asked


def sensitive_of(models: Iterable[Model]) -> tuple[str, ...]:
    """The sensitive columns that the models speak of, each once."""
    return tuple(dict.fromkeys(model.sensitive for model in models if model.sensitive is not None))
