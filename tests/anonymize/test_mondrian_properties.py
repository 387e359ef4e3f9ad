"""Whatever the table, the hierarchies and the models: what Mondrian releases meets the models and tells no untruth."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.check import check
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.model import Model
from discreet.anonymize.recode.mondrian import mondrian
from discreet.anonymize.recode.recoding import Recoded
from discreet.anonymize.recode.taxonomy_mondrian import taxonomy_mondrian
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import MISSING, label_of
from discreet.errors import OutOfReach
from tests.anonymize.people import messy
from tests.anonymize.plain_models import meets
from tests.anonymize.publishing import Request, models_of, requests
from tests.thoroughness import many

TREE = Hierarchy.of([1, 2, 3, 4], [["low", "low", "high", "high"], ["*"] * 4])
LABELS = st.sampled_from(["range", "set", "hierarchy"])


def numbered(request: Request) -> tuple[pa.Table, Roles]:
    """The table with row numbers as an insensitive column, so that a test can tell which row became which."""
    table = request.table.append_column("id", pa.array(range(request.rows)))
    return table, Roles.of(table.column_names, quasi=request.roles.quasi, sensitive="s")


def found_or_none(fit: Callable[[], Recoded]) -> Recoded | None:
    try:
        return fit()
    except OutOfReach:
        return None


def assert_released(found: Recoded, table: pa.Table, roles: Roles, models: tuple[Model, ...]) -> None:
    """All rows are there, every model holds by two checks, and the same recoding gives the same table again."""
    assert found.suppressed == 0
    assert sorted(found.table["id"].to_pylist()) == list(range(table.num_rows))
    assert all(verdict.holds for verdict in check(found.table, roles, models).verdicts)
    assert all(meets(found.table, roles.quasi, model) for model in models)
    assert found.recoding.transform(table).equals(found.table)
    sensitive = dict(zip(table["id"].to_pylist(), table["s"].to_pylist(), strict=True))
    assert all(sensitive[row["id"]] == row["s"] for row in found.table.to_pylist())


@settings(max_examples=many(40, 100), deadline=None)
@given(requests(), LABELS, st.booleans(), st.booleans())
def test_what_mondrian_releases_meets_all_models(request: Request, labels: Any, relaxed: bool, tight: bool) -> None:
    table, roles = numbered(request)
    found = found_or_none(
        lambda: mondrian(
            table, roles, request.models, hierarchies=request.hierarchies, labels=labels, relaxed=relaxed, tight=tight
        )
    )
    if found is not None:
        assert_released(found, table, roles, request.models)
        assert_covered(found.table, table, request.hierarchies if labels == "hierarchy" else {}, roles)


@settings(max_examples=many(40, 100), deadline=None)
@given(requests())
def test_what_the_taxonomy_release_tells_meets_all_models(request: Request) -> None:
    table, roles = numbered(request)
    found = found_or_none(lambda: taxonomy_mondrian(table, roles, request.hierarchies, request.models))
    if found is not None:
        assert_released(found, table, roles, request.models)
        assert_covered(found.table, table, request.hierarchies, roles)


@settings(max_examples=many(40, 100), deadline=None)
@given(messy(), st.data(), st.booleans(), st.booleans())
def test_missing_cells_dates_and_infinite_numbers_are_recoded_like_others(
    table: pa.Table, data: st.DataObject, relaxed: bool, tight: bool
) -> None:
    quasi = [name for name in table.column_names if name.startswith("q")]
    roles = Roles.of(table.column_names, quasi=quasi, sensitive="s")
    models = (KAnonymity(data.draw(st.integers(1, 5))),)
    labels = data.draw(st.sampled_from(["range", "set"]))
    found = found_or_none(lambda: mondrian(table, roles, models, relaxed=relaxed, tight=tight, labels=labels))
    if found is not None:
        assert_released(found, table, roles, models)
        assert_covered(found.table, table, {}, roles)


@settings(max_examples=many(20, 60), deadline=None)
@given(messy(), st.data())
def test_several_models_hold_together_with_missing_sensitive_values(table: pa.Table, data: st.DataObject) -> None:
    quasi = [name for name in table.column_names if name.startswith("q")]
    roles = Roles.of(table.column_names, quasi=quasi, sensitive="s")
    kinds = models_of("s", TREE).filter(lambda model: getattr(model, "distance", "") not in ("numeric", TREE))
    models = tuple(data.draw(st.lists(kinds, min_size=1, max_size=3)))
    for fit in (
        lambda: mondrian(table, roles, models),
        lambda: mondrian(table, roles, models, relaxed=True),
        lambda: taxonomy_mondrian(table, roles, None, models),
    ):
        found = found_or_none(fit)
        if found is not None:
            assert_released(found, table, roles, models)


@settings(max_examples=many(30, 80), deadline=None)
@given(requests(), st.data())
def test_new_rows_get_true_labels_in_classes_that_meet_the_models(request: Request, data: st.DataObject) -> None:
    """Rows of other values too: some are left out, none is told what is not true of it."""
    table, roles = numbered(request)
    picked = data.draw(st.lists(st.integers(0, request.rows - 1), min_size=1, max_size=request.rows))
    half = table.take(picked).set_column(table.num_columns - 1, "id", pa.array(range(len(picked))))
    tight = data.draw(st.booleans())
    fits = {
        "mondrian": lambda: mondrian(half, roles, request.models, tight=tight, relaxed=data.draw(st.booleans())),
        "taxonomy": lambda: taxonomy_mondrian(half, roles, request.hierarchies, request.models),
    }
    for name, fit in fits.items():
        found = found_or_none(fit)
        if found is None:
            continue
        released = found.recoding.transform(table)
        if released.num_rows:
            assert_covered(released, table, request.hierarchies if name == "taxonomy" else {}, roles)
            verdicts = check(released, roles, request.models, reference=table).verdicts
            assert all(verdict.holds for verdict in verdicts)


@settings(max_examples=many(30, 80), deadline=None)
@given(messy(), st.data(), st.booleans(), st.booleans())
def test_new_rows_with_missing_cells_get_true_labels(
    table: pa.Table, data: st.DataObject, relaxed: bool, tight: bool
) -> None:
    quasi = [name for name in table.column_names if name.startswith("q")]
    roles = Roles.of(table.column_names, quasi=quasi, sensitive="s")
    part = table.slice(0, data.draw(st.integers(1, table.num_rows)))
    models = (KAnonymity(data.draw(st.integers(1, 3))),)
    labels = data.draw(st.sampled_from(["range", "set"]))
    found = found_or_none(lambda: mondrian(part, roles, models, relaxed=relaxed, tight=tight, labels=labels))
    if found is not None:
        released = found.recoding.transform(table)
        assert_covered(released, table, {}, roles)
        assert not released.num_rows or all(meets(released, quasi, model) for model in models)


@settings(max_examples=many(20, 60), deadline=None)
@given(requests(), st.booleans())
def test_the_order_of_the_rows_plays_no_part(request: Request, relaxed: bool) -> None:
    table, order = request.table, np.random.default_rng(request.rows).permutation(request.rows)
    models = [KAnonymity(2)]
    for fit in (
        lambda rows: mondrian(rows, request.roles, models, relaxed=relaxed),
        lambda rows: taxonomy_mondrian(rows, request.roles, request.hierarchies, models),
    ):
        one, other = (found_or_none(lambda: fit(rows)) for rows in (table, table.take(order)))  # noqa: B023
        if one is not None and other is not None:
            quasi = list(request.roles.quasi)
            assert Counter(map(str, one.table.select(quasi).to_pylist())) == Counter(
                map(str, other.table.select(quasi).to_pylist())
            )


# Whether a label is true, read by its letters ---------------------------------------------------------------------


def assert_covered(released: pa.Table, table: pa.Table, trees: Mapping[str, Hierarchy], roles: Roles) -> None:
    originals = {row["id"]: row for row in table.to_pylist()}
    for row in released.to_pylist():
        for name in roles.quasi:
            value = originals[row["id"]][name]
            value = None if isinstance(value, float) and math.isnan(value) else value
            if name in trees:
                assert row[name] in written(trees[name], value), (row[name], value)
            else:
                assert is_true(row[name], value), (row[name], value)


def written(tree: Hierarchy, value: Any) -> set[str]:
    """All that a hierarchy says about a value, and that nothing is said."""
    place = tree.values.index(value)
    return {tree.label(level, int(tree.levels[level][place])) for level in range(tree.height + 1)} | {"*"}


def is_true(label: str, value: Any) -> bool:
    if label == "*":
        return True
    if value is None:
        return label == MISSING or label.endswith(f" or {MISSING}") or MISSING in label.strip("{}").split(", ")
    label = label.removesuffix(f" or {MISSING}")
    if label.startswith("{"):
        return label_of(value) in label.strip("{}").split(", ")
    if between := re.fullmatch(r"([\[(])(.+), (.+)\]", label):
        low, high = read(between[2], value), read(between[3], value)
        return (low <= value if between[1] == "[" else low < value) and value <= high
    if beyond := re.fullmatch(r"([≤≥>])(.+)", label):
        edge = read(beyond[2], value)
        return {"≤": value <= edge, "≥": value >= edge, ">": value > edge}[beyond[1]]
    return label == label_of(value)


def read(text: str, like: Any) -> Any:
    return date.fromisoformat(text) if isinstance(like, date) else float(text)
