"""Unlisted keys: every group loses about the same share, so the ranking holds; people choose by themselves alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import ForeignKey, Table
from discreet.cli.main import app
from discreet.curator.curator import Curator
from discreet.curator.preconditions import use_stored_columns
from discreet.engines.duckdb.manifest import WITHOUT_GROWTH
from discreet.query.run import contribution_bounds as statement
from discreet.query.run.contribution_bounds import count_apart
from discreet.service.maintenance.backup import back_up
from discreet.service.maintenance.upgrade import upgrade

PEOPLE = 6_000
CATEGORIES = {"books": 0.9, "toys": 0.75, "tea": 0.6, "coffee": 0.45, "bread": 0.3, "milk": 0.15}
"""What share of the people buys each."""
BUDGET = Budget(60, delta="1e-6", delta_for_keys="5e-7")


def _policy(**facts: Any) -> Table:
    columns = (Column("who", ColumnType.TEXT), Column("what", ColumnType.TEXT), Column("shop", ColumnType.INTEGER))
    return Table("buys", columns, unit="who", **{"rows_per_unit": 6, "budget": BUDGET} | facts)


def _rows(people: Sequence[int] = range(PEOPLE)) -> pa.Table:
    """Of person n what depends on n alone: whether they buy something, and where."""
    bought = [
        (f"p{n}", what, n % 7)
        for place, (what, share) in enumerate(CATEGORIES.items())
        for n in people
        if (n * (2 * place + 3) * 0.6180339887) % 1 < share
    ]
    return pa.table(dict(zip(("who", "what", "shop"), map(list, zip(*bought, strict=True)), strict=True)))


def _truth(rows: pa.Table) -> dict[str, int]:
    return {one["values"]: one["counts"] for one in rows["what"].value_counts().to_pylist()}


def _of(folder: Path, policy: Table, rows: pa.Table, secret: str = "") -> Curator:
    curator = Curator(folder)
    if secret:
        curator.engine.store.share(secret)
    curator.protect(rows, policy)
    return curator


@pytest.fixture(scope="module")
def curators(tmp_path_factory: pytest.TempPathFactory) -> dict[int | None, Curator]:
    """By groups_per_unit, with the same secret and the same people."""
    rows = _rows()
    return {
        most: _of(tmp_path_factory.mktemp("orders"), _policy(groups_per_unit=most), rows, "secret")
        for most in (1, 2, None)
    }


def _held(curator: Curator, sql: str, **facts: Any) -> Mapping[Any, int]:
    """The people who hold each key, before noise."""
    plan = curator._planner.question(sql, 1).plans[0]
    plan = replace(use_stored_columns(plan, curator.engine.snapshot()), **facts)
    assert plan.rule is not None
    rows = curator.engine.run(*count_apart(plan, plan.parts[plan.rule.unit_count])).to_pylist()
    return {row["k0"]: row["s"] for row in rows}


WHOLE = "SELECT what, COUNT(DISTINCT who) FROM buys GROUP BY what"
SOME = "SELECT what, COUNT(DISTINCT who) FROM buys WHERE shop < 6 GROUP BY what"


def test_the_ranking_holds_and_by_default_nothing_is_missing(curators: dict[int | None, Curator]) -> None:
    """Noise at ε = 10 has σ < 8; the nearest counts are 500 apart, and what is missing moves them by 100 at most."""
    ranked = "SELECT what, COUNT(*) AS n FROM buys GROUP BY what ORDER BY n DESC"
    truth = _truth(_rows())
    for most, curator in curators.items():
        found = {row["what"]: row["n"] for row in curator.ask(ranked, epsilon=10).table.to_pylist()}
        assert list(found) == list(CATEGORIES), most
        if most is None:
            assert max(abs(found[what] - truth[what]) for what in truth) < 100


@pytest.mark.parametrize("sql", [WHOLE, SOME])
def test_every_key_loses_about_the_same_share(curators: dict[int | None, Curator], sql: str) -> None:
    """One order for everybody leaves the last of six keys less than a hundredth; here each keeps at least a quarter."""
    truth = _held(curators[None], sql)
    for most, least in ((1, 0.22), (2, 0.45)):
        shares = {what: held / truth[what] for what, held in _held(curators[most], sql).items()}
        assert shares.keys() == truth.keys()
        assert min(shares.values()) > least, shares
        assert max(shares.values()) < 1.6 * min(shares.values()), shares


def test_one_order_for_everybody_would_be_seen(
    curators: dict[int | None, Curator], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted bug: what was done before."""
    monkeypatch.setattr(statement, "turn_order", lambda salt, number: number)
    truth, found = _held(curators[None], SOME), _held(curators[1], SOME)
    assert min(found.get(what, 0) / held for what, held in truth.items()) < 0.05


