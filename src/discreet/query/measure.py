"""Run a planned block: one statement in the engine, integers out, noise on every group, a noisy table above.

Every public group gets every component's noise, whether anybody was in it or not. Keys are matched inside Arrow: a
value that is not listed is in no group, and is never turned into anything that could fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.exact.grid import LARGEST_STEPS, Integers
from discreet.noise.source import Source
from discreet.query.choice import Choice
from discreet.query.domains import Key, arrow_type
from discreet.query.plan import BlockPlan
from discreet.query.statement import histogram_of, statement_of
from discreet.query.weighted_quantile import choose_quantile

__all__ = ["Measured", "Run", "exact_sums", "measure", "nothing_measured"]

Run = Callable[[str, list[object]], pa.Table]
"""Runs one statement with its parameters where the rows are."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What a block released: its noisy integers, from which everything above is computed."""

    plan: BlockPlan
    groups: list[tuple[Key, ...]]
    sums: list[Integers]
    """Per component, one noisy integer per group."""
    chosen: list[Floats]
    """Per choice, one grid point per group."""


def measure(plan: BlockPlan, run: Run, source: Source) -> Measured:
    """Read the rows once, add noise, and forget the exact sums."""
    exact = exact_sums(plan, run)
    stream = source.open()
    noisy = [sums + noise.draw(len(plan.groups), stream) for sums, noise in zip(exact, plan.noises, strict=True)]
    return Measured(plan, plan.groups, noisy, [_chosen(plan, choice, run, source) for choice in plan.choices])


def nothing_measured(plan: BlockPlan) -> Measured:
    """The shape of what a block will release, with zeros for values; no row is read."""
    size = len(plan.groups)
    sums = [np.zeros(size, np.int64) for _ in plan.components]
    return Measured(plan, plan.groups, sums, [np.zeros(size) for _ in plan.choices])


def exact_sums(plan: BlockPlan, run: Run) -> list[Integers]:
    """Per component, the exact integer of every group. Never to be released as it is."""
    sums = [np.zeros(len(plan.groups), np.int64) for _ in plan.components]
    if not plan.components:
        return sums
    table = run(*statement_of(plan))
    places, kept = _places(plan, table)
    for k, found in enumerate(sums):
        # Added, not assigned: keys that the engine tells apart, such as 0.0 and -0.0, may be one group here.
        np.add.at(found, places, _integers(table[f"s{k}"])[kept])
        np.clip(found, -LARGEST_STEPS, LARGEST_STEPS, out=found)
    return sums


def _places(plan: BlockPlan, table: pa.Table) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The group of every row of a result that is in one, and which rows those are."""
    places = np.zeros(table.num_rows, np.int64)
    kept = np.ones(table.num_rows, np.bool_)
    for k, (key, domain) in enumerate(zip(plan.block.keys, plan.domains, strict=True)):
        kind = arrow_type(key)
        column = table[f"k{k}"].cast(kind, safe=False) if table[f"k{k}"].type != kind else table[f"k{k}"]
        found = pc.index_in(column, value_set=pa.array(domain, kind))
        place = np.asarray(found.fill_null(-1), np.int64)
        places = places * len(domain) + place
        kept &= place >= 0
    return places[kept], kept


def _integers(column: pa.ChunkedArray) -> Integers:
    return np.asarray(column.fill_null(0).cast(pa.int64()), np.int64)


def _chosen(plan: BlockPlan, choice: Choice, run: Run, source: Source) -> Floats:
    found = np.empty(len(plan.groups))
    for place, (points, weights) in enumerate(_histograms(plan, choice, run)):
        found[place] = float(choose_quantile(points, weights, choice, source.open()) * choice.step)
    return found


def _histograms(plan: BlockPlan, choice: Choice, run: Run) -> list[tuple[Integers, Integers]]:
    """Per group, the grid points that rows lie on and the weight on each."""
    table = run(*histogram_of(plan, choice))
    places, kept = _places(plan, table)
    points, weights = _integers(table["x"])[kept], _integers(table["s"])[kept]
    order = np.argsort(places, kind="stable")
    cuts = np.searchsorted(places[order], np.arange(1, len(plan.groups)))
    return list(zip(np.split(points[order], cuts), np.split(weights[order], cuts), strict=True))
