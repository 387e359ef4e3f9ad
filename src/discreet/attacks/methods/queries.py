"""Attacks that ask a few questions about one person.

Ask about the person directly (SELECT person, COUNT(*) ... GROUP BY person), which is the first thing that anybody
tries; about everybody, and about everybody but one; the same again and again, to take the middle of the answers; or for
the greatest secret of a group, with and without the person: a smaller answer tells, and so does a refusal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Attack, Counts, Goal, Guesses, Knowledge, View
from discreet.attacks.people import Codes
from discreet.attacks.queries import Is, Listed, Part, Person, Side, TableQuery
from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import integer
from discreet.noise.experiment import Chance

__all__ = ["Averaging", "Differencing", "DirectQuestion", "Floats", "Refusals", "finite_floats", "floats"]


class DirectQuestion(Attack):
    """Count the people with the secret, person by person."""

    name = "direct question"
    needs = "A way to name a person in a question."
    claims = "A person counted more than one half has the secret."
    goal = Goal.BIT

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Yes where the count of one person is above one half."""
        (counts,) = views[0].counts([TableQuery(by=(Person(known.everybody),), where=((known.bit, 1),))])
        found = counts[known.targets]
        return Guesses(np.where(np.isnan(found), -1, found > 0.5).astype(np.int64))


_MODULUS = 2**31 - 1


class Differencing(Attack):
    """With and without X, in the way that is answered.

    1. Everybody, and everybody but the target.
    2. Where that is refused, because the group is too small or leaves too few people out: the half of the people that
       the target is in, and this half without the target. Any large group can carry a small one: a tracker.
    3. Where that is refused, because the two answers would determine one unknown: pairs of targets, each overlapping
       the next. No combination of them determines anything for whoever takes the unknowns for any numbers. They are 0
       or 1, and the first pair with none or two tells its neighbours, and these theirs, to both ends of the chain.
    """

    name = "differencing"
    needs = "Two questions about groups that differ in one person."
    claims = "What changes when a person is left out is that person's secret."
    goal = Goal.BIT
    has_controls = False  # questions about strangers would take half of a budget
    most_targets = 80

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Yes where those with the secret lose more by leaving the target out than those without."""
        view, targets = views[0], known.targets
        multiplier, offset = (int(number) for number in chance.integers(1, _MODULUS, 2))
        half = Side(multiplier, offset)
        lead = _with_and_without(view, known.bit, targets, [() for _ in targets])
        refused = np.flatnonzero(np.isnan(lead))
        halves = half.codes_of(targets[refused]).tolist()
        lead[refused] = _with_and_without(view, known.bit, targets[refused], [((half, side),) for side in halves])
        still = np.flatnonzero(np.isnan(lead))
        lead[still] = _chain(view, known.bit, targets[still])
        values = np.where(np.isnan(lead) | (lead == 0), -1, lead > 0).astype(np.int64)
        note = _note_differences(len(targets), len(refused), len(still), int((values < 0).sum()))
        return Guesses(values, note, np.nan_to_num(lead))


def _with_and_without(view: View, bit: Part, targets: Codes, groups: Sequence[tuple[tuple[Part, int], ...]]) -> Counts:
    """For every target by how much more those with the secret change than those without; NaN where it was refused.

    The question with the target is worded anew for each, so that each has noise of its own where there is noise.
    """
    whole = [TableQuery((bit,), group, wording=place) for place, group in enumerate(groups)]
    rest = [TableQuery((bit,), (*group, (Is(int(t)), 0))) for t, group in zip(targets, groups, strict=True)]
    answers = np.array(view.counts([*whole, *rest])).reshape(2, len(targets), 2)
    no, yes = (answers[0] - answers[1]).T
    only_yes, only_no = 2 * yes - 1, 1 - 2 * no
    return np.asarray(np.where(np.isnan(no), only_yes, np.where(np.isnan(yes), only_no, yes - no)))


def _chain(view: View, bit: Part, targets: Codes) -> Counts:
    """For every target 1 for yes and −1 for no, NaN where the chain of pairs does not tell."""
    pairs = [Listed((int(first), int(second))) for first, second in pairwise(targets)]
    answers = view.counts([TableQuery((bit,), ((pair, 1),)) for pair in pairs])
    found = np.full(len(targets), np.nan)
    bits = _unravelled(np.array([answer[1] for answer in answers]))
    found[: len(bits)] = 2 * bits - 1
    return found


def _unravelled(sums: Counts) -> Counts:
    """The only zeros and ones of which neighbours have these sums, up to the first refusal; nothing where two fit."""
    refused = np.flatnonzero(np.isnan(sums))
    answered = sums[: refused[0]] if len(refused) else sums
    signs = (-1.0) ** np.arange(len(answered) + 1)
    from_zero = signs * np.concatenate([[0.0], np.cumsum(-signs[:-1] * answered)])
    stories = [from_zero, from_zero + signs]  # the first of the chain is 0, or it is 1
    fitting = [story for story in stories if np.isin(story, (0, 1)).all()]
    return fitting[0] if len(fitting) == 1 else np.empty(0)


def _note_differences(targets: int, refused: int, still: int, silent: int) -> str:
    """By which way most was learned, where it was not the first."""
    if not refused:
        return ""
    if silent == targets:
        return "Everybody but one, half of all people without one, pairs: all was refused, or told nothing."
    if still < refused:
        return "Half of the people with and without the target, because everybody but one was refused."
    return "Pairs of targets that overlap, because a target alone was always refused."


class Averaging(Attack):
    """The question how many people have the secret and how many have not, person by person, many times.

    The median of the answers comes closer to the truth with every answer that has fresh noise. Where the same text gets
    the same answer, other words for the same question get fresh noise.
    """

    claims = "A person of whom more have the secret than have it not, by the median of all answers, has it."
    goal = Goal.BIT
    most_people = 1000

    def __init__(self, *, is_reworded: bool = False, times: int = 65) -> None:
        """Say whether every question has words of its own, and how often it is asked."""
        self.is_reworded = is_reworded
        self.times = integer(times, "the number of repetitions", least=1)
        self.name = "averaging, reworded" if is_reworded else "averaging"
        how = f"in {self.times} wordings" if is_reworded else f"{self.times} times"
        self.needs = f"A way to name a person in a question, and to ask the same {how}."

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Yes where the median of those with the secret is above the median of those without."""
        by = (Person(known.everybody), known.bit)
        wordings = [time if self.is_reworded else 0 for time in range(self.times)]
        answers = np.stack(views[0].counts([TableQuery(by, wording=wording) for wording in wordings]))
        no, yes = _medians(answers).reshape(known.everybody, 2)[known.targets].T
        lead = np.nan_to_num(yes - no)
        return Guesses(np.where(lead == 0, -1, lead > 0).astype(np.int64), scores=lead)


