"""The statements of a block: one that adds up integers, and one per choice that counts grid points.

Nothing else about the rows leaves the engine. Statements are written from typed parts; every value is bound, but for
integers and floats of the plan itself.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.exact.grid import LARGEST_STEPS
from discreet.query.choice import Choice
from discreet.query.component import Component
from discreet.query.expression import Expression, Statement
from discreet.query.plan import BlockPlan

__all__ = ["histogram_of", "statement_of"]

Parameters = list[object]

_EXACT_STEPS = 2**49
"""Values of fewer steps than this are off by less than a quarter of one, so rounding keeps them between their ends."""


def statement_of(plan: BlockPlan) -> tuple[str, Parameters]:
    """The sums s0, s1, … of a block, with its keys k0, k1, … and its parameters."""
    statement = Statement()
    columns = [part for k, component in enumerate(plan.components) for part in _columns(component, k, statement)]
    source = _weighted(plan, columns, statement)
    keys = _keys(plan)
    sums = [f"{_saturated(_summand(plan, component, k))} AS s{k}" for k, component in enumerate(plan.components)]
    text = f"WITH {source} SELECT {', '.join([*keys, *sums, '1 AS one'])} FROM _weighted{_grouped(keys)}"
    return text, statement.parameters


def histogram_of(plan: BlockPlan, choice: Choice) -> tuple[str, Parameters]:
    """The weight ``s`` of every grid point ``x`` in every group."""
    statement = Statement()
    aggregate = choice.aggregate
    if aggregate.argument is None:
        raise AssertionError("a choice is made between values")
    value = _on_grid(aggregate.argument, Fraction(0), choice.step, choice.ends, statement)
    condition = "TRUE" if aggregate.condition is None else aggregate.condition.write(statement)
    source = _weighted(plan, [f"{value} AS x", f"{condition} AS f"], statement)
    keys = [*_keys(plan), "x"]
    text = f"SELECT {', '.join(keys)}, {_saturated('w')} AS s FROM _weighted WHERE x IS NOT NULL AND f"
    return f"WITH {source} {text}{_grouped(keys)}", statement.parameters


def _keys(plan: BlockPlan) -> list[str]:
    return [f"k{k}" for k in range(len(plan.block.keys))]


def _grouped(keys: list[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""


def _saturated(summand: str) -> str:
    """A sum that leaves room for noise in 64 bits; one further out is moved to the end, which takes no pair apart."""
    most = LARGEST_STEPS
    return f"CAST(GREATEST(LEAST(COALESCE(SUM({summand}), 0), {most}), -{most}) AS BIGINT)"


def _weighted(plan: BlockPlan, columns: list[str], statement: Statement) -> str:
    """``weighted``: keys, values on their grids, conditions, and a weight ``w`` for every row."""
    # Parameters are numbered as they are written, so the columns that came before stay before the rows.
    keys = [f"{key.write(statement)} AS k{k}" for k, key in enumerate(plan.block.keys)]
    inner = plan.block.rows.write(statement)
    rows = f"_rows AS (SELECT {', '.join(['_unit', *keys, *columns, '1 AS one'])} FROM ({inner}) r)"
    if plan.weight == 1:
        return f"{rows}, _weighted AS (SELECT *, 1 AS w FROM _rows)"
    full = plan.rows_per_unit * plan.weight
    each = f"CASE WHEN n <= {plan.rows_per_unit} THEN {plan.weight} ELSE {full} // n END"
    counted = "_counted AS (SELECT _unit, COUNT(*) AS n FROM _rows GROUP BY _unit)"
    return f"{rows}, {counted}, _weighted AS (SELECT _rows.*, {each} AS w FROM _rows JOIN _counted USING (_unit))"


def _columns(component: Component, k: int, statement: Statement) -> list[str]:
    columns = []
    if component.argument is not None and component.is_count:
        columns.append(f"{_presence(component.argument, statement)} AS x{k}")
    elif component.argument is not None:
        ends = -component.bound, component.bound
        value = _on_grid(component.argument, component.centre, component.step, ends, statement)
        columns.append(f"{value} AS x{k}")
    if component.condition is not None:
        columns.append(f"{component.condition.write(statement)} AS f{k}")
    return columns


def _presence(argument: Expression, statement: Statement) -> str:
    """One where there is a value; NaN and infinity are none."""
    text = argument.write(statement)
    test = f"isfinite(CAST({text} AS DOUBLE))" if argument.type.is_numeric else f"{text} IS NOT NULL"
    return f"CASE WHEN {test} THEN 1 END"


def _on_grid(
    argument: Expression, centre: Fraction, step: Fraction, ends: tuple[int, int], statement: Statement
) -> str:
    """The value in steps from the centre, moved into its bounds and between ``ends``; NULL where there is none."""
    known = argument.interval.known
    if known is None:
        raise AssertionError("values on a grid have bounds")
    text = f"CAST({argument.write(statement)} AS DOUBLE)"
    low, high = (_real(end) for end in known)
    steps = f"({text} - {_real(centre)}) * {_real(1 / step)}"
    if max(abs(known[0]), abs(known[1]), abs(centre)) / step >= _EXACT_STEPS:
        steps = f"GREATEST({ends[0]}, LEAST({ends[1]}, {steps}))"
    outer = (min(max(round((end - centre) / step), ends[0]), ends[1]) for end in known)
    beyond = "CASE WHEN {} < {} THEN {} ELSE {} END".format(text, low, *outer)
    # Nearly every value lies within its bounds, and the first branch is the cheap one.
    inside = f"WHEN {text} BETWEEN {low} AND {high} THEN CAST({steps} AS BIGINT)"
    return f"CASE {inside} WHEN isfinite({text}) THEN {beyond} END"


def _real(value: Fraction) -> str:
    return f"CAST({float(value)!r} AS DOUBLE)"


def _summand(plan: BlockPlan, component: Component, k: int) -> str:
    weight = ["w"] if plan.weight > 1 else []
    values = [] if component.argument is None else [f"x{k}"] * max(component.power, 1)
    value = " * ".join(weight + values) or "1"
    return value if component.condition is None else f"CASE WHEN f{k} THEN {value} END"
