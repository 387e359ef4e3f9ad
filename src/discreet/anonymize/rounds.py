"""A recoding in rounds: a row is released by the first round that has a class for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedColumn, CodedTable, Codes
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.lattice import Node
from discreet.anonymize.models.model import Model
from discreet.anonymize.rechecking import coded_for, releasable
from discreet.anonymize.recoded import Recoded
from discreet.anonymize.recoding import Recoding
from discreet.anonymize.release import release
from discreet.anonymize.roles import Roles
from discreet.anonymize.source import arrow_table

__all__ = ["Round", "RoundsRecoding"]

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Round:
    """A level for every quasi-identifier, and the classes that are released at these levels."""

    node: Node
    """The levels."""
    groups: tuple[Codes, ...]
    """For every quasi-identifier the group of every class."""

    def releases(self, groups: list[Codes]) -> Flags:
        """For every row with these groups whether one of the classes is its own."""
        if not len(self.groups[0]):
            return np.zeros(len(groups[0]), dtype=np.bool_)
        together = [np.concatenate(pair) for pair in zip(self.groups, groups, strict=True)]
        number = Classes.of(together).number
        own, rows = np.split(number, [len(self.groups[0])])
        return np.isin(rows, own)


@dataclass(frozen=True, eq=False)
class RoundsRecoding(Recoding):
    """The rounds, one after the other. It holds groups of values, and no rows. It is not differential privacy."""

    roles: Roles
    """The role of every column."""
    hierarchies: Mapping[str, Hierarchy]
    """For every quasi-identifier its hierarchy."""
    given: frozenset[str]
    """The columns whose hierarchies were given; the others are released as they are or not at all."""
    rounds: tuple[Round, ...]
    """What is tried first, second, and so on."""
    models: tuple[Model, ...]
    """What every released class meets."""

    def transform(self, source: Any) -> pa.Table:
        """The rows recoded by the same rounds and checked again.

        Rows for which no round has a class are left out, and so are classes that break a model among the new rows.
        """
        return self.published(arrow_table(source)).table

    def published(self, table: pa.Table) -> Recoded:
        """What is released of the rows, and what they lose."""
        coded = coded_for(table, self.roles, self.models)
        hierarchies = {name: self._fitting(coded[name]) for name in self.roles.quasi}
        turn = self._turns(coded, hierarchies)
        texts = {name: self._texts(coded[name], one, turn) for name, one in hierarchies.items()}
        cells = [text.indices.to_numpy().astype(np.int64) for text in texts.values()]
        kept = releasable(cells, turn >= 0, coded, self.models)
        recoded = {name: text for name, text in texts.items() if any(self._levels(name))}
        losses = {name: self._loss(coded[name], one, np.where(kept, turn, -1)) for name, one in hierarchies.items()}
        released = release(table, self.roles, recoded, kept)
        return Recoded(self, released, self.roles.quasi, int(np.count_nonzero(~kept)), losses)

    def _fitting(self, column: CodedColumn) -> Hierarchy:
        """The hierarchy, with a leaf for what is new: for missing cells, and for any value where none was given."""
        hierarchy = self.hierarchies[column.name]
        if column.name not in self.given:
            new = [value for value in column.values if value not in hierarchy.values]
            return Hierarchy.suppressing((*hierarchy.values, *new))
        return hierarchy.with_missing() if column.has_missing else hierarchy

    def _turns(self, coded: CodedTable, hierarchies: Mapping[str, Hierarchy]) -> Whole:
        """For every row the first round that releases it; -1 where none does."""
        turn = np.full(coded.rows, -1, dtype=np.int64)
        levels = [one.coded(coded[name]) for name, one in hierarchies.items()]
        codes = [coded[name].codes for name in hierarchies]
        for number, one in enumerate(self.rounds):
            left = np.flatnonzero(turn < 0)
            groups = [table[level][code[left]] for table, level, code in zip(levels, one.node, codes, strict=True)]
            turn[left[one.releases(groups)]] = number
        return turn

    def _levels(self, name: str) -> list[int]:
        """The level of a column in every round."""
        place = list(self.hierarchies).index(name)
        return [one.node[place] for one in self.rounds]

    def _texts(self, column: CodedColumn, hierarchy: Hierarchy, turn: Whole) -> pa.DictionaryArray:
        """The label of every row at the level of its round."""
        starts = np.cumsum([0, *(len(labels) for labels in hierarchy.labels)])
        level = np.array([*self._levels(column.name), 0])[turn]
        place = starts[level] + hierarchy.coded(column)[level, column.codes]
        labels = [label for labels in hierarchy.labels for label in labels]
        distinct = {label: number for number, label in enumerate(dict.fromkeys(labels))}
        number = np.array([distinct[label] for label in labels], dtype=np.int32)
        return pa.DictionaryArray.from_arrays(number[place], pa.array(list(distinct), pa.string()))

    def _loss(self, column: CodedColumn, hierarchy: Hierarchy, turn: Whole) -> float:
        """The mean share of the leaves that a cell covers, 1 for a suppressed one."""
        share = np.stack([hierarchy.leaves_in(level)[codes] for level, codes in enumerate(hierarchy.coded(column))])
        level = np.array([*self._levels(column.name), 0])[turn]
        return float(np.where(turn < 0, 1.0, share[level, column.codes] / len(hierarchy.values)).mean())
