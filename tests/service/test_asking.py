"""Asking over the service: prices, one answer for one request id, formats, and who may see what."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import httpx
import pyarrow as pa
import pytest

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.curator.answers.answer import Answer
from discreet.curator.answers.arrow import answer_from_arrow, answer_to_arrow
from discreet.curator.ledger.verify import verify
from discreet.errors import DiscreetError, EngineFailure, NotAllowed, NotFound, QueryRefused, RequestConflict
from discreet.privacy.loss import Pure
from discreet.query import question as question_module
from discreet.query.passes import QuestionDraft
from discreet.service.auth.roles import MemberRole
from discreet.service.jobs.jobs import AskRequest, Job, State
from discreet.service.jobs.worker import answer_job
from discreet.service.operations import ask as asking
from discreet.service.operations.formats import Format, choose_format, write_answer
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, client_of, policy, visits
from tests.service.visiting import ANA, AUDITOR, BEN, OWNER

COUNT = "SELECT COUNT(*) AS n FROM visits"
WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
ARROW = {"Accept": Format.ARROW.value}


def spent(service: ServiceState, account: str = "visits") -> Fraction:
    loss = service.curator.budget()[account]["spent"]
    assert isinstance(loss, Pure)
    return loss.epsilon


def ask(client: httpx.Client, sql: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    body = {"sql": sql, **({} if "within" in more else {"epsilon": "0.1"}), **more}
    return client.post("/api/v1/ask", json=body, headers=headers or {}, timeout=60)


# Requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, "0.1", "1/10", ".1", Fraction(1, 10)])
def test_numbers_are_exact_however_they_are_written(epsilon: Any) -> None:
    ask_request = AskRequest(COUNT, epsilon=epsilon)
    assert ask_request.epsilon == Fraction(1, 10)
    assert AskRequest.read(ask_request.written()) == ask_request == AskRequest(COUNT, "0.1")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"epsilon": 1, "within": 1},
        *({name: value} for name in ("epsilon", "within") for value in (0, -1, math.nan, math.inf, "1e400", "x", True)),
        {"epsilon": 1, "confidence": 1},
        {"epsilon": 1, "confidence": "half"},
        {"epsilon": 1, "raw": "yes"},
        {"epsilon": 1, "sql": "x" * 100_001},
        {"epsilon": 1, "sql": "\ud800"},
        {"epsilon": 1, "sql": 3},
    ],
)
def test_ask_requests_that_nobody_could_price_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(DiscreetError):
        AskRequest(**{"sql": COUNT, **given})


def test_a_request_is_planned_once(clients: Clients, service: ServiceState, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[QuestionDraft] = []

    def note(draft: QuestionDraft) -> QuestionDraft:
        made.append(draft)
        return draft

    monkeypatch.setattr(question_module, "PLANNING", (note, *question_module.PLANNING))
    assert ask(clients.ana, WARDS).status_code == 200
    assert len(made) == 1


def test_ten_tenths_written_as_json_numbers_fill_a_budget_of_one(clients: Clients, service: ServiceState) -> None:
    for age in range(10):
        assert ask(clients.ana, f"{COUNT} WHERE age > {20 + age}", epsilon=0.1).status_code == 200
    assert spent(service, "visits/ana") == 1
    refused = ask(clients.ana, COUNT, epsilon=0.001)
    assert (refused.status_code, refused.json()["type"]) == (402, "urn:discreet:budget-exceeded")


# Explaining -----------------------------------------------------------------------------------------------------


def test_a_question_is_explained_by_its_price_or_by_its_error(clients: Clients, service: ServiceState) -> None:
    by_price = clients.ana.post("/api/v1/explain", json={"sql": WARDS, "epsilon": 0.5}).json()
    assert by_price["price"]["exact"] == by_price["epsilon"] == "1/2"
    assert (by_price["affordable"], by_price["groups"]) == (True, 5)
    assert by_price["accounts"] == ["visits", "visits/ana"]
    (error,) = by_price["errors"]
    by_error = clients.ana.post("/api/v1/explain", json={"sql": WARDS, "within": error["within"] * 2}).json()
    assert Fraction(1, 5) < Fraction(by_error["epsilon"]) < Fraction(3, 10)
    assert by_error["errors"][0]["within"] <= error["within"] * 2
    assert spent(service) == 0


def test_a_part_of_the_budget_and_a_day_are_asked_for(clients: Clients, service: ServiceState) -> None:
    body = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE YEAR(CURRENT_DATE) = 2026", "part": "1/10"}
    assert clients.ana.post("/api/v1/explain", json=body).status_code == 422
    body |= {"as_of": "2026-02-16"}
    told = clients.ana.post("/api/v1/explain", json=body).json()
    assert told["options"][0]["noise"] == "Laplace"
    assert told["price"] in [one["price"] for one in told["options"]]
    answer = clients.ana.post("/api/v1/ask", json=body).json()
    assert answer["price"]["exact"] == told["price"]["exact"]
    request = AskRequest(body["sql"], part="1/10", as_of="2026-02-16")
    assert AskRequest.read(request.written()) == request
    for wrong in ({"part": "2"}, {"as_of": "tomorrow"}, {"epsilon": "1"}):
        assert clients.ana.post("/api/v1/ask", json=body | wrong).status_code == 422


def test_a_refusal_says_where_and_costs_nothing(clients: Clients, service: ServiceState) -> None:
    for route in ("explain", "ask"):
        refused = clients.ana.post(f"/api/v1/{route}", json={"sql": "SELECT wrad FROM visits", "epsilon": 1})
        assert refused.status_code == 422
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["type"] == "urn:discreet:query-refused"
        assert (refused.json()["line"], refused.json()["column"]) == (1, 8)
        assert refused.json()["value"] == "<wrad>"
    assert spent(service) == 0
    assert asking.answers(service, ANA) == []


def test_a_hidden_table_is_refused_as_if_there_were_none(service: ServiceState) -> None:
    service.curator.protect(visits(), policy("secret_visits", analysts={"ben": None}))
    for sql in (
        "SELECT COUNT(*) FROM {}",
        "SELECT nothing FROM {}",
        "WITH a AS (SELECT * FROM {}) SELECT COUNT(*) FROM a",
        "SELECT COUNT(*) FROM visits AS v JOIN {} AS s ON v.patient_id = s.patient_id",
    ):
        heard = []
        for name in ("secret_visits", "absent_visits"):
            with pytest.raises(QueryRefused) as refused:
                asking.explain(service, ANA, AskRequest(sql.format(name), 1))
            heard.append(str(refused.value).replace(name, "x"))
        assert heard[0] == heard[1]
    with pytest.raises(QueryRefused) as misspelled:
        asking.explain(service, ANA, AskRequest("SELECT COUNT(*) FROM secret_visit", 1))
    assert "secret_visits" not in str(misspelled.value)
    assert asking.explain(service, BEN, AskRequest("SELECT COUNT(*) FROM secret_visits", 1)).affordable


# One request, one answer ----------------------------------------------------------------------------------------


def test_the_same_id_serves_the_same_bytes_for_one_charge(clients: Clients, service: ServiceState) -> None:
    first = ask(clients.ana, WARDS, ARROW, request="one")
    head = service.curator.ledger.head()
    again = ask(clients.ana, WARDS, ARROW, request="one", epsilon=0.1)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.content == again.content
    assert service.curator.ledger.head() == head
    assert spent(service) == Fraction(1, 10)


def test_a_kept_answer_outlives_the_data_and_the_policy(clients: Clients, service: ServiceState) -> None:
    first = ask(clients.ana, WARDS, ARROW, request="one")
    service.curator.protect(visits().slice(0, 50), policy())
    head = service.curator.ledger.head()
    assert ask(clients.ana, WARDS, ARROW, request="one").content == first.content
    assert clients.ana.get("/api/v1/answers/one", headers=ARROW).content == first.content
    assert service.curator.ledger.head() == head


def test_the_same_id_at_once_is_charged_once(clients: Clients, service: ServiceState) -> None:
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda _: ask(clients.ana, WARDS, ARROW, request="one"), range(12)))
    assert {one.status_code for one in found} == {200}
    assert len({one.content for one in found}) == 1
    assert spent(service) == Fraction(1, 10)
    assert verify(service.settings.folder).is_sound


def test_the_same_id_with_another_ask_request_is_a_conflict(clients: Clients, service: ServiceState) -> None:
    assert ask(clients.ana, WARDS, request="one").status_code == 200
    for other in ({"epsilon": "0.2"}, {"confidence": 0.9}, {"raw": True}, {"within": 5}):
        refused = ask(clients.ana, WARDS, request="one", **other)
        assert (refused.status_code, refused.json()["type"]) == (409, "urn:discreet:request-conflict")
    with pytest.raises(RequestConflict):
        asking.ask(service, ANA, AskRequest(COUNT, "0.1"), "one")
    assert spent(service) == Fraction(1, 10)


def test_ids_of_two_members_never_meet(clients: Clients, service: ServiceState) -> None:
    mine, theirs = ask(clients.ana, WARDS, request="one"), ask(clients.ben, COUNT, request="one")
    assert (mine.status_code, theirs.status_code) == (200, 200)
    assert [len(one.json()["rows"]) for one in (mine, theirs)] == [5, 1]
    assert ask(clients.owner, COUNT, request="one", epsilon="0.2").status_code == 200
    entries = [one.body for one in service.curator.ledger.entries() if one.body["kind"] == "charge"]
    assert [one["note"]["analyst"] for one in entries if "sql" in one["note"]] == ["ana", "ben", None]


@pytest.mark.parametrize("letter", ["x", "日", "🦆"])
def test_whoever_has_a_long_name_asks_like_others(letter: str, service: ServiceState) -> None:
    name = letter * 150
    service.members.add(name, MemberRole.OWNER)
    client = client_of(service, service.members.issue(name, label="tests", days=1))
    first, again = (ask(client, COUNT, request="z" * 100) for _ in range(2))
    assert first.status_code == 200
    assert again.json() == first.json()
    assert spent(service) == Fraction(1, 10)


def test_a_refused_request_may_be_sent_again(clients: Clients, service: ServiceState) -> None:
    refused = ask(clients.ana, COUNT, request="one", epsilon=2)
    assert refused.status_code == 402
    assert asking.job(service, ANA, "one").state is State.REFUSED
    assert clients.ana.get("/api/v1/answers/one").json() == refused.json()
    assert ask(clients.ana, COUNT, request="one", epsilon=2).status_code == 402
    assert ask(clients.ana, COUNT, request="one", epsilon=1).status_code == 409
    assert spent(service) == 0


def test_a_failed_run_is_charged_says_nothing_and_is_not_run_again(
    clients: Clients, service: ServiceState, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("canary 4711 of one row")

    with monkeypatch.context() as patched:
        patched.setattr(service.curator, "_measured", broken)
        failed = ask(clients.ana, COUNT, request="one")
    assert (failed.status_code, failed.json()["detail"]) == (500, str(EngineFailure()))
    assert "4711" not in failed.text + json.dumps(asking.job(service, ANA, "one").problem)
    assert spent(service) == Fraction(1, 10)
    assert ask(clients.ana, COUNT, request="one").json() == failed.json()
    assert spent(service) == Fraction(1, 10)


def test_an_answer_is_kept_before_anybody_sees_it(service: ServiceState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_kept", lambda service, job: (job.state, service.requests.answer(job.key)))
    state, data = asking.ask(service, ANA, AskRequest(COUNT, "0.1"))  # type: ignore[misc]
    assert state is State.ANSWERED
    assert answer_from_arrow(data).entry is not None


@pytest.mark.parametrize("request_id", ["", "a/b", "..", ".", "a b", "é", "x" * 101, "a\n", "-a", "a?b", "%00"])
@pytest.mark.some(4)
def test_ids_that_fit_into_no_address_are_refused(clients: Clients, request_id: str) -> None:
    assert ask(clients.ana, COUNT, request=request_id).status_code == 422


def test_without_an_id_each_request_has_its_own(clients: Clients) -> None:
    first, second = (ask(clients.ana, COUNT).json() for _ in range(2))
    assert first["request"] != second["request"]
    assert first["rows"] == second["rows"]  # the curator knows the question
    assert (first["charged"], second["charged"]) == (True, False)


# Who may --------------------------------------------------------------------------------------------------------


def test_the_auditor_cannot_ask(clients: Clients, service: ServiceState) -> None:
    assert ask(clients.auditor, COUNT).status_code == 403
    for call in (
        lambda: asking.explain(service, AUDITOR, AskRequest(COUNT, 1)),
        lambda: asking.start(service, AUDITOR, AskRequest(COUNT, 1)),
        lambda: asking.job(service, AUDITOR, "one"),
        lambda: asking.answers(service, AUDITOR),
        lambda: asking.answer(service, AUDITOR, "one"),
    ):
        with pytest.raises(NotAllowed):
            call()


def test_a_job_of_somebody_who_may_not_ask_any_more_is_refused_by_name(service: ServiceState) -> None:
    for member, role in (("auditor", "an auditor"), ("gone", "no member any more")):
        job = Job(member, "one", AskRequest(COUNT, 1), Pure(1), 0, State.ACCEPTED, 0, None, None, None)
        with pytest.raises(NotAllowed, match=f"only owners and analysts may ask, got <{member}, {role}>"):
            answer_job(service.curator, service.members, job, lambda: None)


def test_what_others_asked_does_not_exist(clients: Clients, service: ServiceState) -> None:
    assert ask(clients.ana, COUNT, request="hers").status_code == 200
    for other in (clients.ben, clients.owner):
        for route in ("jobs/{}", "answers/{}", "answers/{}/certificate"):
            hidden, missing = (other.get("/api/v1/" + route.format(one)) for one in ("hers", "none"))
            assert hidden.status_code == missing.status_code == 404
            assert hidden.text.replace("hers", "none") == missing.text
        assert other.get("/api/v1/answers").json() == []
    assert [one.request for one in asking.answers(service, ANA)] == ["hers"]


def test_history_has_pages_newest_first(clients: Clients, service: ServiceState) -> None:
    for number in range(5):
        assert ask(clients.ana, COUNT, request=f"r{number}").status_code == 200
    pages = [clients.ana.get("/api/v1/answers", params={"limit": 2}).json()]
    while pages[-1]:
        pages.append(clients.ana.get("/api/v1/answers", params={"limit": 2, "before": pages[-1][-1]["request"]}).json())
    assert [one["request"] for page in pages for one in page] == ["r4", "r3", "r2", "r1", "r0"]
    assert pages[0][0] | {"made": "", "settled": "", "elapsed": 0} == {
        "request": "r4",
        "sql": COUNT,
        "state": "answered",
        "price": {"amount": 0.1, "unit": "ε", "exact": "1/10", "repr": "Pure(ε=0.1)"},
        "made": "",
        "settled": "",
        "elapsed": 0,
        "problem": None,
    }


# Formats --------------------------------------------------------------------------------------------------------


def test_one_answer_in_three_formats(clients: Clients, service: ServiceState) -> None:
    plain = ask(clients.ana, WARDS, request="one")
    again = {form: clients.ana.get("/api/v1/answers/one", headers={"Accept": form.value}) for form in Format}
    assert {one.headers["content-type"].split(";")[0] for one in again.values()} == set(map(str, Format))
    whole = answer_from_arrow(again[Format.ARROW].content)
    assert plain.json() == again[Format.JSON].json()
    assert whole.to_rows() == plain.json()["rows"]
    assert again[Format.CSV].text == whole.to_csv()
    intervals = clients.ana.get("/api/v1/answers/one", params={"intervals": True}, headers={"Accept": "text/csv"})
    assert intervals.text == whole.to_csv(intervals=True)
    assert plain.json()["certificate"] == "/api/v1/answers/one/certificate"
    paper = clients.ana.get(plain.json()["certificate"])
    assert paper.json() == whole.certificate
    assert plain.headers["link"] == '</api/v1/answers/one/certificate>; rel="describedby"'
    assert plain.headers["content-location"] == "/api/v1/answers/one"


@pytest.mark.parametrize("accept", ["image/png", "text/html", "application/json;q=0", "nonsense", ";;,"])
def test_a_format_that_there_is_not_is_refused_before_anything_is_spent(
    clients: Clients, service: ServiceState, accept: str
) -> None:
    refused = ask(clients.ana, COUNT, {"Accept": accept})
    assert (refused.status_code, refused.headers["content-type"]) == (406, "application/problem+json")
    assert spent(service) == 0


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Format.JSON),
        ("*/*", Format.JSON),
        ("text/csv, */*;q=0.1", Format.CSV),
        ("application/*;q=0.2, application/vnd.apache.arrow.stream", Format.ARROW),
        ("application/json;q=0.1, text/*;q=x, */*;q=0.2", Format.ARROW),
    ],
)
def test_the_accept_header_is_weighed(accept: str, form: Format) -> None:
    assert choose_format(accept) is form


def test_csv_for_sheets_holds_no_formulas_and_changes_no_number() -> None:
    table = pa.table({"=ward": ["=HYPERLINK(1)", "+1", "-1", "@x", "plain", None], "n": [-1, 2, 3, 4, 5, 6]})
    answer = Answer(table, {"n": [(-3.0, 1.0)] * 6}, 0.95, Pure(1), True, (), {})
    kept = asking.StoredAnswer(
        Job("ana", "one", AskRequest(COUNT, 1), None, 0, State.ANSWERED, 0, 0, 1, None), answer_to_arrow(answer)
    )
    for_sheets = write_answer(kept, Format.CSV, "", sheets=True, intervals=True).decode().splitlines()
    assert for_sheets[:3] == ["'=ward,n,n_low,n_high", "'=HYPERLINK(1),-1,-3.0,1.0", "'+1,2,-3.0,1.0"]
    assert for_sheets[3:] == ["'-1,3,-3.0,1.0", "'@x,4,-3.0,1.0", "plain,5,-3.0,1.0", ",6,-3.0,1.0"]
    assert write_answer(kept, Format.CSV, "").decode() == answer.to_csv()


def test_questions_about_public_tables_alone_are_free_and_have_no_certificate(
    clients: Clients, service: ServiceState
) -> None:
    wards = Table("wards", (Column("ward", ColumnType.TEXT),), public=True)
    service.curator.protect(pa.table({"ward": ["surgery", "maternity"]}), wards)
    answer = ask(clients.ana, "SELECT COUNT(*) AS n FROM wards", request="one").json()
    assert (answer["rows"], answer["price"], answer["certificate"]) == ([{"n": 2}], None, None)
    with pytest.raises(NotFound):
        asking.certificate(service, ANA, "one")


def test_the_owner_asks_in_no_name_and_is_charged_to_the_table_alone(clients: Clients, service: ServiceState) -> None:
    assert ask(clients.owner, COUNT, epsilon="0.3").status_code == 200
    assert (spent(service), spent(service, "visits/ana")) == (Fraction(3, 10), 0)
    assert asking.ask(service, OWNER, AskRequest(COUNT, "0.3")).answer.charged is False
