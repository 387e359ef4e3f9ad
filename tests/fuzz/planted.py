"""Bugs to plant: each takes one guard away, and the fuzzer must find it with a given question of a given world.

To add one, write a function of a `MonkeyPatch`, add it to ``PLANTED`` with the rules that it breaks, and let
``python -m tests.fuzz.planted`` find the numbers of a world and of a question. The same command mends the numbers when
the grammar or the worlds change: they are a place where the bug is known to show, so that a test is quick and never by
chance.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, islice
from typing import Any

import pytest

from discreet.curator import planner as planning
from discreet.curator.planner import Planner
from discreet.engines.duckdb import sources as part_module
from discreet.engines.duckdb import unit_ids as units
from discreet.engines.value_grid import real
from discreet.errors import QueryRefused
from discreet.mechanisms import noisy_threshold
from discreet.query.aggregates import quantile as choice
from discreet.query.aggregates import registry as aggregates
from discreet.query.aggregates.mode import ModeAggregate
from discreet.query.aggregates.quantile import QuantileAggregate
from discreet.query.bind import join as join_bounds
from discreet.query.bind import join as membership
from discreet.query.bind import per_unit, relation
from discreet.query.expressions import expression, logic
from discreet.query.expressions import functions as numbers
from discreet.query.expressions.interval import Interval
from discreet.query.plan import disjoint
from discreet.query.plan import list_groups as listing
from discreet.query.plan import sensitivity as plan
from discreet.query.run import contribution_bounds as statement
from tests.fuzz.finding import Broken, Finding
from tests.fuzz.fuzzer import questions_of
from tests.fuzz.meaning import PlainDatabase, compare_meaning
from tests.fuzz.oracle import Oracle
from tests.fuzz.places import DuckDBPlaces, Pair, Places
from tests.fuzz.worlds import FuzzWorld, make_world
from tests.query.world import sharpen

__all__ = ["PLANTED", "Planted", "is_found"]

Plant = Callable[[pytest.MonkeyPatch], None]
MOVES, KEYS, ORDER, RAISES = Broken.MOVES, Broken.KEYS, Broken.ORDER, Broken.RAISES


@dataclass(frozen=True)
class Planted:
    """A bug, and where it shows."""

    name: str
    plant: Plant
    breaks: tuple[Broken, ...]
    seed: int
    """The number of a world in which it is found."""
    number: int
    """The number of a question of that world that shows it."""
    about: str = ""
    """What the text of a question must have to show it, as a regular expression; others are not tried."""
    suits: Callable[[FuzzWorld], bool] = lambda _: True
    """In which worlds it can show."""
    is_narrow: bool = False
    """Whether questions of the narrow grammar show it."""
    is_taken_in: bool = False
    """Whether it is a bug of how rows are taken in, and not only of how they are asked."""

    @property
    def is_plain(self) -> bool:
        """Whether it is found where the policy bounds nothing."""
        return self.breaks == (Broken.MEANING,)

    @property
    def world(self) -> FuzzWorld:
        """The world in which it is found."""
        return make_world(self.seed, plain=self.is_plain)

    def questions(self, world: FuzzWorld) -> list[tuple[str, str]]:
        """All questions of a world, each with its price."""
        return list(questions_of(world, narrow=self.is_narrow))

    def tried(self, world: FuzzWorld) -> list[int]:
        """The numbers of those that can show it."""
        return [number for number, (sql, _) in enumerate(self.questions(world)) if re.search(self.about, sql)]


def shows(planted: Planted, pair: Pair, number: int) -> bool:
    """Whether a question finds what is planted now."""
    sql, price = planted.questions(pair.world)[number]
    return finding_of(_planned_anew(pair), sql, price, planted.breaks) is not None


def _planned_anew(pair: Pair) -> Pair:
    """The same rows, and nothing that was planned with a bug, or without it, is remembered."""
    here, there = (replace(side, planner=Planner(pair.world.catalog, side.engine)) for side in (pair.here, pair.there))
    return replace(pair, here=here, there=there)


def finding_of(pair: Pair, sql: str, epsilon: str, breaks: tuple[Broken, ...]) -> Finding | None:
    """What is wrong with a question, of these kinds."""
    if breaks == (Broken.MEANING,):
        return compare_meaning(pair, PlainDatabase(pair.world), sql)
    oracle = Oracle(pair, sql, epsilon)
    oracle.check()
    return next((one for one in oracle.found if one.broken in breaks), None)


def _has_twins(world: FuzzWorld) -> bool:
    wholes = {row[0] for name, rows in world.here.items() if world.catalog.table(name).public for row in rows}
    return {2**62, 2**62 - 1} <= wholes and world.protected[0].unit is None


def _is_by_row(world: FuzzWorld) -> bool:
    return world.protected[0].unit is None


def _has_unlisted(world: FuzzWorld) -> bool:
    budget = world.protected[0].budget
    return budget is not None and budget.delta_for_keys > 0


def _is_collated(world: FuzzWorld) -> bool:
    return world.collated and _has_unlisted(world)


# What is planted.


def _values_compared_as_they_are(patch: pytest.MonkeyPatch) -> None:
    """IN: integers that are one real number are different, and one row matches several."""
    patch.setattr(membership, "as_type", lambda expression, kind: expression)


def _full_join_keeps_one_row(patch: pytest.MonkeyPatch) -> None:
    made = relation._privacy_of_pair

    def kept(left: Any, right: Any, kind: str, contribution: Any) -> Any:
        found = made(left, right, kind, contribution)
        if found is None or left.privacy is None or right.privacy is None:
            return found
        return replace(found, one_row_each=left.privacy.one_row_each and right.privacy.one_row_each)

    patch.setattr(relation, "_privacy_of_pair", kept)


def _public_join_keeps_one_row(patch: pytest.MonkeyPatch) -> None:
    made = relation._privacy_of_pair

    def kept(left: Any, right: Any, kind: str, contribution: Any) -> Any:
        found = made(left, right, kind, contribution)
        known = left.privacy or right.privacy
        return found if known is None else replace(found, one_row_each=known.one_row_each)

    patch.setattr(relation, "_privacy_of_pair", kept)


def _collations_stay(patch: pytest.MonkeyPatch) -> None:
    cast = part_module.total_cast
    patch.setattr(
        part_module, "total_cast", lambda *words: (cast(*words) or "").replace(' COLLATE "binary"', "") or None
    )


def _two_zeros(patch: pytest.MonkeyPatch) -> None:
    for module in (statement, per_unit):
        patch.setattr(module, "canonical", lambda one: one)


def _two_not_numbers(patch: pytest.MonkeyPatch) -> None:
    """One zero, but NaN as it comes."""
    patch.setattr(expression, "_CANONICAL", "{0} + 0.0")


def _everybody_weighs_in_full(patch: pytest.MonkeyPatch) -> None:
    """Rows of a unit that were counted when they were taken in are thought to be few."""
    made = statement._with_weights

    def full(source: str, most: int, weight: int, tallied: Any, number: str = "_n") -> str:
        if tallied is relation.RowCounts.NOTHING:
            return made(source, most, weight, tallied, number)
        return f"_weighted AS (SELECT *, {weight} AS w FROM {source})"

    patch.setattr(statement, "_with_weights", full)


def _counted_after_joins(patch: pytest.MonkeyPatch) -> None:
    """Rows are weighed by how many a unit has in its table, also where a join repeated them."""
    made = statement._with_weights

    def as_stored(source: str, most: int, weight: int, tallied: Any, number: str = "_n") -> str:
        if tallied is not relation.RowCounts.NOTHING or weight == 1:
            return made(source, most, weight, tallied, number)
        return f"_weighted AS (SELECT *, {weight} AS w FROM {source})"

    patch.setattr(statement, "_with_weights", as_stored)


def _replacing_is_leaving(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(plan, "_times", lambda privacy: 1)


def _half_the_move(patch: pytest.MonkeyPatch) -> None:
    made = plan._priced

    def halved(*words: Any, **how: Any) -> Any:
        found = made(*words, **how)
        return replace(
            found, l1_sensitivity=found.l1_sensitivity // 2, l2_sensitivity_squared=found.l2_sensitivity_squared // 4
        )

    patch.setattr(plan, "_priced", halved)


def _half_the_noise(patch: pytest.MonkeyPatch) -> None:
    made = plan.calibrate_noise
    patch.setattr(plan, "calibrate_noise", lambda moves, squared, price: made(moves // 2, squared // 4, price))


def _arithmetic_without_try(patch: pytest.MonkeyPatch) -> None:
    made = numbers._total

    def plain(*words: Any) -> Any:
        found = made(*words)
        return replace(found, template=found.template.removeprefix("TRY(").removesuffix(")"))

    patch.setattr(numbers, "_total", plain)


def _intervals_in_real_numbers(patch: pytest.MonkeyPatch) -> None:
    """Intervals take no account of how doubles round."""
    patch.setattr(Interval, "in_doubles", lambda self: self)
    patch.setattr(Interval, "of_function", lambda self: self)
    patch.setattr(expression, "float", lambda value: value, raising=False)  # constants as they are written


def _intervals_are_proofs(patch: pytest.MonkeyPatch) -> None:
    """Where an interval says that an integer fits 64 bits, nothing is attempted."""
    _intervals_in_real_numbers(patch)
    made = numbers._total

    def proved(kind: Any, interval: Interval, template: str, arguments: Any) -> Any:
        found = made(kind, interval, template, arguments)
        fits = interval.known is not None and interval == interval.in_words()
        return replace(found, template=template) if fits else found

    patch.setattr(numbers, "_total", proved)


def _policies_are_believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(planning, "list_beliefs", lambda stated, snapshot: stated)


def _joins_have_no_limit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(join_bounds, "_check", lambda *words: None)
    patch.setattr(join_bounds, "truncate_rows", lambda rows, names: rows)


def _quantiles_too_sharp(patch: pytest.MonkeyPatch) -> None:
    made = QuantileAggregate.select
    patch.setattr(QuantileAggregate, "select", lambda *words: sharpen(made(*words), 2))


def _modes_too_sharp(patch: pytest.MonkeyPatch) -> None:
    made = ModeAggregate.select
    patch.setattr(ModeAggregate, "select", lambda *words: sharpen(made(*words), 2))


def _all_keys_are_kept(patch: pytest.MonkeyPatch) -> None:
    made = statement._few_keys
    patch.setattr(statement, "_few_keys", lambda names, most, *how, **known: made(names, 10**6, *how, **known))
    patch.setattr(statement, "use_stored_key_bound", lambda *words, **more: None)


def _all_values_are_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(statement, "_first_few", lambda source, order, most: source)


def _orders_follow_dense_numbers(patch: pytest.MonkeyPatch) -> None:
    """The order of a unit's keys, values and rows depends on its number, and so on who else is there."""
    patch.setattr(units, "_SALT", "CAST(1 + (id * 40503 + length($1)) % 2147483646 AS INTEGER)")


