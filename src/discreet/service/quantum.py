"""The release quantum: what a question led to leaves at multiples of it after the question came.

How long a run over the rows takes can tell of one heavy person. Rounded up, it tells in which multiple it ended, and
where the quantum is longer than a run, nothing.

>>> wait_until_release(0.3, 2.0), wait_until_release(2.5, 2.0), wait_until_release(5.0, 0.0)
(1.7, 1.5, 0.0)
"""

from __future__ import annotations

import math

__all__ = ["wait_until_release"]


def wait_until_release(elapsed: float, quantum: float) -> float:
    """How long to wait, ``elapsed`` seconds after a question came; a quantum of 0 is none."""
    if quantum <= 0:
        return 0.0
    return max(1, math.ceil(elapsed / quantum)) * quantum - elapsed
