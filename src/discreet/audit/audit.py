"""The audit: does a mechanism keep its claim on two neighbouring inputs?

Promise. If the draws are independent and the mechanism keeps its claim, the verdict is "violation" with probability at
most ``false_alarm``, whatever the mechanism is and however events are found. Proof: ``audit.md``.

>>> from discreet.mechanisms.laplace import Laplace
>>> report = audit(Laplace(1), 0, 1, draws=10_000)
>>> str(report.verdict), report.exact.epsilon
('consistent', 1.0)
>>> str(audit(Laplace(2), 0, 1, claim=1, draws=10_000).verdict)
'violation'

A report also says what was noticed beside the claim (exceptions, NaN, changing types, hidden state, stored answers),
and shows the two laws as the held-out draws have them, in as many outcomes or ranges as a chart can hold.

A survey puts many audits into one table: all built-in mechanisms, or a gallery of broken ones.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.audit.builtin import Case
from discreet.audit.canonical import Raised, Unhashable, canonical
from discreet.audit.draws import Chunk, Deadline, Drawn, DrawRoles, Progress, as_objects, draw, lengths
from discreet.audit.events import Counts, Discriminant, Family, Floats, LikelihoodRatio, LowBits, Thresholds
from discreet.audit.exact_check import ExactCheck, checked_laws, exact_check
from discreet.audit.mechanism import Batched, Mechanism, Verdict, checked_mechanism, claimed, mechanism_name, shown
from discreet.audit.outcomes import OutcomeTally
from discreet.audit.proof import Proof, Tested, check_rate, drift, tested
from discreet.audit.report import TONES, AuditReport, Seen, claim_figure, event_words, exact_figure, observed_figure
from discreet.errors import InvalidValue
from discreet.exact.rational import Number, integer
from discreet.mechanisms.measurement import Measurement
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Loss
from discreet.reports.document import Alert, Document, Section, Stacked, TableBlock, TableCell, Toned
from discreet.reports.report import Report

__all__ = [
    "FAMILIES",
    "AuditSuite",
    "InputGuard",
    "SuiteLine",
    "audit",
    "audit_case",
    "audit_laws",
    "remarks",
    "seen_laws",
    "survey",
]


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


_MOST = 40


def seen_laws(table: OutcomeTally) -> tuple[Seen, ...]:
    """Single outcomes where there are few, else ranges of the first coordinate, else the commonest outcomes."""
    first, second = table.counts[4], table.counts[5]
    numbers = table.outcomes.numbers
    is_scalar = numbers.shape[1] == 1 and not np.isnan(numbers).any()
    if len(table.outcomes) <= _MOST:
        return _single(table, np.argsort(numbers[:, 0]) if is_scalar else np.arange(len(table.outcomes)))
    if numbers.shape[1] and np.isfinite(numbers[:, 0]).all():
        return _ranges(numbers[:, 0], first, second)
    return _single(table, np.argsort(-(first + second), kind="stable")[:_MOST])


def _single(table: OutcomeTally, places: Counts) -> tuple[Seen, ...]:
    first, second = (counts / max(int(counts.sum()), 1) for counts in table.counts[4:6])
    return tuple(Seen(shown(table.outcomes[k]), float(first[k]), float(second[k])) for k in places.tolist())


def _ranges(values: Floats, first: Counts, second: Counts) -> tuple[Seen, ...]:
    """Ranges of equal width between the far ends of the bulk; what lies outside counts to the last ones."""
    both = first + second
    order = np.argsort(values, kind="stable")
    running = np.cumsum(both[order])
    low, high = (float(values[order][np.searchsorted(running, running[-1] * share)]) for share in (0.001, 0.999))
    edges = np.linspace(low, high if high > low else low + 1, _MOST)
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _MOST - 2)
    shares = [np.bincount(place, weights=c, minlength=_MOST - 1) / max(int(c.sum()), 1) for c in (first, second)]
    middles = (edges[:-1] + edges[1:]) / 2
    return tuple(
        Seen(f"{middle:.6g}", float(p), float(q)) for middle, p, q in zip(middles.tolist(), *shares, strict=True)
    )


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
    roles = DrawRoles(chance)
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


@dataclass(frozen=True)
class SuiteLine:
    """One case and what its audit found."""

    case: Case
    """What was audited."""
    report: AuditReport
    """What was found."""

    @property
    def is_as_expected(self) -> bool:
        """Whether a broken mechanism was found out, or a sound one was let pass."""
        if self.case.keeps_its_claim:
            return self.report.verdict in (Verdict.CONSISTENT, Verdict.TOO_FEW)
        return self.report.violated


@dataclass(frozen=True)
class AuditSuite(Report):
    """Audits side by side."""

    title: str
    """What was surveyed."""
    lines: tuple[SuiteLine, ...]
    """One audit each, in the order of the cases."""

    @property
    def is_as_expected(self) -> bool:
        """Whether every audit ended as it should."""
        return all(line.is_as_expected for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """The survey as plain data."""
        lines = [
            {"about": line.case.about, "as_expected": line.is_as_expected, **line.report.to_dict()}
            for line in self.lines
        ]
        return {"title": self.title, "as_expected": self.is_as_expected, "audits": lines}

    def document(self) -> Document:
        """The summary, and what was audited."""
        summary = self.summary()
        about = TableBlock((), [(line.case.name, Stacked(line.case.about, _seen_in(line))) for line in self.lines])
        return replace(summary, blocks=[*summary.blocks, Section("What they are, and where most was seen", [about])])

    def summary(self) -> Document:
        """What the audits come to, and one line for each."""
        verdict = Alert(self._words(), tone="good" if self.is_as_expected else "bad")
        observed = TableBlock(_COLUMNS, [_cells(line) for line in self.lines])
        return Document(self.title, [verdict, Section("Claimed against observed", [observed])])

    def _words(self) -> str:
        """What the audits come to."""
        sound = [line.is_as_expected for line in self.lines if line.case.keeps_its_claim]
        broken = [line.is_as_expected for line in self.lines if not line.case.keeps_its_claim]
        kept = f"{sum(sound)} of {len(sound)} mechanisms show nothing against their claim."
        found = f"{sum(broken)} of {len(broken)} broken mechanisms were found out."
        return " ".join([*([kept] if sound else []), *([found] if broken else [])])


_COLUMNS = ("mechanism", "claimed", "exact", "observed", "verdict")


def _cells(line: SuiteLine) -> tuple[TableCell, ...]:
    report = line.report
    unlike = "" if line.is_as_expected else ": not as it should be"
    return (
        line.case.name,
        claim_figure(report.claim),
        exact_figure(report),
        observed_figure(report),
        Toned(f"{report.verdict}{unlike}", TONES[report.verdict] if line.is_as_expected else "worst"),
    )


def _seen_in(line: SuiteLine) -> str:
    return "" if line.report.best is None else event_words(line.report.best)


def survey(
    cases: Iterable[Case],
    title: str = "Audits",
    *,
    announce: Callable[[str, int, int], None] | None = None,
    **options: Any,
) -> AuditSuite:
    """Audit every case; ``announce`` hears the name of each, how many are done and how many there are."""
    listed = list(cases)
    lines = []
    for done, case in enumerate(listed):
        if announce is not None:
            announce(case.name, done, len(listed))
        lines.append(SuiteLine(case, audit_case(case, **options)))
    return AuditSuite(title, tuple(lines))
