"""What ``discreet audit --side-channels`` adds: do the last bits of an answer, or its time, tell the inputs apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.audit.case import Case
    from discreet.audit.lattice import LatticeReport
    from discreet.audit.timing import TimingReport

__all__ = ["are_quiet", "side_channels"]


_MOST_DRAWS = 100_000


def side_channels(case: Case, draws: int, seconds: float | None) -> list[LatticeReport | TimingReport]:
    """The lattice of the answers, where they are numbers, and the time that they take."""
    from discreet.audit.lattice import lattice
    from discreet.audit.mechanism import Batched
    from discreet.audit.timing import timing
    from discreet.mechanisms.measurement import Measurement

    mechanism, inputs = case.mechanism, (case.first, case.second)
    if isinstance(mechanism, Measurement):
        answer: Any = mechanism.release
    else:
        answer = (lambda value: mechanism(value, 1)) if isinstance(mechanism, Batched) else mechanism
    found: list[LatticeReport | TimingReport] = [timing(answer, *inputs)]
    try:
        limits: dict[str, Any] = {"draws": min(draws, _MOST_DRAWS), "seconds": seconds}
        return [lattice(mechanism, *inputs, case.claim, **limits), *found]
    except InvalidValue:  # answers that are no numbers have no lattice
        return found


def are_quiet(found: list[LatticeReport | TimingReport]) -> bool:
    """Whether no channel tells anything."""
    return not any(getattr(one, "depends", False) or getattr(one, "tells", False) for one in found)
