"""What keeps the periods of a growing table apart, each guard beside the bug that would be there without it."""

from __future__ import annotations

import datetime as days
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.catalog.table import Table
from discreet.curator import periods
from discreet.curator.curator import Curator
from discreet.curator.reading import Reading
from discreet.errors import DiscreetError, InvalidValue, LedgerError, QueryRefused
from discreet.query.bind import split
from discreet.query.parse.clock import AsOf
from discreet.query.run import fingerprint
from tests.curator.test_periods import EXACT, WEEKLY, by_person_and_week, opened, rows, spent, visits


def ids(curator: Curator, table: str = "visits") -> dict[str, dict[int, set[int]]]:
    """Per closed period and person, the ids of the rows."""
    found: dict[str, dict[int, set[int]]] = {}
    for one in curator.engine.snapshot().stored(table).periods:
        with duckdb.connect(curator.folder / "store" / one.file, read_only=True) as database:
            pairs = database.sql("SELECT DISTINCT person, _unit FROM rows").fetchall()
        each = found.setdefault(one.name, {})
        for person, unit in pairs:
            each.setdefault(person, set()).add(unit)
    return found


@pytest.mark.parametrize("table", [visits(), by_person_and_week()], ids=["row", "person and week"])
def test_ids_of_two_periods_never_meet(tmp_path: Path, table: Table) -> None:
    each = [set().union(*people.values()) for people in ids(opened(tmp_path, table, 3)).values()]
    assert len(each) == 3
    assert sum(map(len, each)) == len(set().union(*each))


def _comes_after_a_stranger_was_forgotten(folder: Path) -> tuple[set[int], set[int]]:
    """The ids of one who was forgotten, whose id was the last, and of one who came later."""
    curator = opened(folder, visits("person", budget=9, rows_per_unit=3), 1)
    before = ids(curator)["2026-W02"]
    last = max(before, key=lambda person: max(before[person]))
    curator.forget("visits", last)
    curator.close("visits", through="2026-W03")
    newcomer = rows(2, 1).set_column(0, "person", [[99]])
    curator.append("visits", newcomer, id="newcomer")
    curator.close("visits", through="2026-W04")
    return before[last], ids(curator)["2026-W04"][99]


def test_the_id_of_who_was_forgotten_is_given_to_nobody_else(tmp_path: Path) -> None:
    gone, came = _comes_after_a_stranger_was_forgotten(tmp_path / "as it is")
    assert gone.isdisjoint(came)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("period_ids", "unit_ids"):
            patch.setattr(f"discreet.engines.duckdb.{module}.use_ids", lambda build, domain, last: None)
        gone, came = _comes_after_a_stranger_was_forgotten(tmp_path / "with the bug")
    assert gone == came


def test_who_comes_back_is_somebody_else(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits("person", budget=9, rows_per_unit=3), 1)
    before = ids(curator)["2026-W02"]
    curator.forget("visits", 3)
    curator.close("visits", through="2026-W03")
    curator.append("visits", rows(2), id="again")
    curator.close("visits", through="2026-W04")
    now = ids(curator)
    assert 3 not in now["2026-W02"]
    assert now["2026-W04"][3].isdisjoint(before[3])
    assert now["2026-W04"][4] == before[4]