def _keys_are_shown_early(patch: pytest.MonkeyPatch) -> None:
    made = noisy_threshold.least_threshold
    patch.setattr(noisy_threshold, "least_threshold", lambda law, delta, keys: made(law, delta, keys) - 1)


def _choices_leave_their_ends(patch: pytest.MonkeyPatch) -> None:
    made = statement._on_grid

    def unbounded(argument: Any, origin: Fraction, step: Fraction, *others: Any) -> str:
        if others[1] != "BIGINT":
            return made(argument, origin, step, *others)
        return f"TRY_CAST(CAST({argument.write(others[-1])} AS DOUBLE) * {float(1 / step)!r} * 2 AS BIGINT)"

    patch.setattr(statement, "_on_grid", unbounded)


def _points_are_clamped_in_doubles(patch: pytest.MonkeyPatch) -> None:
    """Grids of 2^60 steps, whose ends doubles do not have."""
    patch.setattr(choice, "_FURTHEST", 2**60)

    def in_doubles(argument: Any, origin: Fraction, step: Fraction, ends: Any, kind: str, written: Any) -> str:
        text = f"CAST({argument.write(written)} AS DOUBLE)"
        steps = f"GREATEST({ends[0]}, LEAST({ends[1]}, ({text} - {real(origin)}) * {real(1 / step)}))"
        return f"CASE WHEN isfinite({text}) THEN TRY_CAST({steps} AS {kind}) END"

    patch.setattr(statement, "_on_grid", in_doubles)


