"""How many people of a population look like each class of a release: those whose values its cells allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedColumn, CodedTable, label_of
from discreet.anonymize.covering import Covering
from discreet.anonymize.publication import Publication

__all__ = ["population_sizes"]

_CELLS = 50_000_000  # of classes times distinct people that are looked at together


def population_sizes(publication: Publication, population: Any) -> npt.NDArray[np.int64]:
    """For every class the number of people who fit it. The population has the quasi-identifiers as the original has.

    A value that the domain of a column does not hold fits no cell. Where classes overlap, a person fits several.
    """
    names = publication.roles.quasi
    people = CodedTable.of(population, names)
    alike = Classes.of([people[name].codes for name in names])
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
