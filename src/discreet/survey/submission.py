"""What a browser sends: an invitation and a report for each question. Anything else is refused before it is stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidType, InvalidValue
from discreet.survey.records import Records
from discreet.survey.tokens import is_token

__all__ = ["Submission"]

_NAMES = {"survey", "invitation", "reports"}


@dataclass(frozen=True)
class Submission:
    """A submission that was understood."""

    invitation: str
    """The token it came with."""
    record: bytes
    """The reports."""

    @classmethod
    def read(cls, body: bytes, records: Records) -> Submission:
        """The submission in ``body``; nothing of a refused one is repeated in the message."""
        found = _object(body)
        if found["survey"] != records.survey.fingerprint:
            rule = f"the reports must be for the survey {records.survey.fingerprint}"
            raise InvalidValue(rule, "<another one>", "load the page again")
        if not is_token(found["invitation"]):
            raise InvalidValue("an invitation has 32 hexadecimal digits", "<others>", "use the whole link")
        return cls(found["invitation"], records.written(found["reports"]))


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidValue("a submission must be JSON", "<another text>", "if it was cut off, send it again") from None
    if not isinstance(found, dict) or set(found) != _NAMES:
        raise InvalidType(f"a submission must have {', '.join(sorted(_NAMES))} and nothing else", "<others>")
    return found
