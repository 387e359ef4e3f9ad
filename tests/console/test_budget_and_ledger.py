"""Budget and ledger in a browser: each principal sees what is theirs, and what is said is what the operations say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from discreet.console.budget import questions_words, shares, spending_chart, spending_words
from discreet.console.ledger import checked_words, record_head, sought
from discreet.curator.certificates.certificate import is_genuine
from discreet.curator.ledger.chain import AccountKind
from discreet.curator.ledger.ledger import Ledger
from discreet.errors import InvalidValue
from discreet.privacy.loss import Pure
from discreet.service.operations.ledger import Checked, Record, Sought
from discreet.service.operations.tables import Balance, SpentQuestion
from tests.console.conftest import sign_in
from tests.console.serving import Serving
from tests.service.hospital import Hospital, founded

COUNT = "SELECT COUNT(*) AS n FROM visits"
WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
SPENT = [
    SpentQuestion(5, "2026-03-01T10:00:00+00:00", "ana", Pure("0.5"), Pure("0.5")),
    SpentQuestion(8, "2026-03-02T10:00:00+00:00", None, Pure(0), Pure("0.5")),
    SpentQuestion(9, "2026-03-03T10:00:00+00:00", "ben", Pure("0.75"), Pure("1.25")),
]
WHOLE = Balance(
    "visits", AccountKind.TABLE, "visits", None, None, Pure(3), Pure("1.25"), Pure("1.75"), 2, None, None, None
)


def test_shares_add_up_to_what_was_spent() -> None:
    assert shares(SPENT) == [("ben", Pure("0.75")), ("ana", Pure("0.5")), ("the owner", Pure(0))]
    assert shares([]) == []


def test_the_chart_has_a_step_for_each_question_and_ends_now() -> None:
    chart = spending_chart(SPENT, Pure(3), now=datetime(2026, 4, 1, tzinfo=UTC))
    whole, ben, *_ = chart["series"]
    assert [value for _, value in whole["data"]] == [0, 0.5, 0.5, 1.25, 1.25]
    assert whole["data"][-1][0].startswith("2026-04-01")
    assert (ben["name"], ben["data"][-1][1]) == ("ben", 0.75)
    assert whole["markLine"]["data"] == [{"yAxis": 3.0}]
    assert spending_chart([], Pure(3))["series"][0]["data"] == []


def test_a_long_story_is_drawn_with_few_points_and_ends_where_it_ends() -> None:
    for count in (399, 400, 401, 1234):
        long = [
            SpentQuestion(i, "2026-03-01T10:00:00+00:00", "ana", Pure("0.001"), Pure(i)) for i in range(1, count + 1)
        ]
        points = spending_chart(long, Pure(20_000))["series"][0]["data"]
        assert len(points) <= 402
        assert points[-1][1] == points[-2][1] == count


def test_words_of_the_budget() -> None:
    words = "3 questions took ε 1.25 from the people in visits, of ε 3 that may be taken. The last was on 2026-03-03"
    assert spending_words(SPENT, WHOLE, is_own=False).startswith(words)
    assert spending_words(SPENT[:1], WHOLE, is_own=True).startswith("One of your questions took ε 0.5")
    assert spending_words([], WHOLE, is_own=True) == "No question of yours has taken anything from visits yet."
    assert [questions_words(more) for more in (None, 0, 1200)] == [
        "", "none like the last one", "about 1,200 more like the last one",
    ]  # fmt: skip


def test_words_of_the_ledger() -> None:
    record = Record(7, "2026-03-01T10:00:00+00:00", "question", b"", COUNT, None, ("visits",), {})
    assert record_head(record, ["ε 0.5"]) == "2026-03-01 10:00:00 UTC · the owner · ε 0.5"
    assert record_head(Record(1, record.time, "start", b""), []).endswith("· start")
    assert checked_words(Checked(True, (), 1234, "ab" * 32)).startswith("Sound: 1,234 records")
    assert "cannot be believed: record 3 is missing" in checked_words(Checked(False, ("record 3 is missing",), 3, ""))
    assert sought(" x ", "the owner", None, None, "2026-03-01", "") == Sought("", text="x", since=date(2026, 3, 1))
    with pytest.raises(InvalidValue, match="must be a date"):
        sought("", None, None, None, "", "tomorrow")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A hospital of which ana asked once and ben once, and whose owner wrote down 60 permissions before."""
    hospital: Hospital = founded(tmp_path_factory.mktemp("spent") / "hospital")
    ledger = Ledger(hospital.folder)
    for _ in range(60):
        ledger.record_analyst("visits", "ana", may_ask=True, by="owner")
    ledger.close()
    with Serving(hospital) as found:
        for member, sql, epsilon in (("ana", COUNT, "0.25"), ("ben", WARDS, "0.5")):
            bearer = {"Authorization": f"Bearer {hospital.tokens[member]}"}
            answer = httpx.post(
                f"{found.address}/api/v1/ask", json={"sql": sql, "epsilon": epsilon}, headers=bearer, timeout=60
            )
            assert answer.status_code == 200, answer.text
        yield found


