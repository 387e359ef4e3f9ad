"""Charges whose process was killed: answered for what they cost whatever became of the data, and not run for ever."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.curator.fuse import MOST_RUNS
from discreet.curator.ledger import chain as records
from discreet.curator.ledger.move import move
from discreet.curator.ledger.unanswered import covers
from discreet.curator.ledger.units import LedgerPrice, Portion
from discreet.curator.ledger.verify import verify
from discreet.errors import EngineFailure, EngineUnavailable, RequestConflict, Suspended
from discreet.privacy.loss import Pure
from discreet.service.operations.ledger import QUESTION, records_back
from tests.curator import breakable
from tests.curator.breakable import unsent
from tests.curator.test_fuse import Asking, breaker, close, kinds, opened, rows, spent, visits
from tests.servers.fixtures import postgres_server, postgres_url
from tests.thoroughness import in_turns, some

__all__ = ["postgres_server", "postgres_url"]

ALL = "SELECT COUNT(*) AS n FROM visits"
SOME = "SELECT COUNT(*) AS n FROM visits WHERE ward = 'a'"
"""Charged to the people of one ward, as they are in one version of the data."""
HALF = Pure("0.5")


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A protected table, in a folder of which every test has a copy."""
    folder = tmp_path_factory.mktemp("protected")
    made = opened(folder)
    made.protect(rows(), visits())
    close(made)
    return folder


@pytest.fixture(params=in_turns("file", "server"))
def curator(protected: Path, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Curator]:
    """With its ledger in a file or on a server."""
    folder = shutil.copytree(protected, tmp_path / "hospital")
    if request.param == "server":
        move(folder, request.getfixturevalue("postgres_url"))
    made = opened(folder)
    yield made
    assert verify(made.folder).problems == []
    made.ledger.close()


def killed(curator: Curator, sql: str = ALL, request: str = "r", analyst: str = "ann", step: str = "") -> None:
    breakable.killed(curator.folder, sql, analyst, request, step)


def files(curator: Curator) -> int:
    return len(list((curator.folder / "store").glob("rows-*.duckdb")))


def version_in(answer: Any) -> str:
    return str(answer.certificate["tables"]["Visits"])


def ask(curator: Curator, sql: str = ALL, request: str | None = "r", analyst: str = "ann") -> Any:
    return curator.ask(sql, "0.5", analyst=analyst, request=request)


# New data between the charge and the answer.


@pytest.mark.parametrize(("sql", "step"), some(product([ALL, SOME], ["", "settle"]), 2))
def test_a_charge_is_answered_on_the_version_that_it_was_made_for(curator: Curator, sql: str, step: str) -> None:
    before = curator.engine.version("visits")
    killed(curator, sql, step=step)
    curator.protect(rows(4000), visits())
    assert files(curator) == 2
    answer = ask(curator, sql)
    assert (answer.charged, version_in(answer), spent(curator)) == (True, before, HALF)
    assert answer.to_rows()[0]["n"] < 1000
    assert files(curator) == 1  # it is kept no longer than it is needed
    again = ask(curator, sql)
    assert (again.table, again.charged, again.entry, spent(curator)) == (answer.table, False, answer.entry, HALF)
    assert version_in(ask(curator, sql, None)) == curator.engine.version("visits")
    assert spent(curator) == Pure(1)


def test_the_same_id_with_another_question_is_refused_whatever_became_of_the_data(curator: Curator) -> None:
    killed(curator)
    curator.protect(rows(4000), visits())
    for other in (SOME, f"{ALL} WHERE age > 30"):
        with pytest.raises(RequestConflict):
            ask(curator, other)
    with pytest.raises(RequestConflict):
        curator.ask(ALL, "0.4", analyst="ann", request="r")
    assert spent(curator) == HALF
    assert version_in(ask(curator)) != curator.engine.version("visits")


def test_an_answer_that_was_stored_is_served_after_new_data(curator: Curator) -> None:
    first = ask(curator)
    curator.protect(rows(4000), visits())
    again = ask(curator)
    assert (again.table, version_in(again), spent(curator)) == (first.table, version_in(first), HALF)
    with pytest.raises(RequestConflict):
        ask(curator, SOME)
    curator.protect(rows(4000), replace(visits(), rows_per_unit=3))
    with pytest.raises(RequestConflict, match="policy"):  # its answer has the shape of another plan
        ask(curator)
    assert spent(curator) == HALF


