"""What a fit gives back: the table that can be published, and the recoding that made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedTable
from discreet.anonymize.recoding import Recoding

__all__ = ["Recoded"]


@dataclass(frozen=True, eq=False)
class Recoded:
    """A recoded table. It is not differential privacy: what its classes have in common is told of everybody in them."""

    recoding: Recoding
    """How it was made; it can be applied to other rows."""
    table: pa.Table
    """The released rows, sorted by their values."""
    quasi: tuple[str, ...]
    """The quasi-identifiers, which make the classes."""
    suppressed: int
    """How many rows are not released."""
    losses: Mapping[str, float]
    """How much is lost in every quasi-identifier, from 0 to 1.

    That is the mean share of its values that a cell covers, 1 for a suppressed one; of averages it is the share of the
    variance that they lose.
    """

    @property
    def loss(self) -> float:
        """The mean of what is lost in every quasi-identifier: 1 tells nothing."""
        return sum(self.losses.values()) / len(self.losses)

    @cached_property
    def classes(self) -> Classes:
        """The classes of the released rows: those that read the same in every quasi-identifier."""
        table = CodedTable.of(self.table, self.quasi)
        return Classes.of([table[name].codes for name in self.quasi])
