"""Tables that grow, over REST: rows are appended, periods close, people are forgotten."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import duckdb
import httpx
import pytest

from discreet.service.due_closes import CALENDAR
from discreet.service.state import ServiceState
from tests.service.growing import STAYS, begin_stays
from tests.service.hospital import Clients, Hospital, client_of

MONTHS = "SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM stays GROUP BY 1"


@pytest.fixture
def hospital(hospital: Hospital) -> Hospital:
    begin_stays(hospital)
    return hospital


def append(client: httpx.Client, rows: bytes = STAYS, name: str = "february", table: str = "stays") -> httpx.Response:
    return client.post(f"/api/v1/tables/{table}/rows", params={"file": "t.csv", "id": name}, content=rows)


def close(client: httpx.Client, period: str) -> httpx.Response:
    return client.post(f"/api/v1/tables/stays/periods/{period}/close")


def ask(client: httpx.Client, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/ask", json={"sql": MONTHS, "epsilon": "1/2", **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_feeder_appends_and_hears_what_became_of_the_rows(clients: Clients) -> None:
    told = append(clients.ward).json()
    assert (told["id"], told["rows"], told["is_repeated"]) == ("february", 2, False)
    assert told["set_aside"] == {"late": 1, "no date": 1, "no person": 1}
    again = append(clients.ward).json()
    assert (again["rows"], again["is_repeated"]) == (2, True)
    other = append(clients.owner, STAYS + b"1,A,2026-02-09\n")
    assert (other.status_code, "with other rows" in other.json()["detail"]) == (422, True)


def test_what_is_no_table_is_refused_and_leaves_no_file(clients: Clients, hospital: Hospital) -> None:
    for rows in (b"", b"\xff\xfe,a", b"other\n1\n"):
        answer = append(clients.ward, rows)
        assert answer.status_code == 422, answer.text
        assert str(hospital.folder) not in answer.text
    assert not list((hospital.folder / "uploads" / "rows").iterdir())


@pytest.mark.parametrize("name", ["visits", "nowhere"])
def test_a_table_that_does_not_grow_takes_no_rows_in_the_words_for_one_that_is_not_there(
    clients: Clients, name: str
) -> None:
    answer = append(clients.ward, table=name)
    assert (answer.status_code, answer.json()["rule"]) == (404, "there must be such a table that grows by periods")


def test_periods_close_in_order_and_are_asked_one_by_one(clients: Clients) -> None:
    append(clients.ward)
    before = ask(clients.ana)
    assert [one["name"] for one in close(clients.owner, "2026-02").json()["periods"]] == ["2026-02"]
    assert close(clients.owner, "2026-02").json() == {"periods": []}
    after = ask(clients.ana)
    assert after["rows"][0] == before["rows"][0]
    assert len(after["rows"]) == 2
    left = {one["name"]: one["left"] for one in clients.ana.get("/api/v1/tables/stays/periods").json()}
    assert [left[name]["exact"] for name in ("2026-01", "2026-02")] == ["1/2", "1/2"]
    assert left["2026-03"] is None


def test_an_analyst_sees_what_is_left_for_them_and_no_number_that_depends_on_rows(clients: Clients) -> None:
    append(clients.ward)
    first = clients.ana.get("/api/v1/tables/stays/periods").json()[0]
    assert set(first) == {"name", "start", "end", "state", "cap", "spent", "left"}
    assert (first["name"], first["state"], first["start"]) == ("2026-01", "closed", "2026-01-01T00:00:00")
    caps = {
        name: client.get("/api/v1/tables/stays/periods").json()[0]["cap"]
        for name, client in vars(clients).items()
        if name in ("owner", "ana", "ben", "auditor")
    }
    assert {name: cap["exact"] for name, cap in caps.items()} == {"owner": "2", "ana": "1", "ben": "2", "auditor": "2"}


def seen_by_others(clients: Clients) -> str:
    """Everything that analysts and auditors can read about a table, but for times and hashes."""
    paths = ("tables/stays", "tables/stays/periods", "budget", "ledger", "trail", "metrics", "publications")
    readers = {"ana": clients.ana, "auditor": clients.auditor}
    found = [client.get(f"/api/v1/{path}") for client in readers.values() for path in paths]
    lines = [line for one in found if one.status_code == 200 for line in one.text.splitlines()]
    shown = [json.loads(line) if line.startswith(("[", "{")) else line for line in lines]
    return json.dumps(without(shown, {"hash", "time", "fingerprint", "token"}), indent=1)


def without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {name: without(one, names) for name, one in value.items() if name not in names}
    return [without(one, names) for one in value] if isinstance(value, list) else value


def test_whatever_is_appended_or_forgotten_others_see_the_same(hospital: Hospital, tmp_path: Any) -> None:
    seen = []
    for number, rows in enumerate((STAYS, STAYS + b"55,A,2026-02-07\n56,B,2026-01-09\n,,\n")):
        shutil.copytree(hospital.folder, tmp_path / f"world {number}")
        service = Hospital(tmp_path / f"world {number}", hospital.tokens).service()
        clients = Clients(nobody=client_of(service), **{n: client_of(service, t) for n, t in hospital.tokens.items()})
        append(clients.ward, rows)
        if number:
            forgotten = clients.owner.request("DELETE", "/api/v1/tables/stays/units", json={"unit": 55})
            assert (forgotten.status_code, forgotten.text) == (202, "null")
        close(clients.owner, "2026-02")
        seen.append("\n".join(one for one in seen_by_others(clients).splitlines() if "start_time" not in one))
        service.close()
    assert seen[0] == seen[1]
    assert "rows sent" in seen[0]
    assert "periods closed" in seen[0]


def test_who_is_forgotten_is_gone_at_the_next_close(clients: Clients, service: ServiceState) -> None:
    append(clients.ward)
    for unit in ("7", 8):
        assert clients.owner.request("DELETE", "/api/v1/tables/stays/units", json={"unit": unit}).status_code == 202
    bad = clients.owner.request("DELETE", "/api/v1/tables/stays/units", json={"unit": "nobody"})
    assert (bad.status_code, "nobody" in bad.text) == (422, False)
    close(clients.owner, "2026-02")
    stored = service.curator.engine.snapshot().stored("stays").periods
    with duckdb.connect(service.curator.engine.store.root / stored[-1].file, read_only=True) as database:
        rows = database.execute("SELECT count(*) FROM rows").fetchall()
    assert rows == [(0,)]


def test_the_calendar_closes_what_is_due_unless_the_settings_say_so(hospital: Hospital) -> None:
    service = hospital.service()
    service.closes.close()
    owner = client_of(service, hospital.tokens["owner"])
    states = {one["state"] for one in owner.get("/api/v1/tables/stays/periods").json()[:-1]}
    assert states == {"closed"}
    (event,) = owner.get("/api/v1/trail", params={"kind": "periods closed"}).json()
    assert (event["by"], event["facts"]["table"]) == (CALENDAR, "stays")
    assert event["facts"]["through"] < datetime.now(UTC).strftime("%Y-%m")
    service.close()
    switched_off = hospital.service(close_seconds=0)
    switched_off.closes.start()
    assert switched_off.closes._thread is None
    switched_off.close()


def test_questions_take_a_part_of_the_budget_and_a_day(clients: Clients) -> None:
    sql = "SELECT COUNT(*) AS n FROM stays WHERE day >= CURRENT_DATE - 31"
    plan = clients.ana.post("/api/v1/explain", json={"sql": sql, "part": "1/4", "as_of": "2026-02-01"}).json()
    assert plan["price"]["exact"] == "1/4"
    assert "stays/ana/2026-01" in plan["accounts"]


def test_spending_is_told_for_a_period(clients: Clients) -> None:
    ask(clients.ana)
    told = clients.owner.get("/api/v1/spending", params={"table": "stays", "period": "2026-01"}).json()
    assert [(one["analyst"], one["total"]["exact"]) for one in told] == [("ana", "1/2")]
    for params in ({"table": "stays"}, {"table": "visits", "period": "2026-01"}):
        assert clients.owner.get("/api/v1/spending", params=params).status_code == 422


def test_balances_of_periods_and_of_people_are_told(clients: Clients) -> None:
    ask(clients.ana)
    told = {one["account"]: one for one in clients.owner.get("/api/v1/budget").json() if one["table"] == "stays"}
    assert told["/stays.patient"]["cap"] is None
    assert told["/stays.patient"]["spent"]["exact"] == "1/2"
    assert told["stays//2026-01"]["left"]["exact"] == "3/2"
    assert told["stays/ana/2026-01"]["period"] == "2026-01"
    assert "stays" not in told


@pytest.fixture
def service(hospital: Hospital) -> Iterator[ServiceState]:
    service = hospital.service()
    yield service
    service.close()
