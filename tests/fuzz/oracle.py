"""What must hold of one question on two neighbouring databases; every rule that does not is a finding.

Claims are those of a plan; what is compared with them is what the engines give, before noise. See ``plan.md`` for why
these claims suffice.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.catalog.column import ColumnType
from discreet.curator.preconditions import check_stored, check_translatable, use_stored_columns
from discreet.errors import DiscreetError, QueryRefused
from discreet.exact.ball import ball, working_precision
from discreet.exact.grid import Integers
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.loss import Pure
from discreet.query.aggregates.mode import ModeSelection
from discreet.query.aggregates.noise_tails import Noise
from discreet.query.aggregates.quantile import QuantileSelection
from discreet.query.answer.answer import compute_answer
from discreet.query.expressions.expression import Call, Constant, DecimalType, Expression, Statement
from discreet.query.expressions.public_values import ListRows, with_values
from discreet.query.plan.budget_split import get_magnitude
from discreet.query.plan.list_groups import _independent, _rooted
from discreet.query.plan.sensitivity import AggregationPlan, KeyRule
from discreet.query.question import PlannedQuestion
from discreet.query.run.contribution_bounds import (
    _opened,
    add_up,
    count_apart,
    write_histogram,
    write_statements,
    write_sums,
    write_weights,
)
from discreet.query.run.contribution_bounds import _rows as _rows_of
from discreet.query.run.fingerprint import compute_fingerprint
from discreet.query.run.measure import (
    Groups,
    _histograms,
    _holders,
    _placed,
    _typed,
    _value_weights,
    exact_sums,
    public_groups,
)
from tests.fuzz.finding import Broken, Finding
from tests.fuzz.places import Pair, Side
from tests.query.world import nothing_measured

__all__ = ["MOST_ROWS", "Oracle"]

MOST_ROWS = 10_000
"""How many rows of a statement one unit may become, by default."""
_MANY_JOINS = 5
"""With fewer joins, worlds as small as these make few rows of anybody."""
_BITS = 512

Vector = dict[Any, int]
Table = dict[tuple[Any, ...], dict[str, Any]]


class Refused(Exception):
    """The question is not answered, and that is the same for both databases."""


class Oracle:
    """Asks one question of a pair, and looks at everything that a plan claims."""

    def __init__(self, pair: Pair, sql: str, epsilon: str, *, plans_twice: bool = True) -> None:
        """A plan follows from the text, the policy and public tables, so that ``plans_twice`` seldom finds more."""
        self.pair, self.sql, self.epsilon, self.plans_twice = pair, sql, epsilon, plans_twice
        self.found: list[Finding] = []

    def say(self, broken: Broken, detail: object) -> None:
        """Note a finding; one of each kind is enough."""
        if all(known.broken is not broken for known in self.found):
            self.found.append(Finding(broken, self.sql, str(detail)))

    def check(self) -> bool:
        """Whether the question is answered; what is wrong about it is in ``found``."""
        try:
            here = self._planned(self.pair.here)
            there = self._planned(self.pair.there) if self.plans_twice else self._stored_there(here)
        except Refused:
            return False
        if isinstance(here, str) or isinstance(there, str):
            if here != there:
                self.say(Broken.TOLD_APART, f"{here if isinstance(here, str) else there} at one of them alone")
            return False
        if not self._are_alike(here[1], there[1]):
            return False
        question = here[0]
        for plans in zip(here[1], there[1], strict=True):
            if self._is_too_much_work(plans[0]):
                continue
            self._check_claims(plans[0])
            self._check_block(*plans)
            self._check_values(plans[0])
            self._check_spellings(plans[0])
        self._check_above(question)
        return True

    # Planning.

    def _planned(self, side: Side) -> tuple[PlannedQuestion, list[AggregationPlan]] | str:
        """The plans, or the words of the refusal."""
        try:
            question = side.planner.question(self.sql, self.epsilon)
            plans = list({id(plan): plan for plan in question.plans}.values())
            check_stored(plans, side.planner.catalog, side.engine)
            check_translatable(plans, side.engine)
            found = [use_stored_columns(plan, side.engine) for plan in plans]
        except DiscreetError as refusal:
            return str(refusal)
        except Exception as failure:
            self.say(Broken.PLANNING, f"{type(failure).__name__}: {failure}")
            raise Refused from None
        return question, found

    def _stored_there(
        self, here: tuple[PlannedQuestion, list[AggregationPlan]] | str
    ) -> tuple[PlannedQuestion, list[AggregationPlan]] | str:
        if isinstance(here, str):
            return here
        return here[0], [use_stored_columns(plan, self.pair.there.engine) for plan in here[1]]

    def _are_alike(self, here: list[AggregationPlan], there: list[AggregationPlan]) -> bool:
        if compute_fingerprint(here, {}) != compute_fingerprint(there, {}):
            self.say(Broken.TOLD_APART, "the plans differ")
            return False
        return bool(here)

    def _check_claims(self, plan: AggregationPlan) -> None:
        """That noise and shares follow from what is claimed."""
        spent = sum((share for _, share in plan.shares), Fraction(0))
        if spent > get_magnitude(plan.loss):
            self.say(Broken.NOISE, f"shares of {spent} cost more than {plan.loss!r}")
        for priced in plan.parts:
            noise = priced.noise
            if isinstance(noise, DiscreteLaplace) and noise.scale * priced.share < priced.l1_sensitivity:
                self.say(Broken.NOISE, f"{noise!r} is too little for a move of {priced.l1_sensitivity}")
            if isinstance(noise, DiscreteGaussian) and noise.squared * 2 * priced.share < priced.l2_sensitivity_squared:
                self.say(Broken.NOISE, f"{noise!r} is too little for a move of {priced.l2_sensitivity_squared} squared")
        if plan.rule is not None and not _is_hidden(plan.parts[plan.rule.unit_count].noise, plan.rule):
            self.say(Broken.THRESHOLD, plan.rule)

    # Statements.

    def _run(self, side: Side, statement: tuple[str, list[object]]) -> pa.Table | None:
        try:
            return side.run(*statement)
        except Exception as failure:
            self.say(Broken.RAISES, f"{type(failure).__name__}: {failure}".replace("\n", " ")[:300])
            return None

    def _is_too_much_work(self, plan: AggregationPlan) -> bool:
        if self.sql.count(" JOIN ") < _MANY_JOINS:
            return False
        statement = Statement(counted=plan.counted, stored=plan.stored)
        rows = plan.block.rows.write(statement)
        inner = f"SELECT _unit, COUNT(*) AS n FROM ({rows}) r GROUP BY _unit"
        text = f"SELECT COALESCE(CAST(MAX(n) AS BIGINT), 0) AS n FROM ({inner}) q"
        try:
            most = int(self.pair.here.run(text, statement.parameters)["n"][0].as_py() or 0)
        except Exception as failure:  # nobody counts so many rows, in the time and the memory that there are
            self.say(Broken.WORK, f"one unit becomes more rows than can be counted: {type(failure).__name__}")
            return True
        if most > MOST_ROWS:
            self.say(Broken.WORK, f"one unit becomes {most:,} rows")
        return most > MOST_ROWS

    def _check_block(self, here: AggregationPlan, there: AggregationPlan) -> None:
        sides = [(self.pair.here, here), (self.pair.there, there)]
        if self.pair.shuffled is not None:
            sides.append((self.pair.shuffled, use_stored_columns(here, self.pair.shuffled.engine)))
        results = []
        for side, plan in sides:
            statements = write_statements(plan)
            tables = [self._run(side, statement) for statement in statements]
            if any(table is None for table in tables):
                return
            results.append(dict(zip(map(_named, statements), tables, strict=True)))
        try:
            if self.pair.shuffled is not None:
                self._check_order(results[0], results[2], here, sides[2][1])
            self._compare(here, there, *results[:2])
        except Exception as failure:
            self.say(Broken.RAISES, f"{type(failure).__name__}: {failure}")

    def _check_order(
        self, first: dict[str, pa.Table], second: dict[str, pa.Table], one: AggregationPlan, two: AggregationPlan
    ) -> None:
        for mine, theirs in zip(first.values(), second.values(), strict=True):
            if _rows(mine) != _rows(theirs):
                self.say(Broken.ORDER, f"{_rows(mine)} and {_rows(theirs)}"[:400])

    # Neighbours.

    def _compare(
        self, here: AggregationPlan, there: AggregationPlan, mine: dict[str, pa.Table], theirs: dict[str, pa.Table]
    ) -> None:
        runs = [lambda text, values, of=of: of[_named((text, values))] for of in (mine, theirs)]
        plans = (here, there)
        if here.top is not None:
            self._check_top(plans, runs)
            return
        if here.rule is None:
            groups = public_groups(here)
            sums = [exact_sums(plan, groups, run) for plan, run in zip(plans, runs, strict=True)]
            vectors = [[np.concatenate(one[k]).tolist() for one in sums] for k in range(len(here.parts))]
            for priced, both in zip(here.parts, vectors, strict=True):
                self._check_moves(priced, *both)
            self._check_families(here, vectors)
            self._check_choices(plans, runs, groups)
            self._check_listed(here, mine)
            return
        self._check_unlisted(plans, runs)

    def _check_moves(self, priced: Any, mine: Sequence[int], theirs: Sequence[int]) -> None:
        moved = [abs(int(a) - int(b)) for a, b in zip(mine, theirs, strict=True)]
        if sum(moved) > priced.l1_sensitivity or sum(m * m for m in moved) > priced.l2_sensitivity_squared:
            told = f"{type(priced.part).__name__} moves by {sum(moved)} in L1, {priced.l1_sensitivity} is claimed; "
            told += f"{sum(m * m for m in moved)} and {priced.l2_sensitivity_squared} in squares"
            self.say(Broken.MOVES, told)

    def _check_families(self, plan: AggregationPlan, vectors: Sequence[Sequence[Sequence[int]]]) -> None:
        """Parts that share one share: what a unit moves all of them adds up to no more than what it may move one."""
        for family in plan.families:
            spent = Fraction(0)
            for k in family:
                moved = [abs(int(a) - int(b)) for a, b in zip(*vectors[k], strict=True)]
                squares, priced = sum(m * m for m in moved), plan.parts[k]
                is_pure = isinstance(plan.loss, Pure)
                spent += (
                    Fraction(sum(moved), priced.l1_sensitivity)
                    if is_pure
                    else Fraction(squares, priced.l2_sensitivity_squared)
                )
            if spent > 1:
                self.say(Broken.MOVES, f"parts {family} that share a share move by {float(spent)} of it together")

    def _check_listed(self, plan: AggregationPlan, tables: dict[str, pa.Table]) -> None:
        """Every row that has public values in all its keys is in a group."""
        every = _every_value(plan, self.pair.here.planner.public_rows.values)
        groups = {tuple(map(_spelled, key)) for key in plan.groups}
        for table in tables.values() if every else ():
            columns = [_typed(table, k, key).to_pylist() for k, key in enumerate(plan.block.keys)]
            for row in zip(*columns, strict=True):
                key = tuple(map(_spelled, row))
                if all(part in values for part, values in zip(key, every, strict=True)) and key not in groups:
                    self.say(Broken.GROUPS, f"{key} is not listed, and {sorted(groups)[:10]} are"[:400])

    def _check_unlisted(self, plans: Sequence[AggregationPlan], runs: Sequence[Any]) -> None:
        plan, rule = plans[0], plans[0].rule
        assert rule is not None
        holders = []
        for one, run in zip(plans, runs, strict=True):
            table = run(*write_sums(one)) if add_up(one) else None
            found = _holders(one, rule, table, run)
            if len(Groups.shown(one.block.keys, found)) != found.num_rows:
                self.say(Broken.KEYS, f"one key in two rows: {_rows(found)}"[:300])
            holders.append(_keyed(found, "s", len(one.block.keys)))
        self._check_keys(plan, *holders)
        for k, priced in enumerate(plan.parts):
            vectors = [self._vector(one, run, k) for one, run in zip(plans, runs, strict=True)]
            places = sorted(vectors[0].keys() | vectors[1].keys(), key=repr)
            self._check_moves(priced, *([vector.get(place, 0) for place in places] for vector in vectors))
        everywhere = [Groups.shown(plan.block.keys, _both(plans, runs, rule))]
        self._check_choices(plans, runs, everywhere[0])

    def _check_keys(self, plan: AggregationPlan, mine: Vector, theirs: Vector) -> None:
        rule = plan.rule
        assert rule is not None
        for alone, others, what in ((mine, theirs, "here"), (theirs, mine, "there")):
            only = {key: count for key, count in alone.items() if key not in others}
            most = 0 if what == "there" and self.pair.world.is_removal else rule.per_unit
            if len(only) > most or any(count > 1 for count in only.values()):
                self.say(Broken.KEYS, f"{len(only)} keys are {what} alone, {most} are allowed: {only}"[:300])

    @staticmethod
    def _vector(plan: AggregationPlan, run: Any, k: int) -> Vector:
        keys, priced = len(plan.block.keys), plan.parts[k]
        if k in add_up(plan):
            table = run(*write_sums(plan))
            parts = [_keyed(table, f"s{k}_{j}", keys) for j in range(priced.part.size)]
            return {(key, j): count for j, part in enumerate(parts) for key, count in part.items()}
        return _keyed(run(*count_apart(plan, priced)), "s", keys)

    # Choices.

    def _check_top(self, plans: Sequence[AggregationPlan], runs: Sequence[Any]) -> None:
        top = plans[0].top
        assert top is not None
        groups = public_groups(plans[0])
        mine, theirs = (
            _placed(groups, run(*write_weights(plan, top)), "s") for plan, run in zip(plans, runs, strict=True)
        )
        cost = top.factor * _range(mine, theirs)
        if cost > top.epsilon:
            self.say(Broken.SCORES, f"a pick costs {float(cost)}, {float(top.epsilon)} is claimed")

    def _check_choices(self, plans: Sequence[AggregationPlan], runs: Sequence[Any], groups: Groups) -> None:
        for k, choice in enumerate(plans[0].choices):
            tables = [run(*write_histogram(plan, plan.choices[k])) for plan, run in zip(plans, runs, strict=True)]
            if isinstance(choice, ModeSelection):
                weights = [_value_weights(groups, choice, table) for table in tables]
                costs = [choice.factor * _range(one, two) for one, two in zip(*weights, strict=True)]
            else:
                both = [_histograms(groups, table) for table in tables]
                for points, _ in itertools.chain(*both):
                    self._check_points(choice, points)
                costs = [self._cost(choice, one, two) for one, two in zip(*both, strict=True)]
            is_pure = isinstance(plans[0].loss, Pure)
            spent = sum(costs) if is_pure else sum(cost * cost for cost in costs)
            if spent > (choice.epsilon if is_pure else choice.epsilon**2):
                self.say(Broken.SCORES, f"{type(choice).__name__}: {float(spent)} at {float(choice.epsilon)}")

    def _check_points(self, choice: QuantileSelection, points: Integers) -> None:
        outside = [point for point in points.tolist() if not choice.ends[0] <= point <= choice.ends[1]]
        if outside:
            self.say(Broken.POINTS, f"{outside[:3]} outside {choice.ends}")

    def _cost(self, choice: QuantileSelection, one: Any, two: Any) -> Fraction:
        """What a group costs: twice how far the distance of any point moves."""
        if one[0].tobytes() == two[0].tobytes() and one[1].tobytes() == two[1].tobytes():
            return Fraction(0)
        strips = [_strips(one, choice), _strips(two, choice)]
        for strip in strips:
            covered = sum(length for _, length, _ in strip)
            if covered != choice.points:
                self.say(Broken.POINTS, f"{covered} points can be chosen, not {choice.points}")
                return Fraction(0)
        places = sorted({start for strip in strips for start, _, _ in strip})
        moved = max(abs(_at(strips[0], place) - _at(strips[1], place)) for place in places)
        return 2 * choice.factor * Fraction(moved, choice.quantile.denominator)

    # Values.

    def _check_values(self, plan: AggregationPlan) -> None:
        """Every part of every expression lies in its interval, and is missing only where it may be."""
        parts = list(dict.fromkeys(_parts(plan)))
        if not parts:
            return
        remote = not self.pair.here.engine.capabilities.language_of_plans
        if remote:
            parts = [part for part in parts if part.type in (ColumnType.INTEGER, ColumnType.REAL)]
        statement = Statement(counted=plan.counted, stored=plan.stored)
        columns = ", ".join(f"{part.write(statement)} AS v{k}" for k, part in enumerate(parts))
        if not parts:
            return
        text = f"SELECT {columns} FROM ({plan.block.rows.write(statement)}) r"
        if not self._is_answerable(text, statement.parameters):
            return
        table = self._run(self.pair.here, (text, statement.parameters))
        for k, part in enumerate(parts if table is not None else []):
            self._check_part(part, _numbers(table[f"v{k}"], part.type))

    def _check_part(self, part: Expression, values: list[Any]) -> None:
        if not part.nullable and None in values:
            self.say(Broken.MISSING, _told(part))
        known = [
            value
            for value in values
            if value is not None and not (isinstance(value, float) and not math.isfinite(value))
        ]
        low, high = part.interval.low, part.interval.high
        if not part.type.is_numeric and part.type not in (ColumnType.DATE, ColumnType.TIMESTAMP):
            return
        places = [Fraction(value) / _steps_of(part) for value in known]
        outside = [
            place for place in places if (low is not None and place < low) or (high is not None and place > high)
        ]
        if outside:
            ends = [None if end is None else _shown(end) for end in (low, high)]
            self.say(Broken.INTERVAL, f"{_told(part)}: {_shown(outside[0])} outside {ends}")

    def _check_spellings(self, plan: AggregationPlan) -> None:
        """Keys that are equal are spelled alike in every row, whoever is there to show theirs first."""
        names = [f"k{k}" for k, key in enumerate(plan.block.keys) if key.type is ColumnType.REAL]
        if not names:
            return
        statement = _opened(plan)
        text = f"WITH {_rows_of(plan, [], statement)} SELECT {', '.join(names)} FROM _rows"
        if not self._is_answerable(text, statement.parameters):
            return
        table = self._run(self.pair.here, (text, statement.parameters))
        for name in names if table is not None else []:
            spelled: dict[str, set[str]] = {}
            for value in table[name].to_pylist():
                if value is not None:
                    spelled.setdefault(repr(abs(value)), set()).add(_spelled(value))
            for value, ways in spelled.items():
                if value in ("nan", "0.0") and len(ways) > 1:
                    self.say(Broken.KEYS, f"{value} is spelled {' and '.join(sorted(ways))}")

    def _is_answerable(self, text: str, parameters: list[object]) -> bool:
        """Whether the engine runs a statement that is no plan's."""
        try:
            self.pair.here.engine.check(text, parameters)
        except QueryRefused:
            return False
        return True

    # Above.

    def _check_above(self, question: PlannedQuestion) -> None:
        """What is shown of nothing can be shown, and lies within its error bars."""
        try:
            measured = [nothing_measured(plan) for plan in question.plans]
            public = self.pair.here.planner.public(question)
            table, bars = compute_answer(question.split, measured, public, 0.95, raw=False)
            for name, column in bars.items():
                for value, bar in zip(table[name].to_pylist(), column, strict=True):
                    if bar is not None and not bar[0] <= value <= bar[1]:
                        self.say(Broken.INTERVAL, f"above: {name} is {value}, outside its error bar {bar}")
        except QueryRefused:
            return
        except Exception as failure:
            self.say(Broken.PLANNING, f"above: {type(failure).__name__}: {failure}"[:300])


