"""A question: SQL that was split, priced and planned, and has not looked at a row.

Its price, its shape, its errors and its refusals follow from the text, the policy and the price alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.engines.parameters import bound
from discreet.noise.law import open_probability
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.block import Aggregate, AggregateKind
from discreet.query.plan import BlockPlan, plan_block
from discreet.query.refusal import refuse
from discreet.query.split import SplitQuery, split
from discreet.query.statement import histogram_of, statement_of

__all__ = ["ExpectedError", "Question", "prepare"]


@dataclass(frozen=True)
class ExpectedError:
    """How far a column may be off, known beforehand."""

    column: str
    """What the aggregate is."""
    within: float | None
    """Half the width of its interval; None where it depends on the answer."""


@dataclass(frozen=True)
class Question:
    """A planned query."""

    split: SplitQuery
    plans: tuple[BlockPlan, ...]
    price: Pure | ZeroConcentrated | None
    """What the whole query costs; None when it touches public tables alone."""

    @property
    def tables(self) -> frozenset[str]:
        """The protected tables it reads."""
        privacies = [plan.block.rows.privacy for plan in self.plans]
        return frozenset(table for privacy in privacies if privacy is not None for table in privacy.tables)

    def errors(self, confidence: float = 0.95) -> list[ExpectedError]:
        """The expected error of every aggregate, before any row is read."""
        return [error for plan in self.plans for error in _errors(plan, confidence)]

    def fingerprint(self, versions: Mapping[str, str]) -> str:
        """Equal for questions that measure the same on the same data at the same price, however they are spelled."""
        facts = [_facts(plan) for plan in self.plans]
        text = json.dumps({"plans": facts, "versions": dict(versions)}, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def prepare(text: str, catalog: Catalog, price: Pure | ZeroConcentrated | None, dialect: str = "duckdb") -> Question:
    """Split a query and plan its blocks for ``price``, divided evenly between them."""
    parts = split(text, catalog, dialect)
    if not parts.blocks:
        return Question(parts, (), None)
    if price is None:
        raise refuse(parts.above, "a question about a protected table needs a price", "pass epsilon=")
    kinds = {(block.rows.privacy.unit, block.rows.privacy.neighbours) for block in parts.blocks if block.rows.privacy}
    if len(kinds) > 1:
        rule = f"one question asks about one kind of person, not {' and '.join(sorted(unit for unit, _ in kinds))}"
        raise refuse(parts.above, rule, "ask one question about each")
    share = _divided(price, len(parts.blocks))
    return Question(parts, tuple(plan_block(block, share) for block in parts.blocks), price)


def _divided(price: Pure | ZeroConcentrated, parts: int) -> Pure | ZeroConcentrated:
    return Pure(price.epsilon / parts) if isinstance(price, Pure) else ZeroConcentrated(price.rho / parts)


def _errors(plan: BlockPlan, confidence: float) -> list[ExpectedError]:
    return [
        ExpectedError(aggregate.kind.value, _within(plan, aggregate, confidence)) for aggregate in plan.block.aggregates
    ]


def _within(plan: BlockPlan, aggregate: Aggregate, confidence: float) -> float | None:
    if aggregate.kind not in (AggregateKind.COUNT, AggregateKind.SUM):
        return None
    (part,) = plan.parts_of(aggregate)
    reach = plan.noises[part].error(open_probability(confidence, "confidence"))
    return float(reach * plan.unit(plan.components[part]))


def _facts(plan: BlockPlan) -> dict[str, Any]:
    statements = [statement_of(plan), *(histogram_of(plan, choice) for choice in plan.choices)]
    return {
        "statements": [[text, [repr(bound(value)) for value in parameters]] for text, parameters in statements],
        "groups": repr(plan.groups),
        "noise": [repr(getattr(noise, "scale", None) or getattr(noise, "squared", None)) for noise in plan.noises],
        "choices": [repr((c.quantile, c.step, c.ends, c.factor, c.inward)) for c in plan.choices],
        "loss": repr(plan.loss),
    }
