"""One document, three renderers: each says all of it, and none reads markup in its words."""

from __future__ import annotations

import io
import json
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, get_args

import pytest
from rich.console import Console, RenderableType

from discreet.errors import InvalidValue
from discreet.reports import document as doc
from discreet.reports.html import blocks_html, document_html, framed
from discreet.reports.report import Report, json_text, plain
from discreet.reports.terminal import block_text, document_text
from tests.reports.parsed import ParsedPage, assert_standalone

EVIL = "</p><script>alert(1)</script>\"' & [bold]x[/]"
CELLS: list[doc.TableCell] = [
    EVIL,
    doc.Toned(EVIL, "bad"),
    doc.Code(EVIL),
    doc.Stacked(doc.Code(EVIL), EVIL),
    doc.Meter(0.5),
    doc.PairedMeters(0.2, 0.8),
    doc.IntervalBar(0.5, (0.4, 0.6), 0.3),
]
CHARTS: list[doc.DocumentBlock] = [
    doc.LineChart([doc.Series(EVIL, [(0, 1)])], EVIL, EVIL, EVIL, reference=1, reference_label=EVIL),
    doc.ColumnChart(EVIL, [EVIL, EVIL], [1, 2], [2, 1], EVIL),
    doc.Gallery(EVIL, [doc.ColumnChart(EVIL, ["a"], [1], [2])]),
]
BLOCKS: list[doc.DocumentBlock] = [
    doc.Alert(EVIL, EVIL, "bad"),
    doc.Headline(EVIL),
    doc.Paragraph(EVIL),
    doc.Quiet(EVIL),
    doc.Code(EVIL),
    doc.TableBlock([EVIL] * len(CELLS), [CELLS]),
    doc.ItemList([doc.ListItem(EVIL, EVIL, EVIL, 0.5)]),
    doc.HeatTable([EVIL], [EVIL], [[doc.HeatCell(0.5, EVIL, EVIL, "good")]], EVIL),
    doc.Details(EVIL, [doc.Paragraph(EVIL)], is_open=True, name=EVIL),
    *CHARTS,
]
WHOLE = doc.Document(EVIL, [doc.Section(EVIL, BLOCKS)], heading=EVIL, footer=EVIL)


