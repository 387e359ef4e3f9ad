"""Whatever is appended, closed and forgotten: every closed period holds the rows that a plain reference puts there."""

from __future__ import annotations

import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines.duckdb.engine import DuckDBEngine
from tests.engines.growth import FIRST, KINDS, Reference, Row, as_source, close, shown, table
from tests.thoroughness import many

DAYS = [None, FIRST - timedelta(1), *(FIRST + timedelta(k) for k in range(4)), date(9999, 12, 31)]
ROWS = st.lists(
    st.tuples(st.sampled_from([None, 1, 2, 3]), st.sampled_from(DAYS), st.sampled_from([None, "a", "b"])), max_size=12
)
MOVES = st.one_of(
    st.tuples(st.just("append"), ROWS),
    st.tuples(st.just("close"), st.none()),
    st.tuples(st.just("forget"), st.sampled_from([1, 2, 3, 9])),
    st.tuples(st.just("reopen"), st.none()),
)


class _Watch:
    """Who had which id, over the whole history."""

    def __init__(self) -> None:
        self.had: dict[int, Any] = {}

    def look(self, engine: DuckDBEngine, reference: Reference) -> None:
        found = shown(engine)
        assert len(found) == len(reference.closed)
        ids: dict[Any, int] = {}
        for rows, expected in zip(found.values(), reference.closed, strict=True):
            by_number = {row[0]: row for row in expected}
            assert [row["number"] for row in rows] == sorted(by_number), "nothing is lost, and nothing is there twice"
            for row in rows:
                was = by_number[row["number"]]
                assert (row["who"], row["day"], row["ward"]) == was[1:]
                unit = reference.unit_of(was)
                assert ids.setdefault(unit, row["_unit"]) == row["_unit"], "a unit has one id"
                assert self.had.setdefault(row["_unit"], unit) == unit, "an id is of one unit for good"
                assert row.get("_n", 1) == (
                    1 if reference.kind != "person and day" else sum(one[1] == was[1] for one in expected)
                )


@given(st.sampled_from(KINDS), st.booleans(), st.lists(MOVES, min_size=3, max_size=9))
@settings(max_examples=many(12, 150), deadline=None)
def test_every_closed_period_holds_the_rows_that_belong_there(kind: str, may_miss: bool, moves: list[Any]) -> None:
    visits, reference, watch, numbers = table(kind, may_miss_ward=may_miss), Reference(kind, may_miss), _Watch(), 0
    with tempfile.TemporaryDirectory() as folder:
        engine = DuckDBEngine(Path(folder), threads=1)
        engine.begin(visits)
        for place, (move, what) in enumerate([*moves, ("close", None)]):
            if move == "append":
                rows: list[Row] = [(numbers + k, *row) for k, row in enumerate(what)]
                numbers += len(rows)
                done = engine.append(visits, as_source(rows), id=str(place))
                assert done.set_aside == reference.append(rows)
                assert engine.append(visits, as_source(rows[::-1]), id=str(place)).is_repeated
            elif move == "forget" and kind != "row":
                engine.forget("visits", what)
                reference.to_forget.add(what)
            elif move == "reopen":
                engine.close()
                engine = DuckDBEngine(Path(folder), threads=1)
            elif move == "close":
                before = {one.name: one.version for one in engine.stored("visits").periods}
                assert close(engine, visits, len(reference.closed)) == engine.root("visits")
                reference.close()
                after = {one.name: one.version for one in engine.stored("visits").periods}
                assert before.items() <= after.items(), "versions stay, whoever is forgotten"
                assert [one.set_aside for one in engine.stored("visits").periods] == reference.set_aside
                watch.look(engine, reference)
                engine.verify_files("visits")
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_two_stores_of_neighbours_differ_in_the_rows_of_one_person_alone(kind: str, tmp_path: Path) -> None:
    visits, found, roots = table(kind), {}, {}
    theirs: list[Row] = [(k, 7, FIRST + timedelta(k % 3), "ab"[k % 2]) for k in range(8)]
    theirs += [(8, 7, None, "a"), (9, 7, date(1, 1, 1), "a"), (10, 7, date(9999, 1, 1), None)]
    others: list[Row] = [(20 + k, k % 5, FIRST + timedelta(k % 4), "a") for k in range(40)]
    for world in ("with", "without"):
        with DuckDBEngine(tmp_path / world, threads=1) as engine:
            engine.begin(visits)
            engine.store.share("secret")
            rows = theirs + others if world == "with" else others
            engine.append(visits, as_source(rows), id="1")
            close(engine, visits, 0)
            engine.append(visits, as_source([(row[0] + 100, *row[1:]) for row in rows]), id="2")
            for place in (1, 2, 3):
                roots[world, place] = close(engine, visits, place)
            found[world] = {
                name: [row for row in rows if kind == "row" or row["who"] != 7] for name, rows in shown(engine).items()
            }
    if kind == "row":
        gone = {row[0] + more for row in theirs for more in (0, 100)}
        found["with"] = {
            name: [row for row in rows if row["number"] not in gone] for name, rows in found["with"].items()
        }
    pairs = {}
    for name, rows in found["with"].items():
        for one, other in zip(rows, found["without"][name], strict=True):
            assert {**one, "_unit": 0} == {**other, "_unit": 0}, "also the salt"
            pairs.setdefault(one["_unit"], set()).add(other["_unit"])
    assert all(len(one) == 1 for one in pairs.values())
    assert len(set().union(*pairs.values())) == len(pairs), "units stay apart"