def _ends_are_taken_wrongly(patch: pytest.MonkeyPatch) -> None:
    """Differences of the same ends: [0, 10] - [0, 10] is then [0, 0]."""
    patch.setitem(numbers.NUMBER_RULES, numbers.exp.Sub, numbers._arithmetic("-", _wrongly))
    from discreet.query.expressions import functions

    patch.setitem(functions.RULES, numbers.exp.Sub, numbers._arithmetic("-", _wrongly))


def _wrongly(one: Interval, two: Interval) -> Interval:
    if one.known is None or two.known is None:
        return Interval()
    ends = sorted(a - b for a, b in zip(one.known, two.known, strict=True))
    return Interval(ends[0], ends[1])


def _missing_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """What a comparison of missing values gives is missing itself."""
    patch.setattr(logic, "any_nullable", lambda *arguments: False)
    patch.setattr(numbers, "any_nullable", lambda *arguments: False)


def _filters_are_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(aggregates, "_read_filtered", lambda node, look_up: aggregates.read_aggregate(node.this, look_up))


def _outer_joins_are_inner(patch: pytest.MonkeyPatch) -> None:
    made = relation.join_rows
    from discreet.query.bind import join as joining

    patch.setattr(joining, "join_rows", lambda one, other, kind, *more, **how: made(one, other, "INNER", *more, **how))


