"""Names that look alike: two tables whose names a reader takes for one another are easily mistaken, or are the same.

A skeleton is what is left of a name when width, case, accents and letters of other alphabets that look like Latin ones
are put aside. It covers the letters that people meet, not every pair that Unicode lists.

>>> skeleton("vısits") == skeleton("VISITS") == skeleton("vіsits") == skeleton("ｖｉｓｉｔｓ")
True
>>> skeleton("visits") == skeleton("visit")
False
"""

from __future__ import annotations

import unicodedata

__all__ = ["skeleton"]

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