def _is_hidden(noise: Noise, rule: KeyRule) -> bool:
    """Whether the keys that one unit holds alone are shown with a probability of at most δ."""
    with working_precision(_BITS):
        alone = noise.above(rule.threshold - 1)
        return bool(1 - (1 - alone) ** rule.per_unit <= ball(rule.delta))


def _named(statement: tuple[str, list[object]]) -> str:
    return repr(statement)


def _both(plans: Sequence[AggregationPlan], runs: Sequence[Any], rule: Any) -> pa.Table:
    tables = []
    for plan, run in zip(plans, runs, strict=True):
        table = run(*write_sums(plan)) if add_up(plan) else None
        found = _holders(plan, rule, table, run)
        tables.append(found.select([name for name in found.column_names if name != "s"]))
    return pa.concat_tables(tables)


def _every_value(plan: AggregationPlan, read: ListRows) -> list[set[str]]:
    """For each key of a block by itself, every value that is public."""
    keys = [
        with_values(_rooted(key), place, read) for key, place in zip(plan.block.keys, plan.block.places, strict=True)
    ]
    return [{_spelled(value) for (value,) in rows} for _, rows in _independent(tuple(keys))[0]]


def _spelled(value: Any) -> str:
    return repr(value + 0 if isinstance(value, float) else value)


