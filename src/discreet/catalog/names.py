"""Names that tables, columns and analysts may have.

Suggestions for a name that nobody knows.

>>> suggestion("wrad", ["ward", "age"])
"did you mean 'ward'?"
>>> suggestion("cost", ["ward", "age"])
'known: age, ward'

Names that look alike: two tables whose names a reader takes for one another are easily mistaken, or are the same.

A skeleton is what is left of a name when width, case, accents and letters of other alphabets that look like Latin ones
are put aside. It covers the letters that people meet, not every pair that Unicode lists.

>>> skeleton("vısits") == skeleton("VISITS") == skeleton("vіsits") == skeleton("ｖｉｓｉｔｓ")
True
>>> skeleton("visits") == skeleton("visit")
False
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

from discreet.errors import InvalidType, InvalidValue

__all__ = ["check_name", "check_text", "skeleton", "suggestion"]


_UNPRINTABLE = {"Cc", "Cs"}
_LONGEST_NAME = 150  # so that a name, also when it is all escapes, fits what YAML takes as a name


def check_text(value: object, what: str) -> str:
    """``value`` as text that can be written in a file: lone surrogates have no UTF-8."""
    if not isinstance(value, str):
        raise InvalidType(f"{what} must be text", value)
    if any(unicodedata.category(letter) == "Cs" for letter in value):
        raise InvalidValue(f"{what} must be valid Unicode", value)
    return value


def check_name(value: object, what: str) -> str:
    """``value`` as a name; a leading underscore is kept for the columns and tables that Discreet makes itself."""
    name = check_text(value, what)
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


_MOST_LISTED = 12


def suggestion(word: str, known: Iterable[str]) -> str:
    """The known name that ``word`` resembles, or a short list of what there is."""
    names = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), names, n=1)
    if close:
        return f"did you mean '{names[close[0]]}'?"
    listed = sorted(names.values())
    more = ", …" if len(listed) > _MOST_LISTED else ""
    return f"known: {', '.join(listed[:_MOST_LISTED])}{more}" if listed else "there is none yet"


_LATIN = "aaabccdeegghhiiijjklmnooooppqrssttuuvvwwxxyyyz"
_OTHERS = "аαɑвсϲԁеҽɡԍһнıіιјϳкⅼмոοоօσрρԛгѕꜱтτսυνѵѡԝхχуγүᴢ"
"""Cyrillic, Greek, Armenian and other small letters, each at the place of the Latin one that it looks like."""
_ALIKE = dict(zip(_OTHERS, _LATIN, strict=True)) | {"0": "o", "1": "l", "|": "l", "\u00df": "ss", "æ": "ae", "ø": "o"}


def skeleton(name: str) -> str:
    """What a name looks like."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    bare = (letter for letter in unicodedata.normalize("NFD", folded) if unicodedata.category(letter) not in _UNSEEN)
    return "".join(_ALIKE.get(letter, letter) for letter in bare)


_UNSEEN = frozenset({"Mn", "Me", "Cf"})
"""Accents, and what has no width."""
