"""What a report says, as data for machines: what JSON can hold, and nothing else.

>>> from fractions import Fraction
>>> plain({"share": Fraction(1, 4), "loss": float("inf"), "sizes": (2, 3)})
{'share': 0.25, 'loss': None, 'sizes': [2, 3]}
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, get_args

from discreet.reports.document import DocumentBlock, TableCell

__all__ = ["json_text", "plain"]


_KINDS = tuple(kind for kind in (*get_args(DocumentBlock), *get_args(TableCell)) if kind is not str)


def plain(value: Any) -> Any:
    """The value as dictionaries, lists, texts and numbers; a number that JSON cannot hold is None.

    A block or a cell of a document says its kind, because others may stand in its place.
    """
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if is_dataclass(value):
        kind = {"kind": type(value).__name__} if isinstance(value, _KINDS) else {}
        return kind | {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, Fraction):
        return float(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(value: Any) -> str:
    """The value as JSON, for people to read as well."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False)
