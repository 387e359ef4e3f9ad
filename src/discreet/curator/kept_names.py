"""Under which name the ledger keeps a question: one for everybody, or one for each analyst.

Where answers are shared, a question that anybody asked before is free, and so tells that it was asked. Where they are
not, names are those of one analyst alone: another's question, and another's request id, cannot be met.

>>> own_plan("ab12", None, shared=False), own_plan("ab12", "ann", shared=True)
('ab12', 'ab12')
>>> own_plan("ab12", "ann", shared=False) == own_plan("ab12", "bob", shared=False)
False
>>> own_request("r1", "ann", shared=False)
'["ann", "r1"]'
"""

from __future__ import annotations

import hashlib
import json

from discreet.catalog.names import checked_text
from discreet.errors import InvalidValue

__all__ = ["checked_request", "own_plan", "own_request"]

_LONGEST_REQUEST = 250
"""Characters, so that the id with a name beside it, all escapes, fits the index of any book."""


def own_plan(plan: str, analyst: str | None, *, shared: bool) -> str:
    """The fingerprint of a plan, or of a plan and who asked; the owner's is the plan's."""
    if shared or analyst is None:
        return plan
    return hashlib.sha256(_together(analyst, plan).encode()).hexdigest()


def checked_request(request: object) -> str:
    """A request id that every book can keep, or a refusal."""
    text = checked_text(request, "a request id")
    if len(text) > _LONGEST_REQUEST or "\x00" in text:
        rule = f"a request id must have at most {_LONGEST_REQUEST} characters, and no NUL"
        raise InvalidValue(rule, text, "choose a short one of letters and digits")
    return text


def own_request(request: str, analyst: str | None, *, shared: bool) -> str:
    """The id of a request, or the id and who sent it."""
    return request if shared else _together(analyst, request)


def _together(analyst: str | None, text: str) -> str:
    """Both in one text from which no other two can be read."""
    return json.dumps([analyst, text], ensure_ascii=False)
