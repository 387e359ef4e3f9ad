"""Every model agrees with its definition, written in plain Python, on small random tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from inspect import isabstract
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from discreet import anonymize
from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.disclosure import BetaLikeness, DeltaDisclosure
from discreet.anonymize.models.k_anonymity import AlphaK, KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymize.models.model import Histograms, Model
from discreet.anonymize.models.registry import ABOUT_CLASSES, models_about
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.table import CodedTable
from discreet.errors import InvalidType, InvalidValue
from tests.anonymize import plain_models, reference
from tests.anonymize.plain_models import DEFINITIONS, with_parameter
from tests.thoroughness import many

S = "s"
Table = list[tuple[Any, ...]]

quasi = st.one_of(st.integers(0, 2), st.none())
sensitive = st.sampled_from([1, 2, 5, 9, None])
tables = st.lists(st.tuples(quasi, quasi, sensitive), min_size=1, max_size=24)

PATHS = {1: (1, "low", "*"), 2: (2, "low", "*"), 5: (5, "high", "*"), 9: (9, "high", "*"), None: (None, "none", "*")}
TREE = Hierarchy.of(PATHS, [[path[level] for path in PATHS.values()] for level in (1, 2)])


def grouped(rows: Table) -> tuple[EquivalenceClasses, Histograms]:
    cells = [list(column) for column in zip(*rows, strict=True)]
    arrays = [pa.array(column, pa.int64()) for column in cells]
    table = CodedTable.of(pa.table(dict(zip("abs", arrays, strict=True))))
    classes = EquivalenceClasses.of([table["a"].codes, table["b"].codes])
    return classes, {S: classes.histogram(table[S])}


REGISTERED = [*ABOUT_CLASSES, *models_about(S, numeric=True)]
MODELS = [*REGISTERED, RecursiveDiversity(S, 1, 1), RecursiveDiversity(S, 1, 3), Closeness(S, 0, TREE)]


def kinds_below(kind: type[Model]) -> Iterator[type[Model]]:
    for below in kind.__subclasses__():
        yield from [below] if not isabstract(below) else kinds_below(below)


def test_every_model_is_registered_and_public() -> None:
    every = set(kinds_below(Model))
    assert every == {type(model) for model in REGISTERED} == set(DEFINITIONS)
    assert {kind.__name__ for kind in every} <= set(anonymize.__all__)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.title)
@settings(deadline=None, max_examples=many(20, 60))
@given(rows=tables)
@pytest.mark.some(5)
def test_the_strictest_parameter_is_that_of_the_definition(model: Model, rows: Table) -> None:
    if is_numeric(model):
        rows = [(*row[:-1], row[-1] or 1) for row in rows]
    assert model.strictest(*grouped(rows)) == pytest.approx(plain_models.strictest(rows, 2, model), abs=1e-9)


def is_numeric(model: Model) -> bool:
    return isinstance(model, Closeness) and model.distance == "numeric"


def each_model(value: float) -> list[Model]:
    return [with_parameter(model, value) for model in MODELS if not is_numeric(model)]


def one_class_at_a_time(model: Model, rows: Table) -> list[tuple[Any, ...]]:
    """The classes that violate a model, each looked at alone against the distribution of all rows."""
    whole = grouped(rows)[1][S].table
    found = []
    for group in reference.classes(rows, 2):
        inside = [tuple(row[:2]) == tuple(group[0][:2]) for row in rows]
        part = EquivalenceClasses(np.where(inside, 0, -1), np.array([len(group)]))
        domain = CodedTable.of(pa.table({S: pa.array([row[-1] for row in rows], pa.int64())}))[S]
        alone = {S: part.histogram(domain)}
        assert (alone[S].table == whole).all()
        if model.violating(part, alone)[0]:
            found.append(tuple(group[0][:2]))
    return found


@settings(deadline=None, max_examples=many(20, 60))
@given(rows=tables, value=st.floats(0.25, 8))
def test_looking_at_all_classes_at_once_is_looking_at_each_alone(rows: Table, value: float) -> None:
    classes, histograms = grouped(rows)
    firsts = [tuple(rows[place][:2]) for place in classes.representatives()]
    for model in each_model(value):
        flags = model.violating(classes, histograms)
        together = {first for first, flag in zip(firsts, flags, strict=True) if flag}
        assert together == set(one_class_at_a_time(model, rows)), model.name


@settings(deadline=None, max_examples=many(40, 100))
@given(rows=tables, value=st.floats(0.25, 8))
def test_a_model_holds_exactly_up_to_its_strictest_parameter(rows: Table, value: float) -> None:
    grouping = grouped(rows)
    for model in each_model(value):
        strictest = model.strictest(*grouping)
        asked = model.value
        assume(abs(asked - strictest) > 1e-9 or isinstance(asked, int))
        allowed = asked <= strictest if model.larger_is_stricter else asked >= strictest
        assert model.satisfied(*grouping) == allowed, model.name


@settings(deadline=None, max_examples=many(40, 100))
@given(rows=tables, left=st.integers(0, 2), right=st.integers(0, 2))
def test_merging_classes_never_worsens_a_model(rows: Table, left: int, right: int) -> None:
    merged = [(left if row[0] == right else row[0], *row[1:]) for row in rows]
    for model in each_model(1):
        before, after = model.strictest(*grouped(rows)), model.strictest(*grouped(merged))
        assert after >= before - 1e-9 if model.larger_is_stricter else after <= before + 1e-9, model.name


@settings(deadline=None, max_examples=many(40, 100))
@given(rows=tables, value=st.integers(1, 5), left=st.integers(0, 2), right=st.integers(0, 2))
@example(rows=[(0, 0, 1), (0, 0, 2), (1, 0, 1)], value=2, left=0, right=1)
def test_monotone_models_suppress_no_more_rows_when_classes_merge(
    rows: Table, value: int, left: int, right: int
) -> None:
    merged = [(left if row[0] == right else row[0], *row[1:]) for row in rows]
    for model in each_model(value):
        if model.is_monotone_with_suppression:
            (fine, of_fine), (coarse, of_coarse) = grouped(rows), grouped(merged)
            before = fine.sizes[model.violating(fine, of_fine)].sum()
            assert coarse.sizes[model.violating(coarse, of_coarse)].sum() <= before


def test_only_k_and_distinct_diversity_claim_to_be_monotone_with_suppression() -> None:
    claims = {model.title for model in each_model(2) if model.is_monotone_with_suppression}
    assert claims == {"k-anonymity", "distinct l-diversity"}


def test_entropy_diversity_is_not_monotone_with_suppression() -> None:
    fine = [(0, 0, 1), (0, 0, 2)] + [(1, 0, 1)] * 6
    merged = [(0, 0, row[2]) for row in fine]
    model = EntropyDiversity(S, 2)
    rows_lost = [int(c.sizes[model.violating(c, h)].sum()) for c, h in (grouped(fine), grouped(merged))]
    assert rows_lost == [6, 8]


def test_a_value_that_a_class_lacks_breaks_delta_disclosure_for_every_delta() -> None:
    rows = [(0, 0, 1), (0, 0, 2), (1, 0, 1)]
    assert DeltaDisclosure(S, 1e9).violating(*grouped(rows)).tolist() == [False, True]
    assert DeltaDisclosure(S, 1).strictest(*grouped(rows)) == math.inf


def test_suppressed_rows_count_in_the_distribution_of_the_table_and_nowhere_else() -> None:
    table = CodedTable.of(pa.table({"a": [0, 0, 1, 1, 1, 1], S: [1, 2, 1, 1, 1, 1]}))
    classes = EquivalenceClasses.of([table["a"].codes]).suppressing(np.array([False, True]))
    histogram = classes.histogram(table[S])
    assert (classes.rows, histogram.table.tolist(), histogram.counts.tolist()) == (2, [5, 1], [1, 1])
    assert Closeness(S, 0).strictest(classes, {S: histogram}) == pytest.approx(5 / 6 - 1 / 2)


def test_alpha_k_asks_for_k_rows_as_well() -> None:
    rows = [(0, 0, 1), (0, 0, 2), (1, 0, 1), (1, 0, 2), (1, 0, 5)]
    assert AlphaK(S, 0.5, k=3).violating(*grouped(rows)).tolist() == [True, False]
    assert AlphaK(S, 0.4, k=1).violating(*grouped(rows)).tolist() == [True, False]
    assert AlphaK(S, 0.3, k=3).violating(*grouped(rows)).tolist() == [True, True]


def test_weights_stand_for_repeated_rows() -> None:
    rows = [(0, 0, 1)] * 3 + [(0, 0, 2)] + [(1, 0, 1)] * 2 + [(1, 0, 5)] * 2
    classes, histograms = grouped(rows)
    distinct = list(dict.fromkeys(rows))
    table = CodedTable.of(pa.table({"a": [row[0] for row in distinct], S: [row[2] for row in distinct]}))
    weights = np.array([rows.count(row) for row in distinct])
    weighted = EquivalenceClasses.of([table["a"].codes], weights)
    assert weighted.sizes.tolist() == classes.sizes.tolist()
    for model in each_model(2):
        counted = model.strictest(weighted, {S: weighted.histogram(table[S])})
        assert counted == pytest.approx(model.strictest(classes, histograms)), model.name


def test_no_rows_released_breaks_nothing_and_gives_nothing() -> None:
    table = CodedTable.of(pa.table({"a": [0, 1], S: [1, 2]}))
    classes = EquivalenceClasses.of([table["a"].codes]).suppressing(np.array([True, True]))
    histograms = {S: classes.histogram(table[S])}
    for model in [*each_model(2), Closeness(S, 0.5, "numeric")]:
        assert model.satisfied(classes, histograms), model.name
        assert model.strictest(classes, histograms) == 0, model.name


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: KAnonymity(0), "k must be at least 1"),
        (lambda: KAnonymity(2.5), "k must be a whole number"),
        (lambda: KAnonymity(True), "k must be a whole number"),
        (lambda: DistinctDiversity(S, 0), "l must be at least 1"),
        (lambda: EntropyDiversity(S, 0.5), "l must be at least 1"),
        (lambda: EntropyDiversity(S, math.nan), "l must be above 0"),
        (lambda: RecursiveDiversity(S, 0, 2), "c must be above 0"),
        (lambda: Closeness(S, 1.5), "t must be at least 0 and at most 1"),
        (
            lambda: Closeness(S, 0.1, "hamming"),
            "one of equal, ordered, numeric, a tuple of values in their order, or a hierarchy",
        ),
        (lambda: AlphaK(S, 0), "alpha must be above 0 and at most 1"),
        (lambda: DeltaDisclosure(S, "1"), "delta must be a number"),
        (lambda: BetaLikeness(S, -1), "beta must be above 0"),
    ],
)
def test_parameters_without_a_meaning_are_refused(make: Callable[[], Model], problem: str) -> None:
    with pytest.raises((InvalidValue, InvalidType), match=problem):
        make()


@pytest.mark.parametrize(
    ("model", "kept", "broken"),
    [
        (KAnonymity(5), 5, 4),
        (DistinctDiversity(S, 3), 3, 2),
        (EntropyDiversity(S, 4), 4 - 1e-13, 4 - 1e-9),
        (AlphaK(S, 0.3), 0.1 + 0.2, 0.3 + 1e-9),
        (Closeness(S, 0.3), 0.1 + 0.2, 0.3 + 1e-9),
        (BetaLikeness(S, 3), 3 + 1e-13, 3 + 1e-9),
        (RecursiveDiversity(S, 3, 2), 3 - 1e-9, 3 - 1e-13),
        (DeltaDisclosure(S, 3), 3 - 1e-9, 3 - 1e-13),
    ],
)
def test_rounding_decides_nothing_on_a_bound_and_an_open_bound_is_broken_there(
    model: Model, kept: float, broken: float
) -> None:
    assert 0.1 + 0.2 > 0.3
    assert model.is_broken_by(np.array([kept, broken])).tolist() == [False, True]


def test_a_model_is_named_by_its_letter_and_by_its_value() -> None:
    models = [KAnonymity(5), EntropyDiversity(S, 2.5), AlphaK(S, 0.3, 2), Closeness(S, 0.2), BetaLikeness(S, 2, True)]
    assert [(model.title, model.name) for model in models] == [
        ("k-anonymity", "5-anonymity"),
        ("entropy l-diversity", "entropy 2.5-diversity of s"),
        ("(α, 2)-anonymity", "(0.3, 2)-anonymity of s"),
        ("t-closeness (equal distance)", "0.2-closeness of s (equal distance)"),
        ("enhanced β-likeness", "enhanced 2-likeness of s"),
    ]


def test_a_model_of_a_column_that_is_not_sensitive_is_refused() -> None:
    classes, histograms = grouped([(0, 0, 1)])
    with pytest.raises(InvalidValue, match="must speak of a sensitive column, got 'salary'; sensitive: s"):
        DistinctDiversity("salary", 2).violating(classes, histograms)
