"""One person in several tables: what all questions together cost her is within the account of her people.

Two worlds differ in her rows, in every table of hers. The replay computes from the exact sums what she cost in each
question; added up, that is never more than the account of the people was charged, in ε or in ρ.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.audit.replay.compare import compared, observed_loss
from discreet.audit.replay.session import Session, World, recorded
from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import ForeignKey, Table
from discreet.curator import charge
from discreet.curator import prepare as preparing
from discreet.privacy.loss import Pure

WARDS = ("a", "b", "c")
QUESTIONS = (
    "SELECT COUNT(*) FROM patients",
    "SELECT ward, COUNT(*) FROM patients GROUP BY ward",
    "SELECT COUNT(*) FROM patients WHERE ward = 'a'",
    "SELECT COUNT(*) FROM patients WHERE ward = 'b'",
    "SELECT SUM(days), AVG(days) FROM visits",
    "SELECT COUNT(*) FROM visits",
    "SELECT ward, SUM(days) FROM visits JOIN patients ON visits.patient = patients.id GROUP BY ward",
    "SELECT COUNT(*) FROM visits JOIN patients ON visits.patient = patients.id WHERE ward = 'a'",
    "SELECT MEDIAN(days) FROM visits",
)


def tables(budget: Budget) -> tuple[Table, Table]:
    ward = Column("ward", ColumnType.TEXT, keys=WARDS, constant_per_unit=True)
    patients = Table("patients", (Column("id", ColumnType.INTEGER), ward), unit="id", budget=budget)
    columns = (Column("patient", ColumnType.INTEGER), Column("days", ColumnType.INTEGER, lower=0, upper=20))
    keys = (ForeignKey("patient", "patients", "id"),)
    return patients, Table("visits", columns, foreign_keys=keys, budget=budget, rows_per_unit=3)


def worlds(budget: Budget, *, she_is_there: bool) -> World:
    patients, visits = tables(budget)
    people = [(k, WARDS[k % 3]) for k in range(40 + she_is_there)]
    rows = [(person, 20) for person, _ in people for _ in range(1 + person % 4)]
    return [
        (pa.table({"id": [one for one, _ in people], "ward": [ward for _, ward in people]}), patients),
        (pa.table({"patient": [one for one, _ in rows], "days": [days for _, days in rows]}), visits),
    ]


def sessions(folder: Path, budget: Budget, questions: list[str]) -> tuple[Session, Session]:
    told = [
        recorded(folder / str(there), worlds(budget, she_is_there=there), questions, "0.3") for there in (True, False)
    ]
    return told[0], told[1]


def lost(first: Session, second: Session) -> tuple[float, float]:
    """What she cost in all, and what the account of her people was charged."""
    pairs = zip(first.asked, second.asked, strict=True)
    cost = sum(observed_loss(*pair)[1] for pair in pairs if pair[0].refusal is None)
    spent = first.accounts["budget"]["/patients.id"]["spent"]
    return cost, float(spent.epsilon if isinstance(spent, Pure) else spent.rho)


@pytest.mark.some(3)
@pytest.mark.parametrize("budget", [Budget(3), Budget(3, "1e-6")], ids=["pure", "with δ"])
@pytest.mark.parametrize("seed", range(3))
def test_everything_about_a_person_is_within_the_account_of_her_people(
    tmp_path: Path, budget: Budget, seed: int
) -> None:
    chance = random.Random(seed)
    questions = chance.choices(QUESTIONS, k=14)
    first, second = sessions(tmp_path, budget, questions)
    assert compared(first, second) == []
    cost, spent = lost(first, second)
    assert 0 < cost <= spent * (1 + 1e-9)


def _without_people(*given: Any, **named: Any) -> Any:
    return {name: price for name, price in charge.list_prices(*given, **named).items() if not name.startswith("/")}


def _of_the_first_table(plans: Any, catalog: Any, analyst: Any, versions: Any, known: Any) -> Any:
    prices = charge.list_prices(plans, catalog, analyst, versions, known)
    own = {name: price for name, price in prices.items() if not name.startswith("/")}
    return own | {name: min(own.values(), key=lambda one: one.loss) for name in prices if name.startswith("/")}


@pytest.mark.parametrize("planted", [_without_people, _of_the_first_table])
def test_a_charge_that_forgets_people_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: Any) -> None:
    monkeypatch.setattr(preparing, "list_prices", planted)
    both = "SELECT SUM(days), COUNT(*) FROM visits UNION ALL SELECT COUNT(*), COUNT(*) FROM patients"
    first, second = sessions(tmp_path, Budget(3), [both, *QUESTIONS[:2]])
    cost, spent = lost(first, second)
    assert any(one.failed or one.refusal for one in first.asked) or cost > spent
