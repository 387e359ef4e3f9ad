"""Line charts: well formed, told to those who cannot see them, drawn where the numbers are."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from discreet.errors import InvalidValue
from discreet.reports.charts import line_chart
from discreet.reports.document import Document, LineChart, Series
from discreet.reports.html import document_html
from tests.reports.parsed import ParsedPage, assert_standalone

EVIL = "</svg><script>alert(1)</script>\"'&"
LINE = Series("success", [(0, 0.0), (1, 0.5), (2, 1.0)])


def drawn(*series: Series, **more: object) -> ElementTree.Element:
    words = {"title": "A title", "x_label": "noise", "y_label": "share"}
    return ElementTree.fromstring(line_chart(LineChart(series, **(words | more))))  # type: ignore[arg-type]


def line_of(figure: ElementTree.Element, kind: str = "s0") -> list[tuple[float, float]]:
    path = figure.find(f"./svg/path[@class='{kind}']")
    assert path is not None
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in path.get("d", "")[1:].split("L"))]


def test_a_chart_is_xml_with_a_name_for_those_who_cannot_see_it() -> None:
    figure = drawn(LINE)
    picture = figure.find("svg")
    assert picture is not None
    assert picture.get("role") == "img"
    assert picture.get("aria-label") == "A title. Across: noise. Upwards: share. Lines: success."
    assert picture.findtext("title") == "A title"
    assert figure.findtext("figcaption") == "A title"
    assert {"noise", "share"} <= {text.text for text in picture.iter("text")}


def test_a_line_passes_through_its_points() -> None:
    (x0, y0), (x1, y1), (x2, y2) = line_of(drawn(LINE))
    assert x1 - x0 == pytest.approx(x2 - x1)
    assert y0 - y1 == pytest.approx(y1 - y2)
    assert y0 > y2  # upwards on a drawing is towards zero


def test_a_logarithmic_axis_puts_equal_ratios_equally_far() -> None:
    (x0, _), (x1, _), (x2, _) = line_of(drawn(Series("a", [(1, 0), (10, 1), (100, 2)]), log_x=True))
    assert x1 - x0 == pytest.approx(x2 - x1)


def test_a_band_surrounds_its_line_and_widens_the_axis() -> None:
    figure = drawn(Series("a", [(0, 0.5), (1, 0.5)], band=[(0.2, 0.9), (0.4, 0.6)]))
    band = figure.find("./svg/polygon")
    assert band is not None
    assert band.get("class") == "band s0"
    corners = [tuple(map(float, pair.split(","))) for pair in band.get("points", "").split()]
    line = line_of(figure)
    assert [x for x, _ in corners] == [line[0][0], line[1][0], line[1][0], line[0][0]]
    assert corners[0][1] < line[0][1] < corners[3][1]
    assert corners[1][1] < line[1][1] < corners[2][1]
    assert (corners[0][1], corners[3][1]) == (28, 204)


def test_marks_tell_their_numbers_and_differ_in_shape() -> None:
    series = [Series(name, [(1, 2), (3, 4)], marks=True) for name in "abcd"]
    figure = drawn(*series)
    groups = figure.findall("./svg/g")
    assert [group.findtext("title") for group in groups][:2] == ["a: 1, 2", "a: 3, 4"]
    assert {group[1].tag for group in groups} == {"circle", "rect", "polygon"}
    assert len({group[1].get("points", "").count(" ") for group in groups}) == 3


def test_one_point_is_marked_and_has_no_line() -> None:
    figure = drawn(Series("alone", [(3, 4)]))
    assert figure.find("./svg/path[@class='s0']") is None
    assert figure.findtext("./svg/g/title") == "alone: 3, 4"


def test_the_legend_names_every_series_and_the_reference() -> None:
    figure = drawn(LINE, Series("other", [(0, 1), (2, 0)]), reference=0.5, reference_label="guessing")
    assert ["".join(item.itertext()) for item in figure.findall("./ul/li")] == ["success", "other", "guessing"]
    assert figure.find("./svg/path[@class='reference']") is not None


def test_series_differ_in_more_than_colour() -> None:
    kinds = [path.get("class") for path in drawn(*[LINE] * 7).findall("./svg/path")]
    assert [kind for kind in kinds if kind and kind.startswith("s")] == ["s0", "s1", "s2", "s3", "s4", "s5", "s0"]
    style = document_html(Document("a", []))
    assert len({style.split(f".s{number}{{")[1].split("}")[0].split("dasharray")[-1] for number in range(6)}) == 6


def test_the_upright_axis_shows_what_it_must_hold() -> None:
    words = [text.text for text in drawn(Series("a", [(0, 0.4), (1, 0.6)]), y_holds=(0, 1)).iter("text")]
    assert {"0", "1.0"} <= set(words)


@pytest.mark.parametrize("series", [(), (Series("a", []),)])
def test_nothing_to_draw_is_said(series: tuple[Series, ...]) -> None:
    assert "There is nothing to draw." in "".join(drawn(*series).itertext())


def test_an_empty_series_stays_in_the_legend() -> None:
    figure = drawn(LINE, Series("nobody", []))
    assert "nobody" in "".join(figure.itertext())


@pytest.mark.parametrize("y", [0, 1, -3, 1e90, 1e-300])
def test_equal_values_are_a_level_line_in_the_middle(y: float) -> None:
    assert {place for _, place in line_of(drawn(Series("a", [(0, y), (1, y)])))} <= {116.0}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("spot", ["x", "y", "band", "reference"])
def test_what_has_no_place_is_refused(bad: float, spot: str) -> None:
    points = [(bad if spot == "x" else 0.0, bad if spot == "y" else 0.0), (1.0, 1.0)]
    band = [(0.0, bad), (0.0, 1.0)] if spot == "band" else None
    with pytest.raises(InvalidValue, match="finite"):
        drawn(Series("a", points, band=band), reference=bad if spot == "reference" else None)


def test_a_band_must_fit_its_line() -> None:
    with pytest.raises(InvalidValue, match="two ends for each point, got 1; there are 2 points"):
        Series("a", [(0, 0), (1, 1)], band=[(0, 1)])


def test_words_cannot_write_into_the_page() -> None:
    chart = LineChart(
        [Series(EVIL, [(0, 0), (1, 1)], marks=True)],
        title=EVIL,
        x_label=EVIL,
        y_label=EVIL,
        reference=0.5,
        reference_label=EVIL,
    )
    assert "script" not in assert_standalone(document_html(Document("a", [chart]))).tags
    assert ParsedPage(line_chart(chart)).words.count("alert(1)") >= 5
