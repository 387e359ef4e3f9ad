"""Who sends a request."""

from __future__ import annotations

from typing import Annotated

import httpx
import pytest
from fastapi import FastAPI

from discreet.service.auth.bearer import principal_with
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.problems import handle_faults
from discreet.service.state import ServiceState
from tests.service.hospital import MEMBERS, Clients, client_of
from tests.service.in_process import InProcess
from tests.threads import at_once

API = "/api/v1"


def refused(answer: httpx.Response, words: str) -> None:
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["type"] == "urn:discreet:not-signed-in"
    assert words in answer.json()["detail"]


@pytest.mark.parametrize("name", MEMBERS)
def test_a_token_stands_for_its_member(clients: Clients, name: str) -> None:
    answer = getattr(clients, name).get(f"{API}/me")
    assert answer.status_code == 200
    assert answer.json() == {"name": name, "role": MEMBERS[name]}


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"Bearer",
        b"Bearer ",
        b"Bearer x",
        b"Basic b3duZXI6b3duZXI=",
        b"Bearer \xff\xfe",
        b"bearer discreet_%s_%s" % (b"0" * 16, b"0" * 64),
        b"Bearer " + b"x" * 50_000,
    ],
)
def test_a_header_without_a_valid_token_is_refused(clients: Clients, header: bytes) -> None:
    refused(clients.nobody.get(f"{API}/me", headers=[(b"authorization", header)]), "must carry a valid token")


def test_a_token_in_the_address_or_a_cookie_is_no_token(clients: Clients, tokens: dict[str, str]) -> None:
    refused(clients.nobody.get(f"{API}/me", params={"token": tokens["owner"]}), "valid token")
    cookie = {"Cookie": f"discreet_session={tokens['owner']}; token={tokens['owner']}"}
    refused(clients.nobody.get(f"{API}/me", headers=cookie), "valid token")


def test_a_member_is_who_the_token_says_whatever_other_headers_say(clients: Clients) -> None:
    headers = {"X-User": "owner", "X-Forwarded-User": "owner", "Remote-User": "owner", "From": "owner"}
    assert clients.ana.get(f"{API}/me", headers=headers).json()["name"] == "ana"


def test_a_one_time_token_is_good_for_signing_in_once_and_alone(service: ServiceState, clients: Clients) -> None:
    once = service.members.issue("owner", days=1, once=True)
    refused(client_of(service, once).get(f"{API}/me"), "POST /api/v1/sign-in")
    signed_in = clients.nobody.post(f"{API}/sign-in", json={"token": once})
    assert signed_in.status_code == 200
    assert set(signed_in.json()) == {"token", "expires"}
    lasting = client_of(service, signed_in.json()["token"])
    assert lasting.get(f"{API}/me").json()["name"] == "owner"
    refused(clients.nobody.post(f"{API}/sign-in", json={"token": once}), "valid token")


def test_of_many_who_sign_in_with_one_one_time_token_at_once_one_gets_in(
    service: ServiceState, clients: Clients
) -> None:
    once = service.members.issue("owner", days=1, once=True)
    answers = at_once(lambda: clients.nobody.post(f"{API}/sign-in", json={"token": once}).status_code, 16)
    assert sorted(answers) == [200] + [401] * 15


def test_signing_in_with_a_lasting_token_changes_nothing(clients: Clients, tokens: dict[str, str]) -> None:
    before = clients.ana.get(f"{API}/tokens").json()
    answer = clients.nobody.post(f"{API}/sign-in", json={"token": tokens["ana"]})
    assert answer.json()["token"] == tokens["ana"]
    assert answer.json()["expires"] == before[0]["expires"]
    assert clients.ana.get(f"{API}/tokens").json() == before


@pytest.mark.parametrize("token", ["", "nonsense", "discreet_" + "0" * 16 + "_" + "0" * 64])
def test_signing_in_with_a_wrong_token_is_refused(clients: Clients, token: str) -> None:
    refused(clients.nobody.post(f"{API}/sign-in", json={"token": token}), "valid token")


def test_the_door_checks_the_role_whatever_stands_behind_it(service: ServiceState, tokens: dict[str, str]) -> None:
    app = FastAPI()
    app.state.service = service
    handle_faults(app)

    @app.get("/for-owners")
    def for_owners(principal: Annotated[Principal, principal_with({MemberRole.OWNER})]) -> str:
        return principal.name

    for name, token in tokens.items():
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.Client(transport=InProcess(app), base_url="http://here").get("/for-owners", headers=headers)
        assert answer.status_code == (200 if name == "owner" else 403), name
