"""Certificates of a series: one for each period, which says what all of them cost together, and where that stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.curator.certificates.certificate import issue
from discreet.curator.certificates.contents import list_granted, state_facts
from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.curator.series.plan import SeriesPlan
from discreet.curator.series.records import BegunSeries, SeriesStep
from discreet.query.run.fingerprint import write_recorded
from discreet.query.run.measure import Measured

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = ["certify_step"]


def certify_step(
    curator: Curator, begun: BegunSeries, plan: SeriesPlan, step: SeriesStep, measured: Measured
) -> dict[str, Any]:
    """The certificate of what was released of a series in one period."""
    terms, ledger = begun.terms, curator.ledger
    receipt = step.receipt if terms.is_once else _asked(ledger, step.receipt)
    question, tables = replace(plan.question, plans=(measured.plan,), price=terms.price), {terms.table: step.period}
    facts = state_facts(terms.sql, question, [receipt], tables, [measured], curator.catalog, ledger)
    facts["series"] = {"id": terms.id, "period": step.period, "periods": len(terms.periods), "charge": begun.charge}
    if plan.at_limit is not None:
        charged = _body(ledger, begun.charge)
        facts["charged"] = {name: charged[name] for name in ("prices", "portions") if name in charged}
        facts["granted"] = list_granted(charged["prices"], ledger)
        facts["plan"]["fingerprint"] = terms.digest.hex()
        noise = {"noise": write_recorded(plan.at_limit.law), "for": ["the number of people at the limit"]}
        facts["plan"]["blocks"][0]["mechanisms"].append(noise)
    return issue(facts, curator.opened.signer)


def _asked(ledger: Ledger, receipt: Receipt) -> Receipt:
    """The answer to the question that was asked for one period."""
    found = ledger.known(_body(ledger, receipt.charge)["note"]["answer"])
    if found is None:
        raise AssertionError("what was released was answered")
    return found


def _body(ledger: Ledger, position: int) -> dict[str, Any]:
    entry = ledger.entry(position)
    if entry is None:
        raise AssertionError("every charge has its record")
    return dict(entry.body)
