"""How CSV files spell values, where that is not as programs spell them: stated by the owner, never guessed.

Without a word about it, 1234.5 is a number with a decimal point, dates are written 2024-12-31, and nothing separates
thousands. 12.000 is then not read as an integer: it is twelve in one country and twelve thousand in another.

>>> CSVFormat.of({"decimal": ",", "thousands": ".", "dates": "%d.%m.%Y"}).decimal
','
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from discreet.catalog.names import check_text, suggestion
from discreet.catalog.problems import Complaints
from discreet.errors import InvalidType, InvalidValue

__all__ = ["CSVFormat"]


_DECIMALS = (".", ",")
_THOUSANDS = (".", ",", " ", "'", "_")
_PARTS = re.compile(r"%(-?[a-zA-Z%])")
_KNOWN_PARTS = frozenset(
    [
        "d",
        "-d",
        "m",
        "-m",
        "y",
        "Y",
        "b",
        "B",
        "a",
        "A",
        "j",
        "-j",
        "H",
        "-H",
        "I",
        "-I",
        "M",
        "-M",
        "S",
        "-S",
        "f",
        "p",
        "%",
    ]
)
_DAY = ({"d", "-d", "j", "-j"}, {"m", "-m", "b", "B", "j", "-j"}, {"y", "Y"})
"""What a format of dates must have: a day, a month and a year."""


@dataclass(frozen=True)
class CSVFormat:
    """How the values of CSV files are spelled."""

    delimiter: str | None = None
    """What separates fields; left out, the header tells."""
    decimal: str | None = None
    """What comes before the decimals of a number, a point or a comma."""
    thousands: str | None = None
    """What stands between thousands: a point, a comma, a space, an apostrophe or an underscore."""
    dates: str | None = None
    """How dates are written, such as ``%d.%m.%Y`` for 31.12.2024."""
    timestamps: str | None = None
    """How timestamps are written, such as ``%d.%m.%Y %H:%M``; they are taken to be UTC."""
    nulls: tuple[str, ...] = ()
    """Words that stand for a missing value, where they have no quotes around them; an empty field does anyway."""
    encoding: str = "utf-8"
    """How letters are encoded, such as ``latin-1``, ``cp1252`` or ``utf-16``."""

    def __post_init__(self) -> None:
        found = Complaints()
        if self.delimiter is not None:
            found.checked(("delimiter",), _check_letter, self.delimiter)
        _check_one(found, "decimal", self.decimal, _DECIMALS)
        _check_one(found, "thousands", self.thousands, _THOUSANDS)
        if self.thousands is not None and self.thousands == (self.decimal or "."):
            remedy = "say decimal, too" if self.decimal is None else ""
            found.say(("thousands",), "csv: decimal and thousands must differ", self.thousands, remedy)
        for name in ("dates", "timestamps"):
            if getattr(self, name) is not None:
                found.checked((name,), _check_form, getattr(self, name), name)
        object.__setattr__(self, "nulls", found.checked(("nulls",), _words, self.nulls))
        found.checked(("encoding",), _check_encoding, self.encoding)
        found.refuse_any()

    @classmethod
    def of(cls, stated: CSVFormat | Mapping[str, Any]) -> CSVFormat:
        """The format that somebody wrote down: its fields, or a `CSVFormat`."""
        if isinstance(stated, CSVFormat):
            return stated
        if not isinstance(stated, Mapping):
            raise InvalidType("csv must say how values are spelled", stated, 'write {"decimal": ",", "nulls": ["NA"]}')
        known = [field.name for field in fields(cls)]
        for name in stated:
            if name not in known:
                raise InvalidValue("csv has no such field", name, suggestion(str(name), known))
        return cls(**stated)

    @property
    def is_utf8(self) -> bool:
        """Whether files can be read as they are."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")


def _check_one(found: Complaints, name: str, value: object, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        listed = ", ".join(repr(one) for one in known)
        found.say((name,), f"csv: {name} must be one of {listed}", value)


def _check_letter(stated: object) -> None:
    if len(check_text(stated, "csv: delimiter")) != 1:
        raise InvalidValue("csv: a delimiter must be one character", stated)


def _check_form(stated: object, name: str) -> None:
    text = check_text(stated, f"csv: {name}")
    parts = _PARTS.findall(text)
    unknown = [part for part in parts if part not in _KNOWN_PARTS]
    if unknown or text.count("%") != sum(1 + (part == "%") for part in parts):
        raise InvalidValue(f"csv: {name} has a part that is not known", text, "%d.%m.%Y %H:%M:%S has the usual ones")
    if any(not needed & set(parts) for needed in _DAY):
        raise InvalidValue(f"csv: {name} must have a day, a month and a year", text, "such as %d.%m.%Y")


def _words(stated: Any) -> tuple[str, ...]:
    if isinstance(stated, (str, Mapping)) or not isinstance(stated, Iterable):
        raise InvalidType("csv: nulls must be a list of words", stated, 'write ["NA", "-"]')
    return tuple(check_text(word, "csv: a word for nothing") for word in stated)


def _check_encoding(stated: object) -> None:
    try:
        found = codecs.lookup(check_text(stated, "csv: encoding"))
        is_text = isinstance("".encode(found.name), bytes)
    except (LookupError, UnicodeError, ValueError):
        is_text = False
    if not is_text:
        raise InvalidValue(
            "csv: encoding must be one that is known", stated, "such as utf-8, latin-1, cp1252 or utf-16"
        )
