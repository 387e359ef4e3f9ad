"""Who is in the table, who is attacked, and what is true: everything that an attack is run on and scored by.

The truth never reaches the attack: it gets views and `Knowledge`, and the scene keeps the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Attack, Goal, Guesses, Knowledge
from discreet.attacks.defence import Defence
from discreet.attacks.people import Codes, People
from discreet.attacks.score import Score, scored
from discreet.attacks.view import View
from discreet.noise.experiment import Chance, experiment

__all__ = ["Inapplicable", "Scene"]

_MOST_PEOPLE = 20_000
_MOST_KNOWN_WRONG = 2
_CONTROLS = 5  # one in so many people is left out of the table, to see what is learned without being in it


@dataclass(frozen=True)
class Inapplicable:
    """An attack that this defence leaves nothing to do."""

    reason: str
    """Why, in a sentence."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One attack's stage, the same for every defence."""

    attack: Attack
    """Who attacks."""
    everybody: People
    """The outside list, by number."""
    releases: tuple[Codes, ...]
    """For every release the numbers of the people in it."""
    targets: Codes
    """Whom the attack is about."""
    controls: Codes
    """People who are in no release, guessed in the same way."""
    seed: int
    """Where all chance but the curator's comes from."""

    @classmethod
    def of(cls, attack: Attack, people: People, seed: int = 0) -> Scene:
        """Divide the people for one attack: a table, overlapping tables, or members and others."""
        chance = experiment(seed)
        size = min(people.size, attack.most_people or _MOST_PEOPLE)
        everybody = people.take(np.sort(chance.permutation(people.size)[:size])).renumbered()
        if attack.goal is Goal.MEMBERSHIP:
            return cls._of_members(attack, everybody, chance.permutation(size), seed)
        controls, inside = np.split(chance.permutation(size), [size // _CONTROLS if attack.has_controls else 0])
        parts = attack.releases + 1 if attack.releases > 1 else 1  # else several releases would be one and the same
        targets, others = np.split(inside, [min(attack.most_targets, len(inside) // parts)])
        releases = [np.sort(np.concatenate([targets, part])) for part in np.array_split(others, attack.releases)]
        return cls(attack, everybody, tuple(releases), targets, controls[: attack.most_targets], seed)

    @classmethod
    def _of_members(cls, attack: Attack, everybody: People, order: Codes, seed: int) -> Scene:
        members, others = np.array_split(order, 2)
        each = min(attack.most_targets // 2, len(others) // 2)
        targets = np.concatenate([members[:each], others[:each]])
        return cls(attack, everybody, (np.sort(members),), targets, others[:0], seed)

    def run(self, defence: Defence) -> Score | Inapplicable:
        """The attack against one defence."""
        if not len(self.targets):
            return Inapplicable("There are too few people to attack.")
        chance = experiment(self.seed + 1)
        with ExitStack() as opened:
            views = [opened.enter_context(closing(self._view(defence, rows, chance))) for rows in self.releases]
            return self._attacked(views, chance)

    def _view(self, defence: Defence, rows: Codes, chance: Chance) -> View:
        return defence.defend(self.everybody.take(rows), self.everybody, chance)

    def _attacked(self, views: Sequence[View], chance: Chance) -> Score | Inapplicable:
        reason = self.attack.does_not_apply(views[0])
        if reason:
            return Inapplicable(reason)
        people = np.concatenate([self.targets, self.controls])
        known = self._known(people, experiment(self.seed + 2))  # drawn apart: the same for every defence
        guesses = self.attack.guess(views, known, chance)
        asked, refused = sum(view.asked for view in views), sum(view.refused for view in views)
        usual = self._usual(known.excluded)
        inside = len(self.targets)
        score = replace(self._score(guesses, usual, slice(inside), self.targets), asked=asked, refused=refused)
        if not len(self.controls):
            return score
        control = self._score(guesses, usual, slice(inside, None), self.controls)
        return replace(score, control=control.right, control_claims=control.claims)

    def _score(self, guesses: Guesses, usual: Codes, part: slice, people: Codes) -> Score:
        everybody = self._truth(np.arange(self.everybody.size))
        share = 1.0 if self.attack.rules_out else float((everybody == usual[0]).mean())
        return scored(Guesses(guesses.values[part], guesses.note), self._truth(people), usual[part], share)

    def _truth(self, people: Codes) -> Codes:
        match self.attack.goal:
            case Goal.VALUE:
                return self.everybody.secret.codes[people]
            case Goal.BIT:
                return self.everybody.bits[people].astype(np.int64)
            case Goal.MEMBERSHIP:
                return np.isin(people, self.releases[0]).astype(np.int64)

    def _usual(self, excluded: npt.NDArray[np.bool_]) -> Codes:
        """What guesses without the release say of every target: the most frequent of what is not ruled out."""
        times = np.bincount(self._truth(np.arange(self.everybody.size)), minlength=excluded.shape[1])
        if not self.attack.rules_out:
            return np.full(len(excluded), times.argmax())
        return np.asarray(np.where(excluded, -1, times).argmax(axis=1))

    def _known(self, people: Codes, chance: Chance) -> Knowledge:
        is_tracing = self.attack.goal is Goal.MEMBERSHIP
        strangers = np.setdiff1d(np.arange(self.everybody.size), np.concatenate([*self.releases, people]))
        return Knowledge(
            {name: self.everybody.columns[name] for name in self.everybody.quasi},
            self.everybody.secret_name,
            self.everybody.secret.values,
            self.everybody.marked,
            people,
            self._known_wrong(people, chance),
            self.everybody.take(people) if is_tracing else None,
            self.everybody.take(strangers) if is_tracing else None,
        )

    def _known_wrong(self, people: Codes, chance: Chance) -> npt.NDArray[np.bool_]:
        """For every target some secrets that the outsider has ruled out: two, and never all but one."""
        values = len(self.everybody.secret.values)
        ruled_out = min(_MOST_KNOWN_WRONG, values - 2) if self.attack.rules_out else 0
        drawn = chance.random((len(people), values))
        drawn[np.arange(len(people)), self.everybody.secret.codes[people]] = 2  # the true one is never ruled out
        return drawn.argsort(axis=1).argsort(axis=1) < ruled_out
