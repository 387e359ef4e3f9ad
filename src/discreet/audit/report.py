"""What an audit found, claimed against observed: a document for people, and plain data for programs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.audit.exact_check import ExactCheck
from discreet.audit.mechanism import Verdict
from discreet.audit.proof import Proof, Reach
from discreet.privacy.hypothesis_tests import ErrorRegion
from discreet.privacy.loss import Approximate, Loss, Pure
from discreet.reports import document as doc
from discreet.reports.document import Document
from discreet.reports.report import Report

__all__ = [
    "TONES",
    "AuditReport",
    "Seen",
    "claim_figure",
    "event_words",
    "exact_figure",
    "headline",
    "number",
    "observed_figure",
    "observed_words",
    "report_data",
    "report_document",
]


TONES: dict[Verdict, doc.Tone] = {
    Verdict.VIOLATION: "bad",
    Verdict.UNSTEADY: "fair",
    Verdict.TOO_FEW: "fair",
    Verdict.CONSISTENT: "good",
}
_STEPS = 60
_LEAST_SPAN = 1e-280


def report_document(report: AuditReport) -> doc.Document:
    """Claimed against observed, the events that were tested, and what else was noticed."""
    notes = [doc.Paragraph(note) for note in report.notes]
    blocks: list[doc.DocumentBlock] = [
        doc.Alert(headline(report), str(report.verdict), TONES[report.verdict]),
        doc.Section("Claimed against observed", [doc.TableBlock((), _facts(report))]),
        *([doc.Section("Pictures", _charts(report))] if report.proofs or report.exact is not None else []),
        *([doc.Section("Every event that was tested", [_events(report)])] if report.proofs else []),
        *([doc.Section("Noticed", notes)] if notes else []),
        doc.Quiet(confidence_words(report)),
    ]
    return doc.Document(f"Audit of {report.name}", blocks)


def _facts(report: AuditReport) -> list[tuple[str, str]]:
    best, reach = report.best, report.reach
    return [
        ("inputs", f"{report.first} and {report.second}"),
        ("claimed", str(report.claim)),
        *([] if best is None else [("observed", observed_words(best)), ("seen in", event_words(best))]),
        *([] if report.exact is None else [("exact", exact_words(report))]),
        ("draws", f"{report.draws:,}"),
        *([] if reach is None else [("so many draws prove", f"at most ε = {number(reach.epsilon)}")]),
    ]


def _events(report: AuditReport) -> doc.TableBlock:
    rows: list[tuple[doc.TableCell, ...]] = [
        (
            proof.event.family,
            proof.event.words,
            number(proof.first.rate),
            number(proof.second.rate),
            observed_words(proof),
            doc.Toned("✗ refutes the claim", "bad") if proof.refutes else doc.Toned("allowed", "good"),
        )
        for proof in report.proofs
    ]
    return doc.TableBlock(("family", "event", "first", "second", "proves", ""), rows)


def _charts(report: AuditReport) -> list[doc.DocumentBlock]:
    return [*([_laws(report)] if report.seen else []), _trade_off(report)]


def _laws(report: AuditReport) -> doc.LineChart:
    places = _places(report)
    first = [(x, one.first) for x, one in zip(places, report.seen, strict=True)]
    second = [(x, one.second) for x, one in zip(places, report.seen, strict=True)]
    few = len(report.seen) <= 2
    return doc.LineChart(
        [doc.Series("first input", first, marks=few), doc.Series("second input", second, marks=few)],
        title="How often each answer came",
        x_label="answer" if _are_numbers(report) else "answers, one after the other",
        y_label="share of the draws",
        y_holds=(0.0,),
    )


def _places(report: AuditReport) -> list[float]:
    if _are_numbers(report):
        return [float(one.outcome) for one in report.seen]
    return [float(k) for k in range(len(report.seen))]


def _are_numbers(report: AuditReport) -> bool:
    """Whether outcomes are numbers that an axis can hold."""
    try:
        found = [float(one.outcome) for one in report.seen]
    except ValueError:
        return False
    span = max(found) - min(found)
    return span == 0 or (span > _LEAST_SPAN and max(map(abs, found)) < 1 / _LEAST_SPAN)


def _trade_off(report: AuditReport) -> doc.LineChart:
    region = ErrorRegion(report.claim)
    across = sorted({*(Fraction(k, _STEPS) for k in range(_STEPS + 1)), region.least_error_sum() / 2})
    allowed = [(float(x), float(region.least_false_negative(x))) for x in across]
    series = [doc.Series("the claim allows no test below", allowed)]
    if report.exact is not None:
        series.append(doc.Series("the true laws", report.exact.corners))
    bounds = sorted(proof.errors for proof in report.proofs)
    points = [doc.Series("proved for a test", [point], marks=True) for point in bounds[:1]]
    if len(bounds) > 1:
        points = [doc.Series("proved for a test", _worst_first(bounds), marks=True)]
    return doc.LineChart(
        [*series, *points],
        title="The two errors of a test that tells the inputs apart",
        x_label="false positives",
        y_label="false negatives",
        y_holds=(0.0, 1.0),
    )


def _worst_first(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other one beats in both errors, from left to right."""
    kept: list[tuple[float, float]] = []
    for point in points:
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return kept


