"""Local recoding by repeated search: rows that one full-domain recoding would suppress get another of their own.

Every round searches the optimal recoding for the rows that are left and releases the classes that meet the models; the
next round has the others. Classes of different rounds that read the same become one class, which meets the models
because classes that meet them do so when they are merged. The result is not differential privacy.

>>> import pyarrow as pa
>>> from discreet.anonymize.models.k_anonymity import KAnonymity
>>> table = pa.table({"zip": ["13053", "13053", "13068", "14850"]})
>>> zips = Hierarchy.of(["13053", "13068", "14850"], [["130**", "130**", "148**"], ["*", "*", "*"]])
>>> found = local_recoding(table, Roles.of(["zip"], quasi="zip"), {"zip": zips}, [KAnonymity(2)])
>>> found.table["zip"].to_pylist(), found.suppressed
(['*', '*', '13053', '13053'], 0)

Applied to other rows, the first round that has a class for a row releases it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.equivalence_classes import EquivalenceClasses, Patterns
from discreet.anonymize.hierarchies.hierarchy import Hierarchy, matched_hierarchies
from discreet.anonymize.loss.search_loss import named_loss
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import asked_models, sensitive_of
from discreet.anonymize.recode.lattice import Node
from discreet.anonymize.recode.lattice_node import Inspector
from discreet.anonymize.recode.lattice_search import LatticeSearch
from discreet.anonymize.recode.optimal import out_of_reach, refuse_endless
from discreet.anonymize.recode.recoding import Recoded, Recoding, coded_for, releasable, release, suppression_limit
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable, Codes, arrow_table
from discreet.errors import InvalidValue

__all__ = ["Round", "RoundsRecoding", "local_recoding"]


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
        number = EquivalenceClasses.of(together).number
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


Progress = Callable[[int, int], None]
"""Is called with the rows that have been recoded and all rows."""


def local_recoding(
    source: Any,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy] | None,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.0,
    weights: Mapping[str, float] | None = None,
    loss: str = "normalised",
    step: float = 0.05,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Recoded:
    """Recode a table in rounds, each with the full-domain recoding that loses least on the rows that are left.

    A round must release at least the share ``step`` of its rows. When no round is left that does, the remaining rows
    are suppressed if they are within the share ``suppression`` of the table; else they join the rows of the last round,
    and of those before it, until all of them can be released. ``seconds`` is a limit for each search. Models that
    compare a class with the whole table compare it with all rows of ``source``. It is not differential privacy.
    """
    table = arrow_table(source)
    asked = asked_models(models, roles)
    coded = coded_for(table, roles, asked)
    matched = matched_hierarchies(coded, roles.quasi, hierarchies)
    refuse_endless(matched, seconds)
    _refuse_step(step)
    patterns = Patterns.of(coded, matched, sensitive_of(asked))
    task = _Task(patterns, matched, asked, loss, weights, seconds)
    rounds = task.rounds(1 - step, suppression_limit(suppression, coded.rows), progress)
    given = frozenset(hierarchies or {})
    return RoundsRecoding(roles, matched, given, tuple(rounds), asked).published(table)


@dataclass(frozen=True, eq=False)
class _Task:
    """The rows of a table and what is asked of them."""

    patterns: Patterns
    hierarchies: Mapping[str, Hierarchy]
    models: tuple[Model, ...]
    loss: str
    weights: Mapping[str, float] | None
    seconds: float | None

    def rounds(self, most_left: float, limit: int, progress: Progress | None) -> list[Round]:
        """The recodings one after the other, until at most ``limit`` rows are left."""
        found: list[Round] = []
        before: list[Flags] = []
        left: Flags = np.ones(len(self.patterns.rows), dtype=np.bool_)
        while left.any():
            rest = self.patterns.where(left)
            node = self._best(rest, suppression_limit(most_left, rest.total))
            if node is None:
                break
            before.append(left)
            one, left = self._released(node, left)
            found.append(one)
            if progress:
                progress(self.patterns.total - self._rows(left), self.patterns.total)
        return found if self._rows(left) <= limit and found else self._joined(found, before, left, limit)

    def _joined(self, found: list[Round], before: list[Flags], left: Flags, limit: int) -> list[Round]:
        """Put the rows that are left together with those of the last rounds, until one recoding releases them."""
        while found:
            found.pop()
            left = before.pop()
            node = self._best(self.patterns.where(left), limit)
            if node is not None:
                return [*found, self._released(node, left)[0]]
        raise out_of_reach(Inspector(self.patterns, self.models, limit), self.hierarchies)

    def _best(self, patterns: Patterns, limit: int) -> Node | None:
        """The node that loses least with at most ``limit`` rows suppressed, if there is one."""
        inspector = Inspector(patterns, self.models, limit)
        measured = named_loss(self.loss, patterns, self.hierarchies, self.weights, inspector.least_size)
        search = LatticeSearch(inspector, measured, self.seconds)
        search.run()
        return None if search.best is None else search.best.node

    def _released(self, node: Node, left: Flags) -> tuple[Round, Flags]:
        """The classes that a node releases of the rows that are left, and the rows that are left then."""
        inspector = Inspector(self.patterns.where(left), self.models, 0)
        found, violating = inspector.inspect(node), inspector.violating_patterns(node)
        still = left.copy()
        still[left] = violating
        return Round(node, tuple(groups[~found.violating] for groups in found.groups)), still

    def _rows(self, chosen: Flags) -> int:
        return int(self.patterns.rows[chosen].sum())


def _refuse_step(step: float) -> None:
    if not 0 < step <= 1:
        raise InvalidValue("step must be a share above 0 and at most 1", step, "0.05 lets a round release few rows")
