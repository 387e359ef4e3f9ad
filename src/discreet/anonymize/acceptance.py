"""Whether classes would meet every model, for many candidate classes at once.

A search that splits classes asks this before each split. Models that compare with the whole table compare with all of
its rows, also when only some of them are in the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.asked_models import sensitive_of
from discreet.anonymize.classes import Classes, Counts
from discreet.anonymize.coded import CodedColumn, CodedTable
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Flags, Histograms, Model
from discreet.errors import OutOfReach

__all__ = ["Acceptance"]


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
    def of(cls, table: CodedTable, models: Sequence[Model]) -> Acceptance:
        """The models for a table; refuses models that not even the whole table as one class meets."""
        columns = {name: table[name] for name in sensitive_of(models)}
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
        classes = Classes(np.zeros(rows, dtype=np.int64), np.array([rows]))
        histograms = self._histograms(classes, np.arange(rows))
        for model in self.models:
            if model.violating(classes, histograms).any():
                best = f"{model.parameter} = {model.strictest(classes, histograms):.4g}"
                rule = f"{model.name} must hold at least when all {rows} rows are one class"
                raise OutOfReach(rule, f"<{best}>", "no recoding does better without suppression; ask for less")
