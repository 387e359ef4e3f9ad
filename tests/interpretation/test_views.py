"""The three views: every printed figure against its definition, a stable JSON, and a page that stands alone."""

from __future__ import annotations

import io
import json
import math
import re
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

import discreet as dp
from discreet.interpretation.chapters import Chapter, chapters
from discreet.interpretation.understanding import Understanding
from discreet.reports.document import Meter
from tests.interpretation.printed import is_down, is_near, is_up, read
from tests.interpretation.worst import caught, e_to, laplace_mass, laplace_within, worst_pair
from tests.reports.parsed import ParsedPage, assert_standalone

ASKED = [
    {"epsilon": "0.1", "group": 4, "n": 10_000, "prior": "0.001"},
    {"epsilon": "1"},
    {"epsilon": "2.5", "group": 7},
    {"epsilon": "10"},
    {"epsilon": "1", "delta": "1e-6", "group": 2},
    {"epsilon": "0.5", "delta": "0.0001", "n": 100_000},
]


@pytest.fixture(scope="module", params=ASKED, ids=str)
def found(request: pytest.FixtureRequest) -> Understanding:
    return dp.understand(**request.param)


def chapter(found: Understanding, name: str) -> Chapter:
    return next(one for one in chapters(found) if one.name == name)


def cells(found: Understanding, name: str) -> list[list[str]]:
    """The words of the table, without its bars."""
    return [[cell for cell in row if isinstance(cell, str)] for row in chapter(found, name).rows]


def quoted(words: str, pattern: str) -> str:
    match = re.search(pattern, words)
    assert match, words
    return match[1]


def test_the_printed_laws(found: Understanding) -> None:
    epsilon, rows = found.given.epsilon, cells(found, "laws")
    for answer, without_me, with_me, ratio in rows:
        place = int(answer.replace(",", ""))
        assert is_near(without_me, laplace_mass(epsilon, place - 100))
        assert is_near(with_me, laplace_mass(epsilon, place - 101))
        assert ratio[0] == ("×" if place > 100 else "÷")
        assert is_up(ratio[1:], e_to(epsilon))
    assert 8 <= len(rows) <= 12


def test_the_printed_accuracy_and_detections(found: Understanding) -> None:
    epsilon, delta, factor = found.given.epsilon, found.given.delta, e_to(found.given.epsilon)
    best = (factor + delta) / (1 + factor)
    assert is_up(quoted(chapter(found, "guessing").words[1], r"right at most ([\d.]+ %)"), best)
    assert is_up(quoted(found.verdict.words, r"right at most ([\d.]+ %)"), best)
    assert is_up(quoted(found.verdict.words, r"more than ([\d.,]+) times"), factor)
    rows = cells(found, "guessing")
    assert [row[0] for row in rows] == ["1 of 100", "5 of 100", "10 of 100"]
    for (_, words), rate in zip(rows, (1, 5, 10), strict=True):
        assert is_up(words, caught(*worst_pair(epsilon, delta), Fraction(rate, 100)))


def test_the_printed_beliefs(found: Understanding) -> None:
    delta, factor = found.given.delta, e_to(found.given.epsilon)
    words = chapter(found, "believing").words[0]
    if delta:
        exception = quoted(words, r"probability of at most ([\d.e-]+\d(?: %)?)")
        assert is_up(exception, delta * (11 + 10 / factor))
        factor *= Fraction(11, 10)
    assert is_up(quoted(words, r"odds by at most ([\d.,]+) times"), factor)
    priors = sorted({Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), found.given.prior})
    for (before, low, high), prior in zip(cells(found, "believing"), priors, strict=True):
        assert read(before)[0] == prior
        assert is_down(low, prior / (prior + factor * (1 - prior)))
        assert is_up(high, factor * prior / (factor * prior + 1 - prior))


