"""The two laws as the held-out draws show them, in as many outcomes or ranges as a chart can hold."""

from __future__ import annotations

import numpy as np

from discreet.audit.family import Counts, Floats
from discreet.audit.report import Seen
from discreet.audit.shown import shown
from discreet.audit.tally import Tally

__all__ = ["seen_laws"]

_MOST = 40


def seen_laws(table: Tally) -> tuple[Seen, ...]:
    """Single outcomes where there are few, else ranges of the first coordinate, else the commonest outcomes."""
    first, second = table.counts[4], table.counts[5]
    numbers = table.outcomes.numbers
    is_scalar = numbers.shape[1] == 1 and not np.isnan(numbers).any()
    if len(table.outcomes) <= _MOST:
        return _single(table, np.argsort(numbers[:, 0]) if is_scalar else np.arange(len(table.outcomes)))
    if numbers.shape[1] and np.isfinite(numbers[:, 0]).all():
        return _ranges(numbers[:, 0], first, second)
    return _single(table, np.argsort(-(first + second), kind="stable")[:_MOST])


def _single(table: Tally, places: Counts) -> tuple[Seen, ...]:
    first, second = (counts / max(int(counts.sum()), 1) for counts in table.counts[4:6])
    return tuple(Seen(shown(table.outcomes[k]), float(first[k]), float(second[k])) for k in places.tolist())


def _ranges(values: Floats, first: Counts, second: Counts) -> tuple[Seen, ...]:
    """Ranges of equal width between the far ends of the bulk; what lies outside counts to the last ones."""
    both = first + second
    order = np.argsort(values, kind="stable")
    running = np.cumsum(both[order])
    low, high = (float(values[order][np.searchsorted(running, running[-1] * share)]) for share in (0.001, 0.999))
    edges = np.linspace(low, high if high > low else low + 1, _MOST)
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _MOST - 2)
    shares = [np.bincount(place, weights=c, minlength=_MOST - 1) / max(int(c.sum()), 1) for c in (first, second)]
    middles = (edges[:-1] + edges[1:]) / 2
    return tuple(
        Seen(f"{middle:.6g}", float(p), float(q)) for middle, p, q in zip(middles.tolist(), *shares, strict=True)
    )
