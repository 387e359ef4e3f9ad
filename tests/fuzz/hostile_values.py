"""Values at which arithmetic, spellings and calendars break, of every type, and ordinary ones beside them."""

from __future__ import annotations

import math
from datetime import date, datetime

from discreet.catalog.column import ColumnType

__all__ = ["ORDINARY", "VALUES", "WHOLE_ENDS"]

WHOLE_ENDS = (2**31, 2**53, 2**62, 2**63 - 1)
"""Where whole numbers stop to fit something: a short integer, a real number, half of a word and a word."""

_WHOLE = (0, 1, -1, 7, *(sign * (end + off) for end in WHOLE_ENDS for off in (-513, -1, 0) for sign in (1, -1)))
_REALS = (
    0.0, -0.0, 0.1, 0.30000000000000004, -2.5, math.nan, math.inf, -math.inf, 5e-324, -1e-308, 1e17 + 16,
    2.0**53 + 2, 2.0**62, -(2.0**62), 2.0**63, -(2.0**63), 1e46, 1e300, 1e308, -1.7976931348623157e308,
)  # fmt: skip
_TEXTS = (
    "", "a", "A", "b", "a ", " a", "é", "e\u0301", "ß", "SS", "İ", "%", "_", "it's", "\\", "1", "-0", "1e3", "nan",
    "2020-02-30", "infinity", "9223372036854775808", "t", "x" * 300, "日本", "🦆",
)  # fmt: skip
_DATES = (
    date.min, date(1, 1, 2), date.max, date(9999, 12, 27), date(1969, 12, 31), date(2020, 2, 29), date(2020, 12, 31),
    date(2021, 1, 3), date(1900, 2, 28),
)  # fmt: skip
_TIMES = (
    datetime.min, datetime.max, datetime(9999, 12, 31), datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2020, 2, 29, 12, 30), datetime(2021, 1, 31, 23, 30, 0, 1), datetime(1970, 1, 1),
)  # fmt: skip

VALUES: dict[ColumnType, tuple[object, ...]] = {
    ColumnType.INTEGER: _WHOLE,
    ColumnType.REAL: _REALS,
    ColumnType.TEXT: _TEXTS,
    ColumnType.BOOLEAN: (True, False),
    ColumnType.DATE: _DATES,
    ColumnType.TIMESTAMP: _TIMES,
}
"""The worst there are."""

ORDINARY: dict[ColumnType, tuple[object, ...]] = {
    ColumnType.INTEGER: (0, 1, 2, 3, 5, 8, -4, 10),
    ColumnType.REAL: (0.0, 0.25, 0.5, 1.0, 2.0, 3.5, -1.0, 8.0),
    ColumnType.TEXT: ("a", "b", "c", "x"),
    ColumnType.BOOLEAN: (True, False),
    ColumnType.DATE: (date(2020, 1, 1), date(2020, 2, 29), date(2021, 6, 30), date(2021, 12, 31)),
    ColumnType.TIMESTAMP: (datetime(2020, 1, 1, 8), datetime(2020, 5, 3, 4, 5, 6), datetime(2021, 12, 31, 23, 59)),
}
"""Such as most rows have; some of them equal each other across types."""