def test_marks_and_questions_choose_the_same(curators: dict[int | None, Curator]) -> None:
    for most in (1, 2):
        stored = curators[most].engine.stored("buys")
        assert _held(curators[most], WHOLE) == _held(
            curators[most], WHOLE, counted=False, stored={"buys": replace(stored, held={})}
        )


def test_people_choose_the_same_whoever_else_is_there(tmp_path: Path) -> None:
    """Dense numbers and the order of rows change; nobody's keys do."""
    few = [n for n in range(PEOPLE) if n % 10 == 3][:200]
    facts = {"groups_per_unit": 1}
    alone = _of(tmp_path / "alone", _policy(**facts), _rows(few), "secret")
    ranges = np.random.default_rng(0).permutation(PEOPLE)
    among = _of(tmp_path / "among", _policy(**facts), _rows(ranges.tolist()), "secret")
    chosen = "SELECT who, what FROM buys WHERE _held1 <> 0 ORDER BY ALL"
    held = [one.engine.run(chosen, []).to_pylist() for one in (alone, among)]
    assert len(held[0]) >= 150
    names = {f"p{n}" for n in few}
    assert held[0] == [row for row in held[1] if row["who"] in names]


def test_different_values_are_found_though_each_person_adds_one(tmp_path: Path) -> None:
    """In one order for everybody, whoever buys anything adds the same value, and others are never seen."""
    rows = pa.table({"who": [f"p{n}" for n in range(600)] * 6, "what": [w for w in CATEGORIES for _ in range(600)]})
    table = Table("buys", _policy().columns[:2], unit="who", rows_per_unit=1, budget=BUDGET)
    curator = _of(tmp_path, table, rows)
    # Each of six values is kept by about 100 of 600 people: one that nobody keeps has probability (5/6)^600 < 10⁻⁴⁷.
    plan = use_stored_columns(
        curator._planner.question("SELECT COUNT(DISTINCT what) FROM buys", 10).plans[0], curator.engine.snapshot()
    )
    assert curator.engine.run(*count_apart(plan, plan.parts[0]))["s"].to_pylist() == [6]


def test_rows_that_are_left_out_before_a_join_differ_from_person_to_person(tmp_path: Path) -> None:
    """A subquery without the identifier has the same rows for everybody; each person keeps one of them."""
    rows = pa.table({"who": [f"p{n}" for n in range(600)] * 6, "what": [w for w in CATEGORIES for _ in range(600)]})
    keys = tuple(CATEGORIES)
    columns = (Column("who", ColumnType.TEXT), Column("what", ColumnType.TEXT, keys=keys))
    curator = _of(tmp_path, Table("buys", columns, unit="who", rows_per_unit=1, budget=BUDGET), rows)
    kinds = pa.table({"name": [key for key in keys for _ in range(2)], "kind": [0, 1] * 6})
    stated = {"name": {"keys": list(keys)}, "kind": {"lower": 0, "upper": 1}}
    curator.protect(kinds, table="kinds", public=True, columns=stated)
    sql = "SELECT what, COUNT(*) AS n FROM (SELECT what FROM buys) b JOIN kinds ON what = name GROUP BY what"
    # A row becomes two, which weigh a half each: 100 of 600 people in each group, σ < 10, noise at ε = 20 below 5.
    found = curator.ask(sql, epsilon=20).table.to_pylist()
    assert all(30 < row["n"] < 170 for row in found if row["what"] is not None), found


