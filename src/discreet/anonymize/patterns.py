"""The distinct rows of a table as far as anonymity goes: what is searched is them, each with how often it occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes, ClassHistogram, Counts
from discreet.anonymize.coded import CodedColumn, CodedTable, Codes
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.lattice import Lattice, Node

__all__ = ["Patterns"]


@dataclass(frozen=True, eq=False)
class Patterns:
    """The combinations of values that occur in the quasi-identifiers and the sensitive columns."""

    quasi: tuple[Codes, ...]
    """For every quasi-identifier the code of its value in every pattern."""
    sensitive: tuple[CodedColumn, ...]
    """The sensitive columns that models speak of, with the code of their value in every pattern."""
    rows: Counts
    """How many rows every pattern stands for."""
    levels: tuple[Codes, ...]
    """For every quasi-identifier the matrix whose cell (level, code) is the group of a value."""
    tables: tuple[Counts, ...]
    """For every sensitive column how often each value occurs in the table that models compare with."""

    @classmethod
    def of(cls, table: CodedTable, hierarchies: Mapping[str, Hierarchy], sensitive: Sequence[str]) -> Patterns:
        """The patterns of a table."""
        columns = [table[name] for name in (*hierarchies, *sensitive)]
        alike = Classes.of([column.codes for column in columns])
        place = alike.representatives()
        return cls(
            tuple(column.codes[place] for column in columns[: len(hierarchies)]),
            tuple(replace(table[name], codes=table[name].codes[place]) for name in sensitive),
            alike.sizes,
            tuple(hierarchy.coded(table[name]) for name, hierarchy in hierarchies.items()),
            tuple(np.bincount(table[name].codes, minlength=len(table[name].values)) for name in sensitive),
        )

    @property
    def lattice(self) -> Lattice:
        """The recodings of these columns."""
        return Lattice(tuple(len(levels) - 1 for levels in self.levels))

    @property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.rows.sum())

    def groups(self, node: Node) -> list[Codes]:
        """For every quasi-identifier the group of every pattern at the level of ``node``."""
        return [levels[level][codes] for levels, level, codes in zip(self.levels, node, self.quasi, strict=True)]

    def classes(self, node: Node) -> Classes:
        """The classes of the rows recoded by ``node``."""
        return Classes.of(self.groups(node), self.rows)

    def histograms(self, classes: Classes) -> dict[str, ClassHistogram]:
        """How often every sensitive value occurs in every class, held against the table that models compare with."""
        return {
            column.name: classes.histogram(column).against(table)
            for column, table in zip(self.sensitive, self.tables, strict=True)
        }

    def rolled_up(self, classes: Classes) -> Patterns:
        """The patterns that remain to be told apart above the node that made ``classes``."""
        merged = Classes.of([classes.number, *(column.codes for column in self.sensitive)], self.rows)
        return self._with(merged.representatives(), merged.sizes)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Patterns:
        """The chosen patterns alone, still held against the whole table."""
        return self._with(np.flatnonzero(chosen), self.rows[chosen])

    def _with(self, place: npt.NDArray[np.intp], rows: Counts) -> Patterns:
        return replace(
            self,
            quasi=tuple(codes[place] for codes in self.quasi),
            sensitive=tuple(replace(column, codes=column.codes[place]) for column in self.sensitive),
            rows=rows,
        )
