"""What a check found. It says nothing about differential privacy, which no look at a table can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes, ClassHistogram
from discreet.anonymize.coded import CodedColumn, label_of
from discreet.anonymize.contribution import Contribution
from discreet.anonymize.figures import counted
from discreet.anonymize.measures import Measure, strictest_words
from discreet.anonymize.models.model import Flags, Histograms, Model
from discreet.anonymize.roles import Roles

__all__ = ["CheckReport", "Verdict", "ViolatingClass", "size_words", "verdict_words"]

_MOST_PRINTED = 5


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Whether a table satisfies a model, and where it does not."""

    model: Model
    """The model."""
    violating: Flags
    """For every class whether it breaks the model."""
    violating_rows: int
    """How many rows are in those classes."""
    strictest: float
    """The strictest parameter that holds: the largest k or l, the smallest c, t, α, δ or β."""

    @classmethod
    def of(cls, model: Model, classes: Classes, histograms: Histograms) -> Verdict:
        """The verdict on some classes."""
        violating = model.violating(classes, histograms)
        return cls(model, violating, int(classes.sizes[violating].sum()), model.strictest(classes, histograms))

    def __repr__(self) -> str:
        return f"Verdict({self.model.name}: {verdict_words(self)})"

    @property
    def holds(self) -> bool:
        """Whether no class breaks the model."""
        return not self.violating.any()

    @property
    def violating_classes(self) -> int:
        """How many classes break the model."""
        return int(np.count_nonzero(self.violating))


@dataclass(frozen=True)
class ViolatingClass:
    """One class that breaks a model."""

    number: int
    """The number of the class."""
    values: dict[str, str]
    """What its rows say in every quasi-identifier."""
    rows: int
    """How many rows it has."""
    breaks: tuple[str, ...]
    """The names of the models it breaks."""
    sensitive: dict[str, dict[str, int]]
    """For every sensitive column how often each value occurs, the most frequent first."""

    def __str__(self) -> str:
        values = ", ".join(f"{name} {value}" for name, value in self.values.items())
        return f"{counted(self.rows, 'row', 'rows')} with {values or 'no values'}: not {', '.join(self.breaks)}"


@dataclass(frozen=True, eq=False, repr=False)
class CheckReport:
    """The classes of a table, the verdict of every model, and what singles people out."""

    roles: Roles
    """The roles of the columns."""
    columns: tuple[CodedColumn, ...]
    """The quasi-identifiers."""
    classes: Classes
    """The rows that look alike."""
    histograms: Mapping[str, ClassHistogram]
    """For every sensitive column what occurs in every class."""
    verdicts: tuple[Verdict, ...]
    """What was asked."""
    measures: tuple[Measure, ...]
    """The strictest parameter of every model that holds, asked or not."""
    contributions: tuple[Contribution, ...]
    """What each quasi-identifier adds to uniqueness, the one that adds most first."""

    def __repr__(self) -> str:
        return f"CheckReport({size_words(self)})"

    def __str__(self) -> str:
        lines = [f"{size_words(self)}.", "This is not differential privacy."]
        lines += [f"{'yes' if one.holds else 'no':3}  {one.model.name}: {verdict_words(one)}" for one in self.verdicts]
        for measure in self.measures:
            about = measure.model if measure.column is None else f"{measure.model} of {measure.column}"
            lines.append(f"     strictest {about}: {strictest_words(measure)}")
        return "\n".join(lines + [f"     {one}" for one in self.violating(_MOST_PRINTED)])

    @property
    def holds(self) -> bool:
        """Whether every model holds."""
        return all(verdict.holds for verdict in self.verdicts)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.classes.rows

    @property
    def k(self) -> int:
        """The size of the smallest class."""
        return int(self.classes.sizes.min())

    @property
    def unique_rows(self) -> int:
        """How many rows are alone in their class."""
        return int(np.count_nonzero(self.classes.sizes == 1))

    def measure(self, model: str, column: str | None = None) -> float:
        """The strictest parameter of a model by its title, such as ``distinct l-diversity``."""
        return next(one.value for one in self.measures if one.model == model and one.column == column)

    def violating(self, limit: int | None = 10) -> list[ViolatingClass]:
        """The classes that break a model, the smallest first, at most ``limit`` of them."""
        flags = np.zeros(self.classes.count, dtype=np.bool_)
        for verdict in self.verdicts:
            flags |= verdict.violating
        numbers = np.flatnonzero(flags)
        numbers = numbers[np.argsort(self.classes.sizes[numbers], kind="stable")][:limit]
        rows = self.classes.representatives()[numbers]
        return [self._described(int(number), int(row)) for number, row in zip(numbers, rows, strict=True)]

    def rows_of(self, number: int) -> npt.NDArray[np.intp]:
        """The places of the rows of a class, from 0, whatever index the table had."""
        return np.flatnonzero(self.classes.number == number)

    def _described(self, number: int, row: int) -> ViolatingClass:
        values = {column.name: label_of(column.values[column.codes[row]]) for column in self.columns}
        breaks = tuple(verdict.model.name for verdict in self.verdicts if verdict.violating[number])
        sensitive = {name: _occurring(one, number) for name, one in self.histograms.items()}
        return ViolatingClass(number, values, int(self.classes.sizes[number]), breaks, sensitive)


def verdict_words(verdict: Verdict) -> str:
    """Where a model fails, or that it holds."""
    if verdict.holds:
        return "holds"
    classes = counted(verdict.violating_classes, "class", "classes")
    return f"broken by {classes} with {counted(verdict.violating_rows, 'row', 'rows')}"


def size_words(report: CheckReport) -> str:
    """How many rows look alike."""
    parts = f"{counted(report.rows, 'row', 'rows')} in {counted(report.classes.count, 'class', 'classes')}"
    return f"{parts}, the smallest with {counted(report.k, 'row', 'rows')}"


def _occurring(histogram: ClassHistogram, number: int) -> dict[str, int]:
    first, last = np.searchsorted(histogram.classes, [number, number + 1])
    entries = range(int(first), int(last))
    ordered = sorted(entries, key=lambda entry: -int(histogram.counts[entry]))
    return {label_of(histogram.domain[histogram.values[entry]]): int(histogram.counts[entry]) for entry in ordered}
