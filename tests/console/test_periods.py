"""Tables that grow in the console: strips of periods, rows that are appended, closes, and what a question reads."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from discreet.catalog.budget import Budget
from discreet.console.ask.price import find_tightest
from discreet.console.periods import part_left, strip
from discreet.console.tables.growing import set_aside_words
from discreet.console.tables.page import table_words
from discreet.curator.ledger.chain import AccountKind
from discreet.privacy.loss import Pure
from discreet.service.operations.periods import PeriodBalance
from discreet.service.operations.tables import Balance
from tests.console.conftest import VIEWPORT, Contexts, sign_in
from tests.console.serving import Serving
from tests.service.growing import STAYS, begin_stays, stays_policy
from tests.service.hospital import founded

JANUARY = datetime(2026, 1, 1), datetime(2026, 2, 1)


def closed(name: str, left: str) -> PeriodBalance:
    return PeriodBalance(name, *JANUARY, "closed", Pure(2), Pure(2 - Pure(left).epsilon), Pure(left))


def test_a_strip_shows_what_is_left_and_what_is_open() -> None:
    waiting = PeriodBalance("2026-02", *JANUARY, "due", None, None, None)
    drawn = strip([closed("2026-01", "1/2"), waiting], "a<b")
    assert part_left(closed("2026-01", "1/2")) == 0.25
    assert part_left(waiting) == 0.0
    assert 'aria-label="25% left"' in drawn
    assert "ε 0.5 left" in drawn
    assert 'class="d-period d-period-due"' in drawn
    assert "Periods of a&lt;b" in drawn
    assert "and 8 earlier" in strip([closed("2026-01", "1")] * 60, "stays")


def test_set_aside_rows_are_said_with_their_reasons() -> None:
    assert set_aside_words({}) == "No row was set aside."
    assert set_aside_words({"no date": 2}) == "2 rows were set aside: 2 without a date."


def test_of_many_periods_the_one_with_the_least_is_shown() -> None:
    def one(period: str | None, left: str, analyst: str | None = None) -> Balance:
        kind = AccountKind.TABLE if analyst is None else AccountKind.ANALYST
        amounts = Pure(2), Pure(2 - Pure(left).epsilon), Pure(left)
        return Balance("", kind, "stays", analyst, period, *amounts, None, None, None, None)

    many = [one("2026-01", "1"), one("2026-02", "1/2"), one("2026-03", "2"), one("2026-01", "1/4", "ana")]
    assert find_tightest(many) == [many[1], many[3]]
    counted = Balance("", AccountKind.UNIT, "stays", None, None, None, Pure(1), None, None, None, None, None)
    assert find_tightest([counted]) == []


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Serving]:
    """The console of a hospital whose stays grow; nothing closes by itself."""
    hospital = founded(tmp_path / "hospital")
    begin_stays(hospital)
    with Serving(hospital, close_seconds="0") as found:
        yield found


def opened(contexts: Contexts, serving: Serving, member: str, path: str) -> Page:
    page = contexts(serving.address, viewport=VIEWPORT).new_page()
    sign_in(page, serving.hospital.tokens[member], path)
    return page


def test_an_owner_appends_rows_and_closes_a_period_that_an_analyst_asks_about(
    contexts: Contexts, growing: Serving
) -> None:
    page = opened(contexts, growing, "owner", "/tables")
    page.get_by_text("stays", exact=True).click()
    periods = page.get_by_role("list", name="Periods of stays")
    expect(periods).to_contain_text("2026-01ε 2 left2026-02due")
    page.get_by_label("Id of the rows to append to stays").fill("february")
    sent = {"name": "february.csv", "mimeType": "text/csv", "buffer": STAYS}
    for _ in range(2):
        page.locator("input[type=file]").first.set_input_files(sent)
        said = page.get_by_text("2 rows were taken as february. 3 rows were set aside: 1 too late for their period")
        expect(said.or_(page.get_by_text("These rows were appended as february before"))).to_be_visible()
    expect(page.get_by_text("So far: 3 rows were set aside")).to_be_visible()
    page.get_by_role("button", name="Close 2026-02", exact=True).click()
    page.get_by_role("button", name="Close 2026-02 for good").click()
    expect(periods).to_contain_text("2026-02ε 2 left2026-03due")

    asking = opened(contexts, growing, "ana", "/")
    asking.locator(".cm-content").click()
    months = "SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM stays WHERE day < CURRENT_DATE GROUP BY 1"
    asking.keyboard.insert_text(months)
    expect(asking.get_by_text("as of 1 Mar 2026")).to_be_visible()
    expect(asking.get_by_text("2 periods, 2026-01 to 2026-02", exact=True)).to_be_visible()
    expect(asking.get_by_text("2 of them are new: 2026-01, 2026-02")).to_be_visible()
    asking.get_by_role("button", name="Ask for ε 0.1").click()
    expect(asking.locator(".d-answer")).to_contain_text("2026-02-01")

    budget = opened(contexts, growing, "ana", "/budget")
    expect(budget.get_by_role("list", name="Periods of stays")).to_contain_text("2026-01ε 0.9 left2026-02ε 0.9 left")
    expect(budget.get_by_text("counted without a cap")).to_be_visible()
    expect(budget.get_by_text("set aside")).to_have_count(0)


def test_a_feeder_has_no_page(contexts: Contexts, growing: Serving) -> None:
    page = contexts(growing.address).new_page()
    page.goto("/sign-in")
    page.get_by_label("Token").fill(growing.hospital.tokens["ward"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("This token is for a program that appends rows.")).to_be_visible()
    page.goto("/budget")
    expect(page.get_by_label("Token")).to_be_visible()


def test_the_words_for_a_budget_name_the_period() -> None:

    assert table_words(stays_policy()).startswith("ε 2 each month, protects patient and month")
    assert stays_policy().budget == Budget(2)
