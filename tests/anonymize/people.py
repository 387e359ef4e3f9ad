"""Generated tables: census-like ones of any size, and small ones with everything that can go wrong in them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.hierarchies.intervals import intervals

CATEGORIES = {"sex": 2, "race": 5, "marital": 7, "education": 16, "country": 41, "workclass": 8, "occupation": 14}
QUASI = ("age", *CATEGORIES)


def census(rows: int, seed: int = 0) -> pa.Table:
    """A table of the shape of a census: eight skewed quasi-identifiers and a salary that depends on age."""
    draw = np.random.default_rng(seed)
    age = np.clip(draw.gamma(6, 6, rows) + 14, 17, 90).astype(int)
    columns = {"age": pa.array(age)}
    for name, count in CATEGORIES.items():
        weights = 1 / np.arange(1, count + 1) ** (2.6 if count in (5, 41) else 1.2)
        codes = draw.choice(count, rows, p=weights / weights.sum())
        columns[name] = pa.array([f"{name}-{code}" for code in range(count)]).take(pa.array(codes))
    paid = draw.random(rows) < 0.1 + 0.004 * (age - 17)
    return pa.table({**columns, "salary": pa.array(np.where(paid, ">50K", "<=50K"))})


def census_hierarchies() -> dict[str, Hierarchy]:
    """Intervals of ages, and categories joined by threes."""
    found = {"age": intervals(range(17, 91), [5, 10, 20])}
    for name, count in CATEGORIES.items():
        groups = [f"{name}-group-{code // 3}" for code in range(count)]
        found[name] = Hierarchy.of([f"{name}-{code}" for code in range(count)], [groups, ["*"] * count])
    return found


def cells(kind: str) -> st.SearchStrategy[Any]:
    """Cells of one type, sometimes missing."""
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "int": st.integers(-3, 12),
        "float": st.sampled_from([-1.5, 0.0, 0.25, 1.0, 2.0, 1e6, float("inf")]),
        "text": st.sampled_from(["a", "b", "b c", "d", "é"]),
        "date": st.integers(0, 400).map(lambda days: date(2020, 1, 1) + timedelta(days=days)),
        "flag": st.booleans(),
    }
    return st.one_of(kinds[kind], kinds[kind], kinds[kind], st.none())


@st.composite
def messy(draw: st.DrawFn, most: int = 40) -> pa.Table:
    """Some columns q0, q1, … of any type with missing cells, a sensitive column s, and the row number as id."""
    rows = draw(st.integers(1, most))
    columns: dict[str, list[Any]] = {}
    for place in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["int", "float", "text", "date", "flag"]))
        columns[f"q{place}"] = draw(st.lists(cells(kind), min_size=rows, max_size=rows))
    columns["s"] = draw(st.lists(st.sampled_from([1, 2, 3, None]), min_size=rows, max_size=rows))
    columns["id"] = list(range(rows))
    return pa.table(columns)
