"""Ask about everybody, and about everybody but one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from discreet.attacks.attack import Attack, Goal, Guesses, Knowledge
from discreet.attacks.parts import Is, Listed, Part, Side
from discreet.attacks.people import Codes
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.noise.experiment import Chance

__all__ = ["Differencing"]

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
        lead[still] = _chained(view, known.bit, targets[still])
        values = np.where(np.isnan(lead) | (lead == 0), -1, lead > 0).astype(np.int64)
        note = _note(len(targets), len(refused), len(still), int((values < 0).sum()))
        return Guesses(values, note, np.nan_to_num(lead))


def _with_and_without(view: View, bit: Part, targets: Codes, groups: Sequence[tuple[tuple[Part, int], ...]]) -> Counts:
    """For every target by how much more those with the secret change than those without; NaN where it was refused.

    The question with the target is worded anew for each, so that each has noise of its own where there is noise.
    """
    whole = [Question((bit,), group, wording=place) for place, group in enumerate(groups)]
    rest = [Question((bit,), (*group, (Is(int(t)), 0))) for t, group in zip(targets, groups, strict=True)]
    answers = np.array(view.counts([*whole, *rest])).reshape(2, len(targets), 2)
    no, yes = (answers[0] - answers[1]).T
    only_yes, only_no = 2 * yes - 1, 1 - 2 * no
    return np.asarray(np.where(np.isnan(no), only_yes, np.where(np.isnan(yes), only_no, yes - no)))


def _chained(view: View, bit: Part, targets: Codes) -> Counts:
    """For every target 1 for yes and −1 for no, NaN where the chain of pairs does not tell."""
    pairs = [Listed((int(first), int(second))) for first, second in pairwise(targets)]
    answers = view.counts([Question((bit,), ((pair, 1),)) for pair in pairs])
    found = np.full(len(targets), np.nan)
    bits = _unravelled(np.array([answer[1] for answer in answers]))
    found[: len(bits)] = 2 * bits - 1
    return found


def _unravelled(sums: Counts) -> Counts:
    """The only zeros and ones of which neighbours have these sums, up to the first refusal; nothing where two fit."""
    refused = np.flatnonzero(np.isnan(sums))
    told = sums[: refused[0]] if len(refused) else sums
    signs = (-1.0) ** np.arange(len(told) + 1)
    from_zero = signs * np.concatenate([[0.0], np.cumsum(-signs[:-1] * told)])
    stories = [from_zero, from_zero + signs]  # the first of the chain is 0, or it is 1
    fitting = [story for story in stories if np.isin(story, (0, 1)).all()]
    return fitting[0] if len(fitting) == 1 else np.empty(0)


def _note(targets: int, refused: int, still: int, silent: int) -> str:
    """By which way most was learned, where it was not the first."""
    if not refused:
        return ""
    if silent == targets:
        return "Everybody but one, half of all people without one, pairs: all was refused, or told nothing."
    if still < refused:
        return "Half of the people with and without the target, because everybody but one was refused."
    return "Pairs of targets that overlap, because a target alone was always refused."
