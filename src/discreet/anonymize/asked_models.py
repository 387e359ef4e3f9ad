"""The models that an owner asked for, refused when they cannot be meant."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.anonymize.models.model import Model
from discreet.anonymize.roles import Roles
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["asked_models", "sensitive_of"]


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
