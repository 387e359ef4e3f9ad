"""Whether the mechanism stayed the same while it was audited: early draws against late ones, for each input.

Promise. If all draws for one input are independent and have one law, a change is reported with probability at most
``false_alarm``. The claim that is put to the test is that early and late draws have the same law: a loss of 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.audit.chunk import Chunk, Roles
from discreet.audit.claimed import Claimed
from discreet.audit.likelihood import LikelihoodRatio
from discreet.audit.pieces import Piece
from discreet.audit.proof import Proof
from discreet.audit.testing import tested
from discreet.audit.thresholds import Thresholds
from discreet.privacy.loss import Pure

__all__ = ["drift"]

_FAMILIES = (Thresholds(), LikelihoodRatio())
_MOST = 100_000


def drift(chunks: Sequence[Chunk], roles: Roles, false_alarm: float) -> Proof | None:
    """An event that happened more often early than late, or the other way round, for one of the inputs."""
    for side in ([chunk.first for chunk in chunks], [chunk.second for chunk in chunks]):
        half = sum(map(len, side)) // 2
        early = _first_of(side, min(half, _MOST))
        late = _first_of([one[::-1] for one in reversed(side)], min(half, _MOST))
        for proof in tested(early, late, roles, Claimed(Pure(0)), false_alarm / 2, _FAMILIES).proofs:
            if proof.refutes:
                return proof
    return None


def _first_of(pieces: Sequence[Piece], count: int) -> list[Piece]:
    found: list[Piece] = []
    for one in pieces:
        if count <= 0:
            break
        found.append(one[:count])
        count -= len(one)
    return found