def printed(shown: RenderableType, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


def test_every_kind_of_block_and_cell_is_tried_here() -> None:
    assert {type(block) for block in (WHOLE.blocks[0], *BLOCKS)} >= set(get_args(doc.DocumentBlock))
    assert {type(cell) for cell in CELLS} == set(get_args(doc.TableCell))


def test_a_page_is_whole_and_fetches_nothing_whatever_the_words_are() -> None:
    text = document_html(WHOLE)
    page = assert_standalone(text)
    assert "prefers-color-scheme:dark" in text
    assert page.having("meta")[1]["name"] == "viewport"
    assert page.words.count("alert(1)") >= 25
    assert "b" not in page.tags


def test_every_block_says_its_words_in_the_terminal_but_charts() -> None:
    for block in BLOCKS:
        text = "".join(printed(block_text(block), width=400).split())
        assert ("alert(1)" in text) == (block not in CHARTS), block
        assert ("[bold]x[/]" in text) == (block not in CHARTS), block


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_terminal_of_any_width_holds_every_word(width: int) -> None:
    """Tables are left out here: in columns, words stand between each other."""
    words = [block for block in BLOCKS if not isinstance(block, (doc.TableBlock, doc.HeatTable))]
    text = printed(document_text(doc.Document(EVIL, words)), width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in printed(document_text(WHOLE), width)
    found = "".join(character for character in text if character not in "─ \n")
    wanted = sum(map(evils, (block for block in words if block not in CHARTS)))
    assert found.count(EVIL.replace(" ", "")) >= wanted


def test_programs_find_every_word_and_the_kind_of_every_block() -> None:
    found = json.loads(json_text(WHOLE))
    kinds = [block["kind"] for block in found["blocks"][0]["blocks"]]
    assert kinds == [type(block).__name__ for block in BLOCKS]
    assert json.dumps(found).count("alert(1)") == sum(map(evils, WHOLE.blocks)) + 3


def evils(value: Any) -> int:
    """How many texts below a value are the evil one."""
    if is_dataclass(value):
        return sum(evils(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, (list, tuple)):
        return sum(map(evils, value))
    return int(value == EVIL)


def test_data_hold_what_json_can() -> None:
    assert plain({"a": (Fraction(1, 2), float("nan"), None, True)}) == {"a": [0.5, None, None, True]}


def test_a_heading_may_differ_from_the_title() -> None:
    named = doc.Document("for the tab", [], heading="for the top")
    assert ParsedPage(document_html(named)).words == "for the tab for the top Made by Discreet."
    assert printed(document_text(named)).strip() == "for the top"


def test_figures_stand_right_and_stay_on_a_line() -> None:
    table = doc.TableBlock(("name", "a figure with a long name"), [("a", "1 234 567"), ("b", "8")], "lr")
    assert printed(block_text(table), width=16).splitlines()[-2:] == ["a      1 234 567", "b              8"]
    assert '<td class="figure">8</td>' in blocks_html([table])
    for shown in (blocks_html, lambda blocks: printed(document_text(doc.Document("", blocks)))):
        assert "62 %" in shown([doc.TableBlock((), [("62 %", "a table without a header")], "rl")])


def test_bars_go_where_the_width_does_not_hold_them() -> None:
    table = doc.TableBlock(("name", "", "share"), [("somebody", doc.Meter(0.5), "50 %")], "llr")
    assert "██████░░░░░░" in printed(block_text(table), width=40)
    narrow = printed(block_text(table), width=20)
    assert "█" not in narrow
    assert "50 %" in narrow


@pytest.mark.parametrize(
    ("bar", "drawn"),
    [
        (doc.Meter(0.25), "███░░░░░░░░░"),
        (doc.Meter(0.02), "█░░░░░░░░░░░"),
        (doc.Meter(0.001), "░░░░░░░░░░░░"),
        (doc.Meter(1.7, -1), "████████████"),
        (doc.Meter(0.75, 0.5), "░░░░░░███░░░"),
        (doc.PairedMeters(0.5, 0.25), "███▀▀▀░░░░░░"),
        (doc.PairedMeters(0.25, 0.5), "███▄▄▄░░░░░░"),
        (doc.IntervalBar(0.5, (0.25, 0.75), 0.9), "███▒▒▒▒▒▒░│░"),
    ],
)
def test_bars_of_the_terminal_are_as_long_as_their_shares(bar: doc.TableCell, drawn: str) -> None:
    assert printed(block_text(doc.TableBlock((), [("a", bar)]))).split() == ["a", drawn]


def test_a_heat_table_takes_as_many_pieces_as_the_width_asks_for() -> None:
    names = [f"attack{number}" for number in range(9)]
    table = doc.HeatTable(["nobody"], names, [[doc.HeatCell(0.1, f"{number} %") for number in range(9)]])
    for width, pieces in ((200, 1), (60, 2), (30, 5)):
        text = printed(block_text(table), width)
        assert text.count("nobody") == pieces
        assert all(f"attack{number}" in text and f"{number} %" in text for number in range(9))
        assert max(map(len, text.splitlines())) <= width


def test_a_terminal_passes_over_what_is_folded_and_over_sections_of_drawings() -> None:
    blocks = [
        doc.Section("Pictures", [doc.LineChart([], "a", "b", "c")]),
        doc.Section("More", [doc.Details("Folded", [doc.Quiet("x")])]),
    ]
    assert printed(document_text(doc.Document("T", blocks))).split() == ["T"]


def test_before_and_after_have_a_legend() -> None:
    assert "before after" in ParsedPage(blocks_html([doc.TableBlock((), [(doc.PairedMeters(0, 1),)])])).words
    assert "before" not in ParsedPage(blocks_html([doc.TableBlock((), [(doc.Meter(1),)])])).words


def test_details_are_open_on_demand_and_may_have_a_name() -> None:
    assert "<details open>" in blocks_html([doc.Details("more", [], is_open=True)])
    assert '<details id="raw">' in blocks_html([doc.Details("more", [], name="raw")])


@pytest.mark.parametrize(
    ("columns", "rows", "align"), [("ab", ["x"], ""), ("", ["x", "yz"], ""), ("a", ["x"], "lr"), ("a", ["x"], "c")]
)
def test_a_table_must_have_a_cell_and_a_letter_for_each_column(columns: str, rows: list[str], align: str) -> None:
    with pytest.raises(InvalidValue, match="a cell and a letter for each column"):
        doc.TableBlock(columns, rows, align)


def test_a_framed_page_cannot_leave_its_frame() -> None:
    whole = document_html(WHOLE)
    frame = ParsedPage(framed(whole))
    assert [tag for tag, _ in frame.seen] == ["iframe"]
    assert frame.having("iframe")[0]["srcdoc"] == whole


def test_a_report_is_its_document_in_every_form() -> None:
    class Said(Report):
        def document(self) -> doc.Document:
            return WHOLE

    assert Said().to_html() == document_html(WHOLE)
    assert Said().to_dict() == plain(WHOLE)
    assert str(Said()) == printed(Said()) == printed(document_text(WHOLE))
    assert Said()._repr_html_() == framed(document_html(WHOLE))
