"""The curator end to end: policy, price, charge, run, receipt, with a real store and a real ledger."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.certificates.certificate import is_genuine
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.snapshot import DuckDBSnapshot
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailure,
    InvalidInput,
    InvalidType,
    LedgerError,
    QueryRefused,
    RequestConflict,
    Suspended,
)
from discreet.noise.source import ReplayableSource
from discreet.privacy.loss import Pure, ZeroConcentrated

CANARY = 7_777_777


def visits(people: int = 400, each: int = 3, extra: Sequence[dict[str, Any]] = ()) -> pa.Table:
    generator = np.random.default_rng(5)
    rows = people * each
    columns = {
        "patient_id": np.repeat(np.arange(people), each).tolist(),
        "ward": [("cardiology", "surgery", "neurology")[k] for k in generator.integers(0, 3, rows)],
        "age": generator.integers(0, 100, rows).tolist(),
        "cost": generator.uniform(0, 1000, rows).tolist(),
    }
    for row in extra:
        for name, values in columns.items():
            values.append(row[name])
    return pa.table(columns)


def policy(budget: Budget | None = None, **more: Any) -> Table:
    return Table(
        "visits",
        (
            Column("patient_id", ColumnType.INTEGER),
            Column("ward", ColumnType.TEXT, keys=("cardiology", "surgery", "neurology")),
            Column("age", ColumnType.INTEGER, lower=0, upper=110),
            Column("cost", ColumnType.REAL, lower=0, upper=1000),
        ),
        unit="patient_id",
        budget=budget or Budget(3),
        rows_per_unit=5,
        **more,
    )


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Protected visits, in a folder of which every test has a copy."""
    folder = tmp_path_factory.mktemp("protected")
    made = Curator(folder)
    made.protect(visits(), policy())
    made.ledger.close()
    made.engine.close()
    return folder


@pytest.fixture
def curator(protected: Path, tmp_path: Path) -> Curator:
    return Curator(shutil.copytree(protected, tmp_path / "hospital"))


QUESTION = "SELECT ward, COUNT(*) AS n, AVG(age) AS mean_age FROM visits GROUP BY ward ORDER BY ward"


def test_the_price_of_a_question_is_the_epsilon_one_names(curator: Curator) -> None:
    answer = curator.ask(QUESTION, epsilon="0.5")
    assert answer.price == Pure("0.5")
    assert curator.budget()["visits"]["spent"] == Pure("0.5")
    assert curator.budget()["visits"]["left"] == Pure("2.5")


def test_answers_are_near_the_truth_and_say_how_near(curator: Curator) -> None:
    answer = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=2, confidence=0.999999)
    (low, high) = answer.error["n"][0] or (0, 0)
    assert low <= 1200 <= high  # fails once in a million runs
    assert abs(answer.to_rows()[0]["n"] - 1200) <= (high - low)


def test_every_public_group_is_listed_also_the_empty_ones(tmp_path: Path) -> None:
    curator = Curator(tmp_path / "hospital")
    curator.protect(visits(people=0), policy())
    wards = [row["ward"] for row in curator.ask(QUESTION, epsilon=1).to_rows()]
    assert wards[:3] == ["cardiology", "neurology", "surgery"]


def test_explaining_reads_nothing_and_costs_nothing(curator: Curator) -> None:
    before = curator.ledger.head()
    found = curator.explain(QUESTION, epsilon="0.5")
    assert found.price == Pure("0.5")
    assert found.affordable
    assert found.accounts == ("visits",)
    assert found.errors[0].within is not None
    assert curator.ledger.head() == before


def test_an_explanation_prints_what_an_analyst_wants_to_know(curator: Curator) -> None:
    printed = str(curator.explain(QUESTION, epsilon="0.5")).splitlines()
    assert printed[0].startswith("price    ε = 0.5: one unit makes no outcome more than 1.64")
    assert printed[1] == "afforded yes"
    assert [line.split()[0] for line in printed[2:4]] == ["groups", "error"]
    assert not any("Fraction(" in line or "Explanation(" in line for line in printed)


