"""The audit: does a mechanism keep its claim on two neighbouring inputs?

Promise. If the draws are independent and the mechanism keeps its claim, the verdict is "violation" with probability at
most ``false_alarm``, whatever the mechanism is and however events are found. Proof: ``audit.md``.

>>> from discreet.mechanisms.laplace import Laplace
>>> report = audit(Laplace(1), 0, 1, draws=10_000)
>>> str(report.verdict), report.exact.epsilon
('consistent', 1.0)
>>> str(audit(Laplace(2), 0, 1, claim=1, draws=10_000).verdict)
'violation'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.audit.case import Case
from discreet.audit.chunk import Roles
from discreet.audit.claimed import claimed
from discreet.audit.discriminant import Discriminant
from discreet.audit.drawing import Progress, draw
from discreet.audit.drift import drift
from discreet.audit.exact_check import ExactCheck, checked_laws, exact_check
from discreet.audit.false_alarms import check_rate
from discreet.audit.family import Family
from discreet.audit.likelihood import LikelihoodRatio
from discreet.audit.low_bits import LowBits
from discreet.audit.mechanism import Batched, Mechanism, checked_mechanism, mechanism_name
from discreet.audit.proof import Proof
from discreet.audit.remarks import InputGuard, remarks
from discreet.audit.report import AuditReport
from discreet.audit.seen import seen_laws
from discreet.audit.shown import shown
from discreet.audit.stopping import lengths
from discreet.audit.testing import Tested, tested
from discreet.audit.thresholds import Thresholds
from discreet.audit.time_limit import Deadline
from discreet.audit.verdict import Verdict
from discreet.errors import InvalidValue
from discreet.exact.rational import Number, integer
from discreet.mechanisms.measurement import Measurement
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Loss

__all__ = ["FAMILIES", "audit", "audit_case", "audit_laws"]

FAMILIES: tuple[Family, ...] = (Thresholds(), LikelihoodRatio(), LowBits(), Discriminant())
"""Every way of looking for events; each finds something that the others miss."""

_FEWEST = 64


def audit(
    mechanism: Mechanism,
    first: Any,
    second: Any,
    claim: Loss | Number | None = None,
    *,
    draws: int = 1_000_000,
    false_alarm: float = 1e-6,
    seconds: float | None = None,
    seed: int = 0,
    outcomes: Iterable[Any] | None = None,
    families: Sequence[Family] = FAMILIES,
    progress: Progress | None = None,
    name: str | None = None,
) -> AuditReport:
    """Draw ``draws`` answers, half for each input, and say whether they are compatible with the claim.

    ``claim`` is a loss, or a number that is a pure ε; one of our measurements may leave it out. ``seconds`` limits the
    time for drawing, at a small cost in confidence. ``seed`` decides in which order inputs are asked and which draws
    prove. ``outcomes`` are those to compare exactly, for a measurement that does not list its own.
    """
    checked = checked_mechanism(mechanism)
    promised = claimed(claim, checked.loss if isinstance(checked, Measurement) else None)
    pairs = -(-integer(draws, "draws", least=_FEWEST, most=2**32) // 2)
    check_rate(false_alarm)
    if not families:
        raise InvalidValue("an audit must look for some events", "<no families>", "FAMILIES are all of them")
    exact = exact_check(checked, first, second, promised, outcomes)
    chance = experiment(integer(seed, "seed", least=0))
    guard = InputGuard(first, second)
    drawn = draw(checked, (first, second), pairs, chance, Deadline(seconds), progress)
    roles = Roles(chance)
    sides = [chunk.first for chunk in drawn.chunks], [chunk.second for chunk in drawn.chunks]
    rate = false_alarm if seconds is None else false_alarm / len(lengths(pairs))
    found = tested(*sides, roles, promised, rate, families)
    changed = drift(drawn.chunks, roles, rate)
    return AuditReport(
        name=mechanism_name(checked) if name is None else name,
        first=shown(first),
        second=shown(second),
        claim=promised.loss,
        verdict=_verdict(exact, found, changed if _is_batched(checked) else None),
        draws=2 * drawn.pairs,
        false_alarm=false_alarm,
        proofs=found.proofs,
        reach=found.reach,
        exact=exact,
        seen=seen_laws(found.table),
        notes=tuple(remarks(drawn, found, changed, guard)),
    )


def audit_case(case: Case, **options: Any) -> AuditReport:
    """Audit one case, with its own number of draws unless told otherwise."""
    settings = {"draws": case.draws, "outcomes": case.outcomes, "name": case.name} | options
    return audit(case.mechanism, case.first, case.second, case.claim, **settings)


def audit_laws(
    first: Mapping[Any, Number], second: Mapping[Any, Number], claim: Loss | Number, *, name: str = "two laws"
) -> AuditReport:
    """Compare two laws that are written down, outcome by outcome: exact, without any draws.

    >>> str(audit_laws({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"}, 1).verdict)
    'violation'
    """
    promised = claimed(claim)
    exact = checked_laws(first, second, promised)
    verdict = Verdict.VIOLATION if exact.violated else Verdict.CONSISTENT
    return AuditReport(name, "one law", "another law", promised.loss, verdict, 0, 0.0, (), None, exact, (), ())


def _is_batched(mechanism: Mechanism) -> bool:
    """Whether inputs are asked in long blocks: a law that changes between blocks can look like one that differs."""
    return isinstance(mechanism, (Batched, Measurement))


def _verdict(exact: ExactCheck | None, found: Tested, changed: Proof | None) -> Verdict:
    if exact is not None and exact.violated:
        return Verdict.VIOLATION
    if changed is not None:
        return Verdict.UNSTEADY
    if any(proof.refutes for proof in found.proofs):
        return Verdict.VIOLATION
    if exact is None and not found.reach.suffices:
        return Verdict.TOO_FEW
    return Verdict.CONSISTENT
