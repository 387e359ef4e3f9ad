"""The frame and the look: ways by role, light and dark, one name for everything, room on a phone, colours that read."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
from playwright.sync_api import Page, expect

from discreet.console.layout import PAGES, failure_words
from discreet.console.theme import DARK, LIGHT, READ_ON, Palette, stylesheet
from discreet.errors import InvalidValue
from discreet.service.auth.roles import MemberRole
from tests.console.conftest import Enter

NAMELESS = """() => {
  const words = (id) => document.getElementById(id)?.textContent || "";
  const named = (one) => (one.getAttribute("aria-labelledby") || "").split(" ").map(words).join("");
  const labelled = (one) => [...(one.labels || [])].map((label) => label.textContent).join("");
  const said = (one) => one.ariaLabel || one.title || one.textContent || named(one) || labelled(one);
  const shown = (one) => one.checkVisibility() && !one.closest("[aria-hidden=true]") && !one.closest("svg");
  const reached = (one) => one.type !== "hidden" && !(one.type === "file" && one.tabIndex < 0);  // a button leads there
  const kinds = "input, textarea, select, button, a[href], [role=button], [role=slider], [role=img], [role=dialog]";
  const found = [...document.querySelectorAll(kinds)].filter((one) => shown(one) && reached(one) && !said(one).trim());
  return found.map((one) => one.outerHTML.slice(0, 160));
}"""
WIDER = "() => [document.documentElement.scrollWidth, window.innerWidth]"


def settled(page: Page) -> None:
    """Wait until a page is drawn and nothing is on its way."""
    expect(page.locator(".d-page h1")).to_be_visible()
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize(
    ("member", "first"), [("owner", "Ask"), ("ana", "Ask"), ("auditor", "Budget")], ids=["owner", "analyst", "auditor"]
)
@pytest.mark.some(1)
def test_everybody_sees_the_ways_that_are_open_to_them(enter: Enter, member: str, first: str) -> None:
    page = enter(member)
    role = {"owner": MemberRole.OWNER, "ana": MemberRole.ANALYST, "auditor": MemberRole.AUDITOR}[member]
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    assert links.all_inner_texts() == [f"{room.icon}\n{room.title}" for room in PAGES if role in room.roles]
    assert links.nth(0).get_attribute("aria-current") == "page"
    assert first in page.title()
    shut = [room.path for room in PAGES if role not in room.roles]
    for path in shut[:1]:
        page.goto(path)
        assert page.url.endswith(PAGES[0].path if first == "Ask" else "/budget")


@pytest.mark.thorough
def test_light_and_dark_follow_the_system_and_then_the_reader(enter: Enter) -> None:
    page = enter("ana", "/budget", color_scheme="dark")
    body = page.locator("body")
    expect(body).to_have_class(re.compile("body--dark"))
    expect(body).to_have_css("background-color", _rgb(DARK.page))
    page.get_by_role("button", name="Light or dark").click()
    expect(body).to_have_css("background-color", _rgb(LIGHT.page))
    page.reload()
    expect(body).to_have_class(re.compile("body--light"))
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("body")).to_have_css("background-color", _rgb(LIGHT.page))


def test_the_first_tab_stop_skips_to_the_page(enter: Enter) -> None:
    page = enter("auditor", "/budget")
    settled(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".d-page")).to_be_focused()


def test_every_page_fits_a_phone_and_names_its_controls(enter: Enter) -> None:
    page = enter("owner", viewport={"width": 390, "height": 800})
    for room in PAGES:
        page.goto(room.path)
        settled(page)
        assert page.locator("h1").count() == 1, room.title
        assert page.evaluate(NAMELESS) == [], room.title
        wide, window = page.evaluate(WIDER)
        assert wide <= window, f"{room.title} is {wide} wide"
    page.get_by_role("button", name="Pages").click()
    page.get_by_role("link", name="Budget").click()
    expect(page).to_have_title("Budget · Discreet")


# Colours.


def _rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[place : place + 2], 16) for place in (1, 3, 5)))


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """How far two colours are apart, as WCAG counts it."""
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read_on_what_they_stand_on(palette: Palette) -> None:
    assert contrast("#000000", "#ffffff") == 21
    low = {pair: contrast(*(getattr(palette, name) for name in pair)) for pair in READ_ON}
    assert {pair: found for pair, found in low.items() if found < 4.5} == {}
    assert all(contrast(colour, palette.surface) >= 3 for colour in palette.series), "lines of charts are seen"


def test_every_colour_that_the_style_names_exists() -> None:
    known = {f"--d-{one.name.replace('_', '-')}" for one in fields(Palette)} | {f"--d-series-{n}" for n in range(1, 7)}
    assert set(re.findall(r"var\((--d-[\w-]+)", stylesheet())) <= known


# Failures.


def test_a_failure_says_no_more_than_a_refusal_does() -> None:
    assert failure_words(InvalidValue("epsilon must be positive", -1)) == "epsilon must be positive, got -1"
    words = failure_words(RuntimeError("row 17: 4711"))
    assert "4711" not in words
    assert "Nothing more was spent" in words


UNEXPLAINED = """() => [...document.querySelectorAll('button:disabled, button[aria-disabled=true], .q-btn.disabled')]
    .filter(button => !button.title && !(button.getAttribute('aria-describedby') || '').split(' ').some(id => {
        const said = document.getElementById(id)
        return said && said.checkVisibility() && said.innerText.trim()
    }))
    .map(button => button.outerHTML.slice(0, 200))"""


def test_every_button_that_cannot_be_pressed_says_why(enter: Enter) -> None:
    seen = 0
    for member, role in (("owner", MemberRole.OWNER), ("ana", MemberRole.ANALYST)):
        page = enter(member)
        for room in (one for one in PAGES if role in one.roles):
            page.goto(room.path)
            page.locator(".d-page h1").wait_for()
            page.wait_for_function("window.did_handshake === true")
            assert page.evaluate(UNEXPLAINED) == [], (member, room.path)
            seen += page.locator("button:disabled, button[aria-disabled=true]").count()
    assert seen, "some buttons wait for something, as that of an empty question"
