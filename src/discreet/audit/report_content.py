"""A report as plain data, for programs.

A report in sentences, the same in every view.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from discreet.audit.claim import Verdict
from discreet.audit.proof import Proof
from discreet.privacy.loss import Approximate, Loss, Pure

if TYPE_CHECKING:
    from discreet.audit.report import AuditReport

__all__ = [
    "claim_figure",
    "confidence_words",
    "event_words",
    "exact_figure",
    "exact_words",
    "headline",
    "number",
    "observed_figure",
    "observed_words",
    "report_data",
]


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
