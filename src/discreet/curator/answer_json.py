"""An answer as JSON: rows, error bars, the price, what is left, and where the ledger has it.

JSON knows no infinity, so a value that is not finite is written as null.
"""

from __future__ import annotations

import json
import math
from datetime import date, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from discreet.curator.amount import as_json, balance_as_json

if TYPE_CHECKING:
    from discreet.curator.answer import Answer

__all__ = ["json_text"]


def json_text(answer: Answer) -> str:
    """The answer as one JSON object."""
    body = {
        "rows": [{name: _plain(value) for name, value in row.items()} for row in answer.to_rows()],
        "error": {
            name: [None if interval is None else [_plain(end) for end in interval] for interval in intervals]
            for name, intervals in answer.error.items()
        },
        "confidence": answer.confidence,
        "price": None if answer.price is None else as_json(answer.price),
        "charged": answer.charged,
        "left": {account: balance_as_json(left) for account, left in answer.left.items()},
        "entry": answer.entry,
        "notes": list(answer.notes),
    }
    return json.dumps(body, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, (float, Decimal)):
        return _number(float(value))
    if isinstance(value, (date, time)):
        return value.isoformat()
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
