"""What a certificate says: the question, how it was planned, what it cost in every definition, and where it is kept.

All of it follows from the text, the policy, the price and what was released; nothing in it was computed from a row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from discreet import __version__
from discreet.catalog.catalog import Catalog
from discreet.curator.allowance import DELTA_UNITS
from discreet.curator.amount import as_json
from discreet.curator.ledger import Ledger, Receipt
from discreet.curator.statements import statements
from discreet.privacy.loss import Loss
from discreet.query.measure import Measured
from discreet.query.plan import BlockPlan
from discreet.query.question import Question

__all__ = ["facts_of"]


def facts_of(
    sql: str,
    question: Question,
    receipt: Receipt,
    versions: Mapping[str, str],
    measured: list[Measured],
    catalog: Catalog,
    ledger: Ledger,
) -> dict[str, Any]:
    """Everything about an answer that its certificate states."""
    if question.price is None:
        raise AssertionError("a question about public tables has no certificate")
    charge = next(ledger.entries(receipt.charge)).body["prices"]
    return {
        "certificate": "discreet 1",
        "answered_by": f"discreet {__version__}",
        "question": sql,
        "tables": dict(versions),
        **_promise(question),
        "plan": {
            "fingerprint": receipt.request.removeprefix("plan:"),
            "blocks": [_block(one) for one in measured],
        },
        "price": as_json(question.price),
        "loss": statements(question.price, _delta(question, catalog), _own_delta(charge)),
        "charged": {account: {"units": loss, "delta_units": delta} for account, (loss, delta) in charge.items()},
        "ledger": {"position": receipt.position, "head": receipt.head.hex(), "charge": receipt.charge},
        "answer": hashlib.sha256(receipt.answer or b"").hexdigest(),
    }


def _promise(question: Question) -> dict[str, Any]:
    """Whose privacy, against which other table."""
    privacies = [plan.block.rows.privacy for plan in question.plans]
    known = [privacy for privacy in privacies if privacy is not None]
    units, neighbours = ({getattr(one, name) for one in known} for name in ("unit", "neighbours"))
    return {"unit": " and ".join(sorted(units)), "neighbours": " and ".join(sorted(str(one) for one in neighbours))}


def _delta(question: Question, catalog: Catalog) -> Fraction:
    """The δ at which the budget states its losses; zero for a pure budget."""
    budgets = [table.budget for table in map(catalog.table, question.tables) if table.budget is not None]
    return min((budget.delta - budget.delta_for_keys for budget in budgets), default=Fraction(0))


def _own_delta(charge: Mapping[str, list[int]]) -> Fraction:
    return max((Fraction(delta, DELTA_UNITS) for _, delta in charge.values()), default=Fraction(0))


def _block(measured: Measured) -> dict[str, Any]:
    plan = measured.plan
    return {
        "groups": {"by": [place.sql(dialect="duckdb", comments=False) for place in plan.block.places]}
        | {"released": len(measured.groups)},
        "rows": f"a unit with n rows counts as min(n, {plan.rows_per_unit}), each row with an equal part",
        "aggregates": [aggregate.kind.value for aggregate in plan.block.aggregates],
        "mechanisms": _mechanisms(plan),
        "loss": repr(plan.loss),
    }


def _mechanisms(plan: BlockPlan) -> list[dict[str, Any]]:
    added = [{"law": type(noise).__name__} | _parameters(noise) for noise in plan.noises]
    chosen = [{"law": "exponential mechanism"} | _parameters(choice) for choice in plan.choices]
    return added + chosen


def _parameters(thing: object) -> dict[str, Any]:
    """The numbers that a mechanism is set to."""
    named = {f.name: getattr(thing, f.name) for f in fields(thing)} if is_dataclass(thing) else dict(vars(thing))
    public = {name: value for name, value in named.items() if not name.startswith("_")}
    return {name: _spelled(value) for name, value in public.items() if _is_exact(value)}


def _is_exact(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_exact, value))
    return isinstance(value, (int, Fraction, Loss))


def _spelled(value: Any) -> Any:
    return [_spelled(part) for part in value] if isinstance(value, tuple) else str(value)
