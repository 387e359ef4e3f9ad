"""How many rows a violating class loses at least: held against every way of taking rows out of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.disclosure import BetaLikeness, DeltaDisclosure
from discreet.anonymize.models.k_anonymity import AlphaK, KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.table import CodedColumn
from tests.anonymize.publishing import models_of
from tests.thoroughness import many

TREE = Hierarchy.of([1, 2, 3, 4], [["low", "low", "high", "high"], ["*"] * 4])


def lost_and_least(model: Model, counts: list[int], table: list[int]) -> tuple[int, int]:
    """What the model says about a class with ``counts`` of each value, and the fewest rows that must leave it.

    Every part of the class is a class here, the whole one first.
    """
    parts = [part for part in itertools.product(*(range(count, -1, -1) for count in counts)) if any(part)]
    number = np.repeat(np.arange(len(parts)), [sum(part) for part in parts])
    codes = np.concatenate([np.repeat(np.arange(len(counts)), part) for part in parts]).astype(np.int32)
    classes = EquivalenceClasses(number, np.bincount(number))
    column = CodedColumn("s", codes, tuple(range(1, len(counts) + 1)))
    histograms = {"s": classes.histogram(column).against(np.array(table))}
    kept = classes.sizes[~model.violating(classes, histograms)].max(initial=0)
    return int(model.lost_below(classes, histograms)[0]), sum(counts) - int(kept)


@settings(max_examples=many(160, 400), deadline=None)
@given(models_of("s", TREE), st.data())
def test_it_is_never_more_than_the_fewest_rows_that_must_leave(model: Model, data: st.DataObject) -> None:
    values = data.draw(st.integers(1, 4))
    counts = data.draw(st.lists(st.integers(0, 7), min_size=values, max_size=values).filter(any))
    table = [count + data.draw(st.integers(0, 9)) for count in counts]
    lost, least = lost_and_least(model, counts, table)
    assert (lost > 0) == (least > 0)
    assert lost <= least


@pytest.mark.parametrize(
    ("model", "counts", "table", "lost"),
    [
        (KAnonymity(5), [2, 2], [9, 9], 4),
        (DistinctDiversity("s", 3), [4, 3, 0], [9, 9, 9], 7),
        (AlphaK("s", 0.5), [6, 2], [9, 9], 4),
        (AlphaK("s", 0.5, k=9), [4, 4], [9, 9], 8),
        (RecursiveDiversity("s", 2, 2), [7, 2], [9, 9], 3),
        (EntropyDiversity("s", 2), [6, 2], [9, 9], 4),
        (Closeness("s", 0.25), [7, 0], [50, 50], 2),
        (BetaLikeness("s", 0.5), [7, 1], [10, 10], 4),
        (DeltaDisclosure("s", 0.405), [7, 1], [10, 10], 6),
        (DeltaDisclosure("s", 0.405), [7, 0], [10, 10], 7),
    ],
)
def test_it_is_a_strong_bound(model: Model, counts: list[int], table: list[int], lost: int) -> None:
    found, least = lost_and_least(model, counts, table)
    assert found == lost <= least
