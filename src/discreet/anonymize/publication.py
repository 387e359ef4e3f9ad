"""A table and what was released of it, side by side, as losses are measured. It is not differential privacy.

Rows of a release stand in an order that says nothing, so nothing here needs to know which row became which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.covering import Covering
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidValue

__all__ = ["Publication"]


@dataclass(frozen=True, eq=False)
class Publication:
    """The original, the release, and what every released cell may stand for."""

    before: CodedTable
    """The table that was not released."""
    after: CodedTable
    """The table that was."""
    roles: Roles
    """The roles of the columns."""
    coverings: Mapping[str, Covering]
    """For every quasi-identifier what its released cells cover."""
    classes: Classes
    """The classes of the released rows."""
    places: Mapping[str, npt.NDArray[np.int64]]
    """For every quasi-identifier the place in its domain of every value of the original."""

    @classmethod
    def of(
        cls, before: Any, after: Any, roles: Roles, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> Publication:
        """Hold a release against its original. Cells that no hierarchy explains are read as ranges, sets or masks."""
        named = [*roles.quasi, *roles.sensitive]
        original, released = CodedTable.of(before, named), CodedTable.of(after, named)
        if not 0 < released.rows <= original.rows:
            rule = f"a release must have rows, at most the {original.rows} of its original"
            raise InvalidValue(rule, released.rows, "pass the original first")
        given = hierarchies or {}
        coverings = {name: Covering.of(original[name], released[name], given.get(name)) for name in roles.quasi}
        classes = Classes.of([released[name].codes for name in roles.quasi])
        places = {name: covering.places_of(original[name]) for name, covering in coverings.items()}
        return cls(original, released, roles, coverings, classes, places)

    @property
    def suppressed(self) -> int:
        """How many rows were not released."""
        return self.before.rows - self.after.rows

    def original_counts(self, column: str) -> np.ndarray:
        """For every value of a column's domain how many original rows have it."""
        places = self.places[column][self.before[column].codes]
        return np.bincount(places, minlength=len(self.coverings[column].domain))

    def released_counts(self, column: str) -> np.ndarray:
        """For every released value of a column how many rows have it."""
        return np.bincount(self.after[column].codes, minlength=len(self.after[column].values))

    def is_averaged(self, column: str) -> bool:
        """Whether numbers were replaced by others, such as means: a number is released more often than it occurred."""
        covering = self.coverings[column]
        shown = self.after[column].values
        if covering.numbers is None or any(isinstance(value, str) for value in shown):
            return False
        occurred = dict(zip(covering.domain, self.original_counts(column), strict=True))
        released = zip(shown, self.released_counts(column), strict=True)
        return any(count > occurred.get(value, 0) for value, count in released)