def test_where_the_version_is_gone_the_question_is_planned_anew_for_what_was_charged(curator: Curator) -> None:
    killed(curator)
    for people in (3000, 4000):
        curator.protect(rows(people), visits())
    assert files(curator) == 1  # one earlier version at most, and that nobody waits for
    answer = ask(curator)
    assert (version_in(answer), spent(curator)) == (curator.engine.version("visits"), HALF)
    assert answer.to_rows()[0]["n"] > 3000
    assert kinds(curator).count("replan") == 1
    assert answer.certificate["charged"]["prices"] == {"Visits": answer.certificate["charged"]["prices"]["Visits"]}
    curator.protect(rows(5000), visits())
    again = ask(curator)
    assert (again.table, again.entry, spent(curator)) == (answer.table, answer.entry, HALF)
    with pytest.raises(RequestConflict):
        ask(curator, SOME)
    (question,) = [one for one in records_back(curator.ledger) if one.kind == QUESTION]
    assert question.answered == answer.entry  # people who read the ledger find the answer with its question


def test_a_charge_for_some_people_does_not_pay_for_other_people_of_new_data(curator: Curator) -> None:
    killed(curator, SOME)
    for people in (3000, 4000):
        curator.protect(rows(people), visits())
    with pytest.raises(RequestConflict, match="must be kept"):
        ask(curator, SOME)
    assert spent(curator) == HALF
    assert ask(curator, SOME, "another").charged


def test_a_changed_policy_is_no_other_question(curator: Curator) -> None:
    killed(curator)
    curator.protect(rows(4000), replace(visits(), rows_per_unit=3))
    answer = ask(curator)
    assert (version_in(answer), spent(curator)) == (curator.engine.version("visits"), HALF)
    assert kinds(curator).count("replan") == 1
    assert ask(curator).table == answer.table
    assert files(curator) == 1


def test_a_changed_policy_lets_a_charge_for_some_people_be_run_on_their_rows(curator: Curator) -> None:
    before = curator.engine.version("visits")
    killed(curator, SOME)
    curator.protect(rows(4000), replace(visits(), rows_per_unit=3))
    answer = ask(curator, SOME)
    assert (version_in(answer), spent(curator)) == (before, HALF)
    assert answer.to_rows()[0]["n"] < 1000


def test_what_another_paid_for_on_the_new_data_is_the_answer(curator: Curator) -> None:
    killed(curator)
    for people in (3000, 4000):
        curator.protect(rows(people), visits())
    other = ask(curator, request=None, analyst="bob")
    assert spent(curator) == Pure(1)
    assert ask(curator).table == other.table
    assert spent(curator) == Pure(1)


def test_an_id_without_a_charge_costs_once_on_the_new_data(curator: Curator) -> None:
    breaker(curator).fault = unsent
    with pytest.raises(EngineUnavailable):
        ask(curator)
    breaker(curator).fault = None
    assert spent(curator) == Pure(0)
    for people in (3000, 4000):
        curator.protect(rows(people), visits())
        if people == 3000:
            breaker(curator).fault = unsent
            with pytest.raises(EngineUnavailable):
                ask(curator)
            breaker(curator).fault = None
    answer = ask(curator)
    assert (answer.charged, spent(curator), version_in(answer)) == (True, HALF, curator.engine.version("visits"))
    curator.protect(rows(5000), visits())
    assert ask(curator).table == answer.table
    with pytest.raises(RequestConflict):
        ask(curator, SOME)


def test_a_run_that_comes_too_late_for_a_charge_that_was_planned_anew_releases_nothing(curator: Curator) -> None:
    class Named(Asking):
        def run(self) -> None:
            self.found = self._curator.ask(self._sql, "0.5", analyst=self._analyst, request="r")

    slow = Named(opened(curator.folder), ALL, "ann")
    for people in (3000, 4000):
        curator.protect(rows(people), visits())
    answer = ask(curator)
    heard = slow.end()
    assert not isinstance(heard, (Exception, type(None)))
    assert (heard.table, spent(curator)) == (answer.table, HALF)  # what it measured is gone
    assert kinds(curator).count("answer") == 1


