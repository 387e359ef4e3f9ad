"""The page in a real browser: what people do on it, and everything that leaves it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from discreet.local.reports import Reports
from discreet.noise.source import ScriptedSource
from discreet.survey.store import Records
from tests.noise.goodness import misfit
from tests.survey.browser import Watched
from tests.survey.serving import Made, Serving, made

ROOT = Path(__file__).parents[2]
FALSE_ALARM = 1e-8
TRUTH = {"smokes": "yes", "commute": "bicycle", "sleep": "7.5"}


def opened(page: Page, serving: Serving, token: str) -> None:
    page.goto(f"{serving.address}/#{token}")
    expect(page.locator("#ask")).to_be_visible()


def fill(page: Page, answers: dict[str, str]) -> None:
    for name, answer in answers.items():
        field = page.locator(f"#question-{name}")
        if field.locator("input[type=radio]").count():
            field.get_by_label(answer, exact=True).check()
        else:
            field.locator(f"input[name={name}]").fill(answer)


def review(page: Page) -> None:
    page.get_by_role("button", name="Make my answers noisy").click()
    expect(page.locator("#review")).to_be_visible()


def send(page: Page) -> None:
    page.get_by_role("button", name="Send the noisy answers").click()
    expect(page.locator("#notice")).to_contain_text("have arrived")


def answer_all(page: Page, serving: Serving, token: str, answers: dict[str, str] = TRUTH) -> None:
    opened(page, serving, token)
    fill(page, answers)
    review(page)
    send(page)


# What leaves the page ---------------------------------------------------------------------------------------------


def test_one_submission_leaves_the_page_and_it_holds_reports_alone(
    watched: Watched, serving: Serving, survey: Made, token: str
) -> None:
    answer_all(watched.page, serving, token)
    assert len(watched.bodies) == 1
    body = json.loads(watched.bodies[0])
    asked = survey.store().survey
    assert set(body) == {"survey", "invitation", "reports"}
    assert (body["survey"], body["invitation"]) == (asked.fingerprint, token)
    assert list(body["reports"]) == [question.name for question in asked.questions]
    for question in asked.questions:
        reports = Reports.from_json(json.dumps(body["reports"][question.name]), question.terms)
        question.randomizer.check(reports)
        assert len(reports) == 1
    assert {request.url.removeprefix(serving.address) for request in watched.requests} == {
        "/", "/style.css", "/answer.js", "/chance.js", "/randomizers.js", "/thresholds.js", "/words.js", "/survey.json",
        "/invitation", "/reports",
    }  # fmt: skip
    assert watched.said == []
    assert watched.page.context.cookies() == []
    assert watched.page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]


def test_what_was_shown_is_what_was_sent_and_stored(watched: Watched, serving: Serving, tmp_path: Path) -> None:
    own = made(tmp_path / "own", invitations=1)
    with Serving(own.folder) as here:
        opened(watched.page, here, own.tokens[0])
        fill(watched.page, TRUTH)
        review(watched.page)
        assert watched.bodies == []  # nothing before the button
        watched.page.get_by_text("Every byte that will be sent").click()
        shown = watched.page.locator("#body").inner_text()
        send(watched.page)
    store = own.store()
    assert watched.bodies == [shown]
    assert store.records() == Records(store.survey).written(json.loads(shown)["reports"])


WORDS = """words => {
  const left = words.map(digits => BigInt(`0x${digits}`));
  crypto.getRandomValues = array => array.fill(0n).map(() => left.shift());
}"""


def sent_with(
    browser: Browser, serving: Serving, token: str, words: list[int], truth: dict[str, str], script: str | None = None
) -> list[Any]:
    """All traffic of a page whose generator gives these words; the submission is held back."""
    context = browser.new_context()
    watched = Watched(context.new_page())
    watched.page.route("**/reports**", lambda route: route.fulfill(status=201, json={"outcome": "stored"}))
    if script is not None:
        changed = script
        watched.page.route("**/answer.js", lambda route: route.fulfill(body=changed, content_type="text/javascript"))
    digits = json.dumps([f"{word:x}" for word in words])
    watched.page.add_init_script(f"({WORDS})({digits})")
    answer_all(watched.page, serving, token, truth)
    assert watched.said == []
    traffic = sorted(watched.traffic(), key=str)  # scripts are fetched side by side
    context.close()
    return traffic


HIGH, LOW = 2**64 - 1, 0
TRUTHFUL = [HIGH, HIGH, 1, HIGH, HIGH, 100, 0, 0, HIGH]
"""Words with which the first answers of `TRUTH` are told as they are, and the number by its hundredth likely report."""


def test_another_truth_with_the_same_reports_sends_the_same_bytes(
    browser: Browser, serving: Serving, survey: Made, token: str
) -> None:
    """Reports are all that depends on the truth: with the same reports, addresses, headers and bodies are the same."""
    first = sent_with(browser, serving, token, TRUTHFUL, TRUTH)
    questions = {question.name: question for question in survey.store().survey.questions}
    sent = json.loads(next(body for *_, body in first if body))["reports"]
    hours = questions["sleep"].randomizer
    near = 100 + hours.position_of(7.5) - hours.position_of(7)
    # "no" turned around; "car" turned into the second of the others, "bicycle"; another report out of the window of 7.
    lying = [LOW, LOW, 1, HIGH, HIGH, near, 0, 0, HIGH]
    reports = hours.privatize([7.0], source=ScriptedSource(lying[3:]))
    assert json.loads(reports.to_json(with_terms=False)) == sent["sleep"]
    second = sent_with(browser, serving, token, lying, {"smokes": "no", "commute": "car", "sleep": "7"})
    assert second == first


def test_the_inspection_sees_a_page_that_tells_the_truth(browser: Browser, serving: Serving, token: str) -> None:
    """A planted bug: the page adds the true answers to what it sends, in three ways."""
    script = (ROOT / "src/discreet/survey/page/answer.js").read_text(encoding="utf-8")
    leaks = {
        'fetch("/reports"': 'fetch("/reports?" + find("rows").innerText',
        '"Content-Type": "application/json"': '"Content-Type": "application/json", "X-Seen": '
        "find('rows').innerText.replace(/[^a-z]/g, '')",
        "invitation: token,": "invitation: token, seen: find('question-smokes').querySelector(':checked').value,",
    }
    other = {**TRUTH, "smokes": "no"}
    for honest, leaking in {"": "", **leaks}.items():
        assert honest in script
        planted = script.replace(honest, leaking)
        seen = [sent_with(browser, serving, token, words, truth, planted)
                for words, truth in ((TRUTHFUL, TRUTH), ([LOW, *TRUTHFUL[1:]], other))]  # fmt: skip
        assert (seen[0] == seen[1]) is (honest == leaking)


def test_what_is_sent_has_the_law_of_the_randomizer(browser: Browser, tmp_path: Path) -> None:
    """The same truth many times through the whole page. False alarms: 2e-8, by the bound of `misfit`."""
    ask = "{ask: A question, type: yes-no, epsilon: 1}"
    choose = "{ask: Another, type: choice, choices: [a, b, c], epsilon: 1, randomizer: grr}"
    questions = [*(f"  q{k}: {ask}" for k in range(50)), *(f"  c{k}: {choose}" for k in range(50))]
    own = made(tmp_path / "law", "title: Law\nquestions:\n" + "\n".join(questions), invitations=8)
    with Serving(own.folder) as here:
        page = browser.new_page()
        for token in own.tokens:
            page.goto("about:blank")
            opened(page, here, token)
            page.evaluate("""() => { for (const field of document.querySelectorAll("fieldset"))
                field.querySelectorAll("input")[1].checked = true;
                document.getElementById("ask").requestSubmit(); }""")
            send(page)
        page.close()
    store = own.store()
    assert store.answered() == 8
    reports = Records(store.survey).read(store.records())
    yes, other = store.survey.questions[0].randomizer, store.survey.questions[50].randomizer
    for letter, randomizer, field, answer in (("q", yes, "answer", "no"), ("c", other, "position", "b")):
        seen = Counter(int(reports[f"{letter}{k}"].columns[field][n]) for k in range(50) for n in range(8))
        law = randomizer.law(answer)
        counts, shares = zip(*((seen[one], float(law.mass(one))) for one in law.outcomes), strict=True)
        assert misfit(counts, shares) > FALSE_ALARM
        wrong = [1 / len(shares)] * len(shares)
        assert misfit(counts, wrong) < FALSE_ALARM  # the test has the power to tell another law


# What people do on it ---------------------------------------------------------------------------------------------


def test_the_page_can_be_answered_with_the_keyboard_alone(watched: Watched, serving: Serving, token: str) -> None:
    page = watched.page
    opened(page, serving, token)
    focused = "document.activeElement.name || document.activeElement.id || document.activeElement.tagName"

    def tab_to(wanted: str) -> None:
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate(focused) == wanted:
                return
        raise AssertionError(f"the keyboard does not reach {wanted}")

    tab_to("smokes")
    page.keyboard.press("Space")
    tab_to("commute")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    tab_to("sleep")
    page.keyboard.type("7,5")
    page.keyboard.press("Enter")
    expect(page.locator("#review")).to_be_visible()
    assert page.evaluate(focused) == "review-title"
    assert page.locator("dd:not(.sent)").all_inner_texts() == ["yes", "bicycle", "7,5"]
    tab_to("send")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("have arrived")


def test_missing_answers_are_asked_for_and_nothing_is_sent(watched: Watched, serving: Serving, token: str) -> None:
    page = watched.page
    opened(page, serving, token)
    fill(page, {"smokes": "yes", "sleep": "25"})
    page.get_by_role("button", name="Make my answers noisy").click()
    assert page.locator(".error").all_inner_texts() == [
        "", "Please answer this one, too.", "Please type a number from 0 to 12."]  # fmt: skip
    assert page.evaluate("document.activeElement.name") == "commute"
    expect(page.locator("#review")).to_be_hidden()
    assert watched.bodies == []


def test_the_promise_is_never_rounded_down(watched: Watched, serving: Serving, token: str) -> None:
    opened(watched.page, serving, token)
    said = watched.page.locator("fieldset details p").all_text_contents()
    assert "a chance of 75.0 %" in said[0]
    assert "more than 3 times as likely as it would be with another answer (ε = 1.1)" in said[0]
    assert "more than 2.72 times as likely as it would be with another answer (ε = 1)" in said[1]
    assert "more than 7.39 times" in said[2]  # e² = 7.389…
    expect(watched.page.locator("#promise")).to_contain_text("at most ε = 4.1.")
    expect(watched.page.locator("#promise")).to_contain_text("at most 98.4 % sure of one of them")  # e^4.1/(1 + e^4.1)


def test_coins_thrown_by_hand_decide_what_is_sent(watched: Watched, serving: Serving, token: str) -> None:
    page = watched.page
    opened(page, serving, token)
    fill(page, TRUTH)
    review(page)
    row = page.locator("article").first
    row.get_by_text("Throw coins or a die yourself").click()
    throws, sent, button = row.locator("input"), row.locator(".sent"), page.locator("#send")
    before = sent.inner_text()
    for typed, wanted in (
        ("H", "yes"),
        ("t h", "yes"),
        ("TT", "no"),
        ("T", "…"),
        ("x", "…"),
        ("1", "no"),
        ("6", "yes"),
    ):
        throws.fill(typed)
        expect(sent).to_have_text(wanted)
        expect(button).to_be_enabled(enabled=wanted != "…")
    throws.fill("")
    expect(sent).to_have_text(before)
    throws.fill("TT")
    send(page)
    assert json.loads(watched.bodies[0])["reports"]["smokes"]["reports"] == {"answer": [0]}


def test_going_back_does_not_draw_again(watched: Watched, serving: Serving, token: str) -> None:
    page = watched.page
    opened(page, serving, token)
    seen = set()
    for _ in range(6):
        fill(page, TRUTH)
        review(page)
        seen.add(page.locator("#body").text_content())
        page.get_by_role("button", name="Change my answers").click()
    assert len(seen) == 1


def test_a_link_answers_once(watched: Watched, serving: Serving, survey: Made, token: str) -> None:
    answer_all(watched.page, serving, token)
    store = survey.store()
    before = store.answered(), store.records()
    sent = len(watched.bodies)
    watched.page.reload()
    expect(watched.page.locator("#notice")).to_have_text(re.compile("used before, and nothing was sent"))
    expect(watched.page.locator("#ask")).to_be_hidden()
    assert (store.answered(), store.records()) == before
    assert len(watched.bodies) == sent


def test_a_second_page_of_the_same_link_sends_nothing(
    watched: Watched, browser: Browser, serving: Serving, token: str
) -> None:
    late = Watched(browser.new_page())
    opened(late.page, serving, token)
    fill(late.page, TRUTH)
    review(late.page)
    answer_all(watched.page, serving, token)
    late.page.locator("#send").click()
    expect(late.page.locator("#notice")).to_have_text(re.compile("used before, and nothing was sent"))
    assert late.bodies == []
    assert late.page.locator("#rows").inner_text() == ""
    late.page.close()


def test_a_link_without_its_token_sends_nothing(watched: Watched, serving: Serving) -> None:
    page = watched.page
    page.goto(serving.address)
    expect(page.locator("#notice")).to_contain_text("Your link is incomplete")
    fill(page, TRUTH)
    review(page)
    expect(page.locator("#send")).to_be_disabled()


def test_a_token_that_nobody_gave_out_is_refused_in_words(watched: Watched, serving: Serving) -> None:
    page = watched.page
    opened(page, serving, "0" * 32)
    fill(page, TRUTH)
    review(page)
    page.locator("#send").click()
    expect(page.locator("#notice")).to_contain_text("There is no such invitation")


def test_the_policy_forbids_foreign_scripts_pictures_and_addresses(watched: Watched, serving: Serving) -> None:
    page = watched.page
    page.goto(serving.address)
    outcome = page.evaluate("""async () => {
      const broken = [];
      document.addEventListener("securitypolicyviolation", event => broken.push(event.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      const picture = document.createElement("img");
      picture.src = "http://127.0.0.1:9/secret";
      document.body.append(picture);
      document.body.setAttribute("style", "color:red");
      await fetch("http://127.0.0.1:9/secret").catch(() => null);
      await new Promise(done => setTimeout(done, 300));
      return [window.ran ?? false, [...new Set(broken)].sort()];
    }""")
    assert outcome == [False, ["connect-src", "img-src", "script-src-elem", "style-src-attr"]]


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1000, "light")])
@pytest.mark.some(1)
def test_nothing_is_cut_off_at_any_width(
    browser: Browser, serving: Serving, token: str, width: int, scheme: Any
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    opened(page, serving, token)
    fill(page, TRUTH)
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) == 0
    review(page)
    page.get_by_text("Every byte that will be sent").click()
    assert page.evaluate(overflow) == 0
    context.close()


# Results for the owner ---------------------------------------------------------------------------------------------


@pytest.fixture
def results(watched: Watched, serving: Serving, survey: Made, token: str) -> Page:
    answer_all(watched.page, serving, token)
    watched.page.goto(f"{serving.address}/results#{survey.owner}")
    return watched.page


def test_the_owner_sees_results_that_follow_the_ask_request(results: Page) -> None:
    expect(results.get_by_role("heading", name="How do you come to work?")).to_be_visible()
    expect(results.locator("#figures")).to_contain_text(
        "invited have answered; each interval holds with confidence 0.95"
    )
    results.get_by_label("all intervals at once").check()
    expect(results.locator("#figures")).to_contain_text("all intervals hold at once with confidence 0.95")
    results.get_by_label("Confidence").fill("2")
    expect(results.locator("#notice")).to_contain_text("confidence must lie strictly between 0 and 1")


def test_nobody_else_sees_results(watched: Watched, serving: Serving, token: str) -> None:
    watched.page.goto(f"{serving.address}/results#{token}")
    expect(watched.page.locator("#notice")).to_contain_text("Results are for the holder of the owner's link.")
    expect(watched.page.locator("#figures")).to_be_empty()


def held(route: Route) -> None:
    route.abort()


def test_a_try_that_failed_is_repeated_with_the_same_bytes_even_after_a_reload(
    watched: Watched, serving: Serving, survey: Made, token: str
) -> None:
    page = watched.page
    opened(page, serving, token)
    fill(page, TRUTH)
    review(page)
    page.route("**/reports", held)
    page.locator("#send").click()
    expect(page.locator("#notice")).to_contain_text("The server did not answer")
    expect(page.locator("#back")).to_be_hidden()
    expect(page.get_by_text("Nothing has been sent yet")).to_be_hidden()
    page.unroute("**/reports")
    page.reload()
    expect(page.locator("#notice")).to_contain_text("An earlier try may not have arrived")
    page.locator("#send").click()
    expect(page.locator("#notice")).to_contain_text("have arrived")
    assert len(watched.bodies) == 2
    assert len(set(watched.bodies)) == 1


def test_another_link_in_the_same_tab_starts_afresh(watched: Watched, serving: Serving, survey: Made) -> None:
    """Two links differ after the # alone, and browsers do not load a page again for that."""
    page = watched.page
    opened(page, serving, survey.tokens.pop())
    fill(page, TRUTH)
    review(page)
    second = survey.tokens.pop()
    opened(page, serving, second)
    expect(page.locator("input:checked")).to_have_count(0)
    expect(page.locator("#rows")).to_be_empty()
    fill(page, TRUTH)
    review(page)
    send(page)
    assert json.loads(watched.bodies[0])["invitation"] == second


def test_what_was_true_is_gone_once_the_answers_have_arrived(watched: Watched, serving: Serving, token: str) -> None:
    """Somebody else may sit down at the same computer; a hidden part of the page is still in it."""
    page = watched.page
    answer_all(page, serving, token)
    expect(page.locator("input:checked")).to_have_count(0)
    expect(page.locator("#rows")).to_be_empty()
    expect(page.locator("input[name=sleep]")).to_have_value("")


def test_what_was_true_is_gone_from_a_page_that_was_left(watched: Watched, serving: Serving, token: str) -> None:
    """Browsers keep pages that were left and show them again as they were; the event is what they give then."""
    page = watched.page
    opened(page, serving, token)
    fill(page, TRUTH)
    review(page)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
    expect(page.locator("input:checked")).to_have_count(0)
    expect(page.locator("#rows")).to_be_empty()
    with page.expect_navigation():
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    expect(page.locator("#ask")).to_be_visible()


@pytest.mark.parametrize("status", [429, 502, 503])
@pytest.mark.some(1)
def test_a_busy_server_or_proxy_that_answers_in_its_own_words_is_asked_again(
    watched: Watched, serving: Serving, token: str, status: int
) -> None:
    page = watched.page
    opened(page, serving, token)
    fill(page, TRUTH)
    review(page)
    page.route("**/reports", lambda route: route.fulfill(status=status, body="<h1>Busy</h1>", content_type="text/html"))
    page.locator("#send").click()
    expect(page.locator("#notice")).to_contain_text("try again")
    page.unroute("**/reports")
    send(page)
    assert len(set(watched.bodies)) == 1


def test_the_price_of_everything_is_shown_as_short_as_it_is(watched: Watched, tmp_path: Path) -> None:
    """100 · 1.1 is more than 110 in floats."""
    own = made(tmp_path / "price", "title: A\nquestions:\n  q: {ask: B?, type: yes-no, epsilon: 1.1}\n", invitations=1)
    with Serving(own.folder) as here:
        opened(watched.page, here, own.tokens[0])
        expect(watched.page.locator("#promise")).to_have_text(re.compile(r"ε = 1\.1\. If somebody"))


def test_services_of_the_browser_get_nothing_true(watched: Watched, serving: Serving, token: str) -> None:
    """Some browsers send what is typed to a spelling checker, and what is shown to a translator."""
    page = watched.page
    opened(page, serving, token)
    assert page.locator("input[name=sleep]").get_attribute("spellcheck") == "false"
    fill(page, TRUTH)
    review(page)
    assert page.locator("dd:not(.sent)").evaluate_all("all => all.map(one => one.translate)") == [False] * 3


@pytest.mark.thorough
def test_a_comma_that_may_divide_thousands_is_asked_about(watched: Watched, tmp_path: Path) -> None:
    question = "{ask: How many?, type: number, lower: 0, upper: 5000, epsilon: 1}"
    own = made(tmp_path / "commas", f"title: A\nquestions:\n  q: {question}\n", invitations=1)
    with Serving(own.folder) as here:
        page = watched.page
        opened(page, here, own.tokens[0])
        fill(page, {"q": "1,000"})
        page.get_by_role("button", name="Make my answers noisy").click()
        expect(page.locator("#error-q")).to_have_text("Please leave out marks for thousands.")
        fill(page, {"q": "1000,5"})
        review(page)
