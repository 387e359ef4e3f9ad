"""What a certificate says: the question, how it was planned, what it cost in every definition, and where it is kept.

All of it follows from the text, the policy, the price and what was released; nothing in it was computed from a row.

A loss in every definition it can be stated in: exactly where it can be written so, and rounded up to read.

Each statement is a theorem about the same release, so all of them hold at once. A definition that no theorem reaches
from the price is left out: zero-concentrated losses have no pure ε, for example.

>>> statements(Pure("0.5"), delta=0)["zero_concentrated"]
{'rho': {'exact': '1/8', 'rounded_up': '0.125'}}
>>> sorted(statements(ZeroConcentrated("0.125"), delta="1e-6"))
['approximate', 'renyi', 'zero_concentrated']
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from discreet.catalog.catalog import Catalog
from discreet.curator.ledger.chain import AccountKind
from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.curator.ledger.units import DELTA_UNITS, as_json
from discreet.errors import NoProvedPath
from discreet.exact.rational import Number, rational
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated, shown
from discreet.query.plan.budget_split import get_magnitude, with_magnitude
from discreet.query.plan.sensitivity import AggregationPlan, PricedStatistic
from discreet.query.plan.top_groups import TopSelection
from discreet.query.question import PlannedQuestion
from discreet.query.run.fingerprint import write_recorded
from discreet.query.run.measure import Measured
from discreet.version import __version__

__all__ = ["batch_facts", "list_granted", "number", "state_facts", "statements"]


_ORDERS = tuple(map(Fraction, (2, 4, 8, 16, 32, 64)))
_PAYERS = (AccountKind.UNIT, AccountKind.TABLE)
L = TypeVar("L", bound=Loss)


def statements(price: Loss, delta: Number, own_delta: Number = 0) -> dict[str, Any]:
    """The price as pure ε, (ε, δ) at ``delta``, ρ, Rényi orders and μ, as far as theorems lead there.

    ``own_delta`` is the probability with which the release may break the promise altogether, as releases of unlisted
    keys may. It adds to every δ, and where it is not zero the definitions without a δ hold but for that probability.
    """
    slack, own = rational(delta, "delta"), rational(own_delta, "own_delta")
    found: dict[str, Any] = {}
    if isinstance(price, Pure) and own == 0:
        found["pure"] = {"epsilon": number(price.epsilon)}
    if slack > 0 or isinstance(price, (Pure, Approximate)):
        least = price.epsilon if isinstance(price, Pure) and slack == 0 else price.epsilon_at(slack)
        found["approximate"] = {"epsilon": number(least), "delta": number(slack + own)}
    but_for = {"but_for": number(own)} if own else {}
    concentrated = _stated(price, ZeroConcentrated(0))
    if concentrated is not None:
        found["zero_concentrated"] = {"rho": number(concentrated.rho)} | but_for
    renyi = _stated(price, Renyi(dict.fromkeys(_ORDERS, Fraction(0))))
    if renyi is not None:
        found["renyi"] = {"orders": {str(order): number(size) for order, size in renyi.curve}} | but_for
    gaussian = _stated(price, GaussianDP(0))
    if gaussian is not None:
        found["gaussian"] = {"mu": number(gaussian.mu)} | but_for
    return found


def number(value: Fraction) -> dict[str, str]:
    """A number for certificates: exact, and rounded up to read."""
    return {"exact": str(value), "rounded_up": shown(value)}


def _stated(price: Loss, nothing: L) -> L | None:
    """The price in the kind of ``nothing``, a loss of zero; None where no theorem leads there."""
    try:
        found = price | nothing
    except NoProvedPath:
        return None
    return found if isinstance(found, type(nothing)) else None


def state_facts(
    sql: str,
    question: PlannedQuestion,
    receipts: Sequence[Receipt],
    versions: Mapping[str, str],
    measured: list[Measured],
    catalog: Catalog,
    ledger: Ledger,
) -> dict[str, Any]:
    """Everything about an answer that its certificate states; of a divided question, with one receipt per period."""
    if question.price is None:
        raise AssertionError("a question about public tables has no certificate")
    if question.pieces:
        pairs = zip(question.pieces, receipts, strict=True)
        periods = {
            "periods": {" ".join(sorted(one.plans[0].periods)): _of_period(receipt, ledger) for one, receipt in pairs}
        }
    else:
        periods = {}
    receipt = max(receipts, key=lambda one: one.position or 0)
    charges = [_charge(one, ledger) for one in receipts]
    charge = charges[0] if len(charges) == 1 else _added(charges)
    return {
        "certificate": "discreet 2",
        "answered_by": f"discreet {__version__}",
        "question": sql,
        "tables": dict(versions),
        **_promise(question),
        "granted": list_granted(charge["prices"], ledger),
        "plan": {
            "fingerprint": receipt.request.removeprefix("plan:").partition(":")[0],
            "blocks": [_block(one) for one in {id(one.plan): one for one in measured}.values()],
        },
        "price": as_json(question.price),
        "loss": statements(question.price, _delta(question, catalog), _own_delta(charge["prices"])),
        "charged": {name: charge[name] for name in ("prices", "portions") if name in charge},
        "ledger": {"position": receipt.position, "head": receipt.head.hex(), "charge": receipt.charge},
        "answer": hashlib.sha256(receipt.answer or b"").hexdigest(),
    } | periods


def _charge(receipt: Receipt, ledger: Ledger) -> Mapping[str, Any]:
    charged = ledger.entry(receipt.charge)
    if charged is None:
        raise AssertionError("every answer about a protected table has its charge")
    return charged.body


def _of_period(receipt: Receipt, ledger: Ledger) -> dict[str, Any]:
    """Where the answer for one period is kept, and what it was charged."""
    charge = _charge(receipt, ledger)
    return {
        "charged": {name: charge[name] for name in ("prices", "portions") if name in charge},
        "ledger": {"position": receipt.position, "head": receipt.head.hex(), "charge": receipt.charge},
        "answer": hashlib.sha256(receipt.answer or b"").hexdigest(),
    }


def _added(charges: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What several charges took from each account together; portions are named with their periods."""
    prices: dict[str, list[int]] = {}
    for charge in charges:
        for name, amounts in charge["prices"].items():
            known = prices.setdefault(name, [0] * len(amounts))
            prices[name] = [a + b for a, b in zip(known, amounts, strict=False)]
    return {"prices": prices}


