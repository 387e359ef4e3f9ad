"""A run that fails after rows could have been read: one constant error, one record, and no second bit."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, ForeignKey, Table
from discreet.curator import answering
from discreet.curator.answers.answer import Answer
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError, EngineFailure, EngineUnavailable, InvalidInput, LedgerError, Suspended
from discreet.privacy.loss import Pure
from tests.curator.breakable import BreakableEngine, Breaker, killed, unsent

CANARY = "Ann Smith, 7777777"
QUESTION = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward"
OTHER = "SELECT AVG(age) AS a FROM visits"
SEVERAL = "SELECT COUNT(*) AS n, MAX(age) AS oldest FROM visits"
"""Two statements for one charge."""


def visits(name: str = "Visits", **more: Any) -> Table:
    return Table(
        name,
        (
            Column("patient_id", ColumnType.INTEGER),
            Column("ward", ColumnType.TEXT, keys=("a", "b"), constant_per_unit=True),
            Column("age", ColumnType.INTEGER, lower=0, upper=110),
        ),
        unit="patient_id",
        budget=Budget(10),
        analysts={"ann": None, "bob": Budget(5)},
        **more,
    )


def rows(people: int = 200) -> pa.Table:
    return pa.table(
        {
            "patient_id": list(range(people)),
            "ward": ["a" if k % 2 else "b" for k in range(people)],
            "age": [k % 100 for k in range(people)],
        }
    )


def opened(folder: Path, **more: Any) -> Curator:
    return Curator(folder, engine=BreakableEngine(folder), **more)


def close(curator: Curator) -> None:
    curator.ledger.close()
    curator.engine.close()


def breaker(curator: Curator) -> Breaker:
    assert isinstance(curator.engine, BreakableEngine)
    return curator.engine.breaker


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two protected tables, in a folder of which every test has a copy."""
    folder = tmp_path_factory.mktemp("protected")
    made = opened(folder)
    made.protect(rows(), visits())
    made.protect(rows(), visits("others"))
    close(made)
    return folder


@pytest.fixture
def curator(protected: Path, tmp_path: Path) -> Iterator[Curator]:
    made = opened(shutil.copytree(protected, tmp_path / "hospital"))
    yield made
    found = verify(made.folder)
    assert found.problems == []


def fail() -> None:
    raise ValueError(CANARY)


def spent(curator: Curator, account: str = "Visits") -> Any:
    return curator.budget()[account]["spent"]


def kinds(curator: Curator) -> list[str]:
    return [entry.body["kind"] for entry in curator.ledger.entries()]


def failing(curator: Curator, sql: str = QUESTION, fault: Callable[[], None] = fail, **more: Any) -> EngineFailure:
    breaker(curator).fault = fault
    with pytest.raises(EngineFailure) as caught:
        curator.ask(sql, "0.5", **more)
    breaker(curator).fault = None
    return caught.value


def no_memory() -> None:
    raise MemoryError(CANARY)


def too_deep() -> None:
    raise RecursionError(CANARY)


# What a failure does.


@pytest.mark.parametrize("fault", [fail, no_memory, too_deep])
def test_every_failure_is_the_one_constant_error_and_the_owner_is_told(
    curator: Curator, fault: Callable[[], None]
) -> None:
    failure = failing(curator, fault=fault, analyst="ann")
    assert (str(failure), failure.args) == (str(EngineFailure()), EngineFailure().args)
    assert (failure.__cause__, failure.__context__) == (None, None)
    assert spent(curator) == Pure("0.5")
    told = (curator.folder / "owner.log").read_text()
    (suspension,) = curator.suspensions()
    assert CANARY in told
    assert f"record {suspension.record} of the ledger" in told
    assert (suspension.analyst, suspension.tables, suspension.sql) == ("ann", ("Visits",), QUESTION)
    assert CANARY not in str([entry.body for entry in curator.ledger.entries()])