def test_what_was_asked_before_is_explained_as_free_while_the_data_is_the_same(curator: Curator) -> None:
    assert not curator.explain(QUESTION, epsilon=2).is_known
    curator.ask(QUESTION, epsilon=2)
    found = curator.explain(f"{QUESTION} LIMIT 1", epsilon=2)
    assert (found.is_known, found.affordable, found.due, found.price) == (True, True, None, Pure(2))
    other = curator.explain(QUESTION, epsilon="2.5")
    assert (other.is_known, other.affordable, other.due) == (False, False, Pure("2.5"))
    curator.protect(visits(), policy())
    assert not curator.explain(QUESTION, epsilon=2).is_known


def test_the_same_question_in_other_words_is_served_again_for_free(curator: Curator) -> None:
    first = curator.ask(QUESTION, epsilon="0.5")
    spelled = "select WARD as ward, count(*) as n, avg(AGE) as mean_age from main.visits group by 1 order by 1"
    again = curator.ask(spelled, epsilon="0.5")
    assert first.charged
    assert not again.charged
    assert again.to_rows() == first.to_rows()
    assert curator.budget()["visits"]["spent"] == Pure("0.5")


def test_post_processing_of_an_answer_is_free(curator: Curator) -> None:
    curator.ask(QUESTION, epsilon="0.5")
    top = curator.ask(QUESTION.replace("ORDER BY ward", "HAVING COUNT(*) > 0 ORDER BY n DESC LIMIT 1"), epsilon="0.5")
    assert not top.charged
    assert len(top.to_rows()) == 1


def test_new_data_is_a_new_question(curator: Curator) -> None:
    curator.ask(QUESTION, epsilon="0.5")
    curator.protect(visits(people=10), policy())
    assert curator.ask(QUESTION, epsilon="0.5").charged


def test_one_request_id_stands_for_one_question(curator: Curator) -> None:
    first = curator.ask(QUESTION, epsilon="0.5", request="r1")
    assert curator.ask(QUESTION, epsilon="0.5", request="r1").to_rows() == first.to_rows()
    with pytest.raises(RequestConflict):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon="0.5", request="r1")
    assert curator.budget()["visits"]["spent"] == Pure("0.5")


def test_a_question_that_cannot_be_afforded_is_refused_for_free(curator: Curator) -> None:
    curator.ask(QUESTION, epsilon="2.9")
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon="0.2")
    assert curator.budget()["visits"]["left"] == Pure("0.1")


def test_analysts_have_caps_within_the_tables_budget(tmp_path: Path) -> None:
    curator = Curator(tmp_path / "hospital")
    curator.protect(visits(), policy(analysts={"ann": Budget("0.5"), "bob": None}))
    curator.ask("SELECT COUNT(*) FROM visits", epsilon="0.5", analyst="ann")
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT SUM(age) FROM visits", epsilon="0.1", analyst="ann")
    curator.ask("SELECT SUM(age) FROM visits", epsilon="0.1", analyst="bob")
    with pytest.raises(InvalidInput, match="named in the policy"):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon="0.1", analyst="eve")
    assert curator.budget()["visits"]["spent"] == Pure("0.6")


def test_an_approximate_budget_is_spent_as_rho(tmp_path: Path) -> None:
    curator = Curator(tmp_path / "hospital")
    curator.protect(visits(), policy(Budget(3, "1e-6")))
    answer = curator.ask(QUESTION, epsilon="0.5")
    assert isinstance(answer.price, ZeroConcentrated)
    assert answer.price.epsilon_at("1e-6") <= 0.5


