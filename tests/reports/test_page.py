"""The frame of a page: whole, silent on the network, and deaf to what the words would write into it."""

from __future__ import annotations

from discreet.reports import page as parts
from discreet.reports.charts import columns_chart, meter, paired_meters
from tests.reports.parsed import ParsedPage, assert_standalone

EVIL = "</p><script>alert(1)</script>\"' &"


def test_a_page_is_whole_and_fetches_nothing() -> None:
    text = parts.page("A title", [parts.section("One", parts.paragraph("words")), parts.footer("the end")])
    page = assert_standalone(text)
    assert "A title A title One words the end" in page.words
    assert "prefers-color-scheme:dark" in text
    assert page.having("meta")[1]["name"] == "viewport"


def test_a_heading_may_differ_from_the_title() -> None:
    page = ParsedPage(parts.page("for the tab", [], heading="for the top"))
    assert page.words == "for the tab for the top"


def test_everything_that_takes_words_escapes_them() -> None:
    pieces = [
        parts.section(EVIL),
        parts.table([EVIL], [["cell"]]),
        parts.paragraph(EVIL, EVIL),
        parts.warning(EVIL),
        parts.headline(EVIL),
        parts.quiet(EVIL),
        parts.footer(EVIL),
        parts.code_block(EVIL),
        parts.details(EVIL, "inside"),
        parts.figure(EVIL, "picture", EVIL),
        parts.mark(True, EVIL),
        parts.mark(False, no=EVIL),
        columns_chart([EVIL, EVIL], [(EVIL, [1, 2])], EVIL),
        meter(0.5, EVIL),
    ]
    page = assert_standalone(parts.page(EVIL, pieces, heading=EVIL))
    assert page.words.count("alert(1)") >= len(pieces) - 1


def test_cells_and_parts_are_taken_as_they_are() -> None:
    page = ParsedPage(parts.table(["name", "bar"], [["<b>bold</b>", meter(0.5)], ["&amp;", paired_meters(0, 1)]]))
    assert {"b", "svg"} <= page.tags
    assert page.words == "name bar bold &"
    assert not page.open


def test_a_table_without_a_header_has_none() -> None:
    assert "thead" not in ParsedPage(parts.table([], [["a"]])).tags


def test_details_are_open_on_demand() -> None:
    assert "<details open>" in parts.details("more", "x", shown=True)
    assert "<details>" in parts.details("more", "x")


def test_lists_and_galleries_hold_their_parts() -> None:
    page = ParsedPage(parts.entries(["one", "two"]) + parts.figures([parts.figure("a", "b")]))
    assert [tag for tag, _ in page.seen] == ["ul", "li", "li", "div", "figure", "figcaption"]


def test_a_framed_page_cannot_leave_its_frame() -> None:
    whole = parts.page(EVIL, [])
    frame = ParsedPage(parts.framed(whole))
    assert [tag for tag, _ in frame.seen] == ["iframe"]
    assert frame.having("iframe")[0]["srcdoc"] == whole
