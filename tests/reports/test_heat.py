"""Heat tables: warmer is worse, and the words say it without the colour."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from discreet.errors import InvalidValue
from discreet.reports.charts import heat_table
from discreet.reports.document import Document, HeatCell, HeatTable
from discreet.reports.html import document_html
from tests.reports.parsed import assert_standalone

EVIL = "</td><script>alert(1)</script>\"'&"


def test_worse_is_warmer_and_the_words_and_the_bar_say_the_same() -> None:
    values = [0, 0.25, 1]
    table = ElementTree.fromstring(
        heat_table(HeatTable(["one"], list("abc"), [[HeatCell(v, f"{v:.0%}") for v in values]]))
    )
    cells = table.findall(".//td")
    assert [cell.get("style") for cell in cells] == ["--heat:0.000", "--heat:0.125", "--heat:0.500"]
    assert [cell.text for cell in cells] == ["0%", "25%", "100%"]
    assert [cell.findall(".//rect")[1].get("width") for cell in cells] == ["0.00%", "25.00%", "100.00%"]


def test_rows_and_columns_have_names_for_screen_readers() -> None:
    table = ElementTree.fromstring(heat_table(HeatTable(["r"], ["c"], [[HeatCell(0.5, "half")]], corner="attack")))
    assert [(head.get("scope"), head.text) for head in table.findall(".//th")] == [
        ("col", "attack"),
        ("col", "c"),
        ("row", "r"),
    ]


def test_nothing_measured_has_no_colour() -> None:
    table = ElementTree.fromstring(heat_table(HeatTable(["r"], ["c"], [[HeatCell(None, "does not apply", "why")]])))
    cell = table.find(".//td")
    assert cell is not None
    assert (cell.get("style"), cell.get("class"), cell.get("title")) == (None, "unknown", "why")
    assert cell.text == "does not apply"


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf])
def test_a_share_lies_from_0_to_1(value: float) -> None:
    with pytest.raises(InvalidValue, match="from 0 to 1"):
        HeatCell(value, "")


@pytest.mark.parametrize("cells", [[], [[]], [[HeatCell(0, "")] * 2], [[HeatCell(0, "")]] * 2])
def test_every_row_and_column_needs_its_cell(cells: list[list[HeatCell]]) -> None:
    with pytest.raises(InvalidValue, match="a cell for each row and column"):
        HeatTable(["r"], ["c"], cells)


def test_an_empty_table_is_a_table() -> None:
    assert ElementTree.fromstring(heat_table(HeatTable([], [], []))).find(".//tbody") is not None


def test_words_cannot_write_into_the_page() -> None:
    table = HeatTable([EVIL], [EVIL], [[HeatCell(0.3, EVIL, EVIL)]], corner=EVIL)
    text = document_html(Document("a", [table]))
    assert "script" not in assert_standalone(text).tags