def batch_facts(plans: Sequence[AggregationPlan], delta: Fraction) -> dict[str, Any]:
    """What a fixed batch cost as a whole: each part's own loss, composed numerically at ``delta``.

    Under a pure budget every part is ε-private, and the worst mechanism is assumed for each. Under a concentrated one
    the ρ of the parts add up, and the total is converted at its best Rényi order.
    """
    from discreet.accounting.pld import Batch  # noqa: PLC0415  an import of a third of a second, for batches alone

    losses = [with_magnitude(plan.loss, share) for plan in plans for share in _each(plan)]
    own = sum((plan.delta for plan in plans), Fraction(0))
    if all(isinstance(loss, Pure) for loss in losses):
        found = Batch(losses).epsilon_at(delta)
    else:
        found = ZeroConcentrated(sum((get_magnitude(loss) for loss in losses), Fraction(0))).epsilon_at(delta)
    return {"batch": {"parts": len(losses), "epsilon": number(found), "delta": number(delta + own)}}


def _each(plan: AggregationPlan) -> list[Fraction]:
    """The loss of every mechanism by itself."""
    if plan.top is not None:
        return [get_magnitude(plan.loss) / plan.top.picks] * plan.top.picks
    return [share for _, share in plan.shares]


def _promise(question: PlannedQuestion) -> dict[str, Any]:
    """Whose privacy, against which other table."""
    privacies = [plan.block.rows.privacy for plan in question.plans]
    known = [privacy for privacy in privacies if privacy is not None]
    units, neighbours = ({getattr(one, name) for one in known} for name in ("unit", "neighbours"))
    return {"unit": " and ".join(sorted(units)), "neighbours": " and ".join(sorted(str(one) for one in neighbours))}


def list_granted(charged: Collection[str], ledger: Ledger) -> dict[str, Any]:
    """What everything about these people may cost one of them, and in which account that is held.

    It is that of the people, over all their tables; or that of the only table, as long as there is one.
    """
    people, tables = ([name for name in charged if AccountKind.of(name) is kind] for kind in _PAYERS)
    return {name: as_json(account.granted) for name, account in sorted(ledger.accounts(people or tables).items())}


def _delta(question: PlannedQuestion, catalog: Catalog) -> Fraction:
    """The δ at which the budget states its losses; zero for a pure budget."""
    budgets = [table.budget for table in map(catalog.table, question.tables) if table.budget is not None]
    return min((budget.delta - budget.delta_for_keys for budget in budgets), default=Fraction(0))


def _own_delta(charge: Mapping[str, list[int]]) -> Fraction:
    return max((Fraction(delta, DELTA_UNITS) for _, delta, *_ in charge.values()), default=Fraction(0))


def _block(measured: Measured) -> dict[str, Any]:
    plan = measured.plan
    rows = f"a unit with n rows counts as min(n, {plan.rows_per_unit}), each row with an equal part"
    if plan.earlier is not None:
        rows = f"the first {plan.rows_per_unit} rows of a unit count, in the order of the periods of the series"
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


def _added_noise(priced: PricedStatistic) -> dict[str, Any]:
    """Noise on integers: its law, what it is for, and why so much of it."""
    return {
        "noise": write_recorded(priced.noise),
        "for": [aggregate.name for aggregate in priced.aggregates],
        "share": number(priced.share),
        "one_unit_moves": {"in_all": priced.l1_sensitivity, "squared": priced.l2_sensitivity_squared},
        "integers_per_row": priced.weight,
    }


def _tops(plan: AggregationPlan) -> list[TopSelection]:
    return [] if plan.top is None else [plan.top]


def _picked(top: TopSelection) -> dict[str, Any]:
    """The largest groups themselves, one after the other."""
    said: dict[str, Any] = {
        "choice": "exponential mechanism, as often as groups are shown",
        "for": ["the largest groups"],
    }
    return said | {"epsilon": number(top.epsilon), "factor": str(top.factor), "between": top.points, "picks": top.picks}


def _chosen(plan: AggregationPlan) -> list[dict[str, Any]]:
    """Choices between listed values by the exponential mechanism, in all groups together."""
    is_pure = isinstance(plan.loss, Pure)
    return [
        {
            "choice": "exponential mechanism",
            "for": [choice.aggregate.name],
            **({"epsilon": number(choice.epsilon)} if is_pure else {"rho": number(choice.epsilon**2 / 8)}),
            "factor": str(choice.factor),
            "between": choice.points,
        }
        for choice in plan.choices
    ]
