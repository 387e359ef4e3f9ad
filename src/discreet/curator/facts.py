"""What a certificate says: the question, how it was planned, what it cost in every definition, and where it is kept.

All of it follows from the text, the policy, the price and what was released; nothing in it was computed from a row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.curator.allowance import DELTA_UNITS
from discreet.curator.amount import as_json
from discreet.curator.ledger import Ledger, Receipt
from discreet.curator.statements import number, statements
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.choice import TopChoice
from discreet.query.fingerprint import text_of
from discreet.query.measure import Measured
from discreet.query.plan import BlockPlan, Priced
from discreet.query.question import Question
from discreet.query.shares import amount_of, of_amount
from discreet.version import __version__

__all__ = ["batch_facts", "facts_of"]


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
    charged = ledger.entry(receipt.charge)
    if question.price is None or charged is None:
        raise AssertionError("a question about public tables has no certificate, and every other has its charge")
    charge = charged.body
    return {
        "certificate": "discreet 1",
        "answered_by": f"discreet {__version__}",
        "question": sql,
        "tables": dict(versions),
        **_promise(question),
        "plan": {
            "fingerprint": receipt.request.removeprefix("plan:").partition(":")[0],
            "blocks": [_block(one) for one in {id(one.plan): one for one in measured}.values()],
        },
        "price": as_json(question.price),
        "loss": statements(question.price, _delta(question, catalog), _own_delta(charge["prices"])),
        "charged": {name: charge[name] for name in ("prices", "portions") if name in charge},
        "ledger": {"position": receipt.position, "head": receipt.head.hex(), "charge": receipt.charge},
        "answer": hashlib.sha256(receipt.answer or b"").hexdigest(),
    }


def batch_facts(plans: Sequence[BlockPlan], delta: Fraction) -> dict[str, Any]:
    """What a fixed batch cost as a whole: each part's own loss, composed numerically at ``delta``.

    Under a pure budget every part is ε-private, and the worst mechanism is assumed for each. Under a concentrated one
    the ρ of the parts add up, and the total is converted at its best Rényi order.
    """
    from discreet.accounting.numeric import Batch  # noqa: PLC0415  an import of a third of a second, for batches alone

    losses = [of_amount(plan.loss, share) for plan in plans for share in _each(plan)]
    own = sum((plan.delta for plan in plans), Fraction(0))
    if all(isinstance(loss, Pure) for loss in losses):
        found = Batch(losses).epsilon_at(delta)
    else:
        found = ZeroConcentrated(sum((amount_of(loss) for loss in losses), Fraction(0))).epsilon_at(delta)
    return {"batch": {"parts": len(losses), "epsilon": number(found), "delta": number(delta + own)}}


def _each(plan: BlockPlan) -> list[Fraction]:
    """The loss of every mechanism by itself."""
    if plan.top is not None:
        return [amount_of(plan.loss) / plan.top.picks] * plan.top.picks
    return [share for _, share in plan.shares]


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
    rows = f"a unit with n rows counts as min(n, {plan.rows_per_unit}), each row with an equal part"
    if plan.rows_per_group is not None:
        rows += f", and as {plan.rows_per_group} at most in each group"
    privacy = plan.block.rows.privacy
    for one in () if privacy is None else privacy.truncated:
        each = f" for each value of {one.key}" if one.key else ""
        rows += f"; before a join it keeps {one.most} of its rows of {' and '.join(sorted(one.tables))}{each}"
    return {
        "groups": _groups(measured),
        "rows": rows,
        "loss": as_json(plan.loss),
        "mechanisms": [*map(_added_noise, plan.parts), *_chosen(plan), *map(_picked, _tops(plan))],
    }


def _groups(measured: Measured) -> dict[str, Any]:
    rule = measured.plan.rule
    said: dict[str, Any] = {"keys": "public: every group is released, also the empty ones"}
    if rule is not None:
        said = {"keys": "not public: a group is released where its noisy number of people reaches the threshold"}
        said |= {"threshold": rule.threshold, "groups_per_unit": rule.per_unit, "delta": number(rule.delta)}
    by = [place.sql(dialect="duckdb", comments=False) for place in measured.plan.block.places]
    return {"by": by, **said, "released": len(measured.groups)}


def _added_noise(priced: Priced) -> dict[str, Any]:
    """Noise on integers: its law, what it is for, and why so much of it."""
    return {
        "noise": text_of(priced.noise),
        "for": [aggregate.kind.value for aggregate in priced.aggregates],
        "share": number(priced.share),
        "one_unit_moves": {"in_all": priced.moves, "squared": priced.moves_squared},
        "integers_per_row": priced.weight,
    }


def _tops(plan: BlockPlan) -> list[TopChoice]:
    return [] if plan.top is None else [plan.top]


def _picked(top: TopChoice) -> dict[str, Any]:
    """The largest groups themselves, one after the other."""
    said: dict[str, Any] = {
        "choice": "exponential mechanism, as often as groups are shown",
        "for": ["the largest groups"],
    }
    return said | {"epsilon": number(top.epsilon), "factor": str(top.factor), "between": top.points, "picks": top.picks}


def _chosen(plan: BlockPlan) -> list[dict[str, Any]]:
    """Choices between listed values by the exponential mechanism, in all groups together."""
    is_pure = isinstance(plan.loss, Pure)
    return [
        {
            "choice": "exponential mechanism",
            "for": [choice.aggregate.kind.value],
            **({"epsilon": number(choice.epsilon)} if is_pure else {"rho": number(choice.epsilon**2 / 8)}),
            "factor": str(choice.factor),
            "between": choice.points,
        }
        for choice in plan.choices
    ]