def test_new_data_that_comes_while_a_question_is_planned_is_the_data_that_is_asked(tmp_path: Path) -> None:
    curator, other = opened(tmp_path), Curator(tmp_path)
    curator.protect(rows(), visits())
    bound_before = curator.ledger.accounts

    def accounts(*names: Any) -> Any:  # the last step before the charge
        curator.ledger.accounts = bound_before  # type: ignore[method-assign]
        other.protect(rows(4000), visits())
        return bound_before(*names)

    curator.ledger.accounts = accounts  # type: ignore[method-assign]
    answer = curator.ask(ALL, "0.5", analyst="ann", request="r")
    assert version_in(answer) == curator.engine.version("visits")
    assert answer.to_rows()[0]["n"] > 3000
    assert spent(curator) == HALF
    assert verify(tmp_path).problems == []


def test_questions_over_several_tables_find_all_of_their_versions(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    public = Table("wards", (Column("ward", ColumnType.TEXT), Column("beds", ColumnType.INTEGER)), public=True)
    table = pa.table({"ward": ["a", "b"], "beds": [10, 20]})
    curator.protect(rows(), visits())
    curator.protect(table, public)
    sql = "SELECT w.beds, COUNT(*) AS n FROM visits v JOIN wards w ON w.ward = v.ward GROUP BY w.beds"
    killed(curator, sql, step="settle")
    before = curator.engine.version("visits")
    curator.protect(rows(4000), visits())
    curator.protect(pa.table({"ward": ["a", "b"], "beds": [30, 40]}), public)
    answer = ask(curator, sql)
    assert version_in(answer) == before
    assert {row["beds"] for row in answer.to_rows()} <= {10, 20}
    assert spent(curator) == HALF
    assert verify(tmp_path).problems == []


# What a charge pays for.


@pytest.mark.parametrize(
    ("charged", "cost", "pays"),
    [
        (LedgerPrice(5, 1), LedgerPrice(5, 1), True),
        (LedgerPrice(5, 1), LedgerPrice(6, 1), False),
        (LedgerPrice(5, 1), LedgerPrice(5, 2), False),
        (LedgerPrice(5, 0, (Portion("v1", "a", 3),)), LedgerPrice(5, 0, (Portion("v1", "a", 3),)), True),
        (LedgerPrice(5, 0, (Portion("v1", "a", 3),)), LedgerPrice(5, 0, (Portion("v1", "a", 4),)), False),
        (LedgerPrice(5, 0, (Portion("v1", "a", 3),)), LedgerPrice(5, 0, (Portion("v2", "a", 3),)), False),
        (LedgerPrice(5, 0, (Portion("v1", "a", 3),)), LedgerPrice(2, 0, (Portion("v2", "a", 3),)), True),
        (LedgerPrice(5), LedgerPrice(2, 0, (Portion("v2", "a", 2), Portion("v2", "b", 2))), False),
    ],
)
def test_a_charge_pays_for_what_costs_no_more(charged: LedgerPrice, cost: LedgerPrice, pays: bool) -> None:
    assert covers({"t": charged}, {"t": cost}) is pays
    assert covers({"t": charged}, {"t": cost, "t/ann": cost}) is pays
    assert not covers({"t": charged}, {"t": LedgerPrice(0), "other": LedgerPrice(0)})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"prices": {"Visits": [10**15, 0]}}, "replans for other prices than were charged"),
        ({"costs": {"Visits": [10**15, 0]}}, "replans for what costs more than was charged"),
        ({"charge": 1}, "replans a charge that is not there or has ended"),
    ],
)
def test_a_new_plan_that_must_not_be_is_found(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    curator = opened(tmp_path)
    curator.protect(rows(), visits())
    killed(curator)
    (charge,) = [one for one in curator.ledger.entries() if "sql" in one.body.get("note", {})]
    position, body = charge.position, charge.body
    record = {"kind": "replan", "of": body["request"], "charge": position, "request": "plan:other", "note": {}}
    record |= {"prices": body["prices"], "costs": body["prices"], "apart": {}, "body": "00" * 32} | change

    def part(database: Any) -> None:
        there, _ = records.append(database, record, records.head(database))
        records.remember(database, "plan:other", bytes(32), there)
        database.execute("UPDATE request SET answer = ? WHERE id = ?", (there, body["request"]))

    curator.ledger.storage.write(part, sealed=True)
    found = verify(tmp_path).problems
    assert any(said in one for one in found) if said else found == []


# Runs that kill their process.


def test_a_question_that_kills_its_process_again_and_again_has_failed(curator: Curator) -> None:
    for _ in range(MOST_RUNS):
        killed(curator)
    assert curator.suspensions() == []
    for _ in range(2):
        with pytest.raises(EngineFailure) as caught:
            ask(curator)
        assert (str(caught.value), caught.value.__context__) == (str(EngineFailure()), None)
    (suspension,) = curator.suspensions()
    assert (suspension.analyst, suspension.tables, suspension.sql) == ("ann", ("Visits",), ALL)
    assert f"killed in {MOST_RUNS} runs" in (curator.folder / "owner.log").read_text()
    with pytest.raises(Suspended):
        ask(curator, SOME, None)
    assert kinds(curator).count("rerun") == MOST_RUNS - 1
    assert spent(curator) == HALF
    curator.lift(suspension.record, "more memory")
    with pytest.raises(EngineFailure):
        ask(curator)
    assert ask(curator, request=None).charged
    assert spent(curator) == Pure(1)


def test_one_kill_less_and_it_is_answered(curator: Curator) -> None:
    for _ in range(MOST_RUNS - 1):
        killed(curator)
    assert ask(curator).charged
    assert (spent(curator), curator.suspensions()) == (HALF, [])


def test_runs_are_counted_over_new_data(curator: Curator) -> None:
    killed(curator)
    for _ in range(2):
        curator.protect(rows(4000), visits())
    for _ in range(MOST_RUNS - 1):
        killed(curator)
    assert "replan" in kinds(curator)
    with pytest.raises(EngineFailure):
        ask(curator)
    assert [one.analyst for one in curator.suspensions()] == ["ann"]


def test_who_did_not_run_what_kills_processes_is_not_suspended_and_pays_for_the_next_try(curator: Curator) -> None:
    for _ in range(MOST_RUNS):
        killed(curator)
    assert ask(curator, request="s", analyst="bob").charged
    assert spent(curator) == Pure(1)
    assert [one.analyst for one in curator.suspensions()] == ["ann"]
    with pytest.raises(EngineFailure):
        ask(curator)
    assert ask(curator, request="s", analyst="bob").to_rows()


def test_everybody_whose_runs_were_killed_is_suspended(curator: Curator) -> None:
    for number, who in enumerate(("ann", "bob", "ann")):
        killed(curator, request=str(number), analyst=who)
    with pytest.raises(EngineFailure):
        ask(curator, request="0")
    assert [one.analyst for one in curator.suspensions()] == ["ann", "bob"]


def test_runs_that_go_on_are_not_taken_for_killed_ones(curator: Curator) -> None:
    going_on = [Asking(curator, ALL, "ann") for _ in range(MOST_RUNS + 2)]
    killed(curator, request="")
    assert ask(curator, request=None).charged
    assert curator.suspensions() == []
    answers = [one.end() for one in going_on]
    assert len({str(getattr(one, "table", one)) for one in answers}) == 1
    assert spent(curator) == HALF


def test_runs_after_a_kill_come_one_after_the_other_so_that_the_innocent_are_not_killed_again(curator: Curator) -> None:
    killed(curator, ALL, "r", "ann")
    killed(curator, SOME, "s", "bob")
    first = Asking(curator, ALL, "ann")
    second = threading.Thread(target=ask, args=(opened(curator.folder), SOME, "s", "bob"))
    second.start()
    second.join(1)
    assert second.is_alive()
    assert kinds(curator).count("rerun") == 1
    first.end()
    second.join(60)
    assert [kinds(curator).count(one) for one in ("rerun", "answer")] == [2, 2]
    assert (spent(curator), curator.suspensions()) == (Pure(1), [])


def test_a_run_that_was_interrupted_is_not_taken_for_a_killed_one(curator: Curator) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    breaker(curator).fault = interrupted
    for _ in range(MOST_RUNS + 1):
        with pytest.raises(KeyboardInterrupt):
            ask(curator)
    breaker(curator).fault = unsent
    for _ in range(MOST_RUNS + 1):
        with pytest.raises(EngineUnavailable):
            ask(curator)
    breaker(curator).fault = None
    assert ask(curator).charged
    assert (spent(curator), curator.suspensions()) == (HALF, [])


def test_nothing_is_left_behind_by_runs(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    curator.protect(rows(), visits())
    killed(curator)
    ask(curator)
    assert list((tmp_path / "running.ledger").iterdir()) == []