def test_tables_that_are_reached_by_a_foreign_key_carry_the_salts_of_their_people(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    people = Table("people", (Column("id", ColumnType.INTEGER),), unit="id", rows_per_unit=1, budget=BUDGET)
    key = ForeignKey("whose", "people", "id")
    columns = (Column("whose", ColumnType.INTEGER), Column("tag", ColumnType.TEXT))
    tags = Table("tags", columns, foreign_keys=(key,), rows_per_unit=2, budget=BUDGET)
    curator.protect(pa.table({"id": range(50)}), people)
    curator.protect(pa.table({"whose": [*range(50), *range(50)], "tag": ["a"] * 50 + ["b"] * 50}), tags)
    salts = [curator.engine.run(f"SELECT DISTINCT _unit, _salt FROM {name}", []) for name in ("people", "tags")]
    assert sorted(map(str, salts[0].to_pylist())) == sorted(map(str, salts[1].to_pylist()))
    assert len(set(salts[0]["_salt"].to_pylist())) == 50


def test_the_secret_stays_and_is_shown_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    curator = _of(folder, _policy(groups_per_unit=2), _rows(range(500)))
    secret = curator.engine.store.manifest().secret
    assert len(secret) == 32
    curator.protect(_rows(range(400)), _policy(groups_per_unit=2))
    assert curator.engine.store.manifest().secret == secret
    answer = curator.ask(SOME, epsilon=5)
    question = curator._planner.question(SOME, 5)
    told = [
        answer.to_json(),
        str(answer),
        repr(answer),
        repr(curator.explain(SOME, epsilon=5)),
        repr(curator.engine.store.manifest()),
        repr([use_stored_columns(plan, curator.engine.snapshot()) for plan in question.plans]),
        json.dumps([entry.body for entry in curator.ledger.entries()], default=str),
    ]
    assert not any(secret in text for text in told)
    back_up(folder, tmp_path / "backup")
    assert Curator(tmp_path / "backup").engine.store.manifest().secret == secret


def test_rows_of_an_earlier_release_are_answered_in_peoples_own_orders(tmp_path: Path) -> None:
    """Its marks were made in one order for everybody, so they are not read; an upgrade makes a secret."""
    curator = _of(tmp_path, _policy(groups_per_unit=1), _rows(range(1500)))
    file = tmp_path / "store" / "manifest.json"
    body = json.loads(file.read_text())
    assert body["format"] == WITHOUT_GROWTH == 2
    del body["secret"]
    for table in body["tables"]:
        del table["salted"]
    file.write_text(json.dumps(body | {"format": 1}))
    curator.engine.close()
    found, truth = _held(curator, WHOLE), _truth(_rows(range(1500)))
    assert min(found.get(what, 0) / held for what, held in truth.items()) > 0.2
    curator.ledger.close()
    assert any("secret" in part.does for part in upgrade(tmp_path).done)
    assert json.loads(file.read_text())["format"] == WITHOUT_GROWTH
    assert len(Curator(tmp_path).engine.secret) == 32


def test_answers_say_what_may_be_missing_and_the_offer_is_a_call(curators: dict[int | None, Curator]) -> None:
    notes = curators[2].explain(WHOLE, epsilon=1).notes
    (note,) = [one for one in notes if "All groups lose about the same share" in one]
    assert "more than 2 groups counts in 2 of them" in note
    (offered,) = [one for one in notes if "what share is missing" in one]
    call = offered.split(", run ", 1)[1].removesuffix("; it costs budget.").replace("0.1", "10")
    found = eval(call, {"curator": curators[2]})
    rows = _rows()
    groups = np.unique(rows["who"].to_numpy(), return_counts=True)[1]
    held, lost = int(np.minimum(groups, 4).sum()), int(np.clip(groups - 2, 0, 2).sum())
    # Noise at ε = 10 in three shares has σ < 40.
    assert abs(found.held.value - held) < 400
    assert abs(found.lost.value - lost) < 400
    assert found.share == pytest.approx(lost / held, abs=0.05)
    assert "groups_per_unit is low" in str(found)
    assert curators[None].left_out("buys", ["what"], epsilon=10).policy == ""


def test_the_command_line_estimates_what_is_left_out(tmp_path: Path) -> None:
    _of(tmp_path, _policy(groups_per_unit=1), _rows(range(1000))).ledger.close()
    shown = CliRunner().invoke(app, ["suggest", "groups", "buys", "what", "-e", "5", "--curator", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "left out" in shown.output