def test_the_printed_insurance(found: Understanding) -> None:
    """The beliefs themselves are computed by hand in the tests of the figures."""
    one = found.insurance
    beliefs = [one.before, one.without_her, one.with_her, one.informed]
    *rows, last = cells(found, "insurance")
    for (_, words, premium), belief in zip(rows, beliefs, strict=True):
        assert is_up(words, belief)
        assert is_up(premium, belief * 40_000)
    low, _, high = last[1].partition(" to ")
    assert is_down(low, one.informed_low)
    assert is_up(high, one.informed_high)
    assert is_up(last[2], one.informed_high * 40_000)
    note = next(note for note in chapter(found, "insurance").notes if "e^2ε" in note)
    assert is_up(quoted(note, r"within ([\d.,]+) times"), e_to(2 * found.given.epsilon))
    assert is_up(quoted(note, r"here, within ([\d.,]+)\."), one.apart)


def test_the_printed_costs(found: Understanding) -> None:
    laws, factor, delta = (
        worst_pair(found.given.epsilon, found.given.delta),
        e_to(found.given.epsilon),
        found.given.delta,
    )
    chances = [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)]
    for (without_me, low, high, cost, most), p in zip(cells(found, "costs"), chances, strict=True):
        assert read(without_me)[0] == p
        assert is_down(low, max((p - delta) / factor, 1 - factor * (1 - p) - delta, Fraction(0)))
        assert is_up(high, caught(*laws, p))
        assert read(cost)[0] == p * 10_000
        assert is_up(most, caught(*laws, p) * 10_000)


def test_the_printed_groups(found: Understanding) -> None:
    factor, delta = e_to(found.given.epsilon), found.given.delta
    sizes = sorted({1, 2, 4, 10, found.given.group})
    for row, size in zip(cells(found, "groups"), sizes, strict=True):
        mine = " (yours)" if size == found.given.group > 1 else ""
        assert row[0] == f"{size}{mine}"
        assert read(row[1])[0] == size * found.given.epsilon
        grown = delta * (factor**size - 1) / (factor - 1)
        if delta:
            assert is_up(row[2], grown)
        likelier, accuracy = row[-2], row[-1]
        shown = likelier.removesuffix(" times")
        assert is_up(shown, factor**size) or factor**size <= read(shown)[0] < 10 * factor**size
        assert is_up(accuracy, (factor**size + grown) / (1 + factor**size))


def test_the_printed_runs(found: Understanding) -> None:
    for row, one in zip(cells(found, "repeated"), found.repeated.repetitions, strict=True):
        assert row == [f"{100 * one.accuracy} %", f"{one.by_adding:,}", f"{one.at_worst:,}"]


def test_the_printed_errors(found: Understanding) -> None:
    epsilon, n = found.given.epsilon, found.given.n
    within = [
        Fraction(laplace_within(epsilon, Fraction(19, 20))),
        Fraction(laplace_within(epsilon / 1024, Fraction(19, 20)), 1024 * n),
        Fraction(laplace_within(epsilon, Fraction(19, 20), 10)),
    ]
    shares = [within[0] / n, within[1], within[2] / n]
    for (_, error, part), truth, share in zip(cells(found, "usefulness"), within, shares, strict=True):
        assert is_near(error.removeprefix("± "), truth)
        assert is_near(part, share)
    note, e = chapter(found, "usefulness").notes[0], math.exp(epsilon)
    assert is_near(quoted(note, r"off by ([\d.,]+)"), Fraction(math.sqrt(n * e) / (e - 1)))
    assert is_near(quoted(note, r"instead of ([\d.,]+)"), Fraction(math.sqrt(2 * e) / (e - 1)))


def test_the_printed_exposure() -> None:
    words = chapter(dp.understand(1, "0.0001", n=100_000), "delta").words
    assert is_up(quoted(words[0], r"publishes ([\d.]+) records"), Fraction(10))
    assert is_up(quoted(words[0], r"at least one with probability ([\d.]+ %)"), 1 - Fraction(9999, 10_000) ** 100_000)
    assert "too much" in words[1]
    assert "unlikely" in chapter(dp.understand(1, "1e-9"), "delta").words[1]