def number(value: float) -> str:
    """A number as people read it; small ones are never shown as zero."""
    if math.isinf(value):
        return "∞"
    return f"{value:.4g}"


def headline(report: AuditReport) -> str:
    """The report in a sentence."""
    if report.verdict is Verdict.VIOLATION:
        return f"The claim {report.claim!r} is false: {_reason(report)}."
    if report.verdict is Verdict.UNSTEADY:
        return f"The law changed between calls, so that {report.draws:,} draws say nothing about {report.claim!r}."
    if report.verdict is Verdict.TOO_FEW:
        return f"{report.draws:,} draws are too few to say anything against {report.claim!r}."
    if report.exact is not None:
        return f"Nothing speaks against {report.claim!r}, neither the exact laws nor {report.draws:,} draws."
    return f"{report.draws:,} draws do not speak against {report.claim!r}. They cannot prove it."


def _reason(report: AuditReport) -> str:
    if report.exact is not None and report.exact.violated:
        return f"the exact laws lose ε = {number(report.exact.epsilon)}"
    proof = report.best
    return "" if proof is None else f"the draws prove {observed_words(proof)}"


def observed_words(proof: Proof) -> str:
    """What one event proves."""
    at = f" at δ = {number(proof.delta)}" if proof.delta else ""
    return f"ε ≥ {number(proof.epsilon)}{at}"


def observed_figure(report: AuditReport) -> str:
    """The same for a table that says the δ of the claim already."""
    proof = report.best
    if proof is None:
        return ""
    return f"ε ≥ {number(proof.epsilon)}" if isinstance(report.claim, Approximate) else observed_words(proof)


def claim_figure(loss: Loss) -> str:
    """A loss for a table."""
    inside = repr(loss).partition("(")[2].rstrip(")")
    return inside.replace("=", " = ")


def event_words(proof: Proof) -> str:
    """What happened how often."""
    likelier = "second" if proof.event.favours_second else "first"
    return (
        f"{proof.event.words}: {number(proof.first.rate)} of the time for the first input, "
        f"{number(proof.second.rate)} for the second; at least {number(proof.least)} for the {likelier} "
        f"and at most {number(proof.most)} for the other"
    )


def exact_words(report: AuditReport) -> str:
    """What the laws themselves say; nothing where they are not known."""
    exact = report.exact
    if exact is None:
        return ""
    part = f", which leave out a probability of {number(exact.unlisted)}" if exact.unlisted > 0 else ""
    return (
        f"{exact.outcomes:,} outcomes compared{part}: the largest loss of one is ε = {number(exact.epsilon)}; "
        f"at ε = {number(exact.claimed_epsilon)} they need δ = {number(exact.delta)}"
    )


