"""Suggestions for a name that nobody knows.

>>> suggestion("wrad", ["ward", "age"])
"did you mean 'ward'?"
>>> suggestion("cost", ["ward", "age"])
'known: age, ward'
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["suggestion"]

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