def test_periods_close_in_order_whoever_asks(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 1)
    table = curator.catalog.table("visits")
    third = table.time.named("2026-W04") if table.time is not None else None
    assert third is not None
    with pytest.raises(InvalidValue, match="periods close in order, 2026-W03 comes first"):
        curator.engine.prepare_close(table, third, catalog=curator.catalog)
    with pytest.raises(LedgerError, match="close in order"):
        curator.ledger.close_period("visits", third, "ab" * 32, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(periods, "_close_while", lambda curator, table, *more: [periods._close(curator, table, third)])
        with pytest.raises(InvalidValue, match="2026-W03 comes first"):
            curator.close("visits", through="2026-W04")
    assert [one.name for one in curator.close("visits", through="2026-W04")] == ["2026-W03", "2026-W04"]


def test_a_root_cannot_be_guessed_from_the_rows(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 2)
    (growing,) = curator.engine.store.manifest().growing.values()  # type: ignore[attr-defined]
    assert growing.root() == curator.ledger.closes("visits")[-1].root
    assert replace(growing, salt="0" * 64).root() != growing.root()
    assert len(bytes.fromhex(growing.salt)) == 32
    seen = json.dumps([entry.body for entry in curator.ledger.entries()])
    seen += json.dumps(curator.ask(WEEKLY, epsilon=1).certificate)
    assert growing.salt not in seen
    assert not any(one.digest in seen for one in growing.periods)
    assert growing.salt not in repr(growing)


def test_an_answer_at_another_price_is_another_release(tmp_path: Path) -> None:
    curator = opened(tmp_path / "as it is", visits(), 1)
    assert all(curator.ask(WEEKLY, epsilon=price).charged for price in ("0.25", "1"))
    assert [float(one) for one in spent(curator)] == [1.25]


def test_a_fingerprint_without_price_and_noise_would_serve_what_nobody_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = fingerprint._plan
    monkeypatch.setattr(
        fingerprint, "_plan", lambda plan: {"statements": made(plan)["statements"], "groups": made(plan)["groups"]}
    )
    curator = opened(tmp_path, visits(), 1)
    charged = [curator.ask(WEEKLY, epsilon=price).charged for price in ("0.25", "1")]
    assert charged == [True, False]


def test_an_empty_period_closes_and_is_answered_like_any_other(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 0)
    empty = curator.close("visits", through="2026-W05")
    assert [one.name for one in empty] == ["2026-W02", "2026-W03", "2026-W04", "2026-W05"]
    assert curator.ask(WEEKLY, epsilon=1).table.num_rows == 8
    assert spent(curator) == [1, 1, 1, 1]


def test_periods_keep_what_was_spent_when_their_policy_was_taken_away(tmp_path: Path) -> None:
    curator = opened(tmp_path, by_person_and_week(), 1)
    curator.ask(WEEKLY, epsilon="1.5")
    known = curator.ledger.accounts()
    (tmp_path / "policies" / "visits.yaml").unlink()
    again = Curator(tmp_path)
    again.protect(rows(0), by_person_and_week())
    assert again.ledger.accounts() == known
    assert [float(one) for one in spent(again)] == [1.5]


LIMITS: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "raised": ({"lifetime": 5}, {"lifetime": 9}),
    "dropped": ({"lifetime": 5}, {}),
    "stated where it was counted": ({}, {"lifetime": 5}),
}


@pytest.mark.parametrize("change", LIMITS)
def test_what_a_person_may_lose_over_all_periods_stays_as_it_was_granted(tmp_path: Path, change: str) -> None:
    before, after = ({"epsilon": 2, "per": "week", **more} for more in LIMITS[change])
    curator = opened(tmp_path, by_person_and_week(budget=before), 1)
    with pytest.raises(
        InvalidValue,
        match=r"must be what the ledger has|the lifetime must say no less",
    ):
        curator.protect(rows(0), by_person_and_week(budget=after))
    curator.protect(rows(0), by_person_and_week(budget=before))


def test_whoever_has_a_store_from_last_week_is_refused_also_while_a_curator_is_open(tmp_path: Path) -> None:
    curator = opened(tmp_path, visits(), 1)
    manifest = tmp_path / "store" / "manifest.json"
    before = manifest.read_bytes()
    curator.close("visits", through="2026-W03")
    manifest.write_bytes(before)
    with pytest.raises(DiscreetError, match="must hold what was closed, up to 2026-W03"):
        curator.ask(WEEKLY, epsilon=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.curator.curator.check_roots", lambda *given: None)
        assert Curator(tmp_path).ask(WEEKLY, epsilon=1).table.num_rows == 2  # without the guard it is read


PERSONS = "SELECT COUNT(DISTINCT person) AS n FROM visits"
EACH = "SELECT COUNT(*) AS n FROM (SELECT person, LEAST(COUNT(*), 9) AS k FROM visits GROUP BY person) AS q"


@pytest.mark.parametrize("question", [PERSONS, EACH])
def test_persons_are_not_counted_once_for_each_of_their_weeks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    curator = opened(tmp_path, by_person_and_week(budget={"epsilon": EXACT, "per": "week"}), 2)
    with pytest.raises(QueryRefused, match=r"people are counted within one period|one person over several weeks"):
        curator.ask(question, epsilon=EXACT)
    monkeypatch.setattr(split._Splitter, "_has_period_units", lambda self, found: False)
    assert Curator(tmp_path).ask(question, epsilon=EXACT).to_rows()[0]["n"] == pytest.approx(20, abs=0.5)


def test_no_clock_of_a_machine_decides_which_days_are_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "SELECT admitted, COUNT(*) AS n FROM visits WHERE admitted >= CURRENT_DATE - 7 GROUP BY 1"
    assert opened(tmp_path, visits(), 2).ask(question, epsilon=1).table.num_rows == 7
    monkeypatch.setattr(Reading, "_clock", lambda self, text: AsOf(days.datetime(2031, 1, 1)))
    with pytest.raises(QueryRefused, match="this one reads none"):
        Curator(tmp_path).ask(question, epsilon=1)