def test_bars_are_as_long_as_the_figures_beside_them(found: Understanding) -> None:
    for name, place in (("guessing", 1), ("groups", -2), ("costs", 2), ("believing", 2)):
        for row in chapter(found, name).rows:
            bar, words = next(cell for cell in row if isinstance(cell, Meter)), row[place]
            assert isinstance(words, str)
            assert is_up(words, Fraction(bar.value))


def test_every_bar_lies_between_its_ends(found: Understanding) -> None:
    bars = [cell for one in chapters(found) for row in one.rows for cell in row if isinstance(cell, Meter)]
    assert all(0 <= bar.start <= bar.value <= 1 for bar in bars)


# The terminal ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.some(8)
def test_the_text_stays_within_the_terminal_and_a_readable_width(found: Understanding, width: int) -> None:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    with console.capture() as captured:
        console.print(found)
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= min(width, 100)
    for one in chapters(found):
        assert one.title.split()[0] in captured.get()


def test_the_text_holds_every_chapter(found: Understanding) -> None:
    text = " ".join(str(found).split())
    for one in chapters(found):
        assert one.title in text
        for words in (*one.words, *one.notes):
            assert " ".join(words.split()) in text
    assert f"Protection: {found.verdict.name}" in text


@pytest.mark.parametrize("epsilon", ["0.000001", "0.001", "30", "100", "1000"])
@pytest.mark.parametrize("delta", ["0", "1e-300", "0.5", "0.999"])
@pytest.mark.some(7)
def test_no_epsilon_is_too_small_or_too_large_for_sensible_words(epsilon: str, delta: str) -> None:
    found = dp.understand(epsilon, delta, group=10, n=1, prior="1e-30")
    for view in (str(found), found.to_json(), found.to_html()):
        assert not re.search(r"\b(nan|inf|None(?! of them)|Fraction|Traceback)\b", view)


def test_a_study_that_drowns_in_noise_says_so() -> None:
    assert "too few to learn" in str(dp.understand("0.001"))
    assert "although Alice's record was not used" in " ".join(str(dp.understand(1)).split())


def test_noise_as_large_as_the_table_is_named() -> None:
    assert "The noise is as large as the table" in str(dp.understand("0.01", n=10))
    assert "The noise is as large as the table" not in str(dp.understand(1))


def test_delta_is_never_passed_over() -> None:
    text = " ".join(str(dp.understand(1, "1e-6")).split())
    assert "plus δ = 1e-06" in text
    assert "may prove anything about me" in text
    assert "What does δ = 1e-06 add?" in text
    assert "With δ above 0 it can fail for rare answers" in text
    assert "δ" not in str(dp.understand(1))


# JSON --------------------------------------------------------------------------------------------------------------