def test_asking_for_an_error_finds_the_price(curator: Curator) -> None:
    answer = curator.ask("SELECT COUNT(*) AS n FROM visits", within=30.0)
    (low, high) = answer.error["n"][0] or (0, 0)
    assert (high - low) / 2 <= 30
    assert isinstance(answer.price, Pure)
    assert answer.price.epsilon < 3


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM visits",
        "SELECT patient_id FROM visits",
        "SELECT SUM(patient_id) FROM visits",
        "SELECT COUNT(*) FROM nobody",
        "SELECT COUNT(*) FROM visits WHERE agee > 3",
        "DROP TABLE visits",
        "SELECT COUNT(*) FROM visits; SELECT 1",
        "SELECT COUNT(*) FROM 'visits.parquet'",
        "SELECT COUNT(*) FROM read_csv('x')",
        "this is not SQL",
    ],
)
def test_refusals_come_before_any_row_is_read(curator: Curator, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: Any) -> None:
        raise AssertionError("the engine was asked for rows")

    for kind in (DuckDBEngine, DuckDBSnapshot):
        monkeypatch.setattr(kind, "run", touched)
        monkeypatch.setattr(kind, "_run", touched)
    before = curator.ledger.head()
    with pytest.raises(QueryRefused):
        curator.ask(sql, epsilon=1)
    assert curator.ledger.head() == before