def test_a_fault_of_what_is_computed_from_exact_values_is_a_failure_like_any_other(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_later(*_: object) -> None:
        raise OverflowError(CANARY)

    monkeypatch.setattr(answering, "measure", fail_later)
    with pytest.raises(EngineFailure) as caught:
        curator.ask(QUESTION, 1, analyst="ann")
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert CANARY in (curator.folder / "owner.log").read_text()
    monkeypatch.undo()
    with pytest.raises(Suspended):
        curator.ask(OTHER, 1, analyst="ann")


@pytest.mark.parametrize(
    "ask",
    [
        lambda curator, who: curator.ask(OTHER, 1, analyst=who),
        lambda curator, who: curator.ask("SELECT COUNT(*) FROM VISITS", 1, analyst=who),
        lambda curator, who: curator.ask("SELECT COUNT(*) FROM main.visits", 1, analyst=who),
        lambda curator, who: curator.ask_all([OTHER, "SELECT COUNT(*) FROM visits"], 1, analyst=who),
        lambda curator, who: curator.explain(OTHER, 1, analyst=who),
        lambda curator, who: curator.suggest_bounds("visits", "age", 1, analyst=who),
        lambda curator, who: curator.suggest_rows_per_unit("visits", 1, analyst=who),
        lambda curator, who: curator.touched("visits", 1, analyst=who),
    ],
)
@pytest.mark.parametrize("who", ["ann", None])
@pytest.mark.some(2)
def test_whoever_failed_is_suspended_at_these_tables_and_nobody_else_nor_elsewhere(
    curator: Curator, ask: Callable[[Curator, str | None], object], who: str | None
) -> None:
    failing(curator, analyst=who)
    before, runs = spent(curator), breaker(curator).runs
    (suspension,) = curator.suspensions()
    with pytest.raises(Suspended, match=rf"record {suspension.record} ") as caught:
        ask(curator, who)
    assert caught.value.record == suspension.record
    assert (spent(curator), breaker(curator).runs) == (before, runs)
    curator.ask("SELECT COUNT(*) FROM others", "0.1", analyst=who)
    for other in {"ann", "bob", None} - {who}:
        ask(curator, other)


def test_another_process_sees_the_suspension_at_once(curator: Curator) -> None:
    another = Curator(curator.folder)
    another.ask(OTHER, "0.1", analyst="ann")
    failing(curator, analyst="ann")
    with pytest.raises(Suspended):
        another.ask(OTHER, "0.2", analyst="ann")
    another.lift(another.suspensions()[0].record, "the disk was full", by="olga")
    curator.ask(OTHER, "0.2", analyst="ann")


def test_a_failure_over_two_tables_suspends_at_both(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    curator.protect(rows(), visits("people"))
    stays = Table(
        "stays",
        (Column("patient", ColumnType.INTEGER), Column("days", ColumnType.INTEGER, lower=0, upper=30)),
        foreign_keys=(ForeignKey("patient", "people", "patient_id"),),
        budget=Budget(10),
        analysts={"ann": None},
    )
    curator.protect(pa.table({"patient": list(range(100)), "days": [3] * 100}), stays)
    failing(curator, "SELECT COUNT(*) FROM people p JOIN stays s ON s.patient = p.patient_id", analyst="ann")
    for sql in ("SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM stays"):
        with pytest.raises(Suspended):
            curator.ask(sql, 1, analyst="ann")


# Lifting, and asking again.


def test_after_a_lift_the_same_plan_costs_again_and_is_answered(curator: Curator) -> None:
    failing(curator, analyst="ann")
    (suspension,) = curator.suspensions()
    lifted = curator.lift(suspension.record, "a disk was full; it is larger now", by="olga")
    assert (lifted.by, lifted.because, lifted.is_lifted) == ("olga", "a disk was full; it is larger now", True)
    assert curator.suspensions() == []
    assert curator.suspensions(lifted=True) == [lifted]
    assert not curator.explain(QUESTION, "0.5", analyst="ann").is_known
    first = curator.ask(QUESTION, "0.5", analyst="ann")
    assert spent(curator) == Pure(1)
    assert first.charged
    again = curator.ask(QUESTION, "0.5", analyst="ann")
    assert (again.table, again.charged, spent(curator)) == (first.table, False, Pure(1))
    assert curator.explain(QUESTION, "0.5", analyst="ann").is_known


def test_another_analyst_pays_for_a_plan_that_failed(curator: Curator) -> None:
    failing(curator, analyst="ann")
    assert curator.ask(QUESTION, "0.5", analyst="bob").charged
    assert spent(curator) == Pure(1)
    assert spent(curator, "Visits/bob") == Pure("0.5")


def test_a_plan_may_fail_again_and_again_and_is_never_free(curator: Curator) -> None:
    for times in range(1, 4):
        failing(curator, analyst="ann")
        assert spent(curator).epsilon * 2 == times
        curator.lift(curator.suspensions()[0].record, "looked at it")
    curator.ask(QUESTION, "0.5", analyst="ann")
    assert spent(curator) == Pure(2)


def test_stored_answers_stay_free_for_those_who_may_ask(curator: Curator) -> None:
    known = curator.ask(OTHER, 1, analyst="ann")
    failing(curator, analyst="ann")
    curator.lift(curator.suspensions()[0].record, "looked at it")
    before = spent(curator)
    assert curator.ask(OTHER, 1, analyst="ann").table == known.table
    assert spent(curator) == before


def test_the_same_request_stands_for_the_same_failure_for_ever(curator: Curator) -> None:
    failing(curator, analyst="ann", request="r1")
    before, runs = spent(curator), breaker(curator).runs

    def sent_again() -> str:
        with pytest.raises(EngineFailure) as caught:
            curator.ask(QUESTION, "0.5", analyst="ann", request="r1")
        return str(caught.value)

    assert sent_again() == str(EngineFailure())
    curator.lift(curator.suspensions()[0].record, "looked at it")
    assert sent_again() == str(EngineFailure())
    assert (spent(curator), breaker(curator).runs) == (before, runs)
    answer = curator.ask(QUESTION, "0.5", analyst="ann", request="r2")
    assert sent_again() == str(EngineFailure())
    assert curator.ask(QUESTION, "0.5", analyst="ann", request="r2").table == answer.table
    assert spent(curator) == Pure(1)


def test_a_lift_names_a_failure_and_a_reason(curator: Curator) -> None:
    failing(curator, analyst="ann")
    record = curator.suspensions()[0].record
    for wrong, reason in ((1, "x"), (record + 100, "x"), (record, " "), (record, "x" * 1001), ("3", "x"), (True, "x")):
        with pytest.raises(InvalidInput):
            curator.lift(wrong, reason)  # type: ignore[arg-type]
    first = curator.lift(record, "looked at it", by="olga")
    assert curator.lift(record, "another word", by="otto") == first


# What is no failure.


def test_an_interrupted_run_is_no_failure_and_runs_again_for_free(curator: Curator) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    breaker(curator).fault = interrupted
    with pytest.raises(KeyboardInterrupt):
        curator.ask(QUESTION, 1, analyst="ann")
    breaker(curator).fault = None
    assert curator.ask(QUESTION, 1, analyst="ann").charged
    assert spent(curator) == Pure(1)
    assert curator.suspensions() == []


def test_a_service_that_closes_meanwhile_records_nothing(curator: Curator) -> None:
    class Closing(Exception):
        pass

    def hold() -> None:
        raise Closing

    breaker(curator).fault = fail
    with pytest.raises(Closing):
        curator.ask(QUESTION, 1, analyst="ann", hold=hold)
    assert curator.suspensions() == []
    assert failing(curator, analyst="ann")


def test_a_killed_process_leaves_its_charge_which_is_never_returned(curator: Curator) -> None:
    killed(curator.folder, QUESTION, "ann")
    assert spent(curator) == Pure("0.5")
    breaker(curator).fault = unsent
    with pytest.raises(EngineUnavailable):
        curator.ask(QUESTION, "0.5", analyst="ann")
    assert spent(curator) == Pure("0.5")  # who was killed may have read rows
    breaker(curator).fault = None
    assert curator.ask(QUESTION, "0.5", analyst="ann").charged
    assert spent(curator) == Pure("0.5")
    assert "return" not in kinds(curator)
    assert kinds(curator).count("rerun") == 2
    assert kinds(curator).count("stop") == 1  # the one that was not sent


def test_a_failure_after_a_kill_ends_the_free_runs(curator: Curator) -> None:
    killed(curator.folder, QUESTION, "ann")
    failing(curator, analyst="ann")
    curator.lift(curator.suspensions()[0].record, "looked at it")
    assert curator.ask(QUESTION, "0.5", analyst="ann").charged
    assert spent(curator) == Pure(1)


def test_a_ledger_that_cannot_record_a_failure_tells_nobody_what_it_was(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def fail_on_a_full_disk() -> None:
        monkeypatch.setattr(curator.ledger.witness, "attest", full)
        fail()

    breaker(curator).fault = fail_on_a_full_disk
    with pytest.raises(LedgerError) as caught:
        curator.ask(QUESTION, 1, analyst="ann")
    monkeypatch.undo()
    found: BaseException | None = caught.value
    while found is not None:
        assert CANARY not in str(found)
        found = found.__cause__ or found.__context__


# An engine that is down.


def test_an_engine_that_is_down_costs_nothing_and_suspends_nobody(curator: Curator) -> None:
    before = list(curator.ledger.entries())
    breaker(curator).is_down = True
    with pytest.raises(EngineUnavailable) as caught:
        curator.ask(QUESTION, 1, analyst="ann", request="r")
    assert (str(caught.value), caught.value.__context__) == (str(EngineUnavailable()), None)
    assert "10.0.0.7" not in str(caught.value)
    assert "10.0.0.7" in (curator.folder / "owner.log").read_text()
    assert list(curator.ledger.entries()) == before
    breaker(curator).is_down = False
    assert curator.ask(QUESTION, 1, analyst="ann", request="r").charged


def test_stored_answers_are_served_while_the_engine_is_down(curator: Curator) -> None:
    first = curator.ask(QUESTION, 1, analyst="ann")
    breaker(curator).is_down = True
    assert curator.ask(QUESTION, 1, analyst="bob").table == first.table


@pytest.mark.parametrize("sql", [QUESTION, "SELECT AVG(age) FROM visits WHERE ward = 'a'", SEVERAL])
def test_a_statement_that_was_not_sent_is_given_back_to_the_last_unit(curator: Curator, sql: str) -> None:
    curator.ask("SELECT COUNT(*) FROM visits WHERE ward = 'b'", "0.3", analyst="bob")
    before = curator.ledger.accounts()
    breaker(curator).fault = unsent
    with pytest.raises(EngineUnavailable):
        curator.ask(sql, "0.7", analyst="bob", request="r")
    assert curator.ledger.accounts() == before
    assert kinds(curator)[-1] == "return"
    assert curator.suspensions() == []
    breaker(curator).fault = None
    answer = curator.ask(sql, "0.7", analyst="bob", request="r")
    assert answer.charged
    assert curator.ledger.accounts() != before
    assert curator.ask(sql, "0.7", analyst="bob", request="r").table == answer.table
    assert kinds(curator).count("return") == 1


def test_a_server_that_is_lost_after_the_first_of_two_statements_is_a_failure(curator: Curator) -> None:
    start = breaker(curator).runs

    def second_is_lost() -> None:
        if breaker(curator).runs > start + 1:
            unsent()

    failing(curator, SEVERAL, fault=second_is_lost, analyst="ann")
    assert spent(curator) == Pure("0.5")
    assert kinds(curator)[-1] == "failure"


def test_a_request_whose_charge_was_returned_stands_for_the_failure_that_came_next(curator: Curator) -> None:
    breaker(curator).fault = unsent
    with pytest.raises(EngineUnavailable):
        curator.ask(QUESTION, "0.5", analyst="ann", request="r")
    failing(curator, analyst="ann", request="r")
    curator.lift(curator.suspensions()[0].record, "looked at it")
    with pytest.raises(EngineFailure):
        curator.ask(QUESTION, "0.5", analyst="ann", request="r")
    assert spent(curator) == Pure("0.5")


# Several at once.


class Asking(threading.Thread):
    """A question on a thread of its own, which stops before its rows are read until it is told how that ends."""

    def __init__(self, curator: Curator, sql: str, analyst: str) -> None:
        super().__init__(daemon=True)
        self._curator, self._sql, self._analyst = curator, sql, analyst
        self._has_begun, self._go = threading.Event(), threading.Event()
        self._fault: Callable[[], None] | None = None
        self.found: Answer | DiscreetError | None = None
        breaker(curator).fault = self._wait
        self.start()
        assert self._has_begun.wait(20)
        breaker(curator).fault = None

    def _wait(self) -> None:
        self._has_begun.set()
        assert self._go.wait(20)
        if self._fault is not None:
            self._fault()

    def run(self) -> None:
        try:
            self.found = self._curator.ask(self._sql, "0.5", analyst=self._analyst)
        except DiscreetError as refusal:
            self.found = refusal

    def end(self, fault: Callable[[], None] | None = None) -> Answer | DiscreetError | None:
        self._fault = fault
        self._go.set()
        self.join(20)
        return self.found


@pytest.mark.parametrize("fault", [None, fail])
def test_what_runs_beside_a_failure_ends_in_the_same_words_whatever_came_of_it(
    curator: Curator, fault: Callable[[], None] | None
) -> None:
    beside = Asking(curator, OTHER, "ann")
    failing(curator, analyst="ann")
    first = curator.suspensions()[0].record
    heard = beside.end(fault)
    assert isinstance(heard, Suspended)
    assert str(heard) == str(Suspended.since(first, "Visits"))
    assert heard.__context__ is None
    assert "answer" not in kinds(curator)
    for one in curator.suspensions():
        curator.lift(one.record, "looked at it")
    assert curator.ask(OTHER, "0.5", analyst="ann").charged
    assert spent(curator) == (Pure(1) if fault is None else Pure("1.5"))


def test_a_charge_is_not_returned_while_another_works_on_it(curator: Curator) -> None:
    first = Asking(curator, QUESTION, "ann")
    second = Asking(curator, QUESTION, "bob")
    assert isinstance(first.end(unsent), EngineUnavailable)
    assert spent(curator) == Pure("0.5")
    assert isinstance(second.end(), Answer)
    assert spent(curator) == Pure("0.5")
    assert kinds(curator).count("charge") == 1


def test_who_fails_after_another_was_answered_gets_that_answer(curator: Curator) -> None:
    first = Asking(curator, QUESTION, "ann")
    answer = Asking(curator, QUESTION, "bob").end()
    heard = first.end(fail)
    assert isinstance(answer, Answer)
    assert isinstance(heard, Answer)
    assert heard.table == answer.table
    assert curator.suspensions() == []


def test_who_is_done_after_another_failed_gets_no_answer_for_the_charge_that_ended(curator: Curator) -> None:
    first, second = Asking(curator, QUESTION, "ann"), Asking(curator, QUESTION, "bob")
    assert isinstance(first.end(fail), EngineFailure)
    assert isinstance(second.end(), EngineFailure)
    assert [one.analyst for one in curator.suspensions()] == ["ann"]
    assert curator.ask(QUESTION, "0.5", analyst="bob").charged
    assert spent(curator) == Pure(1)


def test_two_who_fail_on_one_charge_are_both_suspended(curator: Curator) -> None:
    first, second = Asking(curator, QUESTION, "ann"), Asking(curator, QUESTION, "bob")
    assert isinstance(first.end(fail), EngineFailure)
    assert isinstance(second.end(fail), EngineFailure)
    assert [one.analyst for one in curator.suspensions()] == ["ann", "bob"]


def test_answers_that_are_not_shared_suspend_each_for_themselves(tmp_path: Path) -> None:
    curator = opened(tmp_path, shared_answers=False)
    curator.protect(rows(), visits())
    failing(curator, analyst="ann", request="r")
    assert curator.ask(QUESTION, "0.5", analyst="bob", request="r").charged
    with pytest.raises(EngineFailure):
        curator.ask(QUESTION, "0.5", analyst="ann", request="r")
    assert verify(curator.folder).is_sound
