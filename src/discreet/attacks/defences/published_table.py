"""Owners who publish a table: with the names removed, or recoded so that classes meet a model of anonymity.

>>> from discreet.attacks.people import People
>>> from discreet.noise.experiment import experiment
>>> import pyarrow as pa
>>> people = People.of(pa.table({"age": [21, 24, 33, 37], "ill": ["no", "yes", "no", "no"]}), ["age"], "ill")
>>> view = KAnonymousTable(k=2).defend(people, people, experiment(0))
>>> view.published.histograms.tolist(), view.published.class_of.tolist()
([[1, 1], [2, 0]], [0, 0, 1, 1])
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.models.closeness import Closeness
from discreet.anonymize.models.distinct_diversity import DistinctDiversity
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.mondrian import mondrian
from discreet.anonymize.optimal import optimal
from discreet.anonymize.roles import Roles
from discreet.attacks.defence import Defence
from discreet.attacks.defences.published_view import PublishedView
from discreet.attacks.people import People
from discreet.attacks.view import View
from discreet.noise.experiment import Chance

__all__ = ["KAnonymousTable", "LDiverseTable", "NamesRemoved", "PublishedTable", "TCloseTable"]


class PublishedTable(Defence):
    """A table of rows without names, which anybody may read."""

    hierarchies: Mapping[str, Hierarchy] | None = None
    """How columns were made coarser, where that was given."""

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """The table as outsiders read it who have the list of everybody."""
        return PublishedView(self.release(_written(people)), everybody, people.size, self.hierarchies)

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


def _written(people: People) -> People:
    """The people with their secrets as the attack speaks of them: numbers of many values as ranges."""
    secret = people.secret
    texts = pa.DictionaryArray.from_arrays(pa.array(secret.codes), pa.array(secret.values)).cast(pa.string())
    place = people.table.schema.get_field_index(people.secret_name)
    return replace(people, table=people.table.set_column(place, people.secret_name, texts))
