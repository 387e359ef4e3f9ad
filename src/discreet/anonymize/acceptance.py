"""Whether classes would meet every model, for many candidate classes at once.

A search that splits classes asks this before each split. Models that compare with the whole table compare with all of
its rows, also when only some of them are in the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes, Counts
from discreet.anonymize.coded import CodedColumn, CodedTable
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Flags, Histograms, Model
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidType, InvalidValue, OutOfReach

__all__ = ["Acceptance", "refuse_unfit_models"]


@dataclass(frozen=True, eq=False)
class Acceptance:
    """The models that every class must meet, with the sensitive columns they speak of."""

    models: tuple[Model, ...]
    """All of them hold together."""
    sensitive: Mapping[str, CodedColumn]
    """The sensitive columns that a model speaks of."""
    table: Mapping[str, Counts]
    """For each of them how often every value occurs in the whole table."""

    @classmethod
    def of(cls, table: CodedTable, roles: Roles, models: Sequence[Model]) -> Acceptance:
        """The models for a table; refuses models that not even the whole table as one class meets."""
        refuse_unfit_models(models, roles)
        named = {model.sensitive for model in models if model.sensitive is not None}
        columns = {name: table[name] for name in roles.sensitive if name in named}
        counts = {name: np.bincount(one.codes, minlength=len(one.values)) for name, one in columns.items()}
        found = cls(tuple(models), columns, counts)
        found._refuse_out_of_reach(table.rows)
        return found

    @property
    def least(self) -> int:
        """The fewest rows that a class may have."""
        return max(model.least_size for model in self.models)

    @property
    def counts_alone(self) -> bool:
        """Whether the size of a class decides."""
        return all(isinstance(model, KAnonymity) for model in self.models)

    def violating(
        self, number: npt.NDArray[np.integer], rows: npt.NDArray[np.intp], sizes: npt.NDArray[np.integer]
    ) -> Flags:
        """For every class whether it breaks a model. Class ``number[i]`` has row ``rows[i]`` of the table."""
        classes = Classes(number.astype(np.int64, copy=False), sizes.astype(np.int64, copy=False))
        broken = np.zeros(classes.count, dtype=np.bool_)
        histograms = self._histograms(classes, rows)
        for model in self.models:
            broken |= model.violating(classes, histograms)
        return broken

    def _histograms(self, classes: Classes, rows: npt.NDArray[np.intp]) -> Histograms:
        return {
            name: classes.histogram(CodedColumn(name, column.codes[rows], column.values)).against(self.table[name])
            for name, column in self.sensitive.items()
        }

    def _refuse_out_of_reach(self, rows: int) -> None:
        every = np.arange(rows)
        classes = Classes(np.zeros(rows, dtype=np.int64), np.array([rows]))
        histograms = self._histograms(classes, every)
        for model in self.models:
            if not rows or model.violating(classes, histograms).any():
                best = f"{model.parameter} = {model.strictest(classes, histograms):.4g}" if rows else "no row"
                rule = f"{model.name} must hold at least when all {rows} rows are one class"
                raise OutOfReach(rule, f"<{best}>", "no generalisation can do better; ask for less")


def refuse_unfit_models(models: Sequence[Model], roles: Roles) -> None:
    """Refuse a list that is empty, what is no model, and models of columns that are not sensitive."""
    if not models:
        raise InvalidValue("a table must be published under a model", list(models), "KAnonymity(5), for example")
    for model in models:
        _refuse_unfit(model, roles)


def _refuse_unfit(model: object, roles: Roles) -> None:
    if not isinstance(model, Model):
        raise InvalidType("a model must be one of discreet.anonymize.models", model, "KAnonymity(5), for example")
    if model.sensitive is not None and model.sensitive not in roles.sensitive:
        known = ", ".join(roles.sensitive) or "there is none"
        raise InvalidValue(f"{model.name} must speak of a sensitive column", model.sensitive, f"sensitive: {known}")
