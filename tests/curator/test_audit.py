"""Answers through the door never prove more about one person than the ledger took, and do when something is broken.

Every audit gives a false alarm at most once in a million times: see `auditing`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.curator import answering
from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.engines.duckdb import ingest as ingest_module
from discreet.engines.parameters import quote
from discreet.exact.grid import Integers
from discreet.mechanisms import noisy_threshold
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import ReplayableSource, Source, Stream, SystemSource
from discreet.query.aggregates.aggregate import PlannedSelection
from discreet.query.aggregates.mode import ModeAggregate
from discreet.query.aggregates.quantile import QuantileAggregate
from discreet.query.bind import relation as relation_module
from discreet.query.plan import sensitivity as plan_module
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run import contribution_bounds as statement_module
from discreet.query.run import measure as measure_module
from discreet.query.run.measure import Measured, Run
from tests.curator.auditing import Trial, audit
from tests.curator.trials import POWER, TRIALS, TWO_AGES
from tests.query.world import sharpen

Patch = pytest.MonkeyPatch


@pytest.mark.parametrize(("trial", "asks", "power"), TRIALS.values(), ids=TRIALS.keys())
@pytest.mark.some(3)
def test_answers_never_prove_more_than_was_charged(tmp_path: Path, trial: Trial, asks: int, power: float) -> None:
    """``power`` is the part of the price that the answers must prove, so that the audit is known to see something."""
    found = audit(tmp_path, trial, asks)
    assert found.answers == 2 * asks * trial.wards
    assert POWER * power * found.charged <= found.certified <= found.charged


def test_two_equal_worlds_prove_nothing(tmp_path: Path) -> None:
    trial, _, _ = TRIALS["count"]
    assert audit(tmp_path, replace(trial, neighbour=trial.crowd), 1).certified < 0.1


# Planted bugs: each is put where the real door uses it.


def half_the_noise(patch: Patch) -> None:
    _divide_noise(patch, 2)


def a_quarter_of_the_noise(patch: Patch) -> None:
    _divide_noise(patch, 4)


def _divide_noise(patch: Patch, by: int) -> None:
    draw, draw_gaussian = DiscreteLaplace.draw, DiscreteGaussian.draw

    def less(law: DiscreteLaplace, count: int, stream: Stream) -> Integers:
        return draw(DiscreteLaplace(law.scale / by), count, stream)

    def less_gaussian(law: DiscreteGaussian, count: int, stream: Stream) -> Integers:
        return draw_gaussian(DiscreteGaussian(variance_parameter=law.squared / by**2), count, stream)

    patch.setattr(DiscreteLaplace, "draw", less)
    patch.setattr(DiscreteGaussian, "draw", less_gaussian)


def no_noise_worth_the_name(patch: Patch) -> None:
    patch.setattr(DiscreteLaplace, "draw", lambda law, count, stream: np.zeros(count, np.int64))


def noise_on_one_of_two_integers(patch: Patch) -> None:
    draw, calls = DiscreteLaplace.draw, itertools.count()

    def every_second(law: DiscreteLaplace, count: int, stream: Stream) -> Integers:
        return np.zeros(count, np.int64) if next(calls) % 2 else draw(law, count, stream)

    patch.setattr(DiscreteLaplace, "draw", every_second)


def empty_groups_without_noise(patch: Patch) -> None:
    measure = answering.measure

    def careless(plan: AggregationPlan, run: Run, source: Source) -> Measured:
        found = measure(plan, run, source)
        exact = measure_module.exact_sums(plan, found.groups, run)
        pairs = zip(exact, found.sums, strict=True)
        return replace(found, sums=[[np.where(e[0] == 0, 0, s) for s in sums] for e, sums in pairs])

    patch.setattr(answering, "measure", careless)


def forgotten_weights(patch: Patch) -> None:
    write_sums = measure_module.write_sums
    patch.setattr(measure_module, "write_sums", lambda plan: write_sums(replace(plan, rows_per_unit=1000)))


def replacing_counted_as_removing(patch: Patch) -> None:
    patch.setattr(plan_module, "_times", lambda *_: 1)


def missing_clamps(patch: Patch) -> None:
    """Columns are moved into their bounds when read, and values again when added up: both are gone."""

    def unclamped(argument: Any, origin: Fraction, step: Fraction, ends: Any, kind: str, statement: Any) -> str:
        return f"CAST(({argument.write(statement)} - {float(origin)}) * {float(1 / step)} AS {kind})"

    patch.setattr(statement_module, "_on_grid", unclamped)
    patch.setattr(relation_module, "normalise", lambda column, *_: quote(column.name))


def seeds_used_again(patch: Patch) -> None:
    patch.setattr(SystemSource, "open", lambda _: ReplayableSource("always the same").open())


def stored_answers_not_served(patch: Patch) -> None:
    charge, settle = Ledger.charge, Ledger.settle

    def forgetful(ledger: Ledger, *arguments: Any) -> Receipt:
        return replace(charge(ledger, *arguments), answer=None)

    def latest(ledger: Ledger, request: str, answer: bytes) -> Receipt:
        return replace(settle(ledger, request, answer), answer=answer)

    patch.setattr(Ledger, "charge", forgetful)
    patch.setattr(Ledger, "settle", latest)


def choices_too_sharp(patch: Patch) -> None:
    def sharp(made: Callable[..., PlannedSelection]) -> Callable[..., PlannedSelection]:
        return lambda *arguments: sharpen(made(*arguments), 8)

    for kind in (QuantileAggregate, ModeAggregate):
        patch.setattr(kind, "select", sharp(kind.select))


def keys_shown_whoever_holds_them(patch: Patch) -> None:
    patch.setattr(noisy_threshold, "least_threshold", lambda *_: -(2**40))


def promises_about_columns_not_verified(patch: Patch) -> None:
    patch.setattr(ingest_module, "verify", lambda *_: None)


@pytest.mark.parametrize(
    ("bug", "trial", "asks"),
    [
        (half_the_noise, "count", 1),
        (half_the_noise, "sum", 1),
        (half_the_noise, "mean with its count", 1),
        (a_quarter_of_the_noise, "gaussian noise", 5),
        (no_noise_worth_the_name, "one ward", 100),
        (noise_on_one_of_two_integers, "mean with its count", 1),
        (empty_groups_without_noise, "nobody left", 1),
        (forgotten_weights, "many rows each", 1),
        (replacing_counted_as_removing, "a person replaced", 1),
        (missing_clamps, "an age beyond the bounds", 1),
        (seeds_used_again, "two answers subtracted", 1),
        (stored_answers_not_served, "asked four times", 1),
        (choices_too_sharp, "median", 1),
        (choices_too_sharp, "mode", 1),
        (a_quarter_of_the_noise, "unlisted wards", 5),
        (promises_about_columns_not_verified, "a person of two ages", 1),
        (a_quarter_of_the_noise, "a batch", 1),
        (keys_shown_whoever_holds_them, "an unlisted ward of one person", 1),
    ],
)
@pytest.mark.some(3)
def test_a_planted_bug_proves_more_than_was_charged(
    tmp_path: Path, monkeypatch: Patch, bug: Callable[[Patch], None], trial: str, asks: int
) -> None:
    bug(monkeypatch)
    found = audit(tmp_path, TWO_AGES if trial == "a person of two ages" else TRIALS[trial][0], asks)
    assert found.certified > 1.1 * found.charged
