"""Is this person among those whose averages were published? (Homer and others 2008, and after.)

Published are the means of d attributes, each 0 or 1, over n people. The outsider has a person's attributes and the
shares of the attributes in the population. A member pulls every mean by 1/n towards its own attributes: no single mean
shows it, but all of them together do.

Claim. Let attribute j have share p_j, with 0 < p_j < 1, independently of all others, and let v_j = p_j(1 − p_j). The
statistic T(y) = Σ (y_j − p_j)(q_j − p_j)/v_j of published means q has, over the choice of all people, mean 0 and
variance d/n for somebody who is no member, and mean d/n for a member. So the two are √(d/n) deviations apart.

Proof. For an outsider y and q are independent, both with mean p; each term has mean 0 and variance
v_j · (v_j/n)/v_j² = 1/n. A member has q_j = y_j/n + (a part that is independent of y), so each term has mean
E(y_j − p_j)²/(n v_j) = 1/n. □

>>> import numpy as np
>>> trace([0.6, 0.2], [0.5, 0.4], [[1, 0], [0, 1]]).round(6).tolist()
[0.533333, -0.7]
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.attacks.methods.floats import Floats, finite_floats, floats
from discreet.errors import InvalidValue

__all__ = ["TracingMethod", "trace"]

TracingMethod = Literal["inner product", "homer", "likelihood"]
"""How a person is compared with the means."""
_LEAST_SHARE = 1e-6


def trace(
    means: npt.ArrayLike, reference: npt.ArrayLike, profiles: npt.ArrayLike, method: TracingMethod = "inner product"
) -> Floats:
    """For every profile how much it looks like a member's; compare with the scores of people who are none.

    ``means`` are the published ones, exact or noisy, ``reference`` the shares in the population, and ``profiles`` has a
    row of zeros and ones for every person. ``method`` is "inner product" (the statistic T above), "homer" (how much
    closer to the means than to the reference), or "likelihood" (the ratio of likelihoods).

    A score says nothing alone. Where the people differ from the reference in more than chance, everybody like them
    scores high, so a threshold must come from people of the same kind who are known not to be members.
    """
    q, p, y = _checked(means, reference, profiles)
    if method == "inner product":
        return np.asarray((y - p) @ ((q - p) / (p * (1 - p))))
    if method == "homer":
        return np.asarray((np.abs(y - p) - np.abs(y - q)).sum(axis=1))
    if method == "likelihood":
        likely = np.clip(q, _LEAST_SHARE, 1 - _LEAST_SHARE)
        return np.asarray(y @ np.log(likely / p) + (1 - y) @ np.log((1 - likely) / (1 - p)))
    raise InvalidValue("method must be inner product, homer or likelihood", method)


def _checked(means: npt.ArrayLike, reference: npt.ArrayLike, profiles: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    q = finite_floats(means, "means", "leave out what was refused")
    p, y = floats(reference, "shares of the reference"), floats(profiles, "profiles")
    if q.ndim != 1 or q.shape != p.shape or y.ndim != 2 or y.shape[1] != q.size or not q.size:
        rule = "means and reference must have a number for each attribute, and profiles a row for each person"
        raise InvalidValue(rule, f"<shapes {q.shape}, {p.shape}, {y.shape}>")
    if not ((p > 0) & (p < 1)).all():
        remedy = "leave out attributes that nobody or everybody has"
        raise InvalidValue("shares of the reference must lie strictly between 0 and 1", "<others>", remedy)
    if not np.isin(y, (0, 1)).all():
        raise InvalidValue("profiles must hold zeros and ones", "<other numbers>")
    return q, p, y
