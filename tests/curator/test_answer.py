"""Answers as people and programs read them."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt

from discreet.curator.answers.answer import Answer, notes_on_values
from discreet.curator.curator import Curator
from discreet.errors import InvalidInput
from discreet.privacy.loss import Pure, ZeroConcentrated

Intervals = list[tuple[float, float] | None]
NASTY = '<script>alert("1")</script>&[/red]'


def answer_of(columns: dict[str, Any], error: dict[str, Intervals] | None = None, **more: Any) -> Answer:
    settings: dict[str, Any] = {"price": Pure("0.5"), "charged": True, "notes": ("People count as 5.",), "entry": 7}
    settings |= {"left": {"visits": Pure("2.5")}, "certificate": {}, "confidence": 0.95}
    return Answer(pa.table(columns), error or {}, **(settings | more))


def grouped() -> Answer:
    columns = {"ward": ["surgery", None], "n": [1200, 21], "mean_age": [52.5312, 40.0]}
    return answer_of(columns, {"n": [(1100.0, 1300.0), (0.0, 111.0)], "mean_age": [(52.42, 52.64), None]})


# For people -------------------------------------------------------------------------------------------------------


def test_a_bar_that_stops_at_a_bound_still_reaches_its_far_end() -> None:
    shown = answer_of({"n": [21, 500]}, {"n": [(0.0, 111.0), (410.0, 590.0)]})
    assert [shown.cell("n", row) for row in range(2)] == ["21 ± 90", "500 ± 90"]


def test_a_missing_value_is_called_as_in_sql() -> None:
    shown = answer_of({"n": [None, 3]}, {"n": [None, None]})
    assert [shown.cell("n", row) for row in range(2)] == ["NULL", "3"]


def test_a_printed_answer_lines_up_and_ends_with_notes_and_price() -> None:
    assert str(grouped()).splitlines() == [
        "   ward            n      mean_age",
        "surgery  1,200 ± 100  52.53 ± 0.11",
        "   NULL      21 ± 90         40.00",
        "People count as 5.",
        "cost ε 0.5; ε 2.5 left for visits; ledger record 7",
    ]


def test_a_long_answer_is_cut_where_it_is_printed() -> None:
    text = str(answer_of({"n": list(range(1000))}))
    assert "… 950 more rows" in text
    assert len(text.splitlines()) < 60


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"charged": False}, "asked before, free now; it cost ε 0.5; ε 2.5 left for visits; ledger record 7"),
        ({"charged": False, "entry": None, "left": {}}, "would cost ε 0.5"),
        ({"price": None, "charged": False, "entry": None}, "free: public tables alone"),
        ({"left": {"/people.id": Pure(2)}}, "cost ε 0.5; ε 2 left for the people of people.id; ledger record 7"),
        ({"price": ZeroConcentrated("1/300")}, "cost ρ 0.0033334; ε 2.5 left for visits; ledger record 7"),
    ],
)
def test_the_receipt_says_what_was_spent(more: dict[str, Any], words: str) -> None:
    assert answer_of({"n": [1]}, **more).receipt() == words


def test_what_is_left_is_never_overstated() -> None:
    shown = answer_of({"n": [1]}, left={"visits": Pure("1/3")}, price=Pure("1/3"))
    assert shown.receipt().startswith("cost ε 0.33334; ε 0.33333 left")
    amounts = json.loads(shown.to_json())
    assert amounts["left"]["visits"]["amount"] <= 1 / 3 <= amounts["price"]["amount"]


def test_a_notebook_shows_a_table_in_which_nothing_is_code() -> None:
    html = answer_of({NASTY: [NASTY], "n": [3]}, {"n": [(1.0, 5.0)]}, notes=(NASTY,))._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 3
    assert "3 ± 2" in html
    assert "cost ε 0.5" in html
    assert "… 900 more rows" in answer_of({"n": list(range(1000))})._repr_html_()


def test_a_notebook_shows_explanations_budgets_and_curators(tmp_path: Path) -> None:
    curator = Curator(tmp_path / "<b>")
    assert "no table yet" in curator._repr_html_()
    rows = pa.table({"person": [1, 2, 3], "<i>": [30, 40, 50]})
    curator.protect(rows, table="visits", unit="person", budget="1/3", columns={"<i>": (0, 110)}, analysts={"ann": 0.1})
    explained = curator.explain('SELECT COUNT(*) AS n, SUM("<i>") FROM visits', epsilon="0.1")
    for shown, words in (
        (explained, ["price", "ε = 0.1", "afforded", "&lt;i&gt;"]),
        (curator.budget(), ["granted", "ε 0.33333", "nothing asked yet", "  ann"]),
        (curator, ["visits", "each person", "&lt;i&gt; integer 0 to 110", "ε 0.33333"]),
    ):
        html = shown._repr_html_()
        assert [word for word in words if word not in html] == []
        assert "<i>" not in html
        assert "<b>" not in html
    first = str(curator.budget()).splitlines()[1]
    assert first.split("  ")[0] == "visits"
    assert first.endswith("nothing asked yet")
    assert curator.budget() == dict(curator.budget())
    assert repr(curator).startswith("Curator('")
    assert " 3 " not in curator._repr_html_()  # how many rows there are is private


def test_infinity_is_explained() -> None:
    table = pa.table({"each": [math.inf, 1.0], "gap": [math.nan, None], "fine": [1.0, None], "n": [1, 2]})
    assert [note.split(":")[0] for note in notes_on_values(table)] == ["each", "gap"]


# For programs -----------------------------------------------------------------------------------------------------


def test_frames_can_carry_the_error_bars() -> None:
    shown = grouped()
    frame = shown.to_pandas(intervals=True)
    assert list(frame) == ["ward", "n", "n_low", "n_high", "mean_age", "mean_age_low", "mean_age_high"]
    assert list(frame["n_high"]) == [1300.0, 111.0]
    assert math.isnan(frame["mean_age_low"][1])
    assert shown.to_polars(intervals=True).columns == list(frame)
    assert shown.to_arrow(intervals=True).column_names == list(frame)
    assert shown.to_rows(intervals=True)[0]["n_low"] == 1100.0
    clash = answer_of({"n_low": ["x"], "n": [1]}, {"n": [(0.0, 2.0)]})
    assert clash.to_arrow(intervals=True).column_names == ["n_low", "n", "n_low_1", "n_high"]


def test_frames_hold_the_values() -> None:
    shown = grouped()
    assert shown.to_arrow() is shown.table
    assert isinstance(shown.to_pandas(), pd.DataFrame)
    assert isinstance(shown.to_polars(), pl.DataFrame)
    assert shown.to_polars()["n"].to_list() == shown.to_pandas()["n"].tolist() == [1200, 21]
    assert shown.to_rows()[0] == {"ward": "surgery", "n": 1200, "mean_age": 52.5312}


def test_json_states_price_balance_and_entry() -> None:
    found = json.loads(grouped().to_json())
    assert found["rows"][1] == {"ward": None, "n": 21, "mean_age": 40.0}
    assert found["error"] == {"n": [[1100.0, 1300.0], [0.0, 111.0]], "mean_age": [[52.42, 52.64], None]}
    assert found["price"] == {"amount": 0.5, "unit": "ε", "exact": "1/2", "repr": "Pure(ε=0.5)"}
    assert found["left"]["visits"]["amount"] == 2.5
    assert (found["entry"], found["charged"], found["confidence"]) == (7, True, 0.95)
    assert json.loads(answer_of({"n": [1]}, price=None).to_json())["price"] is None


def test_json_is_json_whatever_the_values() -> None:
    columns = {
        "ratio": [math.inf, math.nan],
        "day": [date(2025, 1, 2), None],
        "at": [datetime(2025, 1, 2, 3, 4), None],
        "total": [Decimal("12.50"), None],
        "is_old": [True, None],
        "raw": [b"\xff", None],
    }

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    found = json.loads(answer_of(columns, {"ratio": [(0.0, math.inf), None]}).to_json(), parse_constant=refuse)
    first = found["rows"][0]
    assert (first["ratio"], first["day"], first["at"]) == (None, "2025-01-02", "2025-01-02T03:04:00")
    assert (first["total"], first["is_old"]) == (12.5, True)
    assert found["error"]["ratio"][0] == [0.0, None]


def test_csv_can_carry_the_ends_of_the_error_bars(tmp_path: Path) -> None:
    shown = grouped()
    assert shown.to_csv() == "ward,n,mean_age\nsurgery,1200,52.5312\n,21,40.0\n"
    rows = list(csv.DictReader(io.StringIO(shown.to_csv(intervals=True) or "")))
    assert list(rows[0]) == ["ward", "n", "n_low", "n_high", "mean_age", "mean_age_low", "mean_age_high"]
    assert (rows[0]["n_low"], rows[1]["mean_age_low"]) == ("1100.0", "")
    assert shown.to_csv(tmp_path / "n.csv") is None
    assert (tmp_path / "n.csv").read_text(encoding="utf-8") == shown.to_csv()


def test_csv_keeps_names_and_values_apart() -> None:
    shown = answer_of({"n": [1], "n_low": ['a,"b"\nc']}, {"n": [(0.0, 2.0)]})
    [row] = csv.DictReader(io.StringIO(shown.to_csv(intervals=True) or ""))
    assert row == {"n": "1", "n_low_1": "0.0", "n_high": "2.0", "n_low": 'a,"b"\nc'}


# Pictures ---------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _no_windows() -> Iterator[None]:
    mpl.use("agg")
    yield
    plt.close("all")


def drawn(shown: Answer, column: str | None = None) -> Any:
    axes = shown.plot(column)
    axes.figure.canvas.draw()
    return axes


def test_groups_are_bars_with_error_bars() -> None:
    axes = drawn(grouped())
    assert [bar.get_height() for bar in axes.patches] == [1200, 21]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["surgery", "NULL"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ward", "n")
    ends = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
    assert ends == [[1100.0, 1300.0], [0.0, 111.0]]
    assert "95 %" in axes.get_title()


@pytest.mark.parametrize(
    "keys", [[date(2025, 1, 1), date(2025, 2, 1)], [datetime(2025, 1, 1), datetime(2025, 2, 1)], [3, 9]]
)
def test_dates_and_numbers_are_points_along_their_scale(keys: list[Any]) -> None:
    axes = drawn(answer_of({"key": keys, "n": [1, 2]}, {"n": [(0.0, 2.0), (1.0, 3.0)]}))
    assert not axes.patches
    assert len(axes.containers[0].lines[0].get_xdata()) == 2


def test_one_cell_is_one_bar() -> None:
    assert len(drawn(answer_of({"n": [12]}, {"n": [(10.0, 14.0)]})).patches) == 1


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ({"n": [math.inf, math.nan, None, 1.0], "w": ["a", "b", "c", "d"]}, None),
        ({"a $x$ ^": ["$y$ ^ \\frac", "_"], "$n^$": [1, 2]}, "$n^$"),
        ({"w": [f"a rather long name {k}" for k in range(30)], "n": list(range(30))}, None),
        ({"w": ["a"], "v": [True], "n": [Decimal("1.5")]}, "n"),
    ],
)
def test_odd_values_and_names_are_drawn_too(columns: dict[str, Any], column: str | None) -> None:
    drawn(answer_of(columns), column)


def test_a_picture_goes_where_it_is_told() -> None:
    _, axes = plt.subplots()
    assert grouped().plot("mean_age", ax=axes) is axes
    assert axes.get_ylabel() == "mean_age"


@pytest.mark.parametrize(
    ("columns", "column"), [({"n": [1]}, "m"), ({"w": ["a"]}, None), ({"w": ["a"], "n": [1]}, "w")]
)
def test_what_is_no_column_of_numbers_is_refused(columns: dict[str, Any], column: str | None) -> None:
    with pytest.raises(InvalidInput, match="column of numbers"):
        answer_of(columns).plot(column)


@pytest.mark.parametrize(
    ("module", "call", "name"),
    [("matplotlib", "plot", "plot"), ("polars", "to_polars", "frames"), ("pandas", "to_pandas", "frames")],
)
@pytest.mark.some(1)
def test_a_library_that_is_not_there_is_named_with_the_way_to_get_it(module: str, call: str, name: str) -> None:
    code = f"""
import sys
import pyarrow as pa
from discreet.curator.answers.answer import Answer
from discreet.errors import MissingExtra
answer = Answer(pa.table({{"n": [1]}}), {{}}, 0.95, None, False, (), {{}})
sys.modules[{module!r}] = None
try:
    answer.{call}()
except MissingExtra as missing:
    print(missing)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == f"this needs {module}, got <not installed>; pip install 'discreet[{name}]'\n"
