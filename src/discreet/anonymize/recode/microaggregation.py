"""Microaggregation: near rows form groups, and the numbers of a group are replaced by their mean.

This is not differential privacy: whoever knows all rows of a group but one computes the last one from the mean.

>>> import pyarrow as pa
>>> pay = pa.table({"salary": [30, 31, 35, 70, 72, 90], "disease": list("fcfccf")})
>>> roles = Roles.of(pay.column_names, quasi="salary", sensitive="disease")
>>> microaggregate(pay, roles, 3).table.column("salary").to_pylist()
[32.0, 32.0, 32.0, 77.33333333333333, 77.33333333333333, 77.33333333333333]

Groups of at least k near points are found by MDAV, the maximum distance to the average vector. Again and again the
point that is farthest from the middle forms a group with the points nearest to it, and so does the point farthest from
it. Large tables are cut into blocks first, since every group looks at every point that is left.

Groups that break a model are merged with the nearest others, until none is left that does: merging groups that meet a
model keeps it, and all rows as one group meet all models, so this comes to an end.

Of a single column the best groups are runs of neighbours, found by dynamic programming. Best is the least sum of
squared distances to the mean of the group (Hansen and Mukherjee). Equal numbers stay together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import asked_models
from discreet.anonymize.recode.mondrian import Progress
from discreet.anonymize.recode.recoding import Acceptance, Recoded, Recoding, coded_for, releasable, release
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable, arrow_table
from discreet.errors import InvalidType, InvalidValue

__all__ = ["MicroaggregatedRecoding", "consecutive_groups", "mdav", "merged_until_accepted", "microaggregate"]


Whole = npt.NDArray[np.int64]
Points = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_BLOCK = 2048


def mdav(points: Points, counts: Whole, k: int, progress: Callable[[float], None] | None = None) -> Whole:
    """For every point its group. Point ``i`` stands for ``counts[i]`` rows; each group has at least k rows."""
    group = np.zeros(len(points), dtype=np.int64)
    found = done = 0
    for block in _blocks(points, max(_BLOCK, 4 * k)):
        members = list(_block_groups(points[block], counts[block], k))
        for number, places in enumerate(members, start=found):
            group[block[places]] = number
        found += len(members)
        done += len(block)
        if progress is not None:
            progress(done / len(points))
    return group


def _blocks(points: Points, most: int) -> Iterator[Places]:
    """The points in blocks of at most ``most``, halved along their widest side."""
    waiting = [np.arange(len(points))]
    while waiting:
        block = waiting.pop()
        if len(block) <= most:
            yield block
            continue
        side = int(np.argmax(np.ptp(points[block], axis=0)))
        halves = np.argpartition(points[block, side], len(block) // 2)
        waiting += [block[halves[: len(block) // 2]], block[halves[len(block) // 2 :]]]


def _block_groups(points: Points, counts: Whole, k: int) -> Iterator[Places]:
    """The groups of one block. What is left in the end, fewer than 2k rows, is a group or joins the last one."""
    left = np.arange(len(points))
    last: Places = left[:0]
    far_from = None
    while counts[left].sum() >= 2 * k:
        middle = np.average(points[left], axis=0, weights=counts[left]) if far_from is None else far_from
        seed = left[np.argmax(_distances(points[left], middle))]
        if len(last):
            yield last
        last = _nearest(points, counts, left, points[seed], k)
        left = left[~np.isin(left, last, assume_unique=True)]
        far_from = points[seed] if far_from is None else None
    if counts[left].sum() >= k and len(last):
        yield last
        last = left[:0]
    yield np.concatenate([last, left])


def _nearest(points: Points, counts: Whole, left: Places, seed: Points, k: int) -> Places:
    """The points nearest to a seed, as many as have k rows."""
    distances = _distances(points[left], seed)
    few = np.argpartition(distances, k - 1)[:k] if len(left) > k else np.arange(len(left))
    few = few[np.argsort(distances[few], kind="stable")]
    needed = int(np.searchsorted(np.cumsum(counts[left[few]]), k)) + 1
    return left[few[:needed]]


def _distances(points: Points, centre: Points) -> Points:
    apart = points - centre
    return np.asarray(np.einsum("ij,ij->i", apart, apart))


def merged_until_accepted(group: Whole, points: Points, acceptance: Acceptance) -> Whole:
    """For every row its group, after each refused group was merged with the one whose middle is nearest."""
    while True:
        sizes = np.bincount(group)
        refused = np.flatnonzero(acceptance.violating(group, np.arange(len(group)), sizes))
        if not len(refused) or len(sizes) == 1:
            return group
        group = _join(refused, _nearest_other(_middles(group, points, sizes), refused), len(sizes))[group]


def _middles(group: Whole, points: Points, sizes: Whole) -> Points:
    return np.stack([np.bincount(group, side) for side in points.T], axis=1) / sizes[:, None]


def _nearest_other(middles: Points, refused: Whole) -> Whole:
    """For every refused group another one with the nearest middle."""
    from scipy.spatial import KDTree  # noqa: PLC0415  an import of a third of a second, for those who need it

    found = np.asarray(KDTree(middles).query(middles[refused], k=2)[1])
    return np.where(found[:, 0] == refused, found[:, 1], found[:, 0])


def _join(one: Whole, other: Whole, groups: int) -> Whole:
    """For every group the number of what it is part of when these pairs are joined."""
    from scipy.sparse import coo_array  # noqa: PLC0415  an import of a third of a second, for those who need it
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    pairs = coo_array((np.ones(len(one)), (one, other)), shape=(groups, groups))
    _, number = connected_components(pairs, directed=False)
    return np.asarray(number, dtype=np.int64)


Numbers = npt.NDArray[np.float64]


def consecutive_groups(numbers: Numbers, counts: Whole, k: int) -> Whole:
    """For every number, in increasing order, its group; number ``i`` occurs ``counts[i]`` times, k times in total.

    A group that could be cut into two large enough ones need not be looked at, because a cut never adds to the sum of
    squares. So of the groups that end at a number at most k are compared.
    """
    rows = np.append(0, np.cumsum(counts))
    sums = np.append(0.0, np.cumsum(counts * numbers))
    squares = np.append(0.0, np.cumsum(counts * numbers**2))
    latest = np.searchsorted(rows, rows - k, "right") - 1  # the last start that leaves k rows
    earliest = np.searchsorted(rows, rows[np.maximum(latest, 0)] - k, "right")
    costs = np.full(len(rows), np.inf)
    costs[0] = 0.0
    start = np.zeros(len(rows), dtype=np.int64)
    for end in np.flatnonzero(latest >= 0).tolist():
        first, last = earliest[end], latest[end] + 1
        size, total = rows[end] - rows[first:last], sums[end] - sums[first:last]
        tried = costs[first:last] + (squares[end] - squares[first:last]) - total**2 / size
        best = int(np.argmin(tried))
        costs[end], start[end] = tried[best], first + best
    return _number(start)


def _number(start: Whole) -> Whole:
    """The group of every number, from where the last group of each beginning of the list starts."""
    begins = np.zeros(len(start) - 1, dtype=np.int64)
    end = len(start) - 1
    while end > 0:
        begins[start[end]] = 1
        end = int(start[end])
    return np.cumsum(begins) - 1


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
    alike = EquivalenceClasses.of([np.unique(side, return_inverse=True)[1] for side in points.T])
    first = alike.representatives()
    grouped = _group(points[first], alike.sizes, k, progress)
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


def _group(points: Numbers, counts: Whole, k: int, progress: Progress | None) -> Whole:
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
    stated = np.where(kept[:, None] & ~np.isnan(released), released, middle)
    lost, whole = (np.nansum((numbers - what) ** 2, axis=0) for what in (stated, middle))
    return [float(share) for share in np.divide(lost, whole, out=np.zeros(len(whole)), where=whole > 0)]
