"""Names of tables as owners write them: public.visits, or "My Schema"."T"; folded as PostgreSQL folds them.

>>> parts_of('Public."My Table"')
['public', 'My Table']
"""

from __future__ import annotations

import re

from discreet.errors import InvalidValue

__all__ = ["parts_of", "quoted"]

_PART = r'"(?:[^"\x00]|"")+"|[^\W\d][\w$]*'
_NAME = re.compile(rf"(?:({_PART})\.)?({_PART})")


def parts_of(name: str) -> list[str]:
    """The schema, where there is one, and the table."""
    found = _NAME.fullmatch(name.strip())
    if found is None:
        rule = "a table of PostgreSQL is named schema.table, with quotes around what is no plain name"
        raise InvalidValue(rule, name, 'write public.visits or "My Schema"."T"')
    return [_folded(part) for part in found.groups() if part is not None]


def _folded(part: str) -> str:
    if part.startswith('"'):
        return part[1:-1].replace('""', '"')
    return "".join(letter.lower() if letter.isascii() else letter for letter in part)


def quoted(name: str) -> str:
    """A name between double quotes."""
    return '"' + name.replace('"', '""') + '"'
