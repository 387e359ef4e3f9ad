"""Run a planned block: a few statements in the engine, integers out, noise on every group, a noisy table above.

Every public group gets noise on every integer, whether anybody was in it or not. Keys that are not public are shown
where the noisy number of people who hold them reaches the threshold; of the others nothing is kept.

The rows of a result are matched to groups inside Arrow: a value that is in no group is in none, and is never turned
into anything that could fail. Groups are listed combinations of public keys, or the keys that were shown.

An onlooker sees the exact integers at the moment when noise hides them. Nothing that answers people has one: it is
there for audits, which ask tables of their own, or of an owner who wants it, and compare what was hidden with what the
plan declared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.exact.grid import LARGEST_STEPS, Integers
from discreet.noise.source import Source, Stream
from discreet.query.aggregates.aggregate import PlannedSelection
from discreet.query.aggregates.noise_tails import Noise
from discreet.query.expressions.expression import Expression
from discreet.query.expressions.public_values import Key, arrow_type
from discreet.query.plan.list_groups import Listing
from discreet.query.plan.sensitivity import AggregationPlan, KeyRule
from discreet.query.plan.top_groups import TopSelection
from discreet.query.run.contribution_bounds import add_up, count_apart, write_histogram, write_sums, write_weights

__all__ = [
    "Groups",
    "Measured",
    "MeasurementObserver",
    "NoiseObservation",
    "Run",
    "SelectionObservation",
    "exact_sums",
    "measure",
    "public_groups",
]


Booleans = npt.NDArray[np.bool_]
_MOST_CODES = 2**63


@dataclass(frozen=True)
class Groups:
    """Groups by their keys, in an order that depends on the keys alone."""

    keys: list[Expression]
    """What the groups are by."""
    domains: list[pa.Array]
    """Per key, its values."""
    codes: Integers
    """Per group, the positions of its values, as one number."""

    @classmethod
    def all_of(cls, keys: list[Expression], domains: list[tuple[Key, ...]]) -> Groups:
        """Every combination of public keys."""
        arrays = [pa.array(domain, arrow_type(key)) for key, domain in zip(keys, domains, strict=True)]
        return cls(keys, arrays, np.arange(int(np.prod([len(domain) for domain in domains], dtype=np.int64))))

    @classmethod
    def listed(cls, keys: list[Expression], listing: Listing | None) -> Groups:
        """The public groups of a block."""
        if listing is None:
            raise AssertionError("groups that are not public are not listed")
        arrays = [pa.array(domain, arrow_type(key)) for key, domain in zip(keys, listing.domains, strict=True)]
        return cls(keys, arrays, listing.codes)

    @classmethod
    def shown(cls, keys: list[Expression], table: pa.Table) -> Groups:
        """The keys of these rows, each row one group."""
        arrays = [_sorted_values(_typed(table, k, key)) for k, key in enumerate(keys)]
        codes, _ = cls(keys, arrays, np.empty(0, np.int64))._codes(table)
        return cls(keys, arrays, np.unique(codes))

    def __len__(self) -> int:
        return len(self.codes)

    def columns(self) -> list[pa.Array]:
        """Per key, its value in every group."""
        found, rest = [], self.codes
        for domain in reversed(self.domains):
            found.append(domain.take(pa.array(rest % max(len(domain), 1), pa.int64())))
            rest = rest // max(len(domain), 1)
        return found[::-1]

    def tuples(self) -> list[tuple[Key, ...]]:
        """The keys of every group."""
        columns = [column.to_pylist() for column in self.columns()]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    def places(self, table: pa.Table) -> tuple[Integers, Booleans]:
        """The group of every row that is in one, and which rows those are."""
        codes, known = self._codes(table)
        if not len(self.codes):
            return np.empty(0, np.int64), np.zeros(len(codes), np.bool_)
        places = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        kept = known & (self.codes[places] == codes)
        return places[kept], kept

    def _codes(self, table: pa.Table) -> tuple[Integers, Booleans]:
        # Many columns have more combinations than 64 bits can number; integers of Python's own number them all.
        fits = math.prod(len(domain) for domain in self.domains) <= _MOST_CODES
        codes = np.zeros(table.num_rows, np.int64 if fits else np.object_)
        known = np.ones(table.num_rows, np.bool_)
        for k, (key, domain) in enumerate(zip(self.keys, self.domains, strict=True)):
            place = np.asarray(pc.index_in(_typed(table, k, key), value_set=domain).fill_null(-1), np.int64)
            codes = codes * len(domain) + place
            known &= place >= 0
        return codes, known


def _typed(table: pa.Table, k: int, key: Expression) -> pa.ChunkedArray:
    column, kind = table[f"k{k}"], arrow_type(key)
    return column if column.type == kind else column.cast(kind, safe=False)


def _sorted_values(column: pa.ChunkedArray) -> pa.Array:
    """Each value once, in order, missing last."""
    values = pc.unique(column)
    return values.take(pc.array_sort_indices(values))


@dataclass(frozen=True)
class NoiseObservation:
    """One integer per group, and the noise that was added to it."""

    part: int
    """The position of the part in the plan."""
    place: int
    """Which of the part's integers."""
    groups: Groups
    """Where they belong."""
    law: Noise
    """What the noise was drawn from."""
    exact: Integers
    """Without noise. Never to be released."""
    noise: Integers
    """What was added."""


