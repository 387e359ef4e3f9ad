"""The page about ε: its figures are those of the library, its words follow the dials, and the keyboard is enough."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from playwright.sync_api import expect

from discreet.console.understand import (
    _whole,
    beliefs_chart,
    beliefs_words,
    errors_chart,
    errors_words,
    figures,
    groups_chart,
    groups_words,
    laws_chart,
    laws_words,
    trade_off_chart,
    trade_off_words,
)
from discreet.console.widgets import counted, logarithmic, percentages
from discreet.errors import InvalidInput, InvalidValue
from discreet.interpretation.understanding import understand
from tests.console.conftest import Enter

CHOICES = [("1", "0", 4, "0.1", 1000), ("0.01", "1e-6", 1, "0.5", 1), ("7", "0.4", 7, "0.99", 10**7)]


@pytest.mark.parametrize("chosen", CHOICES)
def test_figures_are_those_of_the_library(chosen: tuple[str, str, int, str, int]) -> None:
    found, known = figures(*chosen), understand(*chosen)
    assert (found.verdict, found.laws, found.guessing) == (known.verdict, known.laws, known.guessing)
    assert (found.believing, found.groups, found.errors) == (known.believing, known.groups, known.usefulness.central)
    assert found.belief.before == Fraction(chosen[3])
    assert found.group.size == chosen[2]
    for people, errors in found.by_people:
        assert errors == understand(chosen[0], n=people).usefulness.central


@pytest.mark.parametrize("chosen", CHOICES)
def test_charts_and_sentences_can_be_made_of_every_choice(chosen: tuple[str, str, int, str, int]) -> None:
    found = figures(*chosen)
    for chart in (laws_chart, trade_off_chart, beliefs_chart, groups_chart, errors_chart):
        assert chart(found)["series"]
    for words in (laws_words, trade_off_words, beliefs_words, groups_words, errors_words):
        assert words(found).endswith(".")


def test_sentences_say_the_figures() -> None:
    found = figures("1", "0", 4, "0.1", 1000)
    assert "2.72 times" in laws_words(found)
    assert "73.2 %" in trade_off_words(found)
    assert "3.92 % to 23.2 %" in beliefs_words(found)
    assert "ε = 4" in groups_words(found)
    assert "±3 of a count (0.3 %" in errors_words(found)
    assert "as large as the table" in errors_words(figures("0.1", "0", 1, "0.1", 10))
    assert "but for answers with a probability" in beliefs_words(figures("1", "1e-6", 1, "0.1", 10))
    assert "may prove anything" in beliefs_words(figures("1", "0.4", 1, "0.1", 10))


def test_no_test_is_better_than_the_chart_shows() -> None:
    chart = trade_off_chart(figures("1", "0.1", 1, "0.1", 10))
    corners = chart["series"][0]["data"]
    assert corners[0] == [0.0, 100.0]
    assert corners[1] == pytest.approx([0.0, 90.0])
    assert corners[-1] == pytest.approx([90.0, 0.0])


@pytest.mark.parametrize("scale", [logarithmic(0.01, 10), percentages(1, 99), counted(1, 50)])
def test_a_slider_and_its_number_agree(scale: object) -> None:
    assert hasattr(scale, "text_at")
    for part in range(11):
        place = scale.low + part / 10 * (scale.high - scale.low)  # type: ignore[attr-defined]
        text = scale.text_at(place)
        assert scale.place_of(float(text)) == pytest.approx(place, abs=0.51 if text.isdecimal() else 0.005)


def test_a_slider_with_zero_starts_there_and_one_for_people_has_whole_numbers() -> None:
    delta, people = logarithmic(1e-12, 1e-2, zero=True), logarithmic(10, 10**7, is_whole=True)
    assert [delta.text_at(place) for place in (delta.low, delta.low + 1, delta.high)] == ["0", "1e-12", "0.01"]
    assert delta.place_of(0) == delta.low
    assert people.text_at(3.3) == "2000"
    assert people.place_of(10**12) == people.high


def test_nonsense_is_refused() -> None:
    with pytest.raises(InvalidValue, match="epsilon"):
        figures("-1", "0", 1, "0.5", 10)
    with pytest.raises(InvalidInput, match="n must be"):
        figures("1", "0", 1, "0.5", _whole("9" * 5000))


def test_dials_move_the_charts_and_the_words_by_keyboard_and_by_typing(enter: Enter) -> None:
    page = enter("auditor", "/understand")
    expect(page.get_by_text("Protection: moderate")).to_be_visible()
    charts = page.get_by_role("img", name=re.compile("times likelier"))
    expect(charts).to_have_attribute("aria-label", re.compile("2.72 times"))
    expect(charts.locator("svg path").first).to_be_attached()
    epsilon = page.get_by_label("ε", exact=True)
    epsilon.fill("0.1")
    expect(page.get_by_text("Protection: strong")).to_be_visible()
    expect(charts).to_have_attribute("aria-label", re.compile("1.11 times"))
    slider = page.get_by_role("slider", name="ε, slider")
    slider.locator("[tabindex='0']").focus()
    for reached in ("0.102", "0.105"):
        page.keyboard.press("ArrowRight")
        expect(epsilon).to_have_value(reached)
        expect(slider).to_have_attribute("aria-valuetext", reached)
    page.get_by_label("Prior", exact=True).fill("0.5")
    expect(page.get_by_text("thinks it 50 % likely that Alice is in the data")).to_be_visible()
    page.get_by_label("People", exact=True).fill("2,000,000")
    expect(page.get_by_text("In a table of 2,000,000 people")).to_be_visible()


@pytest.mark.thorough
def test_a_wrong_number_is_refused_in_words_and_the_last_figures_stay(enter: Enter) -> None:
    page = enter("ana", "/understand", viewport={"width": 390, "height": 800}, color_scheme="dark")
    delta = page.get_by_label("δ", exact=True)
    delta.fill("2")
    expect(page.get_by_role("alert").filter(has_text="delta must")).to_be_visible()
    expect(page.get_by_text("Protection: moderate")).to_be_visible()
    delta.fill("1e-6")
    expect(page.get_by_text("δ = 1e-06")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="delta must")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
