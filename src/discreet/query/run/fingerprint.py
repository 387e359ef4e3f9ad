"""The fingerprint of plans: the name under which a ledger keeps an answer, and by which it is found again for free.

It is the SHA-256 of a text about everything that is measured: the statements, the groups, the noise, the choices and
the price, and the versions of the data. Answers outlive code, so the text is written from the tables below. The words
in them are those of the first form and are never changed, whatever classes, fields and members are called by now: who
renames one changes the left side of a table and leaves the right side as it is. A class or a member that is not in the
tables has no text, and a field that is neither written nor left out for a reason is refused when this module is loaded.

Whatever changes what is measured shows in the statements or in the noise; so a field that is added later can be left
out. Where that is not so, a second form is needed: its text begins with its number, and answers are looked for under
both. The first has no number, because the releases that made it wrote none.

>>> write_recorded((Fraction(1, 2), [Interval.of(0, 1)], None))
'(Fraction(1, 2), [Interval(low=Fraction(0, 1), high=Fraction(1, 1))], None)'
>>> write_recorded(Pure("0.25")), write_recorded(DiscreteLaplace(4))
('Pure(ε=0.25)', 'DiscreteLaplace(scale=4)')
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from typing import Any

from discreet.catalog.column import ColumnType
from discreet.engines.parameters import bind_parameter
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.loss import RECORDED_NEIGHBOURS, Pure, ZeroConcentrated, write_loss
from discreet.query.aggregates.aggregate import PlannedSelection
from discreet.query.aggregates.counts import CountAggregate
from discreet.query.aggregates.mode import ModeSelection
from discreet.query.aggregates.quantile import QuantileSelection
from discreet.query.aggregates.statistics import ValueScale
from discreet.query.expressions.expression import Call, Constant, DecimalType, Field, Origin
from discreet.query.expressions.interval import Interval
from discreet.query.plan.sensitivity import AggregationPlan, KeyRule, PricedStatistic
from discreet.query.plan.top_groups import TopSelection
from discreet.query.run.contribution_bounds import write_statements

__all__ = ["MEMBERS", "PLANNED", "RECORDED", "Recorded", "check_tables", "compute_fingerprint", "write_recorded"]


@dataclass(frozen=True)
class Recorded:
    """How the values of a dataclass are written."""

    name: str
    """What the text calls it."""
    fields: Mapping[str, str]
    """Its fields and properties in the order of the text, and what the text calls them."""
    mechanism: str | None = None
    """The field that is not written itself, because it is a mechanism and properties show what it holds."""
    before: str = ""
    """What stands before the fields: the first form had a place for all that any aggregate has."""
    after: str = ""
    """What stands after them."""

    def speaks_of(self, kind: type) -> set[str]:
        """The fields of a class that are written, or shown by its properties."""
        written = {name for name in self.fields if not isinstance(getattr(kind, name, None), property)}
        return written | ({self.mechanism} if self.mechanism else set())

    def text(self, value: object) -> str:
        """A value as it is written."""
        facts = [f"{name}={write_recorded(getattr(value, has))}" for has, name in self.fields.items()]
        return f"{self.name}({', '.join(filter(None, [self.before, *facts, self.after]))})"


_EXPRESSION = {"type": "type", "interval": "interval", "nullable": "nullable"}

RECORDED: dict[type, Recorded] = {
    ValueScale: Recorded("Scale", {"origin": "origin", "step": "step", "first": "first", "last": "last"}),
    KeyRule: Recorded(
        "KeyRule",
        {"unit_count": "held", "per_unit": "per_unit", "threshold": "threshold", "delta": "delta"},
        mechanism="mechanism",
    ),
    TopSelection: Recorded(
        "TopChoice",
        {"aggregate": "aggregate", "epsilon": "epsilon", "picks": "picks", "points": "points", "factor": "factor"},
        mechanism="mechanism",
    ),
    CountAggregate: Recorded(
        "Aggregate",
        {"argument": "argument", "condition": "condition"},
        before="kind=<AggregateKind.COUNT: 'count'>",
        after="quantile=Fraction(1, 2), is_sample=False, shown_as=<ColumnType.REAL: 'real'>",
    ),
    Interval: Recorded("Interval", {"low": "low", "high": "high"}),
    DecimalType: Recorded("DecimalType", {"scale": "scale"}),
    Origin: Recorded(
        "Origin", {"table": "table", "column": "column", "may_be_absent": "may_be_absent", "scan": "scan"}
    ),
    Constant: Recorded("Constant", {**_EXPRESSION, "value": "value"}),
    Call: Recorded(
        "Call",
        {**_EXPRESSION, "template": "template", "arguments": "arguments", "grain": "grain", "work": "work"},
    ),
    Field: Recorded(
        "Field",
        {
            **_EXPRESSION,
            "name": "name",
            "keys": "keys",
            "is_unit": "is_unit",
            "column": "column",
            "rows_per_key": "rows_per_key",
            "divides": "divides",
            "is_clamped": "is_clamped",
            "origin": "origin",
            "pieces": "pieces",
            "computed": "computed",
            "may_be_absent": "may_be_absent",
            "keys_from": "keys_from",
            "lists_missing": "lists_missing",
            "usual": "usual",
            "root": "root",
        },
    ),
}
"""Every dataclass whose values have a text."""

_WRITTEN, _IN_STATEMENTS, _SAME_ANSWER = "written", "the statements show it", "the answer is the same"
PLANNED: dict[type, Mapping[str, str]] = {
    AggregationPlan: {
        "parts": _WRITTEN,
        "choices": _WRITTEN,
        "rule": _WRITTEN,
        "top": _WRITTEN,
        "loss": _WRITTEN,
        "listing": _WRITTEN,
        "block": _IN_STATEMENTS,
        "weight": _IN_STATEMENTS,
        "rows_per_unit": _IN_STATEMENTS,
        "rows_per_group": _IN_STATEMENTS,
        "families": "the shares of the parts show it",
        "counted": _SAME_ANSWER,
        "stored": _SAME_ANSWER,
        "secret": "it is the engine's, and shown nowhere",
        "earlier": _IN_STATEMENTS,
    },
    PricedStatistic: {
        "mechanism": "its noise is written",
        "share": _WRITTEN,
        "scale": _WRITTEN,
        "weight": _WRITTEN,
        "part": _IN_STATEMENTS,
        "max_contribution": _IN_STATEMENTS,
        "l1_sensitivity": "the noise shows it",
        "l2_sensitivity_squared": "the noise shows it",
        "aggregates": "they are computed from what is measured",
    },
    QuantileSelection: {
        "epsilon": _WRITTEN,
        "mechanism": "its quantile, ends, factor and target are written",
        "step": _WRITTEN,
        "aggregate": _IN_STATEMENTS,
    },
    ModeSelection: {
        "epsilon": _WRITTEN,
        "mechanism": "its factor is written",
        "values": _WRITTEN,
        "aggregate": _IN_STATEMENTS,
    },
}
"""The fields of the dataclasses whose parts `_plan` puts together: whether it writes them, and else why not."""

MEMBERS: dict[Enum, str] = {
    **RECORDED_NEIGHBOURS,
    ColumnType.INTEGER: "<ColumnType.INTEGER: 'integer'>",
    ColumnType.REAL: "<ColumnType.REAL: 'real'>",
    ColumnType.TEXT: "<ColumnType.TEXT: 'text'>",
    ColumnType.BOOLEAN: "<ColumnType.BOOLEAN: 'boolean'>",
    ColumnType.DATE: "<ColumnType.DATE: 'date'>",
    ColumnType.TIMESTAMP: "<ColumnType.TIMESTAMP: 'timestamp'>",
}
"""Every member of an enumeration that a text can hold."""


def compute_fingerprint(plans: Sequence[AggregationPlan], versions: Mapping[str, str]) -> str:
    """Equal for plans that measure the same on the same data at the same price."""
    text = json.dumps({"plans": [_plan(plan) for plan in plans], "versions": dict(versions)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def write_recorded(value: object) -> str:
    """A value as ledgers, certificates and fingerprints hold it; one that is not in the tables is a mistake of ours."""
    write = _TEXTS.get(type(value))
    if write is None:
        raise AssertionError(f"the tables of the fingerprint must have a text for {type(value)}")
    return write(value)


def _tuple(value: tuple[object, ...]) -> str:
    return f"({', '.join(map(write_recorded, value))}{',' if len(value) == 1 else ''})"


_TEXTS: dict[type, Callable[[Any], str]] = {
    **dict.fromkeys((type(None), bool, int, float, str, date, datetime), repr),  # Python's own, without a name of ours
    **dict.fromkeys(map(type, MEMBERS), MEMBERS.__getitem__),
    **{kind: recorded.text for kind, recorded in RECORDED.items()},
    Fraction: lambda value: f"Fraction({value.numerator}, {value.denominator})",
    list: lambda value: f"[{', '.join(map(write_recorded, value))}]",
    tuple: _tuple,
    DiscreteLaplace: lambda law: f"DiscreteLaplace(scale={law.scale})",
    DiscreteGaussian: lambda law: f"DiscreteGaussian(variance_parameter={law.squared})",
    **dict.fromkeys((Pure, ZeroConcentrated), write_loss),
}
"""How the values of each type are written; a type below one of them is another."""


def _plan(plan: AggregationPlan) -> dict[str, Any]:
    return {
        "statements": [
            [text, [write_recorded(bind_parameter(value)) for value in values]]
            for text, values in write_statements(plan)
        ],
        "groups": write_recorded(plan.groups),
        "top": write_recorded(plan.top),
        "noise": [
            write_recorded((priced.noise, str(priced.share), priced.scale, priced.weight)) for priced in plan.parts
        ],
        "choices": [write_recorded(_choice(choice)) for choice in plan.choices],
        "rule": write_recorded(plan.rule),
        "loss": write_recorded(plan.loss),
    }


def _choice(choice: PlannedSelection) -> tuple[object, ...]:
    return choice.epsilon, choice.points, choice.factor, _SHAPES[type(choice)](choice)


_SHAPES: dict[type[PlannedSelection], Callable[[Any], list[object]]] = {
    QuantileSelection: lambda one: [one.quantile, one.step, one.ends, one.inward, None],
    ModeSelection: lambda one: [None, None, None, None, one.values],
}
"""The first form has a place for all that any choice has."""


def check_tables(recorded: Mapping[type, Recorded], planned: Mapping[type, Mapping[str, str]]) -> None:
    """Refuse tables that do not speak of every field of their dataclasses."""
    for kind, said in [*((kind, one.speaks_of(kind)) for kind, one in recorded.items()), *planned.items()]:
        missed = {one.name for one in fields(kind)} ^ set(said)
        if missed:
            raise AssertionError(f"the tables of the fingerprint must speak of each field of {kind}, not of {missed}")


check_tables(RECORDED, PLANNED)
