"""Names and text written into a statement that an engine reads.

>>> print(quote('the "A" ward'), quote_text("it's"))
"the ""A"" ward" 'it''s'
"""

from __future__ import annotations

__all__ = ["quote", "quote_text"]


def quote(name: str) -> str:
    """``name`` as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """``text`` as a string; for paths of the owner where a statement takes no parameters, never for analysts' text."""
    return "'" + text.replace("'", "''") + "'"
