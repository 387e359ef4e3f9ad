"""What this machine's logarithm is worth.

The fast samplers trust one thing about the host: NumPy's ``log`` and ``log1p`` err by at most `ULPS` units in the
last place. It is spot-checked against ball arithmetic on first use, at the points where implementations go wrong
(powers of two and their neighbours, numbers next to 1, the ends of the range). If a point fails, `trusted` is
False and every draw is decided in ball arithmetic, on integers alone: slower, and exact all the same.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from discreet.exact.ball import Ball, working_precision

__all__ = ["ULPS", "trusted", "worst_log1p_error", "worst_log_error"]


ULPS = 8
"""Assumed bound on the error of ``log`` and ``log1p``; good libraries stay below 1, NumPy promises 4."""

Floats = npt.NDArray[np.float64]


@cache
def trusted() -> bool:
    """Whether the host's logarithms stayed within half of `ULPS` at every test point."""
    errors = worst_log_error(_log_points()), worst_log1p_error(_log1p_points())
    return all(error <= ULPS / 2 for error in errors)  # not by max(), which can drop a NaN


def worst_log_error(points: Floats) -> float:
    """The largest error of ``np.log`` at ``points``, in units in the last place."""
    with working_precision(160):
        return _worst(np.log(points), [Ball(float(x)).log() for x in points])


def worst_log1p_error(points: Floats) -> float:
    """The largest error of ``np.log1p`` at ``points``, in units in the last place."""
    with working_precision(160):
        return _worst(np.log1p(points), [Ball(float(x)).log1p() for x in points])


def _worst(found: Floats, true: list[Ball]) -> float:
    errors = [float((Ball(float(f)) - t).abs_upper()) for f, t in zip(found, true, strict=True)]
    sizes = np.maximum(np.abs([float(t.mid()) for t in true]), np.finfo(np.float64).tiny)
    return float(np.max(np.asarray(errors) / np.spacing(sizes)))


def _log_points() -> Floats:
    powers = np.ldexp(1.0, np.arange(64))
    inside = np.linspace(1.0, 2.0, 65)[:-1]
    around_one = 1 + np.ldexp(1.0, -np.arange(1, 53, 4))
    return np.concatenate(
        [
            powers,
            powers * (1 + 2**-52),
            powers * (1 - 2**-53),
            inside,
            inside * 2.0**40,
            around_one,
            powers * np.pi,
        ]
    )


def _log1p_points() -> Floats:
    small = -np.ldexp(1.0, -np.arange(1, 65))
    return np.concatenate([small, small * 0.7, small * (1 - 2**-53), -np.linspace(0.01, 0.5, 50)])
