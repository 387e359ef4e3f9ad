"""Asking in a real browser: priced while typed, refused in words, answered with a chart, kept for its asker alone."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from discreet.console.ask.answer import EPSILONS, error_words, nearest, refused_words, rounded
from discreet.console.ask.page import examples
from discreet.console.widgets import Latest
from discreet.curator.certificates.certificate import is_genuine
from discreet.curator.curator import Curator
from discreet.errors import QueryRefused
from discreet.query.question import ExpectedError
from tests.console.asking import COUNT, answer, ask, editor, history, price, write
from tests.console.conftest import Contexts, Enter, sign_in
from tests.console.serving import Serving
from tests.service.hospital import Hospital, policy, visits


def charges(hospital: Hospital) -> int:
    """How many questions the ledger has."""
    ledger = Curator(hospital.folder).ledger
    try:
        return sum(one.body["kind"] == "charge" and "sql" in one.body["note"] for one in ledger.entries(1))
    finally:
        ledger.close()


def saved(page: Page, name: str, folder: Path) -> str:
    with page.expect_download() as waiting:
        answer(page).get_by_role("button", name=name, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path.read_text("utf-8")


# The whole way.


def test_a_question_is_priced_refused_asked_charted_and_proved_until_the_budget_ends(
    contexts: Contexts, own_serving: Serving, tmp_path: Path
) -> None:
    page = contexts(own_serving.address, accept_downloads=True).new_page()
    sign_in(page, own_serving.hospital.tokens["ana"])

    write(page, "SELECT AVG(agee) FROM visits")
    expect(page.locator(".d-refused")).to_have_text("agee")
    expect(page.get_by_role("alert")).to_contain_text("there is no column of this name, got agee; did you mean 'age'?")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()

    write(page, COUNT)
    price(page, "0.4")
    expect(page.locator(".d-refused")).to_have_count(0)
    expect(page.get_by_text("40 % of what is left")).to_be_visible()
    assert charges(own_serving.hospital) == 0, "explaining spends nothing"

    page.get_by_role("button", name="Ask for ε 0.4").click()
    expect(answer(page).get_by_role("row")).to_have_count(6)
    expect(answer(page).get_by_role("cell", name="oncology")).to_be_visible()
    assert "±" in (answer(page).get_by_role("row").nth(1).text_content() or "")
    chart = answer(page).get_by_role("img", name="n with error bars that cover the truth 95 % of the time.")
    expect(chart.locator("svg")).to_be_visible()
    assert chart.locator("svg path").count() > 10
    expect(answer(page).get_by_text("Cost ε 0.4; ε 2.6 left for visits; ε 0.6 left for visits/ana")).to_be_visible()
    assert charges(own_serving.hospital) == 1

    assert saved(page, "CSV", tmp_path).startswith("ward,n,n_low,n_high\n")
    assert len(json.loads(saved(page, "JSON", tmp_path))["rows"]) == 5
    assert is_genuine(json.loads(saved(page, "Certificate", tmp_path)))
    answer(page).get_by_role("button", name="See the certificate").click()
    paper = page.get_by_role("dialog")
    expect(paper.get_by_text("The signature is genuine")).to_be_visible()
    expect(paper.get_by_text(COUNT).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(paper).to_have_count(0)

    ask(page, "SELECT COUNT(*) AS n FROM visits WHERE age > 40", "0.7")
    expect(answer(page).get_by_role("alert")).to_contain_text("must fit what is left for visits/ana")
    assert charges(own_serving.hospital) == 1, "a refusal costs nothing"
    expect(history(page).get_by_role("listitem")).to_have_count(2)

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()


# Prices and errors.


def test_a_wanted_error_finds_its_price_and_a_price_its_error(enter: Enter) -> None:
    page = enter("ben")
    write(page, COUNT)
    error, cost = page.get_by_label("or error ±"), page.get_by_label("Price ε", exact=True)
    expect(error).to_have_value("240")
    error.fill("100")
    expect(page.get_by_role("button", name="Ask for ε 0.24")).to_be_visible()
    expect(cost).to_have_value("0.24")
    cost.fill("1")
    expect(error).to_have_value("24")
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    expect(cost).to_have_value("0.8")
    expect(page.get_by_role("button", name="Ask for ε 0.8")).to_be_visible()
    cost.fill("a little")
    expect(page.get_by_role("alert")).to_contain_text("The price ε must be a positive number")


@pytest.mark.thorough
def test_balances_are_those_of_the_table_that_the_question_is_about(contexts: Contexts, own_serving: Serving) -> None:
    curator = Curator(own_serving.hospital.folder)
    curator.protect(visits(), policy("alms", {"ana": None}))
    curator.ledger.close()
    page = contexts(own_serving.address).new_page()
    sign_in(page, own_serving.hospital.tokens["ana"])
    balances = page.locator(".d-balance")
    expect(balances).to_have_text("All together on alms: ε 3 left of ε 3")
    write(page, COUNT)
    price(page, "2")
    expect(balances.first).to_have_text("All together on visits: ε 3 left of ε 3")
    expect(balances.last).to_have_text("You on visits: ε 1 left of ε 1")
    expect(page.get_by_text("more than what is left", exact=True)).to_be_visible()


def test_what_was_worked_out_for_an_older_text_is_dropped(enter: Enter) -> None:
    page = enter("ben")
    write(page, "SELECT nothing FROM nowhere")
    editor(page).press("ControlOrMeta+a")
    page.keyboard.type("SELECT COUNT(*) AS people FROM visits", delay=5)
    expect(page.get_by_text("people ±")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".d-refused")).to_have_count(0)


def test_the_latest_wins_however_late_the_others_are() -> None:
    async def played() -> list[str]:
        latest, shown, worked = Latest(), [], []

        async def work(name: str, seconds: float) -> str:
            worked.append(name)
            await asyncio.sleep(seconds)
            return name

        slow = asyncio.create_task(latest.run(lambda: work("slow", 0.2), shown.append))
        await asyncio.sleep(0.05)
        skipped = asyncio.create_task(latest.run(lambda: work("skipped", 0), shown.append, 0.05))
        await asyncio.sleep(0.01)
        await latest.run(lambda: work("last", 0), shown.append)
        await asyncio.gather(slow, skipped)
        assert worked == ["slow", "last"]
        return shown

    with ThreadPoolExecutor(1) as aside:  # the browser has a loop in this thread
        assert aside.submit(lambda: asyncio.run(played())).result() == ["last"]


def test_a_press_too_many_costs_once(enter: Enter, hospital: Hospital) -> None:
    page = enter("ben")
    before = charges(hospital)
    write(page, "SELECT COUNT(*) AS pressed FROM visits WHERE age < 77")
    price(page, "0.01")
    page.evaluate("""() => {
        const pressed = [...document.querySelectorAll("button")].find((one) => one.textContent.includes("Ask for"));
        pressed.click(); pressed.click(); pressed.click();
    }""")
    expect(answer(page).get_by_text("Cost ε 0.01")).to_be_visible()
    page.get_by_role("button", name="Ask, free").click()
    expect(answer(page).get_by_text("Asked before, free now")).to_be_visible()
    assert charges(hospital) == before + 1


def test_what_is_asked_costs_what_the_button_said(enter: Enter, hospital: Hospital) -> None:
    """Whoever types on and presses at once is told the price of what stands there now, and has paid nothing."""
    page, before = enter("ben"), charges(hospital)
    ask(page, "SELECT COUNT(*) AS those FROM visits WHERE age > 39", "0.01")
    free = page.get_by_role("button", name="Ask, free")
    expect(free).to_be_enabled()
    editor(page).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("SELECT COUNT(*) AS others FROM visits WHERE age > 40")
    page.keyboard.press("Control+Enter")
    again = page.get_by_role("button", name="Ask for ε 0.01", exact=True)
    expect(again).to_be_enabled()
    assert charges(hospital) == before + 1
    again.click()
    expect(answer(page).get_by_text("AS others FROM")).to_be_visible()
    expect(answer(page).get_by_text("Cost ε 0.01")).to_be_visible()
    assert charges(hospital) == before + 2


# Help.


def take_what_is_offered(page: Page) -> None:
    expect(page.locator(".cm-tooltip-autocomplete [aria-selected]")).to_be_visible()
    page.wait_for_timeout(150)  # the editor takes nothing that was offered less than 75 ms ago
    page.keyboard.press("Enter")


def test_names_are_completed_inserted_and_suggested(enter: Enter) -> None:
    page = enter("ben")
    page.get_by_role("button", name="How many for each ward?").click()
    expect(editor(page)).to_contain_text("GROUP BY ward")
    expect(page.get_by_text("n ± 240")).to_be_visible()
    write(page, "SELECT SUM(")
    page.get_by_role("button", name="Insert the column cost").click()
    expect(editor(page)).to_contain_text("SUM(cost")
    page.keyboard.type(") FROM vis")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("visits")
    take_what_is_offered(page)
    page.keyboard.insert_text(" WHERE ward = ")
    page.get_by_role("button", name="Insert the value oncology").click()
    expect(editor(page)).to_have_text("SELECT SUM(cost) FROM visits WHERE ward = 'oncology'")


@pytest.mark.thorough
def test_the_enter_key_leaves_whole_words_as_they_are(enter: Enter) -> None:
    page = enter("ben")
    editor(page).click()
    for line in ("SELECT COUNT(*) AS n FROM visits GROUP BY age", "ORDER BY n"):
        page.keyboard.type(line)
        take_what_is_offered(page)
    expect(editor(page)).to_have_text("SELECT COUNT(*) AS n FROM visits GROUP BY ageORDER BY n")


def test_the_keyboard_is_enough(enter: Enter) -> None:
    page = enter("ben")
    editor(page).focus()
    page.keyboard.insert_text("SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 31 AND 57")
    expect(page.get_by_role("button", name="Ask for ε 0.1", exact=True)).to_be_enabled()
    page.keyboard.press("Tab")
    expect(page.get_by_role("slider")).to_be_focused()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Ask for ε 0.01", exact=True)).to_be_enabled()
    editor(page).focus()
    page.keyboard.press("Control+Enter")
    expect(answer(page).get_by_text("Cost ε 0.01")).to_be_visible()
    expect(page.get_by_role("button", name="Ask, free", exact=True)).to_be_enabled()
    for _ in range(4):
        page.keyboard.press("Tab")
    ring = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert "Ask, free" in page.evaluate("document.activeElement.textContent")
    assert ring == "3px", "focus is seen"
    page.keyboard.press("Enter")
    expect(answer(page).get_by_text("Asked before, free now")).to_be_visible()
    expect(page.get_by_role("button", name="Ask, free", exact=True)).to_be_focused()


@pytest.mark.thorough
def test_the_slider_stays_where_it_is_moved_while_an_older_place_is_priced(enter: Enter) -> None:
    page = enter("ben")
    write(page, "SELECT COUNT(*) AS slid FROM visits")
    slider = page.get_by_role("slider")
    slider.evaluate("""one => {
        one.value = 3; one.dispatchEvent(new Event("input", {bubbles: true})); one.value = 20;  // still moving
    }""")
    expect(page.get_by_role("button", name="Ask for ε 0.003", exact=True)).to_be_visible()
    assert slider.evaluate("one => one.value") == "20"
    page.get_by_label("Price ε", exact=True).fill("1")
    expect(page.get_by_role("button", name="Ask for ε 1", exact=True)).to_be_visible()
    expect(slider).to_have_value(str(nearest(Fraction(1))))


class SlowWire:
    """Between a page and its server: once it is slow, nothing comes through after a call to show a value."""

    def __init__(self, context: BrowserContext) -> None:
        self.is_slow = False
        self.held: list[str | bytes] = []
        context.route_web_socket(re.compile("socket.io"), self._between)

    def _between(self, page: WebSocketRoute) -> None:
        self._page = page
        page.connect_to_server().on_message(self._heard)

    def _heard(self, message: str | bytes) -> None:
        if self.is_slow and (self.held or "updateValue" in str(message)):
            self.held.append(message)
        else:
            self._page.send(message)

    def release(self) -> None:
        self.is_slow = False
        for message in self.held:
            self._page.send(message)


@pytest.mark.thorough
def test_what_is_typed_while_older_news_are_on_their_way_stays(contexts: Contexts, serving: Serving) -> None:
    context = contexts(serving.address)
    wire, page = SlowWire(context), context.new_page()
    sign_in(page, serving.hospital.tokens["ben"])
    write(page, "SELECT COUNT(*) AS interrupted FROM visits")
    expect(page.get_by_role("button", name="Ask for ε 0.1", exact=True)).to_be_visible()
    wire.is_slow = True
    page.get_by_role("slider").fill("3")
    expect(page.get_by_role("button", name="Ask for ε 0.003", exact=True)).to_be_visible()
    field = page.get_by_label("Price ε", exact=True)
    field.fill("1")
    wire.release()
    assert wire.held
    expect(page.get_by_role("button", name="Ask for ε 1", exact=True)).to_be_visible()
    expect(field).to_have_value("1")


def test_what_is_known_about_an_answer_is_told_before_it_is_paid(enter: Enter) -> None:
    page = enter("ben")
    question = page.get_by_role("region", name="Your question")
    write(page, "SELECT ward, MEDIAN(age) AS middle FROM visits GROUP BY ward")
    expect(question.get_by_text("rows in rank, 95% of the time")).to_be_visible()
    expect(question.get_by_text("A person with more than 8 rows counts as 8 rows.")).to_be_visible()
    assert "curator." not in question.inner_text(), "what an analyst cannot do is not offered"


@pytest.mark.thorough
def test_many_long_names_of_columns_fit_a_phone(enter: Enter) -> None:
    page = enter("ben", viewport={"width": 390, "height": 700})
    sums = ", ".join(f"SUM(cost) AS total_cost_of_all_the_visits_{k}" for k in range(3))
    ask(page, f"SELECT ward, {sums} FROM visits GROUP BY ward", "0.01")
    expect(answer(page).get_by_role("group", name="Column of the chart")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# History.


def test_nobody_sees_what_another_asked(enter: Enter) -> None:
    first = enter("ana")
    ask(first, "SELECT COUNT(*) AS secret_of_ana FROM visits WHERE age > 24", "0.01")
    expect(history(first).get_by_text("secret_of_ana")).to_be_visible()
    second = enter("ben")
    editor(second)
    expect(
        history(second).get_by_text("Nothing asked yet").or_(history(second).get_by_role("listitem").first)
    ).to_be_visible()
    assert "secret_of_ana" not in second.content()


def test_an_old_question_shows_its_answer_and_comes_back_into_the_editor(enter: Enter) -> None:
    page = enter("ben", viewport={"width": 390, "height": 700})
    sql = "SELECT COUNT(*) AS elders FROM visits WHERE age > 70"
    ask(page, sql, "0.01")
    cell = answer(page).locator("dd").text_content()
    page.reload()
    page.evaluate("sessionStorage.clear()")
    page.reload()
    history(page).get_by_role("button", name="elders").click()
    assert answer(page).locator("dd").text_content() == cell
    expect(answer(page).get_by_role("heading", name="Answer")).to_be_in_viewport()
    history(page).get_by_role("button", name="Put this question into the editor").first.click()
    expect(editor(page)).to_have_text(sql)
    expect(editor(page)).to_be_in_viewport()
    expect(editor(page)).to_be_focused()


# Words.


@pytest.mark.parametrize(
    ("text", "refusal", "underlined"),
    [
        ("SELECT AVG(agee) FROM v", QueryRefused("r", "agee", line=1, column=12), "agee"),
        ("SELECT x\nFROM visit", QueryRefused("r", "visit", line=2, column=6), "visit"),
        ("SELECT sum(id) FROM v", QueryRefused("r", "SUM(id)", line=1, column=8), "sum(id)"),
        ("SELECT * FROM v", QueryRefused("r", "SELECT * FROM v", line=1, column=8), "*"),
        ("SELECT COUNT(*", QueryRefused("r", "", line=1, column=15), "SELECT"),
        ("SELECT 🙂 FROM v", QueryRefused("r", "v", line=1, column=15), "v"),
        ("SELECT f(\n  x,  1) FROM v", QueryRefused("r", "f( x, 1)", line=1, column=8), "f(\n  x,  1)"),
        ("SELECT '\u2028', f(x) FROM v", QueryRefused("r", "f(x)", line=1, column=13), "f(x)"),
    ],
)
def test_the_refused_words_are_found(text: str, refusal: QueryRefused, underlined: str) -> None:
    place = refused_words(text, refusal)
    assert place is not None
    assert text[slice(*place)] == underlined


def test_a_refusal_without_a_place_underlines_nothing() -> None:
    assert refused_words("SELECT", QueryRefused("r", "x")) is None
    assert refused_words("", QueryRefused("r", line=1, column=1)) is None


def test_prices_on_the_slider_rise_and_each_is_its_own_nearest() -> None:
    assert list(EPSILONS) == sorted(set(EPSILONS))
    assert [nearest(one) for one in EPSILONS] == list(range(len(EPSILONS)))
    assert (EPSILONS[0], EPSILONS[-1]) == (Fraction(1, 1000), 10)


def test_errors_are_told_in_words() -> None:
    assert error_words(ExpectedError("n", 330.69)) == "± 331, 95 % of the time"
    assert error_words(ExpectedError("n", None)) == "depends on the answer"
    assert [rounded(one) for one in (12345.6, 0.01234, 99.96)] == ["12,346", "0.0123", "100"]


def test_every_suggested_question_can_be_asked(hospital: Hospital) -> None:
    curator = Curator(hospital.folder)
    asked = [curator.explain(sql, "0.1", analyst="ana").price for _, sql in examples(policy())]
    curator.ledger.close()
    assert len(asked) == 4
