"""How coarse the classes of a release are.

With n original rows of which s were suppressed, and classes E:

- discernibility: the sum of |E|² over the classes, plus n·s, since a suppressed row is told from none;
- average class size: rows over classes. C_avg divides the released rows by the classes and by k, so 1 is best; AECS
  (ARX) divides all rows by the classes, with the suppressed rows, if any, as one class more;
- ambiguity: how many combinations of values the cells of a row allow, on average; a suppressed row allows all;
- classification metric: the share of rows that are suppressed or do not have the most frequent value of their class.
  Where two values tie, one of them is the most frequent: {2, 2} counts 2 of 4 rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.publication import Publication

__all__ = ["ClassLosses", "class_losses"]


@dataclass(frozen=True)
class ClassLosses:
    """What was lost by putting rows into classes."""

    discernibility: int
    """The sum of the squared sizes, with n for every suppressed row."""
    average_size: float
    """Released rows over classes."""
    c_avg: float
    """The average size over the smallest one that was asked for, or is there; 1 is best."""
    aecs: float
    """All rows over classes, where the suppressed rows are one."""
    ambiguity: float
    """How many combinations of values a row allows, on average."""
    classification: dict[str, float]
    """For every sensitive column the share of rows that a majority vote of their class gets wrong."""


def class_losses(publication: Publication, k: int | None = None) -> ClassLosses:
    """The losses of the classes; ``k`` is the k of C_avg, the size of the smallest class by default."""
    sizes, suppressed, rows = publication.classes.sizes, publication.suppressed, publication.before.rows
    average = publication.after.rows / len(sizes)
    return ClassLosses(
        discernibility=sum(int(size) ** 2 for size in sizes) + rows * suppressed,
        average_size=average,
        c_avg=average / (k or int(sizes.min())),
        aecs=rows / (len(sizes) + (suppressed > 0)),
        ambiguity=_ambiguity(publication),
        classification={name: _misclassified(publication, name) for name in publication.roles.sensitive},
    )


def _ambiguity(publication: Publication) -> float:
    chosen = publication.classes.representatives()
    combinations = np.ones(len(chosen))
    for name, covering in publication.coverings.items():
        combinations *= covering.leaves[publication.after[name].codes[chosen]]
    every = math.prod(float(len(covering.domain)) for covering in publication.coverings.values())
    return float(publication.classes.sizes @ combinations + publication.suppressed * every) / publication.before.rows


def _misclassified(publication: Publication, column: str) -> float:
    histogram = publication.classes.histogram(publication.after[column])
    right = int(histogram.largest(histogram.counts).sum())
    return (publication.before.rows - right) / publication.before.rows
