"""Check a table that is to be published: which models it satisfies, where it fails, and why.

This is not differential privacy: a table that passes can still tell what a person has, alone or beside another table.

>>> import pyarrow as pa
>>> from discreet.anonymize.models.distinct_diversity import DistinctDiversity
>>> from discreet.anonymize.models.k_anonymity import KAnonymity
>>> table = pa.table({"zip": ["130**", "130**", "148**", "148**"], "disease": ["flu", "flu", "flu", "cancer"]})
>>> roles = Roles.of(table.column_names, quasi="zip", sensitive="disease")
>>> report = check(table, roles, [KAnonymity(2), DistinctDiversity("disease", 2)])
>>> [(verdict.model.name, verdict.holds) for verdict in report.verdicts]
[('2-anonymity', True), ('distinct 2-diversity of disease', False)]
>>> report.violating()[0].sensitive
{'disease': {'flu': 2}}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from discreet.anonymize.check_report import CheckReport, Verdict
from discreet.anonymize.classes import Classes, ClassHistogram
from discreet.anonymize.coded import CodedColumn, CodedTable
from discreet.anonymize.contribution import contributions
from discreet.anonymize.measures import measures
from discreet.anonymize.models.model import Model
from discreet.anonymize.roles import Roles
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidType, InvalidValue

__all__ = ["check"]


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
    classes = Classes.of([column.codes for column in columns])
    sensitive = {name: table[name] for name in roles.sensitive}
    histograms = _histograms(classes, sensitive, reference)
    return CheckReport(
        roles=roles,
        columns=tuple(columns),
        classes=classes,
        histograms=histograms,
        verdicts=tuple(Verdict.of(model, classes, histograms) for model in asked),
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


def _histograms(classes: Classes, sensitive: dict[str, CodedColumn], reference: Any) -> dict[str, ClassHistogram]:
    if reference is None:
        return {name: classes.histogram(column) for name, column in sensitive.items()}
    whole = CodedTable.of(reference, list(sensitive))
    return {name: _against(classes, column, whole[name]) for name, column in sensitive.items()}


def _against(classes: Classes, column: CodedColumn, whole: CodedColumn) -> ClassHistogram:
    """The histogram of a column in the values of the whole table, compared with the whole table."""
    place = {value: code for code, value in enumerate(whole.values)}
    strange = [value for value in column.values if value not in place]
    if strange:
        rule = f"every value of '{column.name}' must occur in the reference"
        raise InvalidValue(rule, strange, "pass the table that the release was made from")
    codes = np.array([place[value] for value in column.values], dtype=np.int32)[column.codes]
    table = np.bincount(whole.codes, minlength=len(whole.values))
    return classes.histogram(CodedColumn(column.name, codes, whole.values)).against(table)
