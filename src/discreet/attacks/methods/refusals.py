"""Ask for the greatest secret of a group, with and without a person: a smaller answer tells, and so does a refusal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.attack import Attack, Goal, Guesses, Knowledge
from discreet.attacks.parts import Listed
from discreet.attacks.people import Codes
from discreet.attacks.view import Counts, View
from discreet.noise.experiment import Chance

__all__ = ["Refusals"]

_SIZE = 3  # of two people, one without the other is a question about one person, which says nothing when refused


class Refusals(Attack):
    """Groups of three: the greatest secret of all, and of the three pairs.

    Where leaving a person out makes the greatest secret smaller, it was that person's. An auditor who looks at the
    answer refuses it for this very reason, and tells the same by refusing. He also refuses a group that nothing was
    asked about before if and only if all of it have the lowest secret. Who refuses every group tells nothing.
    """

    name = "refusals"
    needs = "The greatest secret of groups of people that the outsider chooses."
    claims = "Without whom a group's greatest secret is smaller, or refused, has that secret."
    goal = Goal.VALUE
    has_controls = False  # whether somebody is in the table can be asked
    most_targets = 198

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """What is told of everybody who alone has the greatest secret of a group, or the lowest with all of it."""
        places = chance.permutation(len(known.targets))
        groups = places[: len(places) // _SIZE * _SIZE].reshape(-1, _SIZE)
        asked = [group for members in known.targets[groups] for group in _with_and_without(members)]
        answers = views[0].greatest(asked).reshape(-1, 1 + _SIZE)
        secrets = np.full(len(places), -1)
        secrets[groups] = _disclosed(answers[:, 0], answers[:, 1:], len(known.values))
        return Guesses(secrets, _note(answers))


def _with_and_without(members: Codes) -> list[Listed]:
    """The group, and the group without each of its members."""
    persons = tuple(members.tolist())
    return [Listed(persons), *(Listed(tuple(other for other in persons if other != person)) for person in persons)]


def _disclosed(whole: Counts, without: Counts, values: int) -> Codes:
    """For every member of every group the secret, -1 where it is not told."""
    greatest = np.where(np.isnan(whole), 0, np.rint(whole).clip(0, values - 1)).astype(np.int64)
    is_told = ~np.isnan(whole) & (whole > -0.5)
    is_lowest = np.where(np.isnan(whole), is_told.any(), is_told & (greatest == 0))
    is_alone = (np.isnan(without) | (whole[:, None] - without > 0.5)) & is_told[:, None]
    is_alone &= is_alone.sum(axis=1, keepdims=True) == 1
    return np.where(is_alone | is_lowest[:, None], greatest[:, None], -1)


def _note(answers: Counts) -> str:
    refused = int(np.isnan(answers).sum())
    if not refused:
        return ""
    is_silent = refused == answers.size
    return "Everything was refused, which tells nothing." if is_silent else f"Refusals that told something: {refused}."