@dataclass(frozen=True)
class SelectionObservation:
    """The weights among which a choice was made."""

    choice: PlannedSelection | TopSelection
    """How it was made."""
    place: int
    """The position of the choice in the plan."""
    groups: Groups
    """Where they belong; all that could be chosen, where groups themselves were."""
    weights: list[tuple[Integers, Integers]]
    """Per group the points that have weight, and their weights; one entry for all groups where groups were chosen."""
    picked: Integers
    """What was chosen."""


MeasurementObserver = Callable[[NoiseObservation | SelectionObservation], None]
"""Told of everything that noise hides."""


Run = Callable[[str, list[object]], pa.Table]
"""Runs one statement with its parameters where the rows are."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What a block released: its noisy integers, from which everything above is computed."""

    plan: AggregationPlan
    groups: Groups
    sums: list[list[Integers]]
    """Per part and each of its integers, one noisy integer per group."""
    chosen: list[Integers]
    """Per choice, one grid point or the position of one value per group."""


def measure(plan: AggregationPlan, run: Run, source: Source, onlooker: MeasurementObserver | None = None) -> Measured:
    """Read the rows, add noise, and forget the exact sums; an ``onlooker`` is for audits alone."""
    stream = source.open()
    if plan.top is not None:
        return _top_groups(plan, plan.top, run, stream, onlooker)
    table = run(*write_sums(plan)) if add_up(plan) else None
    if plan.rule is None:
        groups = public_groups(plan)
        noisy: dict[int, list[Integers]] = {}
    else:
        groups, held = _release_keys(plan, plan.rule, _holders(plan, plan.rule, table, run), stream, onlooker)
        noisy = {plan.rule.unit_count: [held]}
    exact = _exact_sums(plan, groups, table, run, without=None if plan.rule is None else plan.rule.unit_count)
    for k in range(len(plan.parts)):
        if k not in noisy:
            noisy[k] = [_noisy(plan, (k, j), groups, sums, stream, onlooker) for j, sums in enumerate(exact[k])]
    chosen = [_choose(plan, groups, k, run, source, onlooker) for k in range(len(plan.choices))]
    return Measured(plan, groups, [noisy[k] for k in range(len(plan.parts))], chosen)


def _noisy(
    plan: AggregationPlan,
    which: tuple[int, int],
    groups: Groups,
    exact: Integers,
    stream: Stream,
    onlooker: MeasurementObserver | None,
) -> Integers:
    """The integers of one part as its mechanism releases them."""
    mechanism = plan.parts[which[0]].mechanism
    noisy = mechanism.add_noise(exact, stream)
    if onlooker is not None:
        onlooker(NoiseObservation(*which, groups, mechanism.law, exact, noisy - exact))
    return noisy


def public_groups(plan: AggregationPlan) -> Groups:
    """The groups of a block whose keys are public."""
    return Groups.listed(plan.block.keys, plan.listing)


def exact_sums(plan: AggregationPlan, groups: Groups, run: Run) -> list[list[Integers]]:
    """Per part, the exact integers of every group. Never to be released as they are."""
    return _exact_sums(plan, groups, run(*write_sums(plan)) if add_up(plan) else None, run)


def _exact_sums(
    plan: AggregationPlan, groups: Groups, table: pa.Table | None, run: Run, without: int | None = None
) -> list[list[Integers]]:
    """The same from ``table``, which has what is added up, but for one part."""
    found: list[list[Integers]] = [[np.zeros(len(groups), np.int64)] for _ in plan.parts]
    together = add_up(plan)
    for k, priced in enumerate(plan.parts):
        if k == without:
            continue
        if k in together:
            found[k] = [_placed(groups, table, f"s{k}_{j}") for j in range(priced.part.size)]
        else:
            found[k] = [_placed(groups, run(*count_apart(plan, priced)), "s")]
    return found


def _placed(groups: Groups, table: pa.Table, column: str) -> Integers:
    """One integer per group; zero where the result has no row."""
    places, kept = groups.places(table)
    found = np.zeros(len(groups), np.int64)
    # Added, not assigned: keys that the engine tells apart, such as 0.0 and -0.0, may be one group here.
    np.add.at(found, places, _integers(table, column)[kept])
    return np.clip(found, -LARGEST_STEPS, LARGEST_STEPS)