def _planning_looks(patch: pytest.MonkeyPatch) -> None:
    """A question is refused by how many rows there are."""
    made = Planner.question

    def question(self: Planner, sql: str, epsilon: Any) -> Any:
        name = next(table.name for table in self.catalog if not table.public)
        if self.snapshot.run(f"SELECT COUNT(*) AS n FROM {name}")["n"][0].as_py() % 2:
            raise QueryRefused("the table must have an even number of rows", "", "come back tomorrow")
        return made(self, sql, epsilon)

    patch.setattr(Planner, "question", question)


def _filters_are_thought_apart(patch: pytest.MonkeyPatch) -> None:
    """Conditions about the same expression exclude each other, whatever they say about it."""
    patch.setattr(disjoint, "_contradict", lambda first, second: any(a == b for a, _ in first for b, _ in second))


def _unknown_is_false(patch: pytest.MonkeyPatch) -> None:
    """What a condition says about other columns is taken to be false, and groups are left out by it."""
    made = listing._relaxed

    def relaxed(test: Any, known: Any, *, holds: bool = True) -> Any:
        found = made(test, known, holds=holds)
        return replace(found, value=not holds) if isinstance(found, expression.Constant) else found

    patch.setattr(listing, "_relaxed", relaxed)
    _find_groups_anew(patch)


def _find_groups_anew(patch: pytest.MonkeyPatch) -> None:
    """What is found with a bug must not be kept for when there is none."""
    patch.setattr(listing, "_found", listing._found.__wrapped__)


def _outer_joins_find_rows(patch: pytest.MonkeyPatch) -> None:
    """Pairs of an outer join meet its condition, and so nobody is without a row of the other side."""
    patch.setattr(
        relation,
        "_conditions_of_pair",
        lambda left, right, kind, condition: (*left.conditions, *right.conditions, condition),
    )
    _find_groups_anew(patch)


_ZEROS = r"GROUP BY.*(\* 0\.0\)|ELSE -q\d+\.r)"

_NANS = r"1e308.*GROUP BY|GROUP BY.*1e308"

