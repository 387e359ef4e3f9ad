"""Recodings by a tree: every row goes to a leaf and gets the labels of the leaf.

A row that the labels of its leaf do not cover is not released: they would not be true of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.axes import Axis
from discreet.anonymize.classes import SUPPRESSED_ROW
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.leaf_labels import Flags, LeafLabels, Whole
from discreet.anonymize.models.model import Model
from discreet.anonymize.rechecking import coded_for, releasable
from discreet.anonymize.recoded import Recoded
from discreet.anonymize.recoding import Recoding
from discreet.anonymize.release import release
from discreet.anonymize.roles import Roles
from discreet.anonymize.source import arrow_table

__all__ = ["LeafRecoding", "Positions"]

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
        cells = [labels.number[leaf] for labels in self.labels]
        kept = releasable(cells, leaf != SUPPRESSED_ROW, coded, self.models)
        at = np.where(kept, leaf, 0)
        columns = {
            axis.name: pa.DictionaryArray.from_arrays(labels.number[at].astype(np.int32), pa.array(labels.text))
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