def _integers(table: pa.Table, column: str) -> Integers:
    return np.asarray(table[column].fill_null(0).cast(pa.int64()), np.int64)


def _holders(plan: AggregationPlan, rule: KeyRule, table: pa.Table | None, run: Run) -> pa.Table:
    """How many people hold each key, as ``s``: counted along with the sums in ``table``, or apart."""
    if table is None or rule.unit_count not in add_up(plan):
        return run(*count_apart(plan, plan.parts[rule.unit_count]))
    keys = [f"k{k}" for k in range(len(plan.block.keys))]
    return table.select([*keys, f"s{rule.unit_count}_0"]).rename_columns([*keys, "s"])


def _release_keys(
    plan: AggregationPlan, rule: KeyRule, table: pa.Table, stream: Stream, onlooker: MeasurementObserver | None
) -> tuple[Groups, Integers]:
    """The keys that pass the threshold, and how many people hold each, with noise."""
    exact = _integers(table, "s")
    noisy, passed = rule.mechanism.show(exact, stream)
    if onlooker is not None:
        groups, drawn = Groups.shown(plan.block.keys, table), table.append_column("noise", pa.array(noisy - exact))
        placed = _placed(groups, drawn, "s"), _placed(groups, drawn, "noise")
        onlooker(NoiseObservation(rule.unit_count, 0, groups, rule.mechanism.noise.law, *placed))
    table = table.append_column("noisy", pa.array(noisy)).filter(pa.array(passed))
    groups = Groups.shown(plan.block.keys, table)
    return groups, _placed(groups, table, "noisy")


def _top_groups(
    plan: AggregationPlan, top: TopSelection, run: Run, stream: Stream, onlooker: MeasurementObserver | None
) -> Measured:
    """The groups that were chosen; their ranks stand where their counts would."""
    everywhere = public_groups(plan)
    weights = _placed(everywhere, run(*write_weights(plan, top)), "s")
    best_first = top.mechanism.pick(weights, 1, stream)[0]
    if onlooker is not None:
        onlooker(SelectionObservation(top, 0, everywhere, [(np.arange(len(weights)), weights)], best_first))
    order = np.argsort(best_first)
    groups = replace(everywhere, codes=everywhere.codes[best_first[order]])
    return Measured(plan, groups, [], [(top.picks - order).astype(np.int64)])


def _choose(
    plan: AggregationPlan, groups: Groups, place: int, run: Run, source: Source, onlooker: MeasurementObserver | None
) -> Integers:
    choice, stream = plan.choices[place], source.open()
    table = run(*write_histogram(plan, choice))
    picked = np.zeros(len(groups), np.int64)
    if choice.listed:
        weights = [(np.arange(len(row)), row) for row in _value_weights(groups, choice, table)]
    else:
        weights = _histograms(groups, table)
    for alike in _alike(weights):
        picked[alike] = choice.pick(*weights[alike[0]], len(alike), stream)
    if onlooker is not None:
        onlooker(SelectionObservation(choice, place, groups, weights, picked))
    return picked


def _alike(weights: list[tuple[Integers, Integers]]) -> Iterable[list[int]]:
    """The groups that have the same histogram, such as all that are empty: what is chosen for them has one law."""
    found: dict[tuple[bytes, bytes], list[int]] = {}
    for group, (points, weight) in enumerate(weights):
        found.setdefault((points.tobytes(), weight.tobytes()), []).append(group)
    return found.values()


def _histograms(groups: Groups, table: pa.Table) -> list[tuple[Integers, Integers]]:
    """Per group, the grid points that rows lie on, in order, and the weight on each."""
    places, kept = groups.places(table)
    points, weights = _integers(table, "x")[kept], _integers(table, "s")[kept]
    order = np.lexsort((points, places))
    cuts = np.searchsorted(places[order], np.arange(1, len(groups)))
    if not len(groups):
        return []
    return list(zip(np.split(points[order], cuts), np.split(weights[order], cuts), strict=True))


def _value_weights(groups: Groups, choice: PlannedSelection, table: pa.Table) -> Integers:
    """The weight of every listed value, one row per group."""
    places, kept = groups.places(table)
    if choice.aggregate.argument is None:
        raise AssertionError("a mode is one of the values of something")
    named = table.select(["x"]).rename_columns(["k0"])
    values, listed = Groups.all_of([choice.aggregate.argument], [choice.listed]).places(named)
    both = kept & listed
    weights = np.zeros((len(groups), len(choice.listed)), np.int64)
    np.add.at(weights, (places[both[kept]], values[both[listed]]), _integers(table, "s")[both])
    return weights
