"""How often an audit may find a mechanism guilty that keeps its claim."""

from __future__ import annotations

from typing import Any

from discreet.errors import InvalidValue

__all__ = ["check_rate"]


def check_rate(false_alarm: Any) -> None:
    """Refuse what is no probability strictly between 0 and 1."""
    if not (isinstance(false_alarm, (int, float)) and 0 < false_alarm < 1):
        raise InvalidValue("false_alarm must lie strictly between 0 and 1", false_alarm, "1e-6 is usual")
