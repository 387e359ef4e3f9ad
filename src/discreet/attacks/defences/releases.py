"""Owners who publish a table: with the names removed, or recoded so that classes meet a model of anonymity.

>>> from discreet.attacks.people import People
>>> from discreet.noise.experiment import experiment
>>> import pyarrow as pa
>>> people = People.of(pa.table({"age": [21, 24, 33, 37], "ill": ["no", "yes", "no", "no"]}), ["age"], "ill")
>>> view = KAnonymousTable(k=2).defend(people, people, experiment(0))
>>> view.published.histograms.tolist(), view.published.class_of.tolist()
([[1, 1], [2, 0]], [0, 0, 1, 1])

An outsider finds in such a table which class fits whom, and estimates statistics from the classes. Every row of a class
is taken to be any of the people on the outside list whom the class fits, each as likely as the others. So the counts of
whole classes are exact, and what is asked about parts of a class is its share.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.recode.mondrian import mondrian
from discreet.anonymize.recode.optimal import optimal
from discreet.anonymize.roles import Roles
from discreet.attacks.attack import Counts, Defence, Published, View
from discreet.attacks.linkage.matching import Fits, fitting
from discreet.attacks.people import Coded, Codes, People
from discreet.attacks.queries import Part, TableQuery
from discreet.noise.experiment import Chance

__all__ = [
    "KAnonymousTable",
    "LDiverseTable",
    "NamesRemoved",
    "PublishedTable",
    "PublishedView",
    "TCloseTable",
    "published",
]


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

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        return [self._estimated(question) for question in questions]

    def _estimated(self, question: TableQuery) -> Counts:
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


class PublishedTable(Defence):
    """A table of rows without names, which anybody may read."""

    hierarchies: Mapping[str, Hierarchy] | None = None
    """How columns were made coarser, where that was given."""

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """The table as outsiders read it who have the list of everybody."""
        return PublishedView(self.release(_write(people)), everybody, people.size, self.hierarchies)

    @abstractmethod
    def release(self, people: People) -> pa.Table:
        """The rows that are published."""


class NamesRemoved(PublishedTable):
    """The rows as they are, without names and numbers."""

    name = "names removed"
    says = "Every row is published as it is, without the name."

    def release(self, people: People) -> pa.Table:
        """All of it."""
        return people.table


class _Recoded(PublishedTable):
    """A table recoded until its classes meet models: by the best levels of hierarchies, else by Mondrian's cuts."""

    def __init__(self, hierarchies: Mapping[str, Hierarchy] | None) -> None:
        self.hierarchies = hierarchies

    @abstractmethod
    def models(self, secret: str) -> list[Model]:
        """What every class must meet."""

    def release(self, people: People) -> pa.Table:
        """The recoded rows; raises ``OutOfReach`` where even the whole table as one class breaks a model."""
        secret = people.secret_name
        roles = Roles.of(people.table.column_names, quasi=people.quasi, sensitive=secret)
        if self.hierarchies is None:
            return mondrian(people.table, roles, self.models(secret)).table
        return optimal(people.table, roles, self.hierarchies, self.models(secret)).table


class KAnonymousTable(_Recoded):
    """Everybody shares the quasi-identifiers with k - 1 others."""

    def __init__(self, k: int = 5, hierarchies: Mapping[str, Hierarchy] | None = None) -> None:
        """Ask for ``k``; without ``hierarchies`` the table is cut at medians."""
        super().__init__(hierarchies)
        self.k = KAnonymity(k)
        self.name = f"{k}-anonymity"
        self.says = f"A table is published in which nobody can be told from {k - 1} others."

    def models(self, secret: str) -> list[Model]:
        """k-anonymity."""
        return [self.k]


class LDiverseTable(_Recoded):
    """Every class has k rows, and l different secrets."""

    def __init__(self, l: int = 2, k: int = 5, hierarchies: Mapping[str, Hierarchy] | None = None) -> None:  # noqa: E741
        """Ask for ``l`` different secrets in every class of ``k`` rows or more."""
        super().__init__(hierarchies)
        self.k, self.l = KAnonymity(k), DistinctDiversity("secret", l).l
        self.name = f"{l}-diversity"
        self.says = f"A {k}-anonymous table is published in which every class has {l} secrets or more."

    def models(self, secret: str) -> list[Model]:
        """k-anonymity and distinct l-diversity."""
        return [self.k, DistinctDiversity(secret, self.l)]


class TCloseTable(_Recoded):
    """Every class has k rows, whose secrets are spread nearly as in the whole table."""

    def __init__(self, t: float = 0.2, k: int = 5, hierarchies: Mapping[str, Hierarchy] | None = None) -> None:
        """Ask that secrets in every class of ``k`` rows or more are at most ``t`` away from those of the table."""
        super().__init__(hierarchies)
        self.k, self.t = KAnonymity(k), Closeness("secret", t).t
        self.name = f"{t:g}-closeness"
        self.says = f"A {k}-anonymous table is published in which secrets are spread in every class as in all."

    def models(self, secret: str) -> list[Model]:
        """k-anonymity and t-closeness, with the same distance between any two secrets."""
        return [self.k, Closeness(secret, self.t)]


def _write(people: People) -> People:
    """The people with their secrets as the attack speaks of them: numbers of many values as ranges."""
    secret = people.secret
    texts = pa.DictionaryArray.from_arrays(pa.array(secret.codes), pa.array(secret.values)).cast(pa.string())
    place = people.table.schema.get_field_index(people.secret_name)
    return replace(people, table=people.table.set_column(place, people.secret_name, texts))
