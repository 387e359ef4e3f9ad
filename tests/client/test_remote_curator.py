"""A curator behind a service answers as a local one does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.curator.answers.answer import Answer
from discreet.curator.certificates.certificate import is_genuine
from discreet.curator.curator import Curator
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    InvalidType,
    InvalidValue,
    MissingExtra,
    NotAllowed,
    NotFound,
    NotSignedIn,
    QueryRefused,
    RequestConflict,
)
from discreet.privacy.loss import Pure
from tests.client.conftest import Served
from tests.service.hospital import Hospital

COUNT = "SELECT COUNT(*) AS n FROM visits"
WARDS = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward ORDER BY ward"


@pytest.fixture(params=["local", "remote"])
def curator(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The same hospital, beside us and behind a service."""
    if request.param == "local":
        yield Curator(request.getfixturevalue("hospital").folder)
    else:
        remote = request.getfixturevalue("there").remote()
        yield remote
        remote.close()


def test_the_same_notebook_runs_on_both(curator: Any) -> None:
    plan = curator.explain(WARDS, epsilon="0.3")
    assert plan.price == Pure("0.3")
    assert (plan.affordable, plan.groups, plan.epsilon) == (True, 5, Fraction(3, 10))
    assert [error.column for error in plan.errors] == ["n", "age"]
    assert sum(share.epsilon for _, share in plan.shares) <= Fraction(3, 10)
    assert curator.explain(COUNT, within=100.0, confidence=0.9).errors[0].within <= 100

    before = curator.budget()["visits"]["spent"].epsilon
    answer = curator.ask(WARDS, 0.3, request="notebook")
    assert isinstance(answer, Answer)
    assert answer.to_arrow().column_names == ["ward", "n", "age"]
    assert len(answer.to_pandas()) == len(answer.error["n"]) == 5
    assert (answer.price, answer.charged, answer.confidence) == (Pure("0.3"), True, 0.95)
    assert is_genuine(answer.certificate)
    assert "cost ε 0.3" in str(answer)
    assert "<table" in answer._repr_html_()
    assert curator.ask(WARDS, "3/10", request="notebook").to_rows() == answer.to_rows()

    balance = curator.budget()["visits"]
    assert (balance["cap"], balance["spent"]) == (Pure(3), Pure(before + Fraction(3, 10)))
    assert balance["left"] == Pure(3 - balance["spent"].epsilon)
    assert answer.left["visits"] == balance["left"]
    assert balance["more"] == int(balance["left"].epsilon / Fraction(3, 10))
    raw = curator.ask(COUNT, within=300, confidence=0.9, raw=True)
    assert raw.confidence == 0.9


BAD = {
    "no SQL": lambda c: c.ask("SELEC", 1),
    "an unknown column": lambda c: c.ask("SELECT COUNT(*) AS n FROM visits\n WHERE wrad = 'x'", 1),
    "an unknown table": lambda c: c.explain("SELECT COUNT(*) FROM visit", 1),
    "rows": lambda c: c.ask("SELECT age FROM visits", 1),
    "too much": lambda c: c.ask(COUNT, 1000),
    "no price": lambda c: c.ask(COUNT),
    "price and error": lambda c: c.explain(COUNT, 1, within=5),
    "a negative price": lambda c: c.ask(COUNT, -1),
    "a price that is none": lambda c: c.ask(COUNT, "much"),
    "a list as price": lambda c: c.ask(COUNT, [1]),
    "a confidence of two": lambda c: c.explain(COUNT, 1, confidence=2),
    "an error for an average": lambda c: c.explain("SELECT AVG(age) FROM visits", within=1),
}


@pytest.mark.parametrize("bad", BAD)
def test_refusals_are_of_the_same_type_and_say_the_same(there: Served, hospital: Hospital, bad: str) -> None:
    heard = []
    for curator in (Curator(hospital.folder), there.remote()):
        with pytest.raises(DiscreetError) as refused:
            BAD[bad](curator)
        heard.append(refused.value)
    local, remote = heard
    assert type(local) is type(remote)
    assert local.remedy == remote.remedy
    if not isinstance(local, BudgetExceeded):  # which says what is left
        assert (local.rule, str(local)) == (remote.rule, str(remote))
    if isinstance(local, QueryRefused):
        assert isinstance(remote, QueryRefused)
        assert (local.line, local.column, local.value) == (remote.line, remote.column, remote.value)


