"""Tables and budgets: everybody is told what is theirs to know, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.errors import InvalidValue, NotAllowed, NotFound
from discreet.privacy.loss import Pure
from discreet.service.operations import tables as telling
from discreet.service.operations.tables import typical_questions
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, policy, visits
from tests.service.visiting import ANA, AUDITOR, BEN, OWNER, STRANGER

COUNT = "SELECT COUNT(*) AS n FROM visits"


def test_an_analyst_is_told_of_no_table_that_does_not_name_them(service: ServiceState) -> None:
    service.curator.protect(visits(), policy("secret_visits", analysts={"ben": None}))
    assert [one.name for one in telling.tables(service, ANA)] == ["visits"]
    assert [one.name for one in telling.tables(service, BEN)] == ["secret_visits", "visits"]
    assert telling.tables(service, STRANGER) == []
    assert [one.name for one in telling.tables(service, AUDITOR)] == ["secret_visits", "visits"]
    with pytest.raises(NotFound) as hidden:
        telling.table(service, ANA, "secret_visits")
    with pytest.raises(NotFound) as missing:
        telling.table(service, ANA, "no_visits_atall")
    assert str(hidden.value).replace("secret_visits", "no_visits_atall") == str(missing.value)


def test_public_tables_are_everybodys(service: ServiceState) -> None:
    service.curator.protect(
        pa.table({"ward": ["surgery"]}), Table("wards", (Column("ward", ColumnType.TEXT),), public=True)
    )
    assert [one.name for one in telling.tables(service, STRANGER)] == ["wards"]
    assert telling.spending(service, STRANGER, "wards") == []
    assert telling.budget(service, STRANGER) == []


def test_an_analyst_is_told_of_no_other_analyst(service: ServiceState) -> None:
    assert set(telling.table(service, ANA, "VISITS").analysts) == {"ana"}
    assert set(telling.table(service, OWNER, "visits").analysts) == {"ana", "ben"}
    assert [one.account for one in telling.budget(service, ANA)] == ["visits", "visits/ana"]
    assert [one.account for one in telling.budget(service, OWNER)] == ["visits", "visits/ana", "visits/ben"]


def test_a_balance_is_exact_and_anothers_last_price_is_not_told(service: ServiceState) -> None:
    service.curator.ask(COUNT, "1/3", analyst="ben")
    whole, own = telling.budget(service, ANA)
    assert (whole.spent, whole.left, whole.cap) == (Pure("1/3"), Pure("8/3"), Pure(3))
    assert (own.spent, own.left) == (Pure(0), Pure(1))
    assert whole.more is None
    assert own.more is None
    assert telling.budget(service, OWNER)[0].more == 8
    service.curator.ask(COUNT, "1/4", analyst="ana")
    assert telling.budget(service, ANA)[0].more is None
    assert telling.budget(service, ANA)[1].more == 3


def test_spending_adds_up_to_what_the_ledger_says_also_where_questions_are_about_different_people(
    service: ServiceState,
) -> None:
    protected = policy("stays", analysts={"ana": None})
    columns = tuple(
        Column("ward", ColumnType.TEXT, keys=one.keys, nullable=False, constant_per_unit=True)
        if one.name == "ward"
        else one
        for one in protected.columns
    )
    rows = visits().to_pylist()
    wards = {row["patient_id"]: row["ward"] for row in rows}
    stays = pa.Table.from_pylist([{**row, "ward": wards[row["patient_id"]]} for row in rows])
    service.curator.protect(
        stays,
        Table("stays", columns, unit="patient_id", budget=protected.budget, rows_per_unit=8, analysts={"ana": None}),
    )
    service.curator.ask("SELECT COUNT(*) AS n FROM stays WHERE ward = 'surgery'", "0.5", analyst="ana")
    service.curator.ask("SELECT COUNT(*) AS n FROM stays WHERE ward = 'oncology'", "0.25")
    service.curator.ask("SELECT COUNT(*) AS n FROM stays WHERE ward = 'oncology'", "0.75", analyst="ana")
    found = telling.spending(service, OWNER, "stays")
    assert [one.step for one in found] == [Pure("0.5"), Pure(0), Pure("0.5")]
    assert [one.analyst for one in found] == ["ana", None, "ana"]
    assert found[-1].total == telling.budget(service, OWNER)[0].spent == Pure(1)
    own = telling.spending(service, ANA, "stays")
    assert [one.total for one in own] == [Pure("0.5"), Pure("0.75")]


def test_an_analyst_sees_their_own_spending_alone(service: ServiceState) -> None:
    service.curator.ask(COUNT, "0.5", analyst="ben")
    service.curator.ask("SELECT AVG(age) AS a FROM visits", "0.25", analyst="ana")
    assert [one.analyst for one in telling.spending(service, AUDITOR, "visits")] == ["ben", "ana"]
    (own,) = telling.spending(service, ANA, "visits")
    assert (own.analyst, own.step, own.total) == ("ana", Pure("0.25"), Pure("0.25"))
    with pytest.raises(NotFound):
        telling.spending(service, STRANGER, "visits")


def test_what_was_read_before_grows_with_the_ledger(service: ServiceState) -> None:
    assert telling.spending(service, OWNER, "visits") == []
    service.curator.ask(COUNT, "0.5")
    assert len(telling.spending(service, OWNER, "visits")) == 1


def test_typical_questions_are_priced_for_an_error_and_counted_against_every_account(service: ServiceState) -> None:
    found = typical_questions(service, ANA, "visits", within=100)
    assert [one.title for one in found] == [
        "How many rows are there?",
        "How many for each ward?",
        "What is the average age?",
    ]
    for one in found[:2]:
        explained = service.curator.explain(one.sql, one.epsilon, analyst="ana")
        assert explained.errors[0].within is not None
        assert explained.errors[0].within <= 100
        nearly = service.curator.explain(one.sql, one.epsilon * Fraction(99, 100), analyst="ana").errors[0].within
        assert nearly is not None
        assert nearly >= 100
        assert one.price == Pure(one.epsilon)
        assert one.more == 1 // one.epsilon
    assert found[2].within is None
    assert typical_questions(service, OWNER, "visits", within=100)[0].more == 3 // found[0].epsilon
    before = telling.budget(service, OWNER)[0].spent
    assert before == Pure(0)


def test_typical_questions_refuse_nonsense_and_those_who_do_not_ask(service: ServiceState) -> None:
    with pytest.raises(InvalidValue, match="must be positive"):
        typical_questions(service, ANA, "visits", within=0)
    with pytest.raises(NotAllowed):
        typical_questions(service, AUDITOR, "visits", within=10)


def test_routes_say_what_operations_say(service: ServiceState, clients: Clients) -> None:
    service.curator.ask(COUNT, "1/3", analyst="ben")
    (table,) = clients.ana.get("/api/v1/tables").json()
    assert table == clients.ana.get("/api/v1/tables/visits").json()
    assert table["analysts"] == {"ana": {"epsilon": "1", "delta": "0", "delta_for_keys": "0"}}
    assert table["columns"][4]["lower"] == "2025-01-01"
    whole, own = clients.ana.get("/api/v1/budget").json()
    assert whole["left"]["exact"] == "8/3"
    assert whole["left"]["amount"] <= 8 / 3
    assert own["spent"]["amount"] == 0
    assert clients.ana.get("/api/v1/spending", params={"table": "visits"}).json() == []
    (spent,) = clients.auditor.get("/api/v1/spending", params={"table": "visits"}).json()
    assert spent["analyst"] == "ben"
    typical = clients.ana.get("/api/v1/typical-questions", params={"table": "visits", "within": 50}).json()
    assert len(typical) == 3
    assert clients.ben.get("/api/v1/tables/other").status_code == 404
    assert clients.nobody.get("/api/v1/tables").status_code == 401
    assert clients.auditor.get("/api/v1/typical-questions", params={"table": "visits"}).status_code == 403