def exact_figure(report: AuditReport) -> str:
    """The exact loss in the terms of the claim, for a table; nothing where the laws are not known."""
    exact = report.exact
    if exact is None:
        return ""
    if isinstance(report.claim, Pure):
        return f"ε = {number(exact.epsilon)}"
    return f"δ({number(exact.claimed_epsilon)}) = {number(exact.delta)}"


def confidence_words(report: AuditReport) -> str:
    """How sure a verdict is."""
    if not report.draws:
        return "No draws were needed."
    return (
        f"If the claim is true and the draws are independent, an audit says “violation” with probability "
        f"{report.false_alarm:.1g} at most."
    )


def report_data(report: AuditReport) -> dict[str, Any]:
    """Numbers, texts, lists and mappings alone; what is infinite is None."""
    exact, reach = report.exact, report.reach
    return {
        "name": report.name,
        "inputs": [report.first, report.second],
        "claim": repr(report.claim),
        "verdict": str(report.verdict),
        "headline": headline(report),
        "draws": report.draws,
        "false_alarm": report.false_alarm,
        "observed": None if report.best is None else _proof(report.best),
        "events": [_proof(proof) for proof in report.proofs],
        "reach": None if reach is None else {"epsilon": reach.epsilon, "delta": reach.delta},
        "exact": None
        if exact is None
        else {
            "outcomes": exact.outcomes,
            "unlisted": exact.unlisted,
            "epsilon": _finite(exact.epsilon),
            "claimed_epsilon": exact.claimed_epsilon,
            "delta": exact.delta,
            "violated": exact.violated,
        },
        "laws": [[one.outcome, one.first, one.second] for one in report.seen],
        "notes": list(report.notes),
    }


def _proof(proof: Proof) -> dict[str, Any]:
    return {
        "family": proof.event.family,
        "event": proof.event.words,
        "favours": "second" if proof.event.favours_second else "first",
        "first": {"hits": proof.first.hits, "draws": proof.first.trials},
        "second": {"hits": proof.second.hits, "draws": proof.second.trials},
        "at_least": proof.least,
        "at_most": proof.most,
        "epsilon": proof.epsilon,
        "delta": proof.delta,
        "claimed_epsilon": proof.claimed_epsilon,
        "proved_delta": proof.proved_delta,
        "refutes": proof.refutes,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Seen:
    """An outcome, or a range of them, and how often the held-out draws hit it for each input."""

    outcome: str
    """In words."""
    first: float
    """The share of draws for the first input."""
    second: float
    """The share of draws for the second input."""


@dataclass(frozen=True)
class AuditReport(Report):
    """One audit."""

    name: str
    """What was audited."""
    first: str
    """One input, as text."""
    second: str
    """Its neighbour, as text."""
    claim: Loss
    """What the mechanism says it costs."""
    verdict: Verdict
    """The conclusion."""
    draws: int
    """How many answers were drawn, for both inputs together."""
    false_alarm: float
    """How often an audit may find a mechanism guilty that keeps its claim, at most."""
    proofs: tuple[Proof, ...]
    """One for each event that was tested, those that prove most first; none where nothing was drawn."""
    reach: Reach | None
    """What so many draws can prove at best; None where nothing was drawn."""
    exact: ExactCheck | None
    """What the laws themselves say, where they are known."""
    seen: tuple[Seen, ...]
    """The two laws as the held-out draws show them."""
    notes: tuple[str, ...]
    """What else is worth knowing, each in a sentence."""

    @property
    def violated(self) -> bool:
        """Whether the claim was found to be false."""
        return self.verdict is Verdict.VIOLATION

    @property
    def best(self) -> Proof | None:
        """The event that proves most against the claim."""
        return self.proofs[0] if self.proofs else None

    @property
    def observed_epsilon(self) -> float:
        """The ε that the draws prove to be lost, at the δ of the best event; 0 where they prove nothing."""
        return self.best.epsilon if self.best is not None else 0.0

    def document(self) -> Document:
        """Claimed against observed, the events that were tested, and what else was noticed."""
        return report_document(self)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return report_data(self)
