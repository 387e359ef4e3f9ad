"""A release that is there already: what outsiders learn from it, scored by the table that it was made from.

Everybody in the table is taken to be in the release, or to be looked for in it. So nobody is left to compare with, and
what is learned from the crowd counts as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.table import arrow_table
from discreet.attacks.attack import Attack, Defence, Goal, View
from discreet.attacks.board import Progress, Scene, Scoreboard, held_against
from discreet.attacks.catalogue import chosen_attacks
from discreet.attacks.defences.releases import PublishedView
from discreet.attacks.methods.releases import BackgroundKnowledge, Homogeneity, Linkage
from discreet.attacks.people import People
from discreet.errors import InvalidValue
from discreet.noise.experiment import Chance, experiment

__all__ = ["GivenRelease", "release_scoreboard"]


class GivenRelease(Defence):
    """A table that was published, or is about to be."""

    says = "A table is published as it is in the file; what it tells of the crowd counts as well."

    def __init__(
        self, release: Any, people: People, name: str = "release", hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> None:
        """Read the release, which has the quasi-identifiers and the secret of ``people``."""
        self.name = name
        self.hierarchies = hierarchies
        self.table = _read(arrow_table(release), people)

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """The release as outsiders read it."""
        return PublishedView(self.table, everybody, self.table.num_rows, self.hierarchies)


def release_scoreboard(
    table: Any,
    release: Any,
    *,
    quasi: Sequence[str],
    secret: str,
    attacks: Sequence[Attack | str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    name: str = "table",
) -> Scoreboard:
    """Attack one release of ``table``: by linkage, homogeneity and background knowledge, or by other ``attacks``."""
    people = People.of(table, quasi, secret)
    defence = GivenRelease(release, people, hierarchies=hierarchies)
    usual = (Linkage(), Homogeneity(), BackgroundKnowledge())
    wanted = usual if attacks is None else [one for one in chosen_attacks(attacks) if _fits(one, people.size)]
    if not wanted:
        rule = "a release can be attacked where one table tells a secret"
        raise InvalidValue(rule, list(attacks or ()), f"one of {', '.join(one.name for one in usual)}")
    return held_against(people, wanted, [defence], seed=seed, progress=progress, name=name, stage=_everybody)


def _fits(attack: Attack, size: int) -> bool:
    """Whether it needs one release alone, and can take all of these people."""
    return attack.goal is Goal.VALUE and attack.releases == 1 and (attack.most_people or size) >= size


def _everybody(attack: Attack, people: People, seed: int) -> Scene:
    """Everybody may be in the release."""
    targets = experiment(seed).permutation(people.size)[: attack.most_targets]
    return Scene(attack, people.renumbered(), (np.arange(people.size),), targets, targets[:0], seed)


def _read(release: pa.Table, people: People) -> pa.Table:
    """The columns that count, with secrets as the attack speaks of them."""
    wanted = [*people.quasi, people.secret_name]
    missing = [name for name in wanted if name not in release.column_names]
    if missing:
        rule = "a release must have the quasi-identifiers and the secret"
        raise InvalidValue(rule, f"<without {', '.join(missing)}>", "name the columns as in the table")
    raw = people.table[people.secret_name].cast(pa.string()).to_pylist()
    known = {text: people.secret.values[code] for text, code in zip(raw, people.secret.codes, strict=True)}
    shown = release[people.secret_name].cast(pa.string()).to_pylist()
    for strange in shown:
        if strange not in known:
            rule = "a release must write secrets as the table does"
            raise InvalidValue(rule, strange, "give the column the same type")
    secrets = pa.array([known[text] for text in shown])
    place = wanted.index(people.secret_name)
    return release.select(wanted).set_column(place, people.secret_name, secrets)
