"""Request ids: short texts that fit into an address as they are, which client and service check alike.

>>> checked_request_id("monday-1")
'monday-1'
"""

from __future__ import annotations

import re

from discreet.errors import InvalidValue

__all__ = ["LONGEST_ID", "checked_request_id"]

LONGEST_ID = 100
"""Characters of an id, at most."""
_FORM = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._~-]{{0,{LONGEST_ID - 1}}}\Z")


def checked_request_id(value: object) -> str:
    """``value`` as an id, or a refusal."""
    if not isinstance(value, str) or not _FORM.match(value):
        rule = f"a request id has at most {LONGEST_ID} letters, digits, dots, dashes, underscores and tildes"
        raise InvalidValue(rule, value, "begin with a letter or a digit")
    return value
