"""Standing series: paid once, the first rows of a person count, one request has one answer, and nothing is secret."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.curator.certificates.certificate import is_by_curator, is_in_ledger
from discreet.curator.ledger.units import LOSS_UNITS
from discreet.curator.ledger.verify import verify
from discreet.curator.series.book import list_series, name_step
from discreet.curator.series.steps import find_plan
from discreet.errors import BudgetExceeded, DiscreetError, EngineFailure, InvalidValue, QueryRefused
from discreet.query.run.measure import exact_sums, public_groups
from tests.curator.clinic import BY_WARD, BY_WEEK, WEEKS, Visit, clinic, close, go_by, policy, visits

EXACT = 4000
"""A price at which noise is nothing, so that what is shown is what was added up."""


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[dp.Curator]:
    made = clinic(tmp_path / "clinic")
    yield made
    close(made)


def _counts(series: object) -> list[int]:
    return [row["n"] for row in sorted(series.table.to_pylist(), key=lambda row: row["week"])]  # type: ignore[attr-defined]


def test_a_series_is_charged_once_and_answered_at_every_close(curator: dp.Curator) -> None:
    series = curator.subscribe(BY_WEEK, EXACT, periods=4, rows_per_unit=3)
    spent = curator.ledger.accounts()["visits"].spent
    assert spent == EXACT * LOSS_UNITS
    assert series.table.num_rows == 0
    assert series.next is not None
    assert series.next.name == WEEKS[0]
    go_by(curator, [(who, "A", week) for who in range(10) for week in range(4)], 0)
    assert _counts(series) == [10]
    go_by(curator, [], 3)
    assert _counts(series) == [10, 10, 10, 0]
    assert series.next is None
    assert curator.ledger.accounts()["visits"].spent == spent
    assert verify(curator.folder).problems == []


def test_the_first_rows_of_a_person_count_and_the_period_where_they_run_out_is_shared(curator: dp.Curator) -> None:
    series = curator.subscribe(BY_WEEK, EXACT, periods=3, rows_per_unit=5)
    rows = [(who, "A", 0) for who in range(20) for _ in range(3)] + [
        (who, "A", 1) for who in range(20) for _ in range(4)
    ]
    go_by(curator, rows + [(who, "A", 2) for who in range(20)], 2)
    assert _counts(series) == [60, 40, 0]


def test_a_row_of_a_later_period_changes_nothing_that_was_or_will_be_said_before_it(tmp_path: Path) -> None:
    """Finds weights that use later periods, or the one that is still open."""
    early = [(who, "A", 0) for who in range(10) for _ in range(2)]
    late = [(who, "A", 1) for who in range(10) for _ in range(50)]
    plans = []
    for name, rows in {"without": early, "with": [*early, *late]}.items():
        curator = clinic(tmp_path / name)
        curator.subscribe(BY_WEEK, EXACT, periods=3, rows_per_unit=4)
        go_by(curator, rows, 0)
        plans.append(_exact(curator, 0))
        go_by(curator, [], 1)
        plans.append(_exact(curator, 0))
        close(curator)
    assert len({tuple(found.tolist()) for found in plans}) == 1


def _exact(curator: dp.Curator, week: int) -> np.ndarray:
    """What a step adds up, without noise."""
    plan = find_plan(curator, list_series(curator.ledger)[0].terms)
    snapshot = curator.engine.snapshot()
    step = plan.at(plan.terms.periods[week], snapshot)
    return np.concatenate([np.concatenate(part) for part in exact_sums(step, public_groups(step), snapshot.run)])


def test_a_weekly_visitor_weighs_as_many_rows_in_all_as_the_series_counts(curator: dp.Curator) -> None:
    """Finds weights of n so far instead of the first k: these would add up to more than was paid for."""
    series = curator.subscribe(BY_WEEK, EXACT, periods=5, rows_per_unit=3)
    go_by(curator, [(who, "A", week) for who in range(8) for week in range(5)], 4)
    whole = 65536 * 3 * 8
    assert sum(int(_exact(curator, week).sum()) for week in range(5)) == whole
    assert _counts(series) == [8, 8, 8, 0, 0]


def test_weights_follow_a_plain_reference_on_random_histories(curator: dp.Curator) -> None:
    chance = np.random.default_rng(7)
    rows: list[Visit] = []
    for who in range(60):
        for week, times in enumerate(chance.poisson(chance.gamma(2), 5)):
            rows += [(who, str(chance.choice(["A", "B"])), week) for _ in range(times)]
    curator.subscribe(BY_WARD + " ORDER BY 1, 2", EXACT, periods=5, rows_per_unit=4)
    go_by(curator, rows, 4)
    of_person = Counter((who, week) for who, _, week in rows)
    for week in range(5):
        weights = {who: _weight(of_person, who, week, 4) for who in range(60)}
        wanted = [sum(weights[who] for who, at, when in rows if (at, when) == (ward, week)) for ward in "AB"]
        assert _exact(curator, week).tolist() == wanted


def _weight(of_person: Counter[tuple[int, int]], who: int, week: int, most: int) -> int:
    """What section by section the rule says, in plain Python."""
    before, now = sum(of_person[who, week_before] for week_before in range(week)), of_person[who, week]
    if before + now <= most:
        return 65536
    return (most - before) * 65536 // now if before < most else 0


def test_people_are_counted_in_their_first_groups(curator: dp.Curator) -> None:
    sql = "SELECT date_trunc('week', admitted) AS week, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY week"
    series = curator.subscribe(sql, EXACT, periods=4, rows_per_unit=2)
    go_by(curator, [(who, "A", week) for who in range(9) for week in range(4) for _ in range(3)], 3)
    assert _counts(series) == [9, 9, 0, 0]
    assert series.at_limit["people"].to_pylist() == [0, 9, 0, 0]


def test_means_and_sums_are_of_the_rows_that_count(curator: dp.Curator) -> None:
    sql = (
        "SELECT date_trunc('week', admitted) AS week, COUNT(*) AS n, AVG(age) AS age, VARIANCE(age) AS v, SUM(age) AS s"
    )
    series = curator.subscribe(f"{sql} FROM visits GROUP BY 1", EXACT, periods=2, rows_per_unit=5)
    go_by(curator, [(7, "A", 0), (14, "A", 0), (15, "A", 0), (22, "B", 0)] * 1000, 1)
    first = series.table.to_pylist()[0]
    assert first["n"] == 20
    assert first["age"] == pytest.approx(40.5, abs=0.2)
    assert first["s"] == pytest.approx(810, abs=5)


def test_everybody_reaches_the_limit_once(curator: dp.Curator) -> None:
    series = curator.subscribe(BY_WARD, EXACT, periods=4, rows_per_unit=2)
    go_by(curator, [(who, "A", week) for who in range(30) for week in range(4) if who % 2 or week < 1], 3)
    assert series.at_limit["people"].to_pylist() == [0, 15, 0, 0]
    assert series.at_limit["period"].to_pylist() == WEEKS[:4]
    assert "About 15 people reached that" in series.notes[-1]


def test_a_changed_policy_does_not_change_a_series(curator: dp.Curator) -> None:
    """Finds a series that takes bounds, keys or k from the policy of today."""
    sql = "SELECT date_trunc('week', admitted) AS week, ward, SUM(age) AS n FROM visits GROUP BY 1, 2"
    series = curator.subscribe(sql, EXACT, periods=3, rows_per_unit=4)
    go_by(curator, [(who, "A", week) for who in range(20) for week in range(3)], 0)
    table = curator.catalog.table("visits")
    columns = [replace(one, upper=1) if one.name == "age" else one for one in table.columns]
    columns = [replace(one, keys=("B", "C", "D")) if one.name == "ward" else one for one in columns]
    with curator.changing_policies():
        curator.write_policy(replace(table, columns=tuple(columns), rows_per_unit=1))
    go_by(curator, [], 2)
    sums = [row["n"] for row in sorted(series.table.to_pylist(), key=lambda row: row["week"]) if row["ward"] == "A"]
    assert sums == pytest.approx([sums[0]] * 3, abs=5)
    assert sums[0] > 500


def test_a_period_with_missing_values_that_were_never_to_be_missing_is_not_released(tmp_path: Path) -> None:
    table = policy()
    columns = tuple(replace(one, nullable=False) if one.name == "age" else one for one in table.columns)
    curator = clinic(tmp_path, replace(table, columns=columns))
    sql = "SELECT date_trunc('week', admitted) AS week, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY 1"
    series = curator.subscribe(sql, EXACT, periods=3, rows_per_unit=2)
    go_by(curator, [(1, "A", 0)], 0)
    with curator.changing_policies():
        curator.write_policy(table)
    go_by(curator, [(1, "A", 1)], 1)
    assert _counts(series) == [1]
    assert series.periods[WEEKS[1]].startswith("not released: values are missing")
    assert verify(tmp_path).problems == []
    close(curator)


def test_a_step_is_drawn_once_and_every_period_has_one_of_its_own(curator: dp.Curator, tmp_path: Path) -> None:
    """Finds a step that is drawn twice and seen twice, and a request without the period."""
    series = curator.subscribe(BY_WEEK, 1, periods=3, rows_per_unit=3)
    go_by(curator, [(who, "A", 0) for who in range(100)], 2)
    first = series.to_arrow()
    assert len(set(_counts(series))) > 1, "every period has noise of its own"
    charges = [one.body for one in curator.ledger.entries() if one.body["kind"] == "charge"]
    names = [one["request"] for one in charges if one["request"].startswith("series:")]
    assert names == [f"series:{series.id}", *(name_step(series.id, week) for week in WEEKS[:3])]
    assert {one["body"] for one in charges[-3:]} == {hashlib.sha256(series.begun.terms.digest).hexdigest()}
    assert all(one["prices"] == {} for one in charges[-3:])
    curator.close("visits", through=WEEKS[2])
    with_another = dp.Curator(curator.folder, engine=curator.engine)
    assert with_another.series()[0].to_arrow().equals(first)
    with_another.ledger.close()
    assert series.to_arrow().equals(first)


def test_a_step_that_was_missed_is_caught_up_by_whoever_opens_the_curator(
    curator: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = curator.subscribe(BY_WEEK, EXACT, periods=2, rows_per_unit=3)
    monkeypatch.setattr("discreet.curator.curator.step_all", lambda curator: None)
    go_by(curator, [(who, "A", 0) for who in range(5)], 0)
    assert series.table.num_rows == 0
    monkeypatch.undo()
    dp.Curator(curator.folder, engine=curator.engine).ledger.close()
    assert _counts(series) == [5]


def test_the_account_of_people_pays_too_and_an_analyst_within_their_cap(tmp_path: Path) -> None:
    curator = clinic(tmp_path, policy(unit_name="patient", analysts={"ann": 3000}))
    people = pa.table({"id": [1, 2, 3]})
    curator.protect(people, table="patients", unit={"name": "patient", "column": "id"}, budget=5000)
    curator.subscribe(BY_WEEK, 2000, periods=2, rows_per_unit=2, analyst="ann")
    spent = {name: one.spent // LOSS_UNITS for name, one in curator.ledger.accounts().items()}
    assert spent == {"visits": 2000, "visits/ann": 2000, "patients": 0, "/patient": 2000}
    with pytest.raises(BudgetExceeded):
        curator.subscribe(BY_WEEK, 2000, periods=3, rows_per_unit=2, analyst="ann")
    assert len(curator.series()) == 1
    close(curator)


def test_the_same_series_again_is_free_and_the_same(curator: dp.Curator) -> None:
    ids = {curator.subscribe(BY_WEEK, part="1/2", periods=2, rows_per_unit=2).id for _ in range(2)}
    assert len(ids) == 1
    assert curator.ledger.accounts()["visits"].spent == 2500 * LOSS_UNITS
    assert len(curator.series()) == 1


def test_a_charge_whose_process_died_before_the_terms_were_stored_is_a_series(
    curator: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(curator.ledger, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            curator.subscribe(BY_WEEK, EXACT, periods=2, rows_per_unit=2)
    go_by(curator, [(who, "A", 0) for who in range(5)], 0)
    (series,) = curator.series()
    assert _counts(series) == [5]


def test_a_series_is_read_by_its_readers_and_by_nobody_else(curator: dp.Curator) -> None:
    series = curator.subscribe(BY_WEEK, 1, periods=2, rows_per_unit=2, readers=["ann"])
    assert [one.id for one in curator.series("ann")] == [series.id]
    assert curator.series("bob") == []
    with pytest.raises(InvalidValue, match="must have this id"):
        curator.series("bob", id=series.id)
    with pytest.raises(InvalidValue, match="stopped by its owner"):
        curator.series("ann")[0].stop()
    with pytest.raises(InvalidValue, match="must be named in the policy"):
        curator.subscribe(BY_WEEK, 1, periods=2, readers=["eve"])


def test_a_series_that_is_stopped_goes_no_further_and_pays_nothing_back(curator: dp.Curator) -> None:
    series = curator.subscribe(BY_WEEK, EXACT, periods=3, rows_per_unit=2)
    go_by(curator, [(1, "A", 0)], 0)
    series.stop()
    go_by(curator, [(1, "A", 1)], 1)
    assert (_counts(series), series.next, series.is_stopped) == ([1], None, True)
    assert curator.ledger.accounts()["visits"].spent == EXACT * LOSS_UNITS
    assert verify(curator.folder).problems == []


def test_a_stopped_series_is_not_begun_again(curator: dp.Curator) -> None:
    curator.subscribe(BY_WEEK, 1, periods=3, rows_per_unit=2).stop()
    with pytest.raises(InvalidValue, match="that was stopped"):
        curator.subscribe(BY_WEEK, 1, periods=3, rows_per_unit=2)


def test_explaining_a_series_charges_nothing(curator: dp.Curator) -> None:
    said = curator.explain_series(BY_WARD, part="1/5", periods=52, rows_per_unit=6)
    assert (said.is_once, said.affordable, said.periods, said.groups) == (True, True, 52, 2)
    assert said.price == dp.Pure(1000)
    assert "once, for all 52 periods" in str(said)
    assert said.to_dict()["paid"] == "once"
    assert curator.ledger.accounts()["visits"].spent == 0
    assert curator.series() == []


@pytest.mark.parametrize(
    ("sql", "remedy"),
    [
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "date_trunc\\('week', admitted\\)"),
        ("SELECT date_trunc('month', admitted) AS m, COUNT(*) AS n FROM visits GROUP BY 1", "figures for every week"),
        ("SELECT admitted, MEDIAN(age) AS n FROM visits GROUP BY 1", "use COUNT, SUM, AVG"),
        ("SELECT admitted, COUNT(DISTINCT age) AS n FROM visits GROUP BY 1", "use COUNT, SUM, AVG"),
        (
            "SELECT v.admitted, COUNT(*) AS n FROM visits v JOIN visits w USING (patient_id) GROUP BY 1",
            "leave out joins",
        ),
        (
            "SELECT d, AVG(n) FROM (SELECT patient_id, admitted AS d, COUNT(*) n FROM visits GROUP BY 1, 2) GROUP BY 1",
            "leave out UNION ALL and subqueries",
        ),
        (
            "SELECT admitted, COUNT(*) AS n FROM visits WHERE admitted > DATE '2026-03-01' GROUP BY 1",
            "conditions on time",
        ),
        ("SELECT admitted, COUNT(*) AS n FROM visits WHERE admitted < CURRENT_DATE GROUP BY 1", "CURRENT_DATE"),
        ("SELECT admitted, patient_id, COUNT(*) AS n FROM visits GROUP BY 1, 2", "ask about the crowd"),
    ],
)
def test_what_a_series_about_people_cannot_hold_is_refused_with_a_remedy(
    curator: dp.Curator, sql: str, remedy: str
) -> None:
    with pytest.raises(DiscreetError, match=remedy):
        curator.subscribe(sql, 1, periods=20, rows_per_unit=2)
    assert curator.ledger.accounts()["visits"].spent == 0


def test_a_table_that_is_taken_in_whole_has_no_series(tmp_path: Path) -> None:
    curator = dp.Curator(tmp_path)
    curator.protect(visits([(1, "A", 0)]), replace(policy(), time=None))
    with pytest.raises(QueryRefused, match="a table that grows"):
        curator.subscribe(BY_WEEK, 1, periods=2)
    close(curator)


def test_the_points_of_a_series_have_certificates_that_say_what_all_of_it_cost(curator: dp.Curator) -> None:
    series = curator.subscribe(BY_WARD, 3, periods=2, rows_per_unit=2)
    go_by(curator, [(1, "A", 0)], 1)
    papers = series.certificates
    assert list(papers) == WEEKS[:2]
    for week, paper in papers.items():
        assert is_by_curator(paper, curator.ledger)
        assert is_in_ledger(paper, curator.ledger)
        assert paper["price"]["exact"] == "3"
        assert paper["series"] == {"id": series.id, "period": week, "periods": 2, "charge": series.begun.charge}
        assert paper["charged"]["prices"] == {"visits": [3 * LOSS_UNITS, 0]}


@pytest.mark.parametrize("unit", ["row", "person and week"])
def test_where_a_unit_is_in_one_period_every_period_is_paid_when_it_closes(tmp_path: Path, unit: str) -> None:
    per_week = {"unit_per": "week", "budget": {"epsilon": 2, "per": "week"}, "rows_per_unit": 2}
    curator = clinic(tmp_path, policy(None, 2) if unit == "row" else policy(**per_week))
    series = curator.subscribe(BY_WARD, 1.5, periods=3)
    assert sum(one.spent for one in curator.ledger.accounts().values()) == 0
    go_by(curator, [(who, "A", week) for who in range(200) for week in range(3)], 0)
    curator.engine.snapshot()
    assert curator.ledger.accounts()[f"visits//{WEEKS[0]}"].spent == 1.5 * LOSS_UNITS
    assert series.table.num_rows == 2
    assert series.at_limit.num_rows == 0
    assert is_in_ledger(series.certificates[WEEKS[0]], curator.ledger)
    close(curator)


def test_a_period_whose_budget_others_used_up_is_said_to_be_missing_and_the_series_goes_on(tmp_path: Path) -> None:
    curator = clinic(tmp_path, policy(None, 2))
    go_by(curator, [(who, "A", week) for who in range(50) for week in range(3)], 0)
    curator.ask(BY_WEEK, 1)
    series = curator.subscribe(BY_WARD, 1.5, periods=3, since=WEEKS[0])
    go_by(curator, [], 1)
    assert dict(series.periods) == {
        WEEKS[0]: "not released: its budget was used up by other questions",
        WEEKS[1]: "released",
    }
    assert series.next is not None
    assert series.next.name == WEEKS[2]
    assert series.table.num_rows == 2
    assert verify(tmp_path).problems == []
    close(curator)


def test_a_failed_step_is_not_drawn_again(curator: dp.Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    series = curator.subscribe(BY_WEEK, EXACT, periods=3, rows_per_unit=2)

    def failing(*_: object) -> None:
        raise EngineFailure

    with monkeypatch.context() as patched:
        patched.setattr("discreet.curator.series.steps.measure_period", failing)
        go_by(curator, [(1, "A", 0), (1, "A", 1)], 0)
    assert series.periods == {WEEKS[0]: "not released: its question failed"}
    go_by(curator, [], 1)
    assert list(series.periods) == [WEEKS[0]], "who subscribed is suspended, so that no further bit is told"
    curator.lift(curator.suspensions()[0].record, "looked at it")
    go_by(curator, [], 2)
    assert list(series.periods.values())[1:] == ["released", "released"]
    assert _counts(series) == [1, 0]
    assert verify(curator.folder).problems == []


def test_two_processes_that_draw_at_once_show_what_was_stored_first(curator: dp.Curator) -> None:
    series = curator.subscribe(BY_WEEK, 1, periods=2, rows_per_unit=2)
    name = name_step(series.id, WEEKS[0])
    go_by(curator, [(1, "A", 0)], 0)
    stored = curator.ledger.known(name)
    assert stored is not None
    assert curator.ledger.settle(name, b"another draw").answer == stored.answer


def test_forgetting_somebody_gives_back_nobody_else_s_quota(curator: dp.Curator) -> None:
    series = curator.subscribe(BY_WEEK, EXACT, periods=4, rows_per_unit=2)
    go_by(curator, [(who, "A", week) for who in range(6) for week in range(2)], 1)
    curator.forget("visits", 3)
    go_by(curator, [], 2)
    go_by(curator, [(who, "A", 3) for who in range(6)], 3)
    assert _counts(series) == [6, 6, 0, 1], "who comes back is another unit"
