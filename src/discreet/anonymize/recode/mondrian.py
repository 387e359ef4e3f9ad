"""Mondrian: cut the table at medians, again and again, as long as every part meets the models.

This is not differential privacy: where the cuts lie depends on the rows, and what the rows of a class have in common
is told of everybody in it.

>>> import pyarrow as pa
>>> from discreet.anonymize.models.k_anonymity import KAnonymity
>>> people = pa.table({"age": [21, 24, 33, 37, 38], "zip": ["A", "B", "A", "A", "B"], "disease": list("ccfcf")})
>>> roles = Roles.of(people.column_names, quasi=["age", "zip"], sensitive="disease")
>>> mondrian(people, roles, [KAnonymity(2)]).table.column("age").to_pylist()
['[21, 33]', '[21, 33]', '[21, 33]', '[37, 38]', '[37, 38]']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from discreet.anonymize.hierarchies.hierarchy import Hierarchy, matched_hierarchies
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import asked_models
from discreet.anonymize.recode.axes import Axis
from discreet.anonymize.recode.labels import group_labels, range_labels, region_labels, region_sets, set_labels
from discreet.anonymize.recode.median_cuts import Progress, grow_cuts
from discreet.anonymize.recode.partition_tree import CutTree, Front, LeafLabels, LeafRecoding, Positions, Whole
from discreet.anonymize.recode.recoding import Acceptance, Recoded, coded_for
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable, arrow_table
from discreet.errors import InvalidValue

__all__ = ["Labels", "MondrianRecoding", "mondrian"]


Labels = Literal["range", "set", "hierarchy"]
"""How classes are written: numbers as ranges and the rest as sets, all as sets, or by the groups of hierarchies."""


def mondrian(
    source: Any,
    roles: Roles,
    models: Model | Iterable[Model],
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    relaxed: bool = False,
    labels: Labels = "range",
    tight: bool = True,
    progress: Progress | None = None,
) -> Recoded:
    """Recode a table so that every class meets all models, with no row suppressed. It is not differential privacy.

    Strict cuts keep equal values together; relaxed ones halve the rows, so that classes overlap and are smaller. With
    ``hierarchies``, cuts run through text in the order of its groups; ``labels="hierarchy"`` writes those groups, and
    columns without a hierarchy as ranges or sets. Tight labels tell what the rows of a class have; others tell what
    the cuts allow, and are true of rows that come later too. Raises ``OutOfReach`` where the whole table as one class
    breaks a model.
    """
    if labels not in get_args(Labels):
        raise InvalidValue("labels must be known", labels, f"one of {', '.join(get_args(Labels))}")
    table = arrow_table(source)
    asked = asked_models(models, roles)
    coded = coded_for(table, roles, asked)
    acceptance = Acceptance.of(coded, asked)
    axes = _axes(coded, roles, hierarchies or {}, labels)
    codes = np.stack([axis.codes(coded[axis.name]) for axis in axes])
    tree, leaf = grow_cuts(codes, [axis.scale for axis in axes], acceptance, relaxed=relaxed, progress=progress)
    written = _tight(axes, codes, leaf, labels) if tight else _regions(axes, tree, labels)
    recoding = MondrianRecoding(roles, asked, axes, written, tree)
    return recoding.published(table, coded, leaf)


@dataclass(frozen=True, eq=False)
class MondrianRecoding(LeafRecoding):
    """The cuts that Mondrian found, with a label for every part on every axis."""

    tree: CutTree
    """The cuts."""

    def leaf_of(self, positions: Positions) -> Whole:
        """The part that a row falls into; there is one for every row."""
        return self.tree.leaf_of(positions)


def _axes(table: CodedTable, roles: Roles, given: Mapping[str, Hierarchy], labels: Labels) -> tuple[Axis, ...]:
    matched = matched_hierarchies(table, roles.quasi, given)
    return tuple(_axis(table[name], matched[name] if name in given else None, labels) for name in roles.quasi)


def _axis(column: CodedColumn, hierarchy: Hierarchy | None, labels: Labels) -> Axis:
    """Numbers and dates keep their own order, unless the groups of a hierarchy are to be written."""
    own = Axis.of(column)
    if hierarchy is None or (own.is_measured and labels != "hierarchy"):
        return own
    return Axis.along(column.name, hierarchy)


def _tight(axes: Sequence[Axis], codes: Positions, leaf: Whole, labels: Labels) -> tuple[LeafLabels, ...]:
    front = Front.grouped(codes, leaf)
    return tuple(_tight_on(axis, front, place, labels) for place, axis in enumerate(axes))


def _tight_on(axis: Axis, front: Front, place: int, labels: Labels) -> LeafLabels:
    if labels == "hierarchy" and axis.levels is not None:
        return group_labels(axis, *front.extremes(place))
    if labels != "set" and axis.is_measured:
        return range_labels(axis, front, place)
    return set_labels(axis, front, place)


def _regions(axes: Sequence[Axis], tree: CutTree, labels: Labels) -> tuple[LeafLabels, ...]:
    lows, highs = tree.regions([axis.highest for axis in axes])
    return tuple(_region_on(*found, labels) for found in zip(axes, lows, highs, strict=True))


def _region_on(axis: Axis, low: Whole, high: Whole, labels: Labels) -> LeafLabels:
    if labels == "hierarchy" and axis.levels is not None:
        return group_labels(axis, (low + 1) // 2, np.minimum(high // 2, len(axis.values) - 1))
    if labels != "set" and axis.is_measured:
        return region_labels(axis, low, high)
    return region_sets(axis, low, high)
