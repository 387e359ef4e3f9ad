"""Full-domain recoding: every cell of a column is released at the same level of its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.asked_models import sensitive_of
from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedTable, Codes
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.matched import matched_hierarchies
from discreet.anonymize.models.model import Model
from discreet.anonymize.recoding import Recoding
from discreet.anonymize.release import refuse_other_columns, release
from discreet.anonymize.roles import Roles
from discreet.anonymize.source import arrow_table
from discreet.anonymize.suppression_limit import suppression_limit
from discreet.errors import InvalidValue, OutOfReach

__all__ = ["FullDomainRecoding"]

_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class FullDomainRecoding(Recoding):
    """A level for every quasi-identifier, and what must hold afterwards. It is not differential privacy."""

    roles: Roles
    """The role of every column."""
    hierarchies: Mapping[str, Hierarchy]
    """The hierarchies that were given; a column without one is released as it is or not at all."""
    levels: Mapping[str, int]
    """For every quasi-identifier its level; 0 leaves it as it is."""
    models: tuple[Model, ...]
    """What every released class meets."""
    suppression: float
    """The largest share of rows that may be left out."""

    def transform(self, source: Any) -> pa.Table:
        """The rows of ``source`` at the same levels. Rows of classes that break a model are left out.

        Models that compare a class with the whole table compare it with all rows of ``source``. Refuses when more rows
        than the limit would have to be left out: then these rows need a recoding of their own.
        """
        table = arrow_table(source)
        refuse_other_columns(table, self.roles)
        coded = CodedTable.of(table, [*self.roles.quasi, *sensitive_of(self.models)])
        if not coded.rows:
            raise InvalidValue("a table must have rows", 0)
        hierarchies = matched_hierarchies(coded, self.roles.quasi, self.hierarchies)
        groups = {
            name: one.levels[self.levels[name]][one.places(coded[name])][coded[name].codes]
            for name, one in hierarchies.items()
        }
        kept = self._kept(coded, groups)
        labels = {name: one.labels[self.levels[name]] for name, one in hierarchies.items()}
        recoded = {name: pa.array(labels[name]).take(pa.array(groups[name])) for name in groups if self.levels[name]}
        return release(table, self.roles, recoded, kept)

    def described(self) -> dict[str, str]:
        """For every quasi-identifier its level in words, with some of the labels.

        >>> roles = Roles.of(["zip"], quasi="zip")
        >>> zips = Hierarchy.of(["13053", "14850"], [["130**", "148**"], ["*", "*"]])
        >>> FullDomainRecoding(roles, {"zip": zips}, {"zip": 1}, (), 0).described()
        {'zip': 'level 1 of 2: 130**, 148**'}
        """
        return {name: self._level_in_words(name, level) for name, level in self.levels.items()}

    def _level_in_words(self, name: str, level: int) -> str:
        if name not in self.hierarchies:
            return "not released" if level else "as it is"
        hierarchy = self.hierarchies[name]
        labels = hierarchy.labels[level]
        more = ", …" if len(labels) > _EXAMPLES else ""
        words = "as it is" if level == 0 else ", ".join(labels[:_EXAMPLES]) + more
        return f"level {level} of {hierarchy.height}: {words}"

    def _kept(self, coded: CodedTable, groups: Mapping[str, Codes]) -> npt.NDArray[np.bool_]:
        """For every row whether its class meets every model."""
        classes = Classes.of(list(groups.values()))
        histograms = {name: classes.histogram(coded[name]) for name in sensitive_of(self.models)}
        violating = np.zeros(classes.count, dtype=np.bool_)
        for model in self.models:
            violating |= model.violating(classes, histograms)
        kept = ~violating[classes.number]
        lost, limit = int(np.count_nonzero(~kept)), suppression_limit(self.suppression, coded.rows)
        if lost > limit or not kept.any():
            rule = f"at most {limit} of {coded.rows} rows may be left out by this recoding, and not all"
            raise OutOfReach(rule, lost, "find a recoding for these rows, or add more of them")
        return kept
