"""A bar with its interval and a line across."""

from __future__ import annotations

from discreet.reports.charts import interval_bar
from discreet.reports.document import IntervalBar
from tests.reports.parsed import ParsedPage


def test_the_whisker_covers_the_interval_and_the_line_stands_at_the_level():
    page = ParsedPage(interval_bar(IntervalBar(0.6, (0.5, 0.75), 0.4, "danger")))
    _, bar, whisker, line = page.having("rect")
    assert (bar["class"], bar["width"]) == ("danger", "60.00%")
    assert (whisker["x"], whisker["width"]) == ("50.00%", "25.00%")
    assert line["x"] == "40.00%"


def test_shares_beyond_the_ends_stop_there():
    _, bar, whisker, line = ParsedPage(interval_bar(IntervalBar(1.5, (-1, 2), 7))).having("rect")
    assert (bar["width"], whisker["x"], whisker["width"], line["x"]) == ("100.00%", "0.00%", "100.00%", "100.00%")