def shape(value: Any) -> Any:
    """The names and kinds of a JSON value."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    if isinstance(value, list):
        return [shape(value[0])]
    return type(value).__name__


FACTOR = {"value": "float", "words": "str"}
SHAPE = {
    "version": "int",
    "given": {"epsilon": "float", "delta": "float", "group": "int", "prior": "float", "n": "int"},
    "verdict": {"protection": "str", "words": "str"},
    "with_and_without": {
        "largest_ratio": FACTOR,
        "count_without_me": "int",
        "answers": ["int"],
        "chance_without_me": ["float"],
        "chance_with_me": ["float"],
    },
    "telling": {
        "best_accuracy": "float",
        "detection": [{"false_alarms": "float", "caught_at_most": "float"}],
        "least_errors": [["float"]],
    },
    "believing": {
        "odds_move_at_most": FACTOR,
        "but_for_answers_with_probability": "float",
        "beliefs": [{"before": "float", "after_at_least": "float", "after_at_most": "float"}],
    },
    "insurance": {
        "smokers": "int",
        "ill_if_harmless": "float",
        "ill_if_harmful": "float",
        "published_count": "int",
        "cost_of_illness": "int",
        "before": "float",
        "after_without_her_record": "float",
        "after_with_her_record": "float",
        "apart_at_most": FACTOR,
        "apart_here": FACTOR,
        "knowing_all_others": {
            "without_her_record": "float",
            "with_her_record_at_least": "float",
            "with_her_record_at_most": "float",
        },
    },
    "costs": {
        "stake": "int",
        "events": [{"without_me": "float", "with_me_at_least": "float", "with_me_at_most": "float"}],
    },
    "groups": [
        {"people": "int", "epsilon": "float", "delta": "float", "largest_ratio": FACTOR, "best_accuracy": "float"}
    ],
    "many_answers": [{"accuracy": "float", "adding_up": "int", "at_worst": "int"}],
    "errors": {
        "questions": [
            {
                "question": "str",
                "within_95_percent": "int",
                "standard_deviation": "float",
                "share_of_the_whole": "float",
            }
        ],
        "count_without_curator_standard_deviation": "float",
    },
    "delta": {"records_published_at_worst": "float", "any_record_published_at_worst": "float"},
}


def test_the_json_keeps_its_shape() -> None:
    assert shape(json.loads(dp.understand(1, "1e-6").to_json())) == SHAPE
    assert shape(json.loads(dp.understand(1).to_json())) == SHAPE | {"delta": "NoneType"}


def test_the_json_lies_on_the_safe_side(found: Understanding) -> None:
    data, factor, delta = found.to_dict(), e_to(found.given.epsilon), found.given.delta
    assert Fraction(data["telling"]["best_accuracy"]) >= (factor + delta) / (1 + factor)
    assert Fraction(data["with_and_without"]["largest_ratio"]["value"]) >= factor
    for one, belief in zip(data["believing"]["beliefs"], found.believing.beliefs, strict=True):
        assert Fraction(one["after_at_least"]) <= belief.low
        assert Fraction(one["after_at_most"]) >= belief.high
    for one, event in zip(data["costs"]["events"], found.costs.events, strict=True):
        assert Fraction(one["with_me_at_least"]) <= event.low
        assert Fraction(one["with_me_at_most"]) >= event.high


def test_a_factor_beyond_floats_is_null_and_has_words() -> None:
    ratio = dp.understand(1000).to_dict()["with_and_without"]["largest_ratio"]
    assert ratio == {"value": None, "words": "10^435"}


# The page ----------------------------------------------------------------------------------------------------------


def test_the_page_stands_alone_and_holds_every_word(found: Understanding) -> None:
    page = assert_standalone(found.to_html())
    words = page.words.replace("\N{NO-BREAK SPACE}", " ")
    for one in chapters(found):
        for said in (one.title, *one.words, *one.notes):
            assert " ".join(said.split()) in words
        for row in one.rows:
            assert all(cell in words for cell in row if isinstance(cell, str))


def test_the_page_has_five_charts_that_are_told_to_everybody(found: Understanding) -> None:
    text = found.to_html()
    figures = [ElementTree.fromstring(one) for one in re.findall(r'<figure class="plot">.*?</figure>', text)]
    assert [figure.findtext("figcaption") for figure in figures] == [
        "How likely each answer is",
        "The two errors of an attacker",
        "What can be believed about me",
        "How often the best guess is right",
        "How far a count is typically off",
    ]
    for figure in figures:
        picture = figure.find("svg")
        assert picture is not None
        assert picture.get("role") == "img"
        assert picture.get("aria-label")
        assert len(picture.findall("path")) > 5


def test_bars_without_me_are_drawn_quieter() -> None:
    page = ParsedPage(dp.understand(1).to_html())
    kinds = [attributes.get("class") for attributes in page.having("rect")]
    assert kinds.count("before") == len(cells(dp.understand(1), "laws"))


def test_a_notebook_shows_the_page_in_a_frame(found: Understanding) -> None:
    assert ParsedPage(found._repr_html_()).having("iframe")[0]["srcdoc"] == found.to_html()
