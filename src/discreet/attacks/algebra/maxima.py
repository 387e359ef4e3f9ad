"""What the greatest values of some groups tell about the people in them, and what a refusal tells.

Let every person i have a value, and let the answers say that the greatest value of group k is a_k. Then person i has at
most the bound u_i, the least a_k of the groups that i is in. Group k has somebody with a_k, who must be one of those
whose bound is a_k: its *candidates*.

Claim. Answers are possible if and only if every group has a candidate. Then a person's value is certain if and only if
the person is the only candidate of some group, or the bound is the lowest value that there is.

Proof. If every group has a candidate, everybody at their bound meets all answers; if group k has none, nobody in it can
have a_k. Let a person's bound be above the lowest value. At the bound is possible, as seen. Below it is possible, with
everybody else at their bounds, if and only if every group that the person is a candidate of has another one. ∎
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from discreet.attacks.people import Codes
from discreet.errors import InvalidValue

__all__ = ["Maxima", "maxima"]


Floats = npt.NDArray[np.float64]
_MOST_STORIES = 1000


@dataclass(frozen=True, eq=False)
class Maxima:
    """Groups and their greatest values."""

    people: int
    """How many people there are."""
    groups: tuple[Codes, ...] = ()
    """For every answer the people in the group."""
    answers: tuple[float, ...] = ()
    """For every group the greatest value."""

    def with_answer(self, group: Codes, answer: float) -> Maxima:
        """One answer more."""
        return Maxima(self.people, (*self.groups, group), (*self.answers, answer))

    @cached_property
    def bounds(self) -> Floats:
        """For every person the most that the value can be."""
        bounds = np.full(self.people, np.inf)
        members, answers, _ = self._members
        np.minimum.at(bounds, members, answers)
        return bounds

    @property
    def is_possible(self) -> bool:
        """Whether any values have these greatest ones."""
        return bool((self._candidates > 0).all())

    def certain(self, lowest: float | None = None) -> npt.NDArray[np.bool_]:
        """For every person whether the value must be the bound; ``lowest`` is the least value, where there is one."""
        members, answers, group = self._members
        found = np.zeros(self.people, np.bool_)
        is_candidate = self.bounds[members] == answers
        found[members[is_candidate & (self._candidates[group] == 1)]] = True
        return found if lowest is None else found | (self.bounds == lowest)

    @cached_property
    def _candidates(self) -> Codes:
        """For every group how many people can have its greatest value."""
        members, answers, group = self._members
        return np.bincount(group[self.bounds[members] == answers], minlength=len(self.groups))

    @cached_property
    def _members(self) -> tuple[Codes, Floats, Codes]:
        """Every pair of a group and a person in it: the person, the group's answer, and the group."""
        sizes = [len(group) for group in self.groups]
        members = np.concatenate([np.empty(0, np.int64), *self.groups])
        return members, np.repeat(np.array(self.answers), sizes), np.repeat(np.arange(len(sizes)), sizes)


def maxima(
    groups: Sequence[Sequence[Hashable]], answers: Sequence[float | None], values: Sequence[float]
) -> dict[Hashable, tuple[float, ...]]:
    """For every person the values that are left, when None is the answer of an auditor who refused.

    The auditor looks at the true answer, and refuses where it would make somebody's value certain together with the
    answers before. So a refusal says that the true answer is one of those. ``values`` is what a value can be.

    The greatest value of the men is 2; of the first-year students it is refused. Xi is the only woman among these.

    >>> men, first_year = ["Ben", "Jan", "Jian", "Joe"], ["Ben", "Jian", "Xi"]
    >>> maxima([men, first_year], [2, None], values=[1, 2, 3])["Xi"]
    (3,)
    """
    scale = tuple(sorted(set(values)))
    names = {person: place for place, person in enumerate(dict.fromkeys(p for group in groups for p in group))}
    audited = Maxima(len(names))
    stories = [audited]
    for members, answer in zip(_encode(groups, names), _checked(groups, answers, scale), strict=True):
        possible_answers = [answer] if answer is not None else _refusable(audited, members, scale)
        stories = [story.with_answer(members, value) for story in stories for value in possible_answers]
        stories = [story for story in stories if story.is_possible]
        audited = audited if answer is None else audited.with_answer(members, answer)
        _check_stories(stories, answer)
    left = np.any([_left(story, scale) for story in stories], axis=0)
    return {person: tuple(np.array(scale)[left[place]].tolist()) for person, place in names.items()}


def _refusable(audited: Maxima, members: Codes, scale: Sequence[float]) -> list[float]:
    """The answers that the auditor would refuse."""
    return [value for value in scale if audited.with_answer(members, value).certain().any()]


def _left(story: Maxima, scale: Sequence[float]) -> npt.NDArray[np.bool_]:
    """People down, values across."""
    bounds = story.bounds[:, None]
    return np.where(story.certain()[:, None], np.array(scale) == bounds, np.array(scale) <= bounds)


def _encode(groups: Sequence[Sequence[Hashable]], names: dict[Hashable, int]) -> list[Codes]:
    return [np.array(sorted({names[person] for person in group}), np.int64) for group in groups]


def _checked(
    groups: Sequence[Sequence[Hashable]], answers: Sequence[float | None], scale: Sequence[float]
) -> Sequence[float | None]:
    if len(groups) != len(answers):
        raise InvalidValue(f"every one of the {len(groups)} groups needs an answer", len(answers), "None if refused")
    if not all(groups):
        raise InvalidValue("a group must have somebody in it", "<an empty group>")
    strange = [answer for answer in answers if answer is not None and answer not in scale]
    if strange:
        raise InvalidValue("an answer must be one of the values, or None where it was refused", strange[0])
    return answers


def _check_stories(stories: Sequence[Maxima], answer: float | None) -> None:
    if not stories:
        said = "<a refusal>" if answer is None else answer
        raise InvalidValue("no values fit all answers: they contradict each other", said, "check groups and answers")
    if len(stories) > _MOST_STORIES:
        raise InvalidValue(f"refusals may leave {_MOST_STORIES} stories at most", len(stories), "give fewer refusals")
