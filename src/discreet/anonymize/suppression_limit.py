"""How many rows may be suppressed: a share of the table, in whole rows."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import InvalidType, InvalidValue

__all__ = ["suppression_limit"]


def suppression_limit(share: float, rows: int) -> int:
    """The largest number of rows within the share, which is read as it is written: 0.29 of 100 rows are 29.

    >>> suppression_limit(0.29, 100), suppression_limit(0, 100)
    (29, 0)
    """
    if isinstance(share, bool) or not isinstance(share, (int, float, Fraction)):
        raise InvalidType("suppression must be a number", share)
    if not 0 <= share <= 1:
        raise InvalidValue("suppression must be a share from 0 to 1", share, "0.02 for two rows in a hundred")
    return math.floor(Fraction(str(share)) * rows)