def _medians(answers: Counts) -> Counts:
    """For every cell the median of what was answered, NaN where nothing was."""
    medians = np.full(answers.shape[1], np.nan)
    is_answered = ~np.isnan(answers).all(axis=0)
    medians[is_answered] = np.nanmedian(answers[:, is_answered], axis=0)
    return medians


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
        asked = [group for members in known.targets[groups] for group in _group_and_leave_one_out(members)]
        answers = views[0].greatest(asked).reshape(-1, 1 + _SIZE)
        secrets = np.full(len(places), -1)
        secrets[groups] = _disclosed(answers[:, 0], answers[:, 1:], len(known.values))
        return Guesses(secrets, _note_refusals(answers))


def _group_and_leave_one_out(members: Codes) -> list[Listed]:
    """The group, and the group without each of its members."""
    persons = tuple(members.tolist())
    return [Listed(persons), *(Listed(tuple(other for other in persons if other != person)) for person in persons)]


def _disclosed(whole: Counts, without: Counts, values: int) -> Codes:
    """For every member of every group the secret, -1 where it is not told."""
    greatest = np.where(np.isnan(whole), 0, np.rint(whole).clip(0, values - 1)).astype(np.int64)
    is_answered = ~np.isnan(whole) & (whole > -0.5)
    is_lowest = np.where(np.isnan(whole), is_answered.any(), is_answered & (greatest == 0))
    is_alone = (np.isnan(without) | (whole[:, None] - without > 0.5)) & is_answered[:, None]
    is_alone &= is_alone.sum(axis=1, keepdims=True) == 1
    return np.where(is_alone | is_lowest[:, None], greatest[:, None], -1)


def _note_refusals(answers: Counts) -> str:
    refused = int(np.isnan(answers).sum())
    if not refused:
        return ""
    is_silent = refused == answers.size
    return "Everything was refused, which tells nothing." if is_silent else f"Refusals that told something: {refused}."


Floats = npt.NDArray[np.float64]
"""An array of numbers."""


def floats(values: npt.ArrayLike, name: str) -> Floats:
    """The values as an array; NaN and infinities may be among them."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InvalidType(f"{name} must be numbers", "<other values, or rows of different lengths>") from None


def finite_floats(values: npt.ArrayLike, name: str, remedy: str = "") -> Floats:
    """The values as an array without NaN and infinities."""
    found = floats(values, name)
    if not np.isfinite(found).all():
        raise InvalidValue(f"{name} must be finite numbers", "<NaN or infinity>", remedy)
    return found
