"""Questions that are asked together, about different people, or by keys that nobody listed."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.certificates.certificate import is_genuine
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.errors import BudgetExceeded, InvalidInput, InvalidType, InvalidValue, QueryRefused
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours

WARDS = ("A", "B", "C")
PEOPLE = 600


def rows(shift: int = 0) -> pa.Table:
    person = [k // 2 for k in range(2 * PEOPLE)]
    return pa.table(
        {
            "person": person,
            "ward": [WARDS[(p + shift) % 3] for p in person],
            "sex": ["fm"[p % 2] for p in person],
            "age": [p % 90 for p in person],
            "drug": [("aspirin", "ibuprofen", "placebo")[k % 3] for k in range(2 * PEOPLE - 1)] + ["the only one"],
        }
    )


def policy(budget: Budget, **more: Any) -> Table:
    columns = (
        Column("person", ColumnType.INTEGER),
        Column("ward", ColumnType.TEXT, keys=WARDS, constant_per_unit=True),
        Column("sex", ColumnType.TEXT, keys=("f", "m"), constant_per_unit=True),
        Column("age", ColumnType.INTEGER, lower=0, upper=100),
        Column("drug", ColumnType.TEXT),
    )
    return Table("visits", columns, unit="person", budget=budget, rows_per_unit=2, groups_per_unit=2, **more)


def opened(folder: Path, budget: Budget | None = None, **more: Any) -> Curator:
    curator = Curator(folder / "curator")
    curator.protect(rows(), policy(budget or Budget(3), **more))
    return curator


def _spent(curator: Curator) -> Fraction:
    found: Fraction = curator.budget()["visits"]["spent"].epsilon
    return found


def _count(ward: str) -> str:
    return f"SELECT COUNT(*) AS n FROM visits WHERE ward = '{ward}'"


# A batch.


def test_a_batch_costs_its_price_once_and_shares_what_it_measures_alike(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    queries = [f"SELECT {part} FROM visits" for part in ("COUNT(age) AS n", "AVG(age) AS a", "SUM(age) AS s")]
    count, mean, total = curator.ask_all(queries, epsilon=1, raw=True)
    assert _spent(curator) == 1
    assert count.price == mean.price == total.price == Pure(1)
    # One tally answers all three: the mean is the ratio of the other two.
    assert abs(total.to_rows()[0]["s"] / count.to_rows()[0]["n"] - mean.to_rows()[0]["a"]) < 1e-9
    again = curator.ask_all(queries, epsilon=1, raw=True)
    assert [answer.to_rows() for answer in again] == [answer.to_rows() for answer in (count, mean, total)]
    assert not again[0].charged
    assert _spent(curator) == 1


def test_a_batch_is_better_than_its_questions_one_by_one(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    queries = ["SELECT COUNT(*) FROM visits", "SELECT SUM(age) FROM visits", "SELECT AVG(age) FROM visits"]
    alone = curator.explain(queries[0], epsilon=Fraction(1, 3)).errors[0].within
    (answer, *_) = curator.ask_all(queries, epsilon=1)
    ((low, high),) = (interval for intervals in answer.error.values() for interval in intervals if interval)
    assert alone is not None
    assert (high - low) / 2 < 0.75 * alone


def test_the_certificate_of_a_batch_states_its_composed_loss(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    answers = curator.ask_all([f"SELECT COUNT(*) FROM visits WHERE age > {k}" for k in range(12)], epsilon=3)
    batch = answers[0].certificate["batch"]
    assert batch["parts"] == 12
    assert 0 < Fraction(batch["epsilon"]["exact"]) < 3
    assert all(is_genuine(answer.certificate) for answer in answers)
    assert len({answer.certificate["ledger"]["charge"] for answer in answers}) == 1


def test_a_batch_may_hold_public_and_concentrated_questions(tmp_path: Path) -> None:
    curator = opened(tmp_path, Budget(3, "1e-6"))
    curator.protect(pa.table({"ward": list(WARDS)}), Table("wards", (Column("ward", ColumnType.TEXT),), public=True))
    answers = curator.ask_all([_count("A"), "SELECT COUNT(*) AS n FROM wards", _count("B")], epsilon=1)
    assert answers[1].to_rows() == [{"n": 3}]
    assert isinstance(answers[0].price, ZeroConcentrated)
    assert answers[1].price is None
    assert Fraction(answers[0].certificate["batch"]["epsilon"]["exact"]) > 0


def test_an_empty_batch_or_a_single_text_is_refused(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    for wrong in ([], "SELECT COUNT(*) FROM visits"):
        with pytest.raises(InvalidValue, match="a batch is a list of questions"):
            curator.ask_all(wrong, epsilon=1)
    with pytest.raises(InvalidType, match="a batch is a list of questions, got 5"):
        curator.ask_all(5, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(QueryRefused):
        curator.ask_all([_count("A"), "SELECT * FROM visits"], epsilon=1)
    assert _spent(curator) == 0


# Different people.


def test_questions_about_different_people_cost_the_largest_not_the_sum(tmp_path: Path) -> None:
    curator = opened(tmp_path, Budget(1))
    for ward in WARDS:
        curator.ask(_count(ward), epsilon=1)
    assert _spent(curator) == 1
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) FROM visits WHERE ward IN ('A', 'B')", epsilon="0.1")
    with pytest.raises(BudgetExceeded):
        curator.ask("SELECT COUNT(*) FROM visits WHERE sex = 'f'", epsilon="0.1")
    assert not curator.explain("SELECT COUNT(*) FROM visits", epsilon="0.1").affordable
    assert verify(curator.folder).is_sound


def test_portions_come_on_top_of_what_all_are_charged(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    curator.ask("SELECT COUNT(*) FROM visits", epsilon="0.5")
    curator.ask(_count("A"), epsilon="0.25")
    curator.ask(_count("B"), epsilon="0.75")
    assert _spent(curator) == Fraction(5, 4)
    curator.ask("SELECT COUNT(*) FROM visits WHERE sex = 'm' AND age > 3", epsilon="0.5")
    assert _spent(curator) == Fraction(7, 4)
    curator.ask("SELECT SUM(age) FROM visits WHERE age > 5 AND ward IN ('A', 'C')", epsilon="0.5")
    assert _spent(curator) == Fraction(7, 4)  # A has 0.75 now, as B has
    assert verify(curator.folder).is_sound


@pytest.mark.parametrize(
    "condition",
    [
        "age = 3",
        "ward <> 'A'",
        "ward = 'A' OR age > 3",
        "lower(ward) = 'a'",
        "ward >= 'A'",
        "NOT ward = 'A'",
        "drug = 'x'",
    ],
)
@pytest.mark.some(3)
def test_conditions_that_do_not_divide_people_are_charged_to_all(tmp_path: Path, condition: str) -> None:
    curator = opened(tmp_path)
    curator.ask(_count("B"), epsilon=1)
    curator.ask(f"SELECT COUNT(*) FROM visits WHERE {condition}", epsilon="0.5")
    assert _spent(curator) == Fraction(3, 2)


def test_where_one_replaces_another_the_two_largest_add_up(tmp_path: Path) -> None:
    curator = opened(tmp_path, neighbours=Neighbours.REPLACE_ONE)
    for ward, price in zip(WARDS, ("0.25", "0.5", "1"), strict=True):
        curator.ask(_count(ward), epsilon=price)
    assert _spent(curator) == Fraction(3, 2)


def test_new_data_can_give_people_other_keys_so_it_starts_new_portions(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    curator.ask(_count("A"), epsilon=1)
    curator.protect(rows(shift=1), policy(Budget(3)))
    curator.ask(_count("B"), epsilon=1)
    assert _spent(curator) == 2


def test_one_question_about_different_people_gives_each_the_whole_price(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    both = f"SELECT ({_count('A')}) AS a, ({_count('B')}) AS b"
    assert curator.explain(both, epsilon=1).errors == curator.explain(both, epsilon=1).errors
    alone = curator.explain(_count("A"), epsilon=1).errors[0].within
    assert [error.within for error in curator.explain(both, epsilon=1).errors] == [alone, alone]
    curator.ask(both, epsilon=1)
    assert _spent(curator) == 1


def test_a_changed_portion_is_seen(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    curator.ask(_count("A"), epsilon=1)
    curator.ledger.close()
    with sqlite3.connect(curator.folder / "ledger.db") as database:
        with pytest.raises(sqlite3.IntegrityError, match="nothing is refunded"):
            database.execute("UPDATE portion_2 SET spent = 0")
        (made,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'portions_grow'").fetchone()
        database.execute("DROP TRIGGER portions_grow")
        database.execute("UPDATE portion_2 SET spent = 0")
        database.execute(made)
    assert not verify(curator.folder).is_sound


# Keys that nobody listed.


def test_unlisted_keys_cost_delta_in_proportion_and_run_dry_with_the_budget(tmp_path: Path) -> None:
    curator = opened(tmp_path, Budget(3, "1e-5", "5e-6"))
    by_drug = "SELECT drug, COUNT(*) AS n FROM visits GROUP BY drug"
    answer = curator.ask(by_drug, epsilon=1)
    assert [row["drug"] for row in answer.to_rows()] == ["aspirin", "ibuprofen", "placebo"]
    assert any("A group is shown when about" in note for note in answer.notes)
    assert any("probability at most" in note for note in answer.notes)
    account = curator.budget()["visits"]
    share = account["spent"].rho / account["cap"].rho
    assert abs(account["delta_spent"] / account["delta_cap"] - share) < Fraction(1, 10**6)
    assert curator.ask(by_drug, epsilon=1).to_rows() == answer.to_rows()
    assert curator.budget()["visits"]["delta_spent"] == account["delta_spent"]
    assert is_genuine(answer.certificate)


def test_unlisted_keys_need_a_delta_of_their_own(tmp_path: Path) -> None:
    for k, budget in enumerate((Budget(3), Budget(3, "1e-5"))):
        curator = opened(tmp_path / str(k), budget)
        with pytest.raises(QueryRefused, match="the groups are not public"):
            curator.ask("SELECT drug, COUNT(*) FROM visits GROUP BY drug", epsilon=1)


def test_an_analyst_without_delta_cannot_ask_by_unlisted_keys(tmp_path: Path) -> None:
    curator = opened(tmp_path, Budget(3, "1e-5", "5e-6"), analysts={"ana": Budget(1, "1e-6"), "bo": None})
    by_drug = "SELECT drug, COUNT(*) AS n FROM visits GROUP BY drug"
    with pytest.raises(BudgetExceeded, match="the δ for keys that nobody listed"):
        curator.ask(by_drug, epsilon="0.1", analyst="ana")
    assert curator.ask(by_drug, epsilon="0.1", analyst="bo").charged


def test_the_largest_group_is_named_without_its_count_and_served_again(tmp_path: Path) -> None:
    curator = opened(tmp_path)
    largest = "SELECT age FROM visits GROUP BY age ORDER BY COUNT(*) DESC LIMIT 1"
    answer = curator.ask(largest, epsilon=1)
    assert answer.table.num_rows == 1
    assert curator.ask(largest, epsilon=1).to_rows() == answer.to_rows()
    assert any("largest group was chosen" in note for note in answer.notes)
    assert "largest groups" in str(answer.certificate["plan"]["blocks"])
    assert _spent(curator) == 1


def test_an_explanation_shows_how_the_price_is_divided(tmp_path: Path) -> None:
    curator = opened(tmp_path, Budget(3, "1e-5", "5e-6"))
    found = curator.explain("SELECT drug, COUNT(*) AS n, MEDIAN(age) AS half FROM visits GROUP BY drug", epsilon=1)
    names, shares = zip(*found.shares, strict=True)
    assert names == ("n", "which groups are shown", "half")
    assert isinstance(found.price, ZeroConcentrated)
    spent = sum(share.rho for share in shares if isinstance(share, ZeroConcentrated))
    assert 0.999 * found.price.rho < spent <= found.price.rho


@pytest.mark.parametrize("request_id", ["\ud800", 7])
def test_a_request_id_that_cannot_be_written_down_is_refused_before_the_charge(tmp_path: Path, request_id: Any) -> None:
    curator = opened(tmp_path)
    with pytest.raises(InvalidInput, match="a request id"):
        curator.ask(_count("A"), epsilon=1, request=request_id)
    assert _spent(curator) == 0
