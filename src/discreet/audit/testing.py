"""The whole test: tally the draws, choose one event per family and input, and bound it on the held-out half.

Promise. If every draw for an input is independent of all others and has the law of that input, and the two laws keep
the claim, then some proof refutes the claim with probability at most ``false_alarm``. Proof: ``audit.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.chunk import Roles
from discreet.audit.claimed import Claimed
from discreet.audit.family import Family, Learning
from discreet.audit.pieces import Piece
from discreet.audit.proof import Proof, Reach, prove, reach
from discreet.audit.search import Choosing, telling_events
from discreet.audit.tally import Tally, tally

__all__ = ["Tested", "tested"]


@dataclass(frozen=True)
class Tested:
    """What the draws say."""

    proofs: tuple[Proof, ...]
    """One for each event that was tested, those that prove most first."""
    reach: Reach
    """What so many draws can prove at best."""
    alpha: float
    """How often each single bound may fail."""
    table: Tally
    """How often each outcome was drawn: two rows that teach, two that choose and two that prove."""


def tested(
    first: Sequence[Piece],
    second: Sequence[Piece],
    roles: Roles,
    claim: Claimed,
    false_alarm: float,
    families: Sequence[Family],
) -> Tested:
    """Test the claim on these draws."""
    # Fixed before any draw is seen: two events per family, two bounds per event.
    alpha = false_alarm / (4 * len(families))
    sides = [roles.split(first), roles.split(second)]
    found = tally([side[role] for role in range(3) for side in sides])
    counts = found.counts
    known = np.asarray(counts[:4].any(axis=0))
    learning = Learning(replace(found.outcomes, known=known), counts[0], counts[1])
    choosing = Choosing(counts[2], counts[3], claim, alpha)
    events = [event for family in families for event in telling_events(family, learning, choosing)]
    proofs = [prove(event, counts[4], counts[5], claim, alpha) for event in events]
    ranked = sorted(proofs, key=lambda one: (not one.refutes, one.claimed_epsilon - one.epsilon))
    return Tested(tuple(ranked), reach(int(min(counts[4].sum(), counts[5].sum())), claim, alpha), alpha, found)
