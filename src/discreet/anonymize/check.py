"""Check a table that is to be published: which models it satisfies, where it fails, and why.

This is not differential privacy: a table that passes can still tell what a person has, alone or beside another table.

>>> import pyarrow as pa
>>> from discreet.anonymize.models.l_diversity import DistinctDiversity
>>> from discreet.anonymize.models.k_anonymity import KAnonymity
>>> table = pa.table({"zip": ["130**", "130**", "148**", "148**"], "disease": ["flu", "flu", "flu", "cancer"]})
>>> roles = Roles.of(table.column_names, quasi="zip", sensitive="disease")
>>> report = check(table, roles, [KAnonymity(2), DistinctDiversity("disease", 2)])
>>> [(verdict.model.name, verdict.holds) for verdict in report.verdicts]
[('2-anonymity', True), ('distinct 2-diversity of disease', False)]
>>> report.violating()[0].sensitive
{'disease': {'flu': 2}}

A report also says the strictest parameter of every model that the table satisfies, whatever was asked of it, and how
much each quasi-identifier adds to what singles people out, which is seen by looking at the table without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import ClassHistogram, EquivalenceClasses
from discreet.anonymize.models.model import Flags, Histograms, Model
from discreet.anonymize.models.registry import ABOUT_CLASSES, models_about
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable, label_of
from discreet.catalog.names import suggestion
from discreet.errors import InvalidType, InvalidValue
from discreet.reports.format import counted, figure

__all__ = [
    "CheckReport",
    "IdentifierContribution",
    "ModelVerdict",
    "StrictestParameter",
    "ViolatingClass",
    "check",
    "contributions",
    "measures",
    "size_words",
    "strictest_words",
    "verdict_words",
]


@dataclass(frozen=True)
class StrictestParameter:
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
    def of(cls, model: Model, classes: EquivalenceClasses, histograms: Histograms) -> StrictestParameter:
        """The measure of a model, whose own parameter plays no part."""
        value = model.strictest(classes, histograms)
        return cls(model.title, model.sensitive, model.parameter, value, model.larger_is_stricter, model.bound_is_open)


def measures(classes: EquivalenceClasses, histograms: Histograms) -> tuple[StrictestParameter, ...]:
    """The measure of every model, for every sensitive column."""
    about = (model for name, one in histograms.items() for model in models_about(name, numeric=_is_numeric(one)))
    models = [*ABOUT_CLASSES, *about]
    return tuple(StrictestParameter.of(model, classes, histograms) for model in models)


def _is_numeric(histogram: ClassHistogram) -> bool:
    """Whether the values are numbers with finite differences, none missing."""
    return all(isinstance(value, (int, float)) and abs(value) < float("inf") for value in histogram.domain)


def strictest_words(measure: StrictestParameter) -> str:
    """The strictest parameter that holds.

    >>> strictest_words(StrictestParameter("k-anonymity", None, "k", 4.0, True, False))
    'k up to 4'
    """
    if not math.isfinite(measure.value):
        return f"no {measure.parameter} holds"
    if measure.is_largest:
        return f"{measure.parameter} up to {figure(measure.value)}"
    return f"{measure.parameter} {'above' if measure.is_open else 'from'} {figure(measure.value)}"


@dataclass(frozen=True)
class IdentifierContribution:
    """What would be left without one quasi-identifier."""

    column: str
    """The quasi-identifier that is left out."""
    unique_rows: int
    """How many rows would still be alone in their class."""
    classes: int
    """How many classes there would still be."""
    smallest_class: int
    """The size of the smallest class, which is the largest k that would hold."""
    unique_rows_removed: int
    """How many rows are alone in their class because of this column."""


def contributions(columns: Sequence[CodedColumn], classes: EquivalenceClasses) -> tuple[IdentifierContribution, ...]:
    """The contribution of every column, the largest first."""
    # Equal rows stay equal without a column, so one row of every class is enough.
    chosen = classes.representatives()
    codes = [column.codes[chosen] for column in columns]
    unique = _unique(classes)
    found = [_without(place, columns[place].name, codes, classes, unique) for place in range(len(columns))]
    return tuple(sorted(found, key=lambda one: (one.unique_rows, one.classes)))


def _without(
    place: int, name: str, codes: Sequence[np.ndarray], classes: EquivalenceClasses, unique: int
) -> IdentifierContribution:
    others = [*codes[:place], *codes[place + 1 :]] or [np.zeros(classes.count, dtype=np.int32)]
    rest = EquivalenceClasses.of(others, classes.sizes)
    left = _unique(rest)
    return IdentifierContribution(name, left, rest.count, int(rest.sizes.min()), unique - left)


def _unique(classes: EquivalenceClasses) -> int:
    return int(np.count_nonzero(classes.sizes == 1))


_MOST_PRINTED = 5


@dataclass(frozen=True, eq=False, repr=False)
class ModelVerdict:
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
    def of(cls, model: Model, classes: EquivalenceClasses, histograms: Histograms) -> ModelVerdict:
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
    classes: EquivalenceClasses
    """The rows that look alike."""
    histograms: Mapping[str, ClassHistogram]
    """For every sensitive column what occurs in every class."""
    verdicts: tuple[ModelVerdict, ...]
    """What was asked."""
    measures: tuple[StrictestParameter, ...]
    """The strictest parameter of every model that holds, asked or not."""
    contributions: tuple[IdentifierContribution, ...]
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


def verdict_words(verdict: ModelVerdict) -> str:
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


def check(source: Any, roles: Roles, models: Iterable[Model] = (), *, reference: Any = None) -> CheckReport:
    """What can be said about the classes of a table as it stands.

    ``models`` are what it should satisfy; the strictest parameter of every model is reported in any case. Models that
    compare a class with the whole table compare it with all rows of ``source``, or of ``reference`` where rows were
    suppressed after a distribution had been agreed on. It is not differential privacy.
    """
    asked = _checked_models(models, roles)
    table = CodedTable.of(source, [*roles.quasi, *roles.sensitive])
    if not table.rows:
        raise InvalidValue("a table must have rows", 0)
    columns = [table[name] for name in roles.quasi]
    classes = EquivalenceClasses.of([column.codes for column in columns])
    sensitive = {name: table[name] for name in roles.sensitive}
    histograms = _histograms(classes, sensitive, reference)
    return CheckReport(
        roles=roles,
        columns=tuple(columns),
        classes=classes,
        histograms=histograms,
        verdicts=tuple(ModelVerdict.of(model, classes, histograms) for model in asked),
        measures=measures(classes, histograms),
        contributions=contributions(columns, classes),
    )


def _checked_models(models: Iterable[Model], roles: Roles) -> Sequence[Model]:
    asked = list(models)
    for model in asked:
        if not isinstance(model, Model):
            raise InvalidType("what is checked must be a model", model, "KAnonymity(5), for example")
        if model.sensitive is not None and model.sensitive not in roles.sensitive:
            rule = f"{model.title} must speak of a sensitive column"
            raise InvalidValue(rule, model.sensitive, suggestion(model.sensitive, roles.sensitive))
    return asked


def _histograms(
    classes: EquivalenceClasses, sensitive: dict[str, CodedColumn], reference: Any
) -> dict[str, ClassHistogram]:
    if reference is None:
        return {name: classes.histogram(column) for name, column in sensitive.items()}
    whole = CodedTable.of(reference, list(sensitive))
    return {name: _against(classes, column, whole[name]) for name, column in sensitive.items()}


def _against(classes: EquivalenceClasses, column: CodedColumn, whole: CodedColumn) -> ClassHistogram:
    """The histogram of a column in the values of the whole table, compared with the whole table."""
    place = {value: code for code, value in enumerate(whole.values)}
    strange = [value for value in column.values if value not in place]
    if strange:
        rule = f"every value of '{column.name}' must occur in the reference"
        raise InvalidValue(rule, strange, "pass the table that the release was made from")
    codes = np.array([place[value] for value in column.values], dtype=np.int32)[column.codes]
    table = np.bincount(whole.codes, minlength=len(whole.values))
    return classes.histogram(CodedColumn(column.name, codes, whole.values)).against(table)
