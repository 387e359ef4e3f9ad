"""The ledger's page shows who is suspended; owners lift it there with a reason, and auditors only see it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import LedgerPrice
from discreet.curator.suspensions import suspensions_in
from tests.console.serving import Serving
from tests.console.test_budget_and_ledger import COUNT, WARDS, entered
from tests.service.hospital import Hospital, founded


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A hospital where a question of ana failed, and one of the owner."""
    hospital: Hospital = founded(tmp_path_factory.mktemp("suspended") / "hospital")
    ledger = Ledger(hospital.folder)
    for number, (who, sql) in enumerate((("ana", COUNT), (None, WARDS))):
        note = {"sql": sql, "analyst": who, "price": "", "versions": {"visits": "1"}}
        ledger.charge(f"plan:{number}", b"", {"visits": LedgerPrice(1)}, note)
        ledger.fail(f"plan:{number}", who, ["visits"])
    ledger.close()
    with Serving(hospital) as found:
        yield found


def test_who_is_suspended_is_seen_and_lifted_with_a_reason(browser: Browser, served: Serving) -> None:
    auditor = entered(browser, served, "auditor", "/ledger")
    part = auditor.get_by_role("region", name="Suspended")
    expect(part.get_by_role("alert").filter(has_text="ana at visits, since record №")).to_be_visible()
    expect(part.get_by_role("alert").filter(has_text="the owner at visits, since record №")).to_be_visible()
    expect(part.get_by_text(COUNT, exact=True)).to_be_visible()
    expect(auditor.get_by_role("button", name="ask again")).to_have_count(0)
    auditor.context.close()

    owner = entered(browser, served, "owner", "/ledger")
    part = owner.get_by_role("region", name="Suspended")
    part.get_by_role("button", name="Let ana ask again").click()
    expect(part.get_by_text("the reason of a lift must have")).to_be_visible()
    part.get_by_label("What was found and done").first.fill("the disk was full")
    part.get_by_role("button", name="Let ana ask again").click()
    expect(part.get_by_role("button", name="Let ana ask again")).to_have_count(0)
    expect(part.get_by_role("button", name="Let the owner ask again")).to_be_visible()
    owner.context.close()
    ledger = Ledger(served.hospital.folder)
    found = {one.analyst: one for one in suspensions_in(ledger, lifted=True)}
    ledger.close()
    assert (found["ana"].by, found["ana"].because, found[None].is_lifted) == ("owner", "the disk was full", False)


def test_an_analyst_who_is_suspended_hears_so_before_they_ask(browser: Browser, served: Serving) -> None:
    page = entered(browser, served, "ana", "/ledger")
    expect(page.get_by_role("region", name="Suspended")).to_have_count(0)
    page.context.close()