@pytest.mark.parametrize("tail", ["ORDER BY nobody", "HAVING COUNT(*) > DATE '2020-01-01'", "QUALIFY nope OVER () > 1"])
def test_mistakes_above_the_aggregates_cost_nothing(curator: Curator, tail: str) -> None:
    with pytest.raises(QueryRefused):
        curator.ask(f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward {tail}", epsilon=1)
    assert curator.budget()["visits"]["spent"] == Pure(0)


def test_an_engine_that_fails_gives_one_constant_error_and_no_refund(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = curator.engine.snapshot()
    monkeypatch.setattr(type(snapshot), "_run", lambda *_: 1 / 0)
    with pytest.raises(EngineFailure) as failure:
        curator.ask(QUESTION, epsilon="0.5")
    assert "division" not in str(failure.value)
    assert curator.budget()["visits"]["spent"] == Pure("0.5")
    monkeypatch.undo()
    with pytest.raises(Suspended):
        curator.ask(QUESTION, epsilon="0.5")
    assert curator.budget()["visits"]["spent"] == Pure("0.5")


def test_plans_and_prices_are_the_same_on_neighbouring_tables(tmp_path: Path) -> None:
    one = {"patient_id": 10_000, "ward": "surgery", "age": 50, "cost": 10.0}
    curators = []
    for name, extra in (("with", [one]), ("without", [])):
        curator = Curator(tmp_path / name)
        curator.protect(visits(extra=extra), policy())
        curators.append(curator)
    for sql in (QUESTION, "SELECT SUM(cost), MEDIAN(age) FROM visits WHERE ward = 'surgery'"):
        plans = [curator.explain(sql, epsilon=1) for curator in curators]
        assert plans[0] == plans[1]


def test_a_canary_value_never_shows_in_logs_errors_or_certificates(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    curator = Curator(tmp_path / "hospital")
    row = {"patient_id": CANARY, "ward": f"ward {CANARY}", "age": 3, "cost": 1.0}
    curator.protect(visits(extra=[row]), policy())
    shown = []
    for sql in (QUESTION, "SELECT MAX(age) FROM visits", "SELECT COUNT(*) FROM visits WHERE nope = 1", "SELECT 1/0"):
        try:
            answer = curator.ask(sql, epsilon="0.1")
            shown += [str(answer), answer.to_json(), json.dumps(answer.certificate)]
        except DiscreetError as refusal:
            shown.append(str(refusal))
    shown += [caplog.text, *capfd.readouterr(), json.dumps([e.body for e in curator.ledger.entries()])]
    assert not [text for text in shown if str(CANARY) in text]


def test_certificates_are_genuine_and_tampering_shows(curator: Curator) -> None:
    paper = curator.ask(QUESTION, epsilon="0.5").certificate
    assert is_genuine(json.loads(json.dumps(paper)))
    assert not is_genuine(paper | {"loss": "Pure(ε=0.1)"})
    assert paper["question"] == QUESTION


def test_a_curator_reopens_where_it_stopped(curator: Curator) -> None:
    first = curator.ask(QUESTION, epsilon="0.5")
    reopened = Curator(curator.folder)
    assert reopened.ask(QUESTION, epsilon="0.5").to_rows() == first.to_rows()
    assert reopened.budget() == curator.budget()
    assert verify(curator.folder).is_sound


def test_a_ledger_that_cannot_be_believed_is_not_opened(curator: Curator) -> None:
    curator.ask(QUESTION, epsilon="0.5")
    curator.ledger.witness.path.write_bytes(b"")
    with pytest.raises(LedgerError):
        Curator(curator.folder)


def test_a_budget_cannot_be_renewed_by_protecting_again(curator: Curator) -> None:
    curator.ask(QUESTION, epsilon=2)
    with pytest.raises(InvalidInput, match="budget"):
        curator.protect(visits(), policy(Budget(100)))
    curator.protect(visits(), policy())
    assert curator.budget()["visits"]["left"] == Pure(1)


def test_a_budget_cannot_be_renewed_by_another_spelling_of_the_name(curator: Curator) -> None:
    curator.ask(QUESTION, epsilon=2)
    with pytest.raises(InvalidInput, match="name"):
        curator.protect(visits(), replace(policy(), name="VISITS"))
    assert list(curator.budget()) == ["visits"]


def test_a_budget_cannot_be_renewed_by_losing_the_ledger(curator: Curator) -> None:
    curator.ask(QUESTION, epsilon=2)
    curator.ledger.close()
    for file in curator.folder.glob("ledger.*"):
        file.unlink()
    with pytest.raises(LedgerError, match="grant every budget again"):
        Curator(curator.folder)


@pytest.mark.parametrize("name", ["../outside", "a/b", "..", ".hidden", 'quo"ted', "sales.visits", "größe", "a%2Fb"])
@pytest.mark.some(3)
def test_tables_of_any_name_stay_in_their_folder_and_are_found_again(tmp_path: Path, name: str) -> None:
    curator = Curator(tmp_path / "inner" / "hospital")
    curator.protect(visits(), replace(policy(), name=name))
    wards = Table('w"x/y', (Column("name", ColumnType.TEXT),), public=True)
    curator.protect(pa.table({"name": ["surgery"]}), wards)
    assert {path.name for path in (tmp_path / "inner").iterdir()} == {"hospital"}
    reopened = Curator(curator.folder)
    assert {table.name for table in reopened.catalog} == {name, wards.name}
    spelled = '"' + name.replace('"', '""') + '"'
    assert reopened.ask(f"SELECT COUNT(*) FROM {spelled}", epsilon=1).to_rows()
    assert reopened.ask('SELECT name FROM "w""x/y"', epsilon=1).to_rows() == [{"name": "surgery"}]


def test_a_table_named_like_an_analysts_account_has_its_own(tmp_path: Path) -> None:
    curator = Curator(tmp_path / "hospital")
    curator.protect(visits(), replace(policy(Budget(3)), name="visits/ann"))
    curator.protect(visits(), policy(analysts={"ann": Budget("0.5")}))
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1, analyst="ann")
    assert curator.ask('SELECT COUNT(*) FROM "visits/ann"', epsilon=1).to_rows()


def test_a_predictable_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        Curator(tmp_path, source=ReplayableSource(1))


def test_prices_out_of_all_proportion_are_refused_or_met_in_plain_words(curator: Curator) -> None:
    rows = Table("rows", (Column("age", ColumnType.INTEGER, lower=0, upper=110),), budget=Budget(6000))
    curator.protect(visits().select(["age"]), rows)
    for table in ("visits", "rows"):
        with pytest.raises(QueryRefused, match="price is too small"):
            curator.ask(f"SELECT COUNT(*) FROM {table}", epsilon="1e-13")
    assert curator.ask("SELECT COUNT(*) AS n FROM rows", epsilon=5000).to_rows()[0]["n"] == 1200
    with pytest.raises(InvalidInput, match="below 6,000"):
        curator.ask("SELECT COUNT(*) FROM rows", epsilon="1e6")


def test_a_question_needs_a_price_or_an_error(curator: Curator) -> None:
    with pytest.raises(InvalidInput):
        curator.ask(QUESTION)
    with pytest.raises(InvalidInput):
        curator.ask(QUESTION, epsilon=1, within=3.0)
    with pytest.raises(InvalidInput):
        curator.ask(QUESTION, within=-1.0)


@pytest.mark.parametrize("confidence", ["0.9", "9/10", Fraction(9, 10), Decimal("0.9"), np.float32(0.9)])
@pytest.mark.some(2)
def test_a_confidence_is_one_number_however_it_is_written(curator: Curator, confidence: Any) -> None:
    for query in (QUESTION, "SELECT VARIANCE(age) AS v, COUNT(*) / 2 AS half FROM visits"):
        answer = curator.ask(query, epsilon="0.1", confidence=confidence)
        again = curator.ask(query, epsilon="0.1", confidence=0.9)
        assert (answer.confidence, answer.error) == (0.9, again.error)
        (batch,) = curator.ask_all([query], "0.1", confidence=confidence)
        rehearsed = curator.rehearse(query, "0.1", confidence=confidence)
        assert (batch.confidence, rehearsed.confidence) == (0.9, 0.9)
        assert curator.explain(query, 1, confidence=confidence) == curator.explain(query, 1, confidence=0.9)


def test_a_wanted_error_can_be_written_as_text(curator: Curator) -> None:
    query = "SELECT COUNT(*) FROM visits"
    assert curator.explain(query, within="30") == curator.explain(query, within=30.0)


@pytest.mark.parametrize("confidence", ["1", "x", None, [0.9], "0." + "9" * 30, Fraction(1, 10**400)])
def test_a_confidence_that_no_error_bar_can_have_is_refused_before_it_costs(curator: Curator, confidence: Any) -> None:
    for ask in (curator.ask, curator.explain, curator.rehearse):
        with pytest.raises(InvalidInput, match="confidence"):
            ask(QUESTION, 1, confidence=confidence)
    with pytest.raises(InvalidInput, match="confidence"):
        curator.ask_all([QUESTION], 1, confidence=confidence)
    assert curator.budget()["visits"]["spent"] == Pure(0)


def test_what_is_no_text_is_refused_in_one_sentence(curator: Curator) -> None:
    for ask in (curator.ask, curator.explain, curator.rehearse):
        with pytest.raises(InvalidType, match="a question must be text"):
            ask(None, 1)  # type: ignore[arg-type]
        with pytest.raises(InvalidType, match="who asks must be text"):
            ask(QUESTION, 1, analyst=["ann"])  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="a question must be text"):
        curator.ask_all([1], 1)  # type: ignore[list-item]


def test_a_batch_that_can_be_read_once_is_answered(curator: Curator) -> None:
    assert len(curator.ask_all((query for query in [QUESTION]), 1)) == 1  # type: ignore[arg-type]


def test_public_tables_are_answered_exactly_and_for_free(curator: Curator) -> None:
    wards = Table("wards", (Column("name", ColumnType.TEXT), Column("floor", ColumnType.INTEGER)), public=True)
    curator.protect(pa.table({"name": ["surgery", "cardiology"], "floor": [2, 1]}), wards)
    answer = curator.ask("SELECT name FROM wards ORDER BY floor", epsilon=1)
    assert [row["name"] for row in answer.to_rows()] == ["cardiology", "surgery"]
    assert curator.budget()["visits"]["spent"] == Pure(0)
