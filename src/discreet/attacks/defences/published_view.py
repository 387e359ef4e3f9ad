"""A published table as an outsider uses it: which class fits whom, and statistics estimated from the classes.

Every row of a class is taken to be any of the people on the outside list whom the class fits, each as likely as the
others. So the counts of whole classes are exact, and what is asked about parts of a class is its share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.hierarchy import Hierarchy
from discreet.attacks.fitting import Fits, fitting
from discreet.attacks.parts import Part
from discreet.attacks.people import Coded, Codes, People
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, Published, View

__all__ = ["PublishedView", "published"]


class PublishedView(View):
    """A table of classes, from which everybody can estimate every count."""

    def __init__(
        self, release: pa.Table, everybody: People, rows: int, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> None:
        """Read ``release``, whose secret is written as in ``everybody``, the outside list; its secrets are not read."""
        quasi = list(everybody.quasi)
        fits = fitting(release, everybody.table.select(quasi), quasi, hierarchies)
        histograms = _histograms(release, everybody, fits)
        self.rows = rows
        self.published = published(histograms, fits)
        self._possible, self._weights = _possible(histograms, fits, everybody)

    def _counts(self, questions: Sequence[Question]) -> list[Counts]:
        return [self._estimated(question) for question in questions]

    def _estimated(self, question: Question) -> Counts:
        """The expected counts, over who of those that a class fits is in it."""
        cell = question.codes(self._possible)
        asked = cell >= 0
        return np.asarray(np.bincount(cell[asked], self._weights[asked], minlength=question.cells), np.float64)

    def _greatest(self, groups: Sequence[Part]) -> Counts:
        """The greatest secret that anybody in a group can have by the table; -1 where no class fits any of them."""
        secrets = self._possible.secret.codes
        return np.array([float(secrets[group.codes(self._possible) == 1].max(initial=-1)) for group in groups])


def published(histograms: Codes, fits: Fits) -> Published:
    """The classes, and the one that fits each person. Where several fit, their union is a class of its own.

    Who finds two classes that fit knows that the person is in one of them, and so among the rows of both.
    """
    class_of = np.full(fits.people, -1)
    class_of[fits.person] = fits.group  # for those whom several fit, the union takes its place
    unions: dict[bytes, int] = {}
    added: list[Codes] = []
    for person in np.flatnonzero(fits.times > 1):
        first, last = np.searchsorted(fits.person, [person, person + 1])
        members = fits.group[first:last]
        key = members.tobytes()
        if key not in unions:
            unions[key] = len(histograms) + len(added)
            added.append(histograms[members].sum(axis=0))
        class_of[person] = unions[key]
    return Published(np.concatenate([histograms, np.array(added, np.int64).reshape(-1, histograms.shape[1])]), class_of)


def _histograms(release: pa.Table, everybody: People, fits: Fits) -> Codes:
    """How many rows of every class have each secret."""
    values = everybody.secret.values
    place = {value: code for code, value in enumerate(values)}
    encoded = release[everybody.secret_name].combine_chunks().dictionary_encode()
    codes = np.array([place[value] for value in encoded.dictionary.to_pylist()])[encoded.indices.to_numpy()]
    cell = fits.classes.number * len(values) + codes
    return np.bincount(cell, minlength=fits.classes.count * len(values)).reshape(-1, len(values))


def _possible(histograms: Codes, fits: Fits, everybody: People) -> tuple[People, npt.NDArray[np.float64]]:
    """Everybody with every secret they can have by the table, and how probable it is that such a row is theirs."""
    shares = histograms / np.maximum(fits.rivals, 1)[:, None]
    pair, secret = np.nonzero(shares[fits.group])
    people = everybody.take(fits.person[pair])
    columns = {**people.columns, people.secret_name: Coded(secret, everybody.secret.values)}
    return replace(people, columns=columns), shares[fits.group[pair], secret]