def test_what_was_asked_is_listed_and_served_again(there: Served) -> None:
    remote = there.remote("ben")
    answer = remote.ask(COUNT, "0.01", request="mine")
    (listed,) = [one for one in remote.answers() if one.request == "mine"]
    assert (listed.sql, listed.state, listed.price) == (COUNT, "answered", Pure("0.01"))
    assert listed.made.tzinfo is not None
    assert remote.answers(limit=1, before="mine") == []
    assert remote.answer("mine") == answer
    assert remote.certificate("mine") == answer.certificate
    assert [one["text"] for one in remote.ledger()] == [COUNT]
    assert [one["name"] for one in remote.tables()] == ["visits"]
    assert set(remote.budget()) == {"visits", "visits/ben"}
    with pytest.raises(NotFound):
        there.remote("ana").answer("mine")
    with pytest.raises(RequestConflict):
        remote.ask(COUNT, "0.02", request="mine")


def test_roles_hold(there: Served) -> None:
    with pytest.raises(NotAllowed):
        there.remote("auditor").ask(COUNT, 1)
    with pytest.raises(NotSignedIn):
        discreet.connect(there.url, "discreet_0_0").budget()


# Connecting -----------------------------------------------------------------------------------------------------


def test_the_token_may_come_from_the_environment_and_is_never_shown(
    there: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = there.hospital.tokens["ana"]
    monkeypatch.setenv("DISCREET_TOKEN", token)
    remote = discreet.connect(there.url + "/")
    assert "visits/ana" in remote.budget()
    assert token not in repr(remote) + repr(vars(remote))
    monkeypatch.delenv("DISCREET_TOKEN")
    with pytest.raises(NotSignedIn, match="DISCREET_TOKEN"):
        discreet.connect(there.url)


@pytest.mark.parametrize(
    "url",
    [
        "http://data.example.org",
        "http://192.0.2.7:8000",
        "http://localhost.example.org",
        "ftp://localhost",
        "localhost:8000",
        "https://",
        "https://me@data.example.org",
        "https://data.example.org/?x=1",
        "https://data.example.org:99999",
        "http://[::1",
        "",
    ],
)
def test_addresses_where_no_token_may_go_are_refused(url: str) -> None:
    with pytest.raises(InvalidValue):
        discreet.connect(url, "token")


@pytest.mark.parametrize(
    ("url", "more"),
    [
        ("http://localhost:1", {}),
        ("http://127.3.2.1:1", {}),
        ("http://[::1]:1", {}),
        ("https://data.example.org", {}),
        ("https://data.example.org", {"verify": False, "insecure": True}),
        ("http://data.example.org", {"insecure": True}),
    ],
)
def test_other_addresses_are_taken(url: str, more: dict[str, Any]) -> None:
    discreet.connect(url, "token", **more).close()


def test_certificates_are_verified_unless_two_words_say_otherwise() -> None:
    with pytest.raises(InvalidValue, match="certificate"):
        discreet.connect("https://data.example.org", "token", verify=False)
    with pytest.raises(InvalidValue, match="file of certificates"):
        discreet.connect("https://data.example.org", "token", verify="/nowhere/ca.pem")


@pytest.mark.parametrize("token", ["a b", "a\nX-Evil: 1", "é", "x" * 1001])
def test_tokens_that_are_none_are_refused_without_being_shown(token: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        discreet.connect("http://localhost:1", token)
    assert token not in str(refused.value)


@pytest.mark.parametrize("request_id", ["", "../me", "a/b", "a?b", "x" * 101, 7])
def test_request_ids_that_fit_into_no_address_are_refused_here(there: Served, request_id: Any) -> None:
    with pytest.raises(InvalidValue):
        there.remote().ask(COUNT, 1, request=request_id)
    with pytest.raises(InvalidValue):
        there.remote().answer(request_id)


def test_questions_that_are_no_text_are_refused_here(there: Served) -> None:
    with pytest.raises(InvalidType):
        there.remote().ask(7, 1)  # type: ignore[arg-type]


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"discreet\[client\]"):
        discreet.connect("http://localhost:1", "token")
