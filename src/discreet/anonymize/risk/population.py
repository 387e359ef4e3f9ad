"""How many people would be unique in the population, estimated from a sample of it. An estimate is no guarantee.

Two models. Both take the rows as a simple random sample of a population of known size, one row per person.

- Zayatz: the sizes of the classes in the population are spread as in the sample. Then Bayes' rule tells how likely a
  class that is unique in the sample is unique in the population. It needs a sample that is not too small a part.
- Pitman: the classes grow like the tables of the Ewens-Pitman process, where the rich get richer and new ones keep
  coming. Its two parameters are those that make the sample likeliest; the mean number of unique people is then known
  exactly. It is meant for small samples of large populations.

``estimate`` follows the rule of Dankar et al. (2012), as ARX does: Pitman up to a tenth of the population, Zayatz above
(where ARX also tries a third model). Where no row is unique nobody in the table is unique among more people, and both
estimates are 0.

Where the population itself is there, those are counted who look like each class: whose values its cells allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.loss.cells import Covering
from discreet.anonymize.loss.release_loss import Publication
from discreet.anonymize.table import CodedColumn, CodedTable, label_of
from discreet.errors import InvalidType, InvalidValue

__all__ = ["PopulationUniques", "pitman_uniques", "population_sizes", "population_uniques", "zayatz_uniques"]


Sizes = npt.NDArray[np.integer]
_SMALL_SAMPLE = 0.1


@dataclass(frozen=True)
class PopulationUniques:
    """Estimates of how many people are unique in the population."""

    population: int
    """How many people there are."""
    zayatz: float
    """The estimate of Zayatz."""
    pitman: float
    """The estimate of the Ewens-Pitman process."""
    is_small_sample: bool
    """Whether the rows are at most a tenth of the population."""

    @property
    def estimate(self) -> float:
        """The estimate that suits the size of the sample."""
        return self.pitman if self.is_small_sample else self.zayatz

    @property
    def share(self) -> float:
        """The estimated share of the population that is unique."""
        return self.estimate / self.population


def population_uniques(sizes: Sizes, population: int) -> PopulationUniques:
    """Both estimates for a sample whose classes have some ``sizes``."""
    rows = int(sizes.sum())
    if isinstance(population, bool) or not isinstance(population, int):
        raise InvalidType("the size of the population must be a whole number", population)
    if population < rows:
        raise InvalidValue(f"the population must have at least the {rows} people of the table", population)
    return PopulationUniques(
        population,
        zayatz_uniques(sizes, population),
        pitman_uniques(sizes, population),
        rows <= _SMALL_SAMPLE * population,
    )


def zayatz_uniques(sizes: Sizes, population: int) -> float:
    """The number of people that are unique in the population, when its classes are spread as those of the sample.

    P(size 1 in the population | 1 in the sample) = P(size 1) π / Σ P(size i) P(1 of i is sampled), with π the share
    that is sampled; the unique rows times this probability, over π, are the unique people.
    """
    rows = int(sizes.sum())
    size, classes = np.unique(sizes, return_counts=True)
    share = rows / population
    if size[0] != 1:
        return 0.0
    one_sampled = np.exp(_log_one_sampled(size, rows, population))
    unique = int(classes[0])
    certain = unique * share / float(classes @ one_sampled)
    return min(unique * certain / share, float(population))


def _log_one_sampled(size: Sizes, rows: int, population: int) -> npt.NDArray[np.float64]:
    """The log of the hypergeometric probability that exactly one member of a class of this size is in the sample."""
    whole = _log_choose(population, rows)
    with np.errstate(invalid="ignore"):
        found = np.log(size) + _log_choose(population - size, rows - 1) - whole
    return np.where(population - size >= rows - 1, found, -np.inf)


def _log_choose(n: npt.ArrayLike, k: npt.ArrayLike) -> npt.NDArray[np.float64]:
    from scipy.special import gammaln  # noqa: PLC0415  an import of a third of a second, for those who need it

    every, some = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    return np.asarray(gammaln(every + 1) - gammaln(some + 1) - gammaln(every - some + 1))


def pitman_uniques(sizes: Sizes, population: int) -> float:
    """The mean number of unique people of the Ewens-Pitman process that makes the sample likeliest."""
    if not np.any(sizes == 1):
        return 0.0
    theta, alpha = _fit(sizes)
    return min(_mean_uniques(theta, alpha, population), float(population))


def _mean_uniques(theta: float, alpha: float, people: int) -> float:
    """N Γ(θ + 1) Γ(θ + α + N - 1) / (Γ(θ + α) Γ(θ + N)): a newcomer is at a new table, and all others sit elsewhere."""
    from scipy.special import gammaln  # noqa: PLC0415

    logs = gammaln(theta + 1) - gammaln(theta + alpha) + gammaln(theta + alpha + people - 1) - gammaln(theta + people)
    return people * math.exp(float(logs))


def _fit(sizes: Sizes) -> tuple[float, float]:
    """The likeliest θ > 0 and 0 ≤ α < 1, searched as log θ and the logit of α."""
    from scipy import optimize, special  # noqa: PLC0415

    size, classes = np.unique(sizes, return_counts=True)
    count, rows = int(classes.sum()), int(sizes.sum())
    places = np.arange(1, count)

    def unlikeliness(point: npt.NDArray[np.float64]) -> float:
        theta, alpha = math.exp(point[0]), float(special.expit(point[1]))
        new = np.log(theta + places * alpha).sum()
        filled = special.gammaln(theta + rows) - special.gammaln(theta + 1)
        within = classes @ (special.gammaln(size - alpha) - special.gammaln(1 - alpha))
        return -float(new - filled + within)

    starts = [(math.log(max(count, 2) / 2), alpha) for alpha in (-2.0, 1.0)]
    bounds = [(-10.0, 30.0), (-20.0, 12.0)]
    found = [optimize.minimize(unlikeliness, start, method="L-BFGS-B", bounds=bounds) for start in starts]
    best = min(found, key=lambda one: float(one.fun))
    return math.exp(best.x[0]), float(special.expit(best.x[1]))


_CELLS = 50_000_000  # of classes times distinct people that are looked at together


def population_sizes(publication: Publication, population: Any) -> npt.NDArray[np.int64]:
    """For every class the number of people who fit it. The population has the quasi-identifiers as the original has.

    A value that the domain of a column does not hold fits no cell. Where classes overlap, a person fits several.
    """
    names = publication.roles.quasi
    people = CodedTable.of(population, names)
    alike = EquivalenceClasses.of([people[name].codes for name in names])
    person = alike.representatives()
    shown = publication.classes.representatives()
    covered = {name: _covered(publication.coverings[name], people[name]) for name in names}
    found = np.zeros(len(shown), dtype=np.int64)
    step = max(_CELLS // max(len(person), 1), 1)
    for first in range(0, len(shown), step):
        rows = shown[first : first + step]
        fits = np.ones((len(rows), len(person)), dtype=np.bool_)
        for name in names:
            cells = covered[name][publication.after[name].codes[rows]]
            fits &= cells[:, people[name].codes[person]]
        found[first : first + step] = fits @ alike.sizes
    return found


def _covered(covering: Covering, column: CodedColumn) -> npt.NDArray[np.bool_]:
    """For every released cell and every value of a population's column whether the cell allows the value."""
    place = {label_of(value): number for number, value in enumerate(covering.domain)}
    places = np.array([place.get(text, -1) for text in column.labels], dtype=np.int64)
    covered = np.zeros((len(covering.cells), len(places)), dtype=np.bool_)
    for cell, start, stop in zip(covering.cell, covering.start, covering.stop, strict=True):
        covered[cell] |= (start <= places) & (places < stop)
    return covered
