"""Members and their tokens on the page: added, shown once, taken back, let go."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from discreet.console.people import member_words, token_state
from discreet.service.auth.members import Member, Members, Token
from discreet.service.auth.roles import MemberRole
from discreet.service.storage import ServiceStore
from tests.console.conftest import Contexts, Enter, sign_in
from tests.console.serving import Serving

DAY = 86_400.0


def token(**changes: object) -> Token:
    facts: dict[str, object] = {
        "id": "ab" * 8, "member": "ana", "label": "", "once": False, "made": 0.0, "expires": 9 * DAY, "revoked": None,
    }  # fmt: skip
    return Token(**(facts | changes))  # type: ignore[arg-type]


def test_tokens_and_members_are_said_in_words() -> None:
    assert token_state(token(), DAY) == "good until 1970-01-10"
    assert token_state(token(once=True), DAY) == "good until 1970-01-10, for one sign-in"
    assert token_state(token(), 9 * DAY) == "expired on 1970-01-10"
    assert token_state(token(revoked=DAY), DAY) == "taken back on 1970-01-02"
    assert token_state(token(revoked=DAY, once=True), DAY) == "used up on 1970-01-02"
    ana = Member("ana", MemberRole.ANALYST, 0.0, None)
    assert member_words(ana, [token(), token(revoked=0.0)], DAY) == "analyst since 1970-01-01, 1 good token"
    assert member_words(Member("ana", MemberRole.ANALYST, 0.0, DAY), [], DAY) == "analyst, left on 1970-01-02"


def works(serving: Serving, secret: str) -> bool:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx.get(f"{serving.address}/api/v1/me", headers=headers).status_code == 200


@pytest.mark.thorough
def test_many_members_come_in_parts(own_serving: Serving, contexts: Contexts) -> None:
    members = Members(ServiceStore(own_serving.hospital.folder))
    for number in range(60):
        members.add(f"m{number:02}", MemberRole.ANALYST)
    page = contexts(own_serving.address).new_page()
    sign_in(page, own_serving.hospital.tokens["owner"], "/people")
    shown = page.locator(".q-expansion-item")
    expect(shown).to_have_count(50)
    page.get_by_role("button", name="More members").click()
    expect(shown).to_have_count(65)
    expect(page.get_by_role("button", name="More members")).to_be_hidden()


def test_an_owner_lets_somebody_in_and_go(enter: Enter, serving: Serving) -> None:
    page = enter("owner", "/people")
    page.get_by_label("Name").fill("ana")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert").filter(has_text="a member's name must be new, got 'ana'")).to_be_visible()
    page.get_by_label("Name").fill("dora")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Issue a token for dora").click()
    secret = page.locator(".d-secret").inner_text()
    assert works(serving, secret)
    page.get_by_role("button", name="I have it").click()
    expect(page.locator(".d-secret")).to_have_count(0)
    assert secret not in page.content()

    page.get_by_role("button", name=f"Take back {secret.split('_')[1][:8]}").click()
    page.get_by_role("button", name="Take back", exact=True).click()
    expect(page.get_by_text("taken back on").locator("visible=true").first).to_be_visible()
    assert not works(serving, secret)

    page.get_by_role("button", name="Let dora go").click()
    page.get_by_role("button", name="Let go", exact=True).click()
    expect(page.get_by_text("dora: analyst, left on")).to_be_visible()
    page.get_by_text("owner since").click()
    page.get_by_role("button", name="Let owner go").click()
    page.get_by_role("button", name="Let go", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="a service must keep an owner")).to_be_visible()
