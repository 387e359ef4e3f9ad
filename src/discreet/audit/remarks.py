"""What an audit noticed beside the claim: exceptions, NaN, changing types, hidden state, stored answers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.audit.canonical import Raised, Unhashable, canonical
from discreet.audit.chunk import Chunk
from discreet.audit.drawing import Drawn
from discreet.audit.pieces import as_objects
from discreet.audit.proof import Proof
from discreet.audit.shown import shown
from discreet.audit.testing import Tested

__all__ = ["InputGuard", "remarks"]

_MOST_KINDS = 6
_START, _KINDS_AT_START = 64, 12


class InputGuard:
    """Copies of the two inputs, to see whether the mechanism changes them."""

    def __init__(self, first: Any, second: Any) -> None:
        """Copy them before anything is drawn."""
        self._inputs = (first, second)
        self._before = tuple(map(_copied, self._inputs))

    @property
    def has_changed(self) -> bool:
        """Whether an input is not what it was."""
        return any(before != _copied(value) for before, value in zip(self._before, self._inputs, strict=True))


def _copied(value: Any) -> Any:
    try:
        return canonical(copy.deepcopy(value))
    except Exception:  # what cannot be copied is not watched
        return None


def remarks(drawn: Drawn, found: Tested, changed: Proof | None, guard: InputGuard) -> Iterator[str]:
    """Each in a sentence."""
    if drawn.stopped:
        yield f"The time was up after {2 * drawn.pairs:,} draws; what follows is about these."
    yield from _about_kinds(found)
    yield from _about_sameness(drawn, found)
    if changed is not None:
        yield (
            "The law changed while it was audited: an event ("
            f"{changed.event.words}) happened in {changed.first.rate:.3g} of the early and in "
            f"{changed.second.rate:.3g} of the late draws for the same input. The mechanism depends on hidden state."
        )
    if guard.has_changed:
        yield "The mechanism changes its input: later calls did not see what the first one saw."
    if not found.reach.suffices:
        yield (
            f"Too few draws: no audit of {2 * drawn.pairs:,} draws can prove more than ε = {found.reach.epsilon:.3g} "
            f"at this rate of false alarms, and the claim is ε = {found.reach.claimed_epsilon:.3g}."
        )


def _about_kinds(found: Tested) -> Iterator[str]:
    outcomes, counts = found.table.outcomes, found.table.counts
    if isinstance(outcomes.listed, np.ndarray):
        if outcomes.listed.dtype.kind == "f" and np.isnan(outcomes.listed).any():
            yield "Some answers are NaN; NaN counts as an outcome of its own."
        return
    sides = counts[0::2].sum(axis=0), counts[1::2].sum(axis=0)
    raised = np.asarray([isinstance(outcome, Raised) for outcome in outcomes.listed])
    if raised.any():
        first, second = (int(side[raised].sum()) for side in sides)
        error = next(outcome for outcome in outcomes.listed if isinstance(outcome, Raised))
        yield (
            f"It raised in {first:,} of {int(sides[0].sum()):,} calls for the first input and in {second:,} of "
            f"{int(sides[1].sum()):,} for the second ({shown(error)}); whoever asks sees that, so it is an outcome."
        )
    named = ("a list" if isinstance(o, tuple) else k for o, k in zip(outcomes.listed, outcomes.kinds, strict=True))
    kinds = list(dict.fromkeys(kind for kind, is_error in zip(named, raised, strict=True) if not is_error))
    if len(kinds) > 1:
        yield f"Answers are of several kinds: {', '.join(kinds[:_MOST_KINDS])}. The kind is part of the outcome."
    if any(isinstance(outcome, Unhashable) for outcome in outcomes.listed):
        yield "Some answers cannot be hashed or equal nothing but themselves; they are compared by their text."
    if any(isinstance(outcome, Unhashable) and outcome.is_blank for outcome in outcomes.listed):
        yield "Some of them have no text of their own, so that nothing they hold was compared: return plain values."


def _about_sameness(drawn: Drawn, found: Tested) -> Iterator[str]:
    counts = found.table.counts
    kinds = [int((counts[row::2].sum(axis=0) > 0).sum()) for row in range(2)]
    if kinds == [1, 1]:
        is_same = len(found.table.outcomes) == 1
        also = "and for the other input, too" if is_same else "and another one for the other input"
        yield (
            f"It always gives the same answer, {also}: it adds no noise, or it stores its answers. "
            "An audit needs a fresh answer for each call; clear the store between calls."
        )
    elif _repeats(drawn.chunks):
        yield "Whole batches of answers are equal: the same random numbers were used again, and the draws depend."


def _repeats(chunks: list[Chunk]) -> bool:
    """Whether two batches begin with the same answers, of so many kinds that it is no accident."""
    starts = [as_objects(chunk.first[:_START]) for chunk in chunks[1:] if len(chunk) >= _START]
    texts = [repr(start) for start in starts if len(set(map(repr, start))) >= _KINDS_AT_START]
    return len(set(texts)) < len(texts)
