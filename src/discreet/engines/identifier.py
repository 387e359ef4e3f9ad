"""Names and text written into a statement that an engine reads.

>>> print(quoted('the "A" ward'), literal("it's"))
"the ""A"" ward" 'it''s'
"""

from __future__ import annotations

__all__ = ["literal", "quoted"]


def quoted(name: str) -> str:
    """``name`` as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """``text`` as a string; for paths of the owner where a statement takes no parameters, never for analysts' text."""
    return "'" + text.replace("'", "''") + "'"
