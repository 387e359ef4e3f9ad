"""The page of the audit trail, in a browser."""

from __future__ import annotations

from playwright.sync_api import expect

from discreet.service.audit_trail import Trail
from discreet.service.storage import ServiceStore
from tests.console.conftest import Enter
from tests.console.serving import Serving


def test_owners_and_auditors_read_the_trail_in_pages_and_check_it(enter: Enter, serving: Serving) -> None:
    store = ServiceStore(serving.hospital.folder)
    Trail(store).write("planted", "owner", member="zoe <b>")
    for number in range(60):
        Trail(store).write("x", "ana", number=number)
    store.close()
    page = enter("auditor", "/trail")
    listed = page.locator(".trail-event")
    expect(listed).to_have_count(50)
    page.get_by_role("button", name="Older events").click()
    expect(page.get_by_text("planted, by owner: member zoe <b>")).to_be_visible()
    page.get_by_label("Kind").fill("planted")
    expect(listed).to_have_count(1)
    page.get_by_role("button", name="Verify the trail").click()
    expect(page.get_by_text("Sound:")).to_be_visible()
    seen = enter("owner", "/trail")
    expect(seen.locator(".trail-event").first).to_be_visible()