def entered(browser: Browser, served: Serving, member: str, path: str, **options: object) -> Page:
    known = {"base_url": served.address, "viewport": {"width": 1280, "height": 800}} | options
    page = browser.new_context(**known).new_page()  # type: ignore[arg-type]
    sign_in(page, served.hospital.tokens[member], path)
    return page


def test_an_analyst_sees_their_own_spending_and_what_is_left_for_all(browser: Browser, served: Serving) -> None:
    page = entered(browser, served, "ana", "/budget", viewport={"width": 390, "height": 800}, color_scheme="dark")
    expect(page.get_by_text("One of your questions took ε 0.25 from the people in visits, of ε 1")).to_be_visible()
    expect(page.locator(".d-figure").filter(has_text="Left for you")).to_contain_text("ε 0.75")
    expect(page.locator(".d-figure").filter(has_text="Left for all together")).to_contain_text("ε 2.25")
    expect(page.get_by_role("img", name=re.compile("ana: 25 % spent"))).to_be_visible()
    assert "ben" not in page.locator(".d-page").inner_text()
    expect(page.get_by_text("How many for each ward?")).to_be_visible()
    price = page.locator(".budget-cost").first.locator(".budget-price")
    before = price.inner_text()
    page.get_by_label("A count may be off by").fill("200")
    expect(price).not_to_have_text(before)
    expect(price).to_contain_text("within ±200")
    page.get_by_label("A count may be off by").fill("nothing")
    expect(page.get_by_role("alert").filter(has_text="must be a number")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()


def test_an_auditor_sees_who_spent_what_and_no_prices_to_ask_for(browser: Browser, served: Serving) -> None:
    page = entered(browser, served, "auditor", "/budget")
    who = page.get_by_role("table", name="Who spent what on visits")
    expect(who.get_by_role("row", name=re.compile("ben ε 0.5 ε 1.5 of ε 2"))).to_be_visible()
    expect(who.get_by_role("row", name=re.compile("ana ε 0.25 ε 0.75 of ε 1"))).to_be_visible()
    expect(page.get_by_text("2 questions took ε 0.75")).to_be_visible()
    expect(page.get_by_text("What typical questions would still cost")).to_have_count(0)
    page.context.close()


def test_an_auditor_filters_verifies_and_reads_a_certificate(browser: Browser, served: Serving) -> None:
    page = entered(browser, served, "auditor", "/ledger")
    expect(page.get_by_text(COUNT, exact=True)).to_be_visible()
    expect(page.get_by_text("50 shown, and older ones.")).to_be_visible()
    page.get_by_role("button", name="Older records").click()
    expect(page.get_by_text("66 shown.")).to_be_visible()
    expect(page.locator(".ledger-record")).to_have_count(66)
    expect(page.get_by_role("button", name="Older records")).to_be_hidden()
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_role("status").filter(has_text="Sound: ")).to_be_visible()
    page.get_by_label("Text").fill("group by")
    expect(page.get_by_text("1 shown.")).to_be_visible()
    expect(page.get_by_text(COUNT, exact=True)).to_have_count(0)
    page.get_by_role("button", name=re.compile("Certificate of")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("The signature is genuine")).to_be_visible()
    expect(dialog.get_by_text("The ledger has this answer at the place")).to_be_visible()
    with page.expect_download() as kept:
        dialog.get_by_role("button", name="Download").click()
    paper = json.loads(Path(kept.value.path()).read_text("utf-8"))
    assert paper["question"] == WARDS
    assert is_genuine(paper)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()  # what is filled in while it closes can be lost
    page.get_by_label("Text").fill("")
    expect(page.get_by_text("50 shown, and older ones.")).to_be_visible()
    expect(page.locator(".ledger-record")).to_have_count(50)
    page.get_by_label("From").fill("2100-01-01")
    expect(page.get_by_text("Nothing is found.")).to_be_visible()
    page.context.close()


def test_an_analyst_finds_their_own_records_alone(browser: Browser, served: Serving) -> None:
    page = entered(browser, served, "ana", "/ledger", viewport={"width": 390, "height": 800})
    expect(page.get_by_text("1 shown.")).to_be_visible()
    expect(page.get_by_text(COUNT, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Verify the ledger")).to_have_count(0)  # it is for owners and auditors
    shown = page.locator(".d-page").inner_text()
    assert WARDS not in shown
    assert "ben" not in shown
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()
