"""Names that tables, columns and analysts may have."""

from __future__ import annotations

import unicodedata

from discreet.errors import InvalidType, InvalidValue

__all__ = ["checked_name", "checked_text"]

_UNPRINTABLE = {"Cc", "Cs"}
_LONGEST_NAME = 150  # so that a name, also when it is all escapes, fits what YAML takes as a name


def checked_text(value: object, what: str) -> str:
    """``value`` as text that can be written in a file: lone surrogates have no UTF-8."""
    if not isinstance(value, str):
        raise InvalidType(f"{what} must be text", value)
    if any(unicodedata.category(letter) == "Cs" for letter in value):
        raise InvalidValue(f"{what} must be valid Unicode", value)
    return value


def checked_name(value: object, what: str) -> str:
    """``value`` as a name; a leading underscore is kept for the columns and tables that Discreet makes itself."""
    name = checked_text(value, what)
    if not name.strip() or name != name.strip():
        raise InvalidValue(f"{what} must not be empty or have spaces around it", name)
    if name.startswith("_"):
        raise InvalidValue(
            f"{what} must not start with an underscore", name, "such names are Discreet's own; rename it"
        )
    if len(name) > _LONGEST_NAME:
        raise InvalidValue(f"{what} must have at most {_LONGEST_NAME} characters", name)
    if any(unicodedata.category(letter) in _UNPRINTABLE for letter in name):
        raise InvalidValue(f"{what} must not hold control characters", name)
    return name
