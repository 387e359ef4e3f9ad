"""What devices send: reports in a few compact arrays, together with the terms they were made under.

Reports are safe to keep, to copy and to read: each is already private. They travel as bytes, JSON or Arrow, and
whoever reads them checks the terms, so that a device and a server cannot disagree about what they mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.local.report_json import read_json, written_json
from discreet.local.terms import Terms
from discreet.local.upload import Columns, packed, unpacked

__all__ = ["Reports"]


@dataclass(frozen=True, eq=False)
class Reports:
    """Any number of reports under the same terms."""

    terms: Terms
    """What they were made under."""
    columns: Columns
    """The fields by name, each an array with a row per report."""

    def __post_init__(self) -> None:
        if set(self.columns) != {one.name for one in self.terms.layout}:
            wanted = ", ".join(one.name for one in self.terms.layout)
            raise InvalidValue(f"the reports must have {wanted}", f"<{', '.join(self.columns)}>")
        n = len(next(iter(self.columns.values())))
        for one in self.terms.layout:
            array = self.columns[one.name]
            if array.dtype != one.dtype or array.shape != one.shape(n):
                rule = f"{one.name} must be {one.type} of shape {one.shape(n)}"
                raise InvalidType(rule, f"<{array.dtype} of shape {array.shape}>")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        terms = self.terms
        return f"<{len(self):,} {terms.kind} reports of {terms.bytes_each} bytes, terms {terms.fingerprint}>"

    def __getitem__(self, which: slice) -> Reports:
        """Some of them, by a slice."""
        if not isinstance(which, slice):
            raise InvalidType("reports are taken by a slice", which, "reports[3:4] is one of them")
        return Reports(self.terms, {name: column[which] for name, column in self.columns.items()})

    @classmethod
    def together(cls, parts: Iterable[Reports]) -> Reports:
        """All reports of ``parts``, one after the other; they must have been made under the same terms."""
        listed = list(parts)
        if not listed:
            raise InvalidValue("at least one batch of reports is needed", "<none>")
        for part in listed[1:]:
            listed[0].terms.check_same(part.terms)
        names = listed[0].columns
        return cls(listed[0].terms, {name: np.concatenate([part.columns[name] for part in listed]) for name in names})

    # On the way from a device to a server.

    def to_bytes(self, *, with_terms: bool = True) -> bytes:
        """A compact upload; without the terms it holds their fingerprint alone, for a server that knows them."""
        return packed(self.terms, self.columns, len(self), with_terms)

    @classmethod
    def from_bytes(cls, data: bytes, terms: Terms | None = None) -> Reports:
        """What `to_bytes` wrote. With ``terms``, reports under any others are refused."""
        return cls(*unpacked(data, terms))

    def to_json(self, *, with_terms: bool = True) -> str:
        """The same as a JSON object."""
        return written_json(self.terms, self.columns, with_terms)

    @classmethod
    def from_json(cls, text: str | bytes, terms: Terms | None = None) -> Reports:
        """What `to_json` wrote. With ``terms``, reports under any others are refused."""
        return cls(*read_json(text, terms))

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with a column per field and the terms in its schema."""
        from discreet.local.report_arrow import arrow_table  # noqa: PLC0415  a device has no need of Arrow

        return arrow_table(self.terms, self.columns)

    @classmethod
    def from_arrow(cls, table: Any, terms: Terms | None = None) -> Reports:
        """What `to_arrow` wrote. With ``terms``, reports under any others are refused."""
        from discreet.local.report_arrow import read_arrow  # noqa: PLC0415

        return cls(*read_arrow(table, terms))
