"""Recodings by a tree: every row goes to a leaf and gets the labels of the leaf.

A row that the labels of its leaf do not cover is not released: they would not be true of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.acceptance import refuse_unfit_models
from discreet.anonymize.axes import Axis
from discreet.anonymize.classes import SUPPRESSED_ROW, Classes
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.leaf_labels import Flags, LeafLabels, Whole
from discreet.anonymize.models.model import Model
from discreet.anonymize.recoded import Recoded
from discreet.anonymize.recoding import Recoding
from discreet.anonymize.release import refuse_other_columns, release
from discreet.anonymize.roles import Roles
from discreet.anonymize.source import arrow_table

__all__ = ["LeafRecoding", "coded_for", "violating_rows"]

Positions = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class LeafRecoding(Recoding):
    """A recoding by the leaves of a tree. It holds values and counts of the fitted table, and no rows."""

    roles: Roles
    """The columns by role."""
    models: tuple[Model, ...]
    """What every class meets."""
    axes: tuple[Axis, ...]
    """The quasi-identifiers."""
    labels: tuple[LeafLabels, ...]
    """For every quasi-identifier the label of every leaf."""

    @abstractmethod
    def leaf_of(self, positions: Positions) -> Whole:
        """The leaf of every row with these positions, by axis; -1 where there is none."""

    def transform(self, source: Any) -> pa.Table:
        """The rows recoded in the same way and checked again.

        Rows that no label covers are left out, and so are classes that break a model among the new rows.
        """
        table = arrow_table(source)
        coded = coded_for(table, self.roles, self.models)
        positions = np.stack([axis.positions(coded[axis.name]) for axis in self.axes])
        leaf = self.leaf_of(positions)
        return self.published(table, coded, np.where(self._covered(leaf, positions), leaf, SUPPRESSED_ROW)).table

    def published(self, table: pa.Table, coded: CodedTable, leaf: Whole) -> Recoded:
        """What is released of rows that belong to these leaves; -1 for rows that are left out."""
        inside = np.flatnonzero(leaf != SUPPRESSED_ROW)
        number = np.full(len(leaf), SUPPRESSED_ROW, dtype=np.int64)
        number[inside] = Classes.of([labels.number[leaf[inside]] for labels in self.labels]).number
        kept = (leaf != SUPPRESSED_ROW) & ~violating_rows(number, coded, self.models)
        at = np.where(kept, leaf, 0)
        columns = {
            axis.name: pa.array(labels.text).take(pa.array(labels.number[at]))
            for axis, labels in zip(self.axes, self.labels, strict=True)
        }
        released = release(table, self.roles, columns, kept)
        return Recoded(self, released, self.roles.quasi, int((~kept).sum()), self._losses(at, kept))

    def _covered(self, leaf: Whole, positions: Positions) -> Flags:
        found = leaf != SUPPRESSED_ROW
        for labels, position in zip(self.labels, positions, strict=True):
            found = found & labels.cover.covers(np.maximum(leaf, 0), position)
        return np.asarray(found)

    def _losses(self, leaf: Whole, kept: Flags) -> Mapping[str, float]:
        return {
            axis.name: float(np.where(kept, labels.share[leaf], 1.0).mean()) if len(leaf) else 0.0
            for axis, labels in zip(self.axes, self.labels, strict=True)
        }


def coded_for(table: pa.Table, roles: Roles, models: Sequence[Model]) -> CodedTable:
    """The columns that a recoding looks at: the quasi-identifiers, and what the models speak of."""
    refuse_other_columns(table, roles)
    refuse_unfit_models(models, roles)
    spoken_of = {model.sensitive for model in models}
    return CodedTable.of(table, [*roles.quasi, *(name for name in roles.sensitive if name in spoken_of)])


def violating_rows(number: Whole, coded: CodedTable, models: Sequence[Model]) -> Flags:
    """For every row whether its class, by ``number``, breaks a model. The table compared with is that of all rows."""
    sizes = np.bincount(number[number != SUPPRESSED_ROW])
    if not len(sizes):
        return np.zeros(len(number), dtype=np.bool_)
    classes = Classes(number, sizes)
    named = {model.sensitive for model in models if model.sensitive is not None}
    histograms = {name: classes.histogram(coded[name]) for name in named}
    broken = np.zeros(len(sizes) + 1, dtype=np.bool_)  # the last place is the one that -1 points to
    for model in models:
        broken[:-1] |= model.violating(classes, histograms)
    return np.asarray(broken[number])
