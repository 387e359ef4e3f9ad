"""Any value as a text of bounded length, also where the value has none."""

from __future__ import annotations

from typing import Any

__all__ = ["shown"]

_LONGEST = 80


def shown(value: Any, longest: int = _LONGEST) -> str:
    """The value as text."""
    try:
        text = f"{value:.6g}" if isinstance(value, float) else " ".join(repr(value).split())
    except Exception:  # a value of others may fail in any way, and Python spells no integer of thousands of digits
        text = f"<a {type(value).__name__} without text>"
    return text if len(text) <= longest else text[: longest - 1] + "…"
