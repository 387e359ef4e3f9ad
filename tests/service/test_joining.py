"""Joining: owners look after members, and members after their own tokens."""

from __future__ import annotations

from datetime import datetime

import httpx
import pytest

from discreet.errors import InvalidValue, NotAllowed, NotFound
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.operations import members as joining
from discreet.service.state import ServiceState
from tests.service.hospital import MEMBERS, Clients, client_of

API = "/api/v1"


def principal(name: str) -> Principal:
    return Principal(name, MEMBERS[name], "0" * 16)


def refused(answer: httpx.Response, status: int, words: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.json()["detail"]


def test_an_owner_adds_a_member_who_signs_in_and_is_gone_when_removed(clients: Clients, service: ServiceState) -> None:
    added = clients.owner.post(f"{API}/members", json={"name": "zoe", "role": "analyst"})
    assert added.status_code == 201
    assert added.json()["name"] == "zoe"
    issued = clients.owner.post(f"{API}/tokens", json={"member": "zoe", "label": "notebook", "days": 2}).json()
    zoe = client_of(service, issued["secret"])
    assert zoe.get(f"{API}/me").json() == {"name": "zoe", "role": "analyst"}
    assert clients.owner.delete(f"{API}/members", params={"name": "zoe"}).status_code == 204
    refused(zoe.get(f"{API}/me"), 401, "valid token")
    told = {one["name"]: one["removed"] for one in clients.owner.get(f"{API}/members").json()}
    assert set(told) == {*MEMBERS, "zoe"}
    assert [name for name, removed in told.items() if removed is not None] == ["zoe"]
    refused(clients.owner.post(f"{API}/members", json={"name": "zoe", "role": "owner"}), 422, "must be new")


def test_a_secret_is_told_once_and_never_again(clients: Clients) -> None:
    issued = clients.ana.post(f"{API}/tokens", json={"label": "notebook"}).json()
    listed = clients.ana.get(f"{API}/tokens")
    assert issued["id"] in listed.text
    assert issued["secret"].split("_")[2] not in listed.text
    assert all(set(one) == set(issued) - {"secret"} for one in listed.json())


def test_a_member_looks_after_their_own_tokens(clients: Clients, service: ServiceState) -> None:
    issued = clients.ana.post(f"{API}/tokens", json={"label": "notebook", "days": 1}).json()
    assert issued["member"] == "ana"
    other = client_of(service, issued["secret"])
    assert other.get(f"{API}/me").status_code == 200
    assert clients.ana.delete(f"{API}/tokens/{issued['id']}").status_code == 204
    refused(other.get(f"{API}/me"), 401, "valid token")
    (kept,) = [one for one in clients.ana.get(f"{API}/tokens").json() if one["id"] == issued["id"]]
    assert datetime.fromisoformat(kept["revoked"]) >= datetime.fromisoformat(kept["made"])


def test_a_member_can_revoke_the_token_that_they_show(clients: Clients, tokens: dict[str, str]) -> None:
    assert clients.ana.delete(f"{API}/tokens/{tokens['ana'].split('_')[1]}").status_code == 204
    refused(clients.ana.get(f"{API}/me"), 401, "valid token")


def test_a_token_of_one_s_own_lives_no_longer_than_the_settings_say_and_an_owner_may_say_more(
    clients: Clients, service: ServiceState
) -> None:
    days = service.settings.token_days
    refused(clients.ana.post(f"{API}/tokens", json={"days": days + 1}), 422, "may live for 90 days")
    usual = clients.ana.post(f"{API}/tokens", json={}).json()
    longer = clients.owner.post(f"{API}/tokens", json={"member": "ana", "days": days + 1}).json()
    lived = [datetime.fromisoformat(one["expires"]) - datetime.fromisoformat(one["made"]) for one in (usual, longer)]
    assert [one.days for one in lived] == [days, days + 1]


def test_others_tokens_are_as_if_they_did_not_exist(clients: Clients, tokens: dict[str, str]) -> None:
    theirs = clients.ana.delete(f"{API}/tokens/{tokens['ben'].split('_')[1]}")
    none = clients.ana.delete(f"{API}/tokens/{'0' * 16}")
    refused(theirs, 404, "such a token")
    refused(none, 404, "such a token")
    assert {key: value for key, value in theirs.json().items() if key not in ("detail", "value")} == {
        key: value for key, value in none.json().items() if key not in ("detail", "value")
    }
    assert clients.ben.get(f"{API}/me").status_code == 200
    for member in ("ben", "nobody at all"):
        refused(clients.ana.get(f"{API}/tokens", params={"member": member}), 403, "for the owner")
        refused(clients.ana.post(f"{API}/tokens", json={"member": member}), 403, "for the owner")


def test_an_owner_lists_and_revokes_anybody_s_tokens(clients: Clients) -> None:
    (token,) = clients.owner.get(f"{API}/tokens", params={"member": "ana"}).json()
    assert clients.owner.delete(f"{API}/tokens/{token['id']}").status_code == 204
    refused(clients.ana.get(f"{API}/me"), 401, "valid token")
    refused(clients.owner.get(f"{API}/tokens", params={"member": "nobody"}), 404, "such a member")
    refused(clients.owner.post(f"{API}/tokens", json={"member": "nobody"}), 404, "such a member")


def test_the_last_owner_is_not_removed_and_of_two_one_may_go(clients: Clients) -> None:
    refused(clients.owner.delete(f"{API}/members", params={"name": "owner"}), 422, "must keep an owner")
    clients.owner.post(f"{API}/members", json={"name": "second", "role": "owner"})
    assert clients.owner.delete(f"{API}/members", params={"name": "owner"}).status_code == 204
    refused(clients.owner.get(f"{API}/members"), 401, "valid token")


def test_the_operations_check_the_role_themselves(service: ServiceState) -> None:
    for name in ("ana", "auditor"):
        for forbidden in (
            lambda who: joining.members(service, who),
            lambda who: joining.add_member(service, who, "zoe", MemberRole.ANALYST),
            lambda who: joining.remove_member(service, who, "ben"),
            lambda who: joining.tokens(service, who, "ben"),
            lambda who: joining.issue_token(service, who, "ben"),
        ):
            with pytest.raises(NotAllowed):
                forbidden(principal(name))
        with pytest.raises(NotFound):
            joining.revoke_token(service, principal(name), service.members.tokens("ben")[0].id)
        with pytest.raises(InvalidValue):
            joining.issue_token(service, principal(name), days=91)
    assert len(service.members.all()) == len(MEMBERS)


@pytest.mark.parametrize(
    "body",
    [
        {"name": "zoe"},
        {"name": "zoe", "role": "king"},
        {"name": "zoe", "role": "owner", "admin": True},
        {"name": 5, "role": "owner"},
        {"name": " zoe", "role": "owner"},
        {"name": "_zoe", "role": "owner"},
        {"name": "z\noe", "role": "owner"},
        {"name": "z" * 151, "role": "owner"},
        [],
    ],
)
def test_a_member_that_cannot_be_is_refused(clients: Clients, body: object) -> None:
    answer = clients.owner.post(f"{API}/members", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(clients.owner.get(f"{API}/members").json()) == len(MEMBERS)


@pytest.mark.parametrize("name", ["a/b", "..", "a?b=c&d", "%2F", "Ä 日本", "a+b c", "#"])
def test_odd_names_are_added_and_removed(clients: Clients, name: str) -> None:
    assert clients.owner.post(f"{API}/members", json={"name": name, "role": "analyst"}).status_code == 201
    assert clients.owner.post(f"{API}/tokens", json={"member": name}).json()["member"] == name
    assert clients.owner.delete(f"{API}/members", params={"name": name}).status_code == 204


def test_a_clock_that_went_astray_is_shown_as_far_as_the_calendar_goes(clients: Clients, service: ServiceState) -> None:
    service.members._clock = lambda: 1e18
    service.store.write(lambda database: database.execute("UPDATE token SET expires = 2e18"))
    assert clients.owner.post(f"{API}/members", json={"name": "zoe", "role": "analyst"}).status_code == 201
    issued = clients.owner.post(f"{API}/tokens", json={"member": "zoe"})
    assert issued.json()["expires"].startswith("9999")
    service.members._clock = lambda: -1e18
    issued = clients.owner.post(f"{API}/tokens", json={})
    assert issued.json()["expires"].startswith("1970")
