"""Microaggregation: near rows form groups, and the numbers of a group are replaced by their mean.

This is not differential privacy: whoever knows all rows of a group but one computes the last one from the mean.

>>> import pyarrow as pa
>>> pay = pa.table({"salary": [30, 31, 35, 70, 72, 90], "disease": list("fcfccf")})
>>> roles = Roles.of(pay.column_names, quasi="salary", sensitive="disease")
>>> microaggregate(pay, roles, 3).table.column("salary").to_pylist()
[32.0, 32.0, 32.0, 77.33333333333333, 77.33333333333333, 77.33333333333333]
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.acceptance import Acceptance
from discreet.anonymize.asked_models import asked_models
from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedColumn, CodedTable
from discreet.anonymize.consecutive_groups import consecutive_groups
from discreet.anonymize.mdav import mdav
from discreet.anonymize.median_cuts import Progress
from discreet.anonymize.merging import merged_until_accepted
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.rechecking import coded_for, releasable
from discreet.anonymize.recoded import Recoded
from discreet.anonymize.recoding import Recoding
from discreet.anonymize.release import release
from discreet.anonymize.roles import Roles
from discreet.anonymize.source import arrow_table
from discreet.errors import InvalidType, InvalidValue

__all__ = ["MicroaggregatedRecoding", "microaggregate"]

Whole = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

_MISSING_APART = 4.0  # standard deviations: rows with and without a value share a group only where they must


def microaggregate(
    source: Any,
    roles: Roles,
    k: int,
    *,
    models: Model | Iterable[Model] = (),
    progress: Progress | None = None,
) -> Recoded:
    """Replace the numbers of groups of at least ``k`` near rows by their means. It is not differential privacy.

    All quasi-identifiers must be numbers. One column is grouped in the best possible way, several by MDAV, each in
    units of its standard deviation. Groups that break one of ``models`` are merged with the nearest ones. Where some
    rows of a group lack a number, the whole group is released without it. Equal rows always share a group.
    """
    asked = asked_models((KAnonymity(k), *((models,) if isinstance(models, Model) else models)), roles)
    table = arrow_table(source)
    coded = coded_for(table, roles, asked)
    acceptance = Acceptance.of(coded, asked)
    numbers = _numbers(coded, roles)
    scaling = _Scaling.of(numbers)
    points = scaling.points(numbers)
    alike = Classes.of([np.unique(side, return_inverse=True)[1] for side in points.T])
    first = alike.representatives()
    grouped = _grouped(points[first], alike.sizes, k, progress)
    group = merged_until_accepted(grouped[alike.number], points, acceptance)
    means = _means(numbers, group)
    return MicroaggregatedRecoding(roles, asked, scaling, points[first], group[first], means).published(
        table, coded, group
    )


@dataclass(frozen=True, eq=False)
class MicroaggregatedRecoding(Recoding):
    """The groups with their means. It holds every combination of numbers that was fitted: guard it like the table."""

    roles: Roles
    """The columns by role."""
    models: tuple[Model, ...]
    """What every class meets."""
    scaling: _Scaling
    """How numbers become points."""
    points: Numbers
    """The points that were fitted, each once."""
    group: Whole
    """For every point its group."""
    means: Numbers
    """For every group the mean of every quasi-identifier; not a number where some rows lack it."""

    def transform(self, source: Any) -> pa.Table:
        """The rows in the groups of the nearest fitted ones, checked again.

        Classes that break a model are left out, and so are rows that lack a number which their group has.
        """
        from scipy.spatial import KDTree  # noqa: PLC0415  an import of a third of a second, for those who need it

        table = arrow_table(source)
        coded = coded_for(table, self.roles, self.models)
        points = self.scaling.points(_numbers(coded, self.roles))
        _, nearest = KDTree(self.points).query(points)
        return self.published(table, coded, self.group[nearest]).table

    def published(self, table: pa.Table, coded: CodedTable, group: Whole) -> Recoded:
        """What is released of rows that belong to these groups."""
        numbers, means = _numbers(coded, self.roles), self.means[group]
        invented = np.any(np.isnan(numbers) & ~np.isnan(means), axis=1)
        cells = [np.unique(side, return_inverse=True)[1] for side in self.means.T]
        kept = releasable([cell[group] for cell in cells], ~invented, coded, self.models)
        columns = {name: pa.array(means[:, at], from_pandas=True) for at, name in enumerate(self.roles.quasi)}
        released = release(table, self.roles, columns, kept)
        losses = dict(zip(self.roles.quasi, _lost_variance(numbers, means, kept), strict=True))
        return Recoded(self, released, self.roles.quasi, int((~kept).sum()), losses)


@dataclass(frozen=True, eq=False)
class _Scaling:
    """How numbers become points: in standard deviations from the mean, with an axis of its own for what is missing."""

    mean: Numbers
    deviation: Numbers
    gaps: npt.NDArray[np.bool_]
    """The columns with missing cells."""

    @classmethod
    def of(cls, numbers: Numbers) -> _Scaling:
        missing = np.isnan(numbers)
        count = np.maximum((~missing).sum(axis=0), 1)
        mean = np.where(missing, 0.0, numbers).sum(axis=0) / count
        deviation = np.sqrt((np.where(missing, 0.0, numbers - mean) ** 2).sum(axis=0) / count)
        return cls(mean, np.where(deviation > 0, deviation, 1.0), np.asarray(missing.any(axis=0)))

    def points(self, numbers: Numbers) -> Numbers:
        missing = np.isnan(numbers)
        scaled = np.where(missing, 0.0, (numbers - self.mean) / self.deviation)
        return np.concatenate([scaled, _MISSING_APART * missing[:, self.gaps]], axis=1)


def _grouped(points: Numbers, counts: Whole, k: int, progress: Progress | None) -> Whole:
    if points.shape[1] > 1:
        return mdav(points, counts, k, progress)
    order = np.argsort(points[:, 0], kind="stable")
    group = np.empty(len(points), dtype=np.int64)
    group[order] = consecutive_groups(points[order, 0], counts[order], k)
    return group


def _numbers(table: CodedTable, roles: Roles) -> Numbers:
    """The quasi-identifiers by row and column; not a number where a cell is missing."""
    return np.stack([_column(table[name]) for name in roles.quasi], axis=1)


def _column(column: CodedColumn) -> Numbers:
    for value in column.values:
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, type(None))):
            remedy = "use mondrian, which cuts whatever has an order"
            raise InvalidType(f"column '{column.name}' must be of numbers to be averaged", value, remedy)
        if value is not None and not math.isfinite(value):
            raise InvalidValue(f"the numbers of '{column.name}' must be finite to be averaged", value)
    return np.array([math.nan if value is None else float(value) for value in column.values])[column.codes]


def _means(numbers: Numbers, group: Whole) -> Numbers:
    sizes = np.bincount(group)
    return np.stack([np.bincount(group, side) for side in numbers.T], axis=1) / sizes[:, None]


def _lost_variance(numbers: Numbers, released: Numbers, kept: npt.NDArray[np.bool_]) -> list[float]:
    """By column the share of the variance that is lost; of a number that is not released, nothing is told."""
    middle = np.broadcast_to(_Scaling.of(numbers).mean, numbers.shape)
    told = np.where(kept[:, None] & ~np.isnan(released), released, middle)
    lost, whole = (np.nansum((numbers - what) ** 2, axis=0) for what in (told, middle))
    return [float(share) for share in np.divide(lost, whole, out=np.zeros(len(whole)), where=whole > 0)]
