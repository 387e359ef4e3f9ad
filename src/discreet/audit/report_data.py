"""A report as plain data, for programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from discreet.audit.proof import Proof
from discreet.audit.report_words import headline

if TYPE_CHECKING:
    from discreet.audit.report import AuditReport

__all__ = ["report_data"]


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