def _range(mine: Integers, theirs: Integers) -> int:
    moved = [int(a) - int(b) for a, b in zip(mine.tolist(), theirs.tolist(), strict=True)]
    return max([0, *moved]) - min([0, *moved])


def _strips(histogram: tuple[Integers, Integers], choice: QuantileSelection) -> list[tuple[int, int, int]]:
    return sorted(zip(*(column.tolist() for column in choice.mechanism.score(*histogram)), strict=True))


def _at(strips: list[tuple[int, int, int]], place: int) -> int:
    return next(distance for start, length, distance in reversed(strips) if start <= place < start + length)


def _parts(plan: AggregationPlan) -> Iterator[Expression]:
    for aggregate in plan.block.aggregates:
        for one in (aggregate.argument, aggregate.condition):
            if one is not None:
                yield from _inside(one)
    for key in plan.block.keys:
        yield from _inside(key)


def _inside(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _inside(argument)
    if not isinstance(expression, Constant):
        yield expression


def _told(part: Expression) -> str:
    return f"{part.write(Statement())[:160]} ({part.type.value})"


def _shown(place: Fraction) -> str:
    return str(int(place)) if place.denominator == 1 else repr(float(place)) if abs(place) < 10**300 else "huge"


def _numbers(column: pa.ChunkedArray, kind: ColumnType) -> list[Any]:
    """Values as numbers: days and microseconds of 1970, also where Python has no such date."""
    if kind is ColumnType.DATE:
        return column.cast(pa.date32()).cast(pa.int32()).to_pylist()
    if kind is ColumnType.TIMESTAMP:
        return column.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
    return column.to_pylist()


def _spelled(value: Any) -> Any:
    """A value of which no two spellings are equal."""
    return struct.pack(">d", value).hex() if isinstance(value, float) else value


def _rows(table: pa.Table) -> list[str]:
    columns = [_values(table[name]) for name in table.column_names]
    return sorted(repr(tuple(map(_spelled, row))) for row in zip(*columns, strict=True))


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_date(column.type):
        return column.cast(pa.date32()).cast(pa.int32()).to_pylist()
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
    return [int(v) if pa.types.is_decimal(column.type) and v is not None else v for v in column.to_pylist()]


def _keyed(table: pa.Table, column: str, keys: int) -> Vector:
    names = [_values(table[f"k{k}"]) for k in range(keys)]
    counts = _values(table[column])
    found: Vector = {}
    for *key, count in zip(*names, counts, strict=True):
        place = repr(tuple(map(_spelled, key)))
        found[place] = found.get(place, 0) + int(count or 0)
    return found


def _steps_of(part: Expression) -> int:
    """How many steps of what an engine shows make one: timestamps count microseconds, decimals their last digits."""
    if isinstance(part.type, DecimalType):
        return int(10**part.type.scale)
    return 10**6 if part.type is ColumnType.TIMESTAMP else 1