PLANTED = [
    Planted(
        "IN compares values of other types",
        _values_compared_as_they_are,
        (MOVES,),
        1028,
        24,
        r"\br[01] IN \(SELECT i0",
        _has_twins,
    ),
    Planted(
        "a full join keeps one row of a unit", _full_join_keeps_one_row, (MOVES,), 9, 39, "\\) q[0-9]+ FULL JOIN \\("
    ),
    Planted(
        "a join with a public table keeps one row of a unit",
        _public_join_keeps_one_row,
        (MOVES,),
        140,
        18,
        "JOIN pub",
        _is_by_row,
    ),
    Planted(
        "texts are compared as their owner does",
        _collations_stay,
        (KEYS, ORDER, MOVES),
        170,
        4,
        r"GROUP BY.*\bs[01]",
        _is_collated,
        is_taken_in=True,
    ),
    Planted("there are two zeros", _two_zeros, (KEYS, ORDER), 138, 31, _ZEROS, _has_unlisted),
    Planted("there are two NaN", _two_not_numbers, (KEYS, ORDER, MOVES), 216, 35, _NANS, _has_unlisted),
    Planted("rows of a unit are thought to be few", _everybody_weighs_in_full, (MOVES,), 0, 14, "SUM|COUNT"),
    Planted("rows that a join repeats are not counted", _counted_after_joins, (MOVES,), 1, 2, " JOIN "),
    Planted("replacing a unit moves as far as its leaving", _replacing_is_leaving, (MOVES,), 16, 7),
    Planted("half of the move is claimed", _half_the_move, (MOVES,), 0, 1),
    Planted("half of the noise is drawn", _half_the_noise, (Broken.NOISE,), 0, 1),
    Planted("integers are added without TRY", _arithmetic_without_try, (RAISES,), 0, 18),
    Planted("intervals know no doubles", _intervals_in_real_numbers, (Broken.INTERVAL,), 0, 1),
    Planted(
        "intervals are taken for proofs", _intervals_are_proofs, (RAISES,), 11, 14, r"\d{15}e0 ELSE 0 END AS BIGINT"
    ),
    Planted("policies are believed about values", _policies_are_believed, (Broken.MISSING,), 0, 13),
    Planted("joins have no limit", _joins_have_no_limit, (Broken.WORK,), 3, 1, " JOIN "),
    Planted(
        "quantiles are chosen too sharply", _quantiles_too_sharp, (Broken.SCORES,), 0, 16, "MIN|MAX|MEDIAN|QUANTILE"
    ),
    Planted("modes are chosen too sharply", _modes_too_sharp, (Broken.SCORES,), 1, 28, "MODE"),
    Planted("a unit keeps all its keys", _all_keys_are_kept, (KEYS, MOVES), 1, 24, "GROUP BY", _has_unlisted),
    Planted("a unit keeps all its values", _all_values_are_kept, (MOVES,), 34, 5, "DISTINCT"),
    Planted(
        "the order of keys follows dense numbers",
        _orders_follow_dense_numbers,
        (KEYS, MOVES),
        18,
        35,
        "GROUP BY",
        _has_unlisted,
        is_taken_in=True,
    ),
    Planted("keys are shown too early", _keys_are_shown_early, (Broken.THRESHOLD,), 0, 25, "GROUP BY", _has_unlisted),
    Planted("points leave their ends", _choices_leave_their_ends, (Broken.POINTS,), 0, 4, "MIN|MAX|MEDIAN|QUANTILE"),
    Planted("points are clamped in doubles", _points_are_clamped_in_doubles, (Broken.POINTS,), 0, 22, "MIN|MAX|MEDIAN"),
    Planted(
        "ends of differences are taken wrongly", _ends_are_taken_wrongly, (Broken.INTERVAL,), 16, 34, r"\bi[01] - q"
    ),
    Planted("missing values are forgotten", _missing_is_forgotten, (Broken.MISSING,), 0, 5),
    Planted("planning looks at rows", _planning_looks, (Broken.TOLD_APART,), 0, 0),
    Planted("FILTER is dropped", _filters_are_dropped, (Broken.MEANING,), 1, 21, "FILTER"),
    Planted(
        "FILTERs are thought apart", _filters_are_thought_apart, (MOVES,), 1, 26, "FILTER|COUNT_IF|CASE", is_narrow=True
    ),
    Planted(
        "unknown conditions exclude groups",
        _unknown_is_false,
        (Broken.GROUPS,),
        0,
        37,
        "WHERE.*GROUP BY",
        is_narrow=True,
    ),
    Planted(
        "outer joins always find rows",
        _outer_joins_find_rows,
        (Broken.GROUPS,),
        9,
        9,
        "(LEFT|RIGHT) JOIN.*GROUP BY",
        is_narrow=True,
    ),
    Planted("outer joins are inner ones", _outer_joins_are_inner, (Broken.MEANING,), 1, 14, "(LEFT|RIGHT|FULL) JOIN"),
]
"""Every guard that was taken away once by mistake, or could be.

One is not here: sums are cut where a word ends, and no world this small reaches that at a price that can be charged.
"""


def is_found(planted: Planted, places: Places, honest: Pair) -> bool:
    """Whether its question shows the bug, and shows nothing of its kind where it is not planted."""
    with pytest.MonkeyPatch.context() as patch:
        planted.plant(patch)
        with places.taken_in(honest.world) if planted.is_taken_in else nullcontext(honest) as pair:
            if not shows(planted, pair, planted.number):
                return False
    return not shows(planted, honest, planted.number)


def seek(planted: Planted, places: Places, first: int = 1, most: int = 40) -> tuple[int, int] | None:
    """The first world, and the first of its questions, in which a planted bug is found."""
    worlds = (make_world(seed, plain=planted.is_plain) for seed in count(first))
    suiting = (world for world in worlds if planted.suits(world) and planted.tried(world))
    for world in islice(suiting, most):
        number = _first(planted, places, world)
        if number is not None:
            return world.seed, number
    return None


def _first(planted: Planted, places: Places, world: FuzzWorld) -> int | None:
    """The number of the first question of a world that shows the bug, and nothing without it."""
    with places.taken_in(world) as honest:
        tried = (replace(planted, seed=world.seed, number=number) for number in planted.tried(world))
        return next((one.number for one in tried if is_found(one, places, honest)), None)


def _place_of(planted: Planted, places: Places) -> tuple[int, int] | None:
    """Where it is found: where it was, or somewhere else."""
    with places.taken_in(planted.world) as honest:
        if is_found(planted, places, honest):
            return planted.seed, planted.number
    return seek(planted, places)


if __name__ == "__main__":
    for one in PLANTED:
        if not sys.argv[1:] or any(word in one.name for word in sys.argv[1:]):
            print(f"{one.name}: {_place_of(one, DuckDBPlaces())}", flush=True)
