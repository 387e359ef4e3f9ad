"""One report in three forms: the same facts, the same warning, and nothing that a page would have to fetch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from discreet.anonymize.equivalence_classes import size_shares
from discreet.anonymize.hierarchies.builders import masked
from discreet.anonymize.hierarchies.intervals import intervals
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.recode.optimal import optimal
from discreet.anonymize.report.report import TableReport, epsilon_within, table_report
from discreet.anonymize.roles import Roles
from discreet.catalog.budget import Budget
from discreet.curator.curator import Curator
from discreet.errors import InvalidValue
from discreet.mechanisms.laplace import Laplace
from discreet.reports.charts import column_chart, meter
from discreet.reports.document import ColumnChart, Meter
from tests.texts.tables import FIGURE_1

ROWS = 120
PEOPLE = pa.table(
    {
        "zip": [f"130{50 + row % 7}" for row in range(ROWS)],
        "age": [20 + row % 41 for row in range(ROWS)],
        "note": [f"n{row}" for row in range(ROWS)],
        "disease": [["flu", "cold", "cancer"][(row * row) % 5 % 3] for row in range(ROWS)],
    }
)
ROLES = Roles.of(PEOPLE.column_names, quasi=["zip", "age"], sensitive="disease")
LEVELS = {"zip": masked(PEOPLE["zip"]), "age": intervals(PEOPLE["age"], [5, 10, 20])}
MODELS = [KAnonymity(5), DistinctDiversity("disease", 2)]


@pytest.fixture(scope="module")
def report() -> TableReport:
    found = optimal(PEOPLE, ROLES, LEVELS, MODELS, suppression=0.1)
    options = {"original": PEOPLE, "hierarchies": LEVELS, "population": 10_000, "name": "people", "how": "by <search>"}
    return table_report(found.table, ROLES, MODELS, **options)  # type: ignore[arg-type]


def texts_report(models: list[object] | None = None) -> TableReport:
    zips, ages, diseases = zip(*FIGURE_1, strict=True)
    table = pa.table({"zip": zips, "age": ages, "disease": diseases})
    roles = Roles.of(table.column_names, quasi=["zip", "age"], sensitive="disease")
    return table_report(table, roles, models or [])  # type: ignore[arg-type]


# What is said -----------------------------------------------------------------------------------------------------


def test_every_form_says_that_it_is_not_differential_privacy_and_names_the_attacks(report: TableReport) -> None:
    for form in (str(report), report.to_json(), report.to_html()):
        flat = " ".join(form.split())
        assert "not differential privacy" in flat
        for attack in ("homogeneity", "background knowledge", "intersection", "linkage"):
            assert attack in flat
        assert "discreet protect" in flat
        assert "Do not publish it" in flat


def test_homogeneity_is_the_share_of_rows_whose_class_has_one_value() -> None:
    """Everybody in their thirties has cancer: 4 of 12 rows of the printed table."""
    found = texts_report()
    homogeneity, background, guessing = found.dangers[:3]
    assert homogeneity.share == pytest.approx(4 / 12)
    assert background.share == pytest.approx(4 / 12)
    assert guessing.share == pytest.approx((2 + 2 + 4) / 12)


def test_homogeneity_counts_rows_and_not_classes() -> None:
    table = pa.table({"age": [1, 2, 2, 2], "disease": ["flu", "flu", "cold", "cold"]})
    found = table_report(table, Roles.of(table.column_names, quasi="age", sensitive="disease"))
    assert found.dangers[0].share == 1 / 4


def test_closeness_is_measured_against_all_rows_of_the_original() -> None:
    """Two of four rows are suppressed; what is left is half as spread as the whole."""
    original = pa.table({"age": [1, 1, 2, 3], "disease": ["flu", "cold", "cancer", "cancer"]})
    found = table_report(
        original.slice(0, 2), Roles.of(original.column_names, quasi="age", sensitive="disease"), original=original
    )
    assert found.checked.measure("t-closeness (equal distance)", "disease") == pytest.approx(0.5)


def test_a_column_with_a_value_for_every_row_is_called_an_identifier(report: TableReport) -> None:
    assert [one.column for one in report.dangers if one.name == "another identifier"] == ["note"]


NAMES = """\
all: warning audience name how holds roles check risk distinction population attacks curator comparison
roles: quasi sensitive identifying insensitive
check: rows classes k unique_rows class_sizes models strictest contributions violating
check.models: model holds violating_classes violating_rows parameter strictest
check.strictest: model column parameter value is_largest is_open
check.contributions: column unique_rows classes smallest_class unique_rows_removed
risk: threshold prosecutor journalist marketer unique_rows rows has_population uniqueness
risk.prosecutor: highest average at_risk
risk.journalist: highest average at_risk
distinction: columns distinction separation uniqueness
population: population zayatz pitman is_small_sample estimate share
attacks: name column share words
curator: sql within epsilon commands questions_for_epsilon_1
comparison: rows suppressed class_sizes_before risk_before loss classes query_error histograms
comparison.risk_before: threshold prosecutor journalist marketer unique_rows rows has_population uniqueness
comparison.risk_before.prosecutor: highest average at_risk
comparison.risk_before.journalist: highest average at_risk
comparison.loss: normalised global_certainty_penalty precision non_uniform_entropy columns
comparison.loss.columns: column normalised certainty_penalty precision entropy is_averaged
comparison.classes: discernibility average_size c_avg aecs ambiguity classification
comparison.query_error: queries seed median_absolute mean_absolute absolute_95 median_relative mean_relative example
comparison.query_error.example: ranges sensitive
comparison.histograms: column bars before after distance
"""


def test_programs_find_what_a_report_says_under_names_that_stay(report: TableReport) -> None:
    told = {line.partition(": ")[0]: line.partition(": ")[2].split() for line in NAMES.splitlines()}
    found = dict(_names(json.loads(report.to_json())))
    assert {place: names for place, names in found.items() if not place.endswith(BY_VALUES)} == told


BY_VALUES = ("class_sizes", "class_sizes_before", "classification")


def _names(value: Any, place: str = "all") -> Iterator[tuple[str, list[str]]]:
    """The names in a JSON text by where they stand; of a list, those of its first part."""
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict):
        yield place, list(first)
        for name, part in first.items():
            yield from _names(part, name if place == "all" else f"{place}.{name}")


def test_the_forms_tell_the_same_facts(report: TableReport) -> None:
    found = json.loads(report.to_json())
    assert found["check"]["k"] == report.checked.k >= 5
    assert found["holds"]
    assert report.comparison is not None
    assert found["comparison"]["suppressed"] == report.comparison.suppressed
    assert found["comparison"]["rows"] == ROWS
    loss = f"{found['comparison']['loss']['normalised']:.6f}"
    assert loss in str(report)
    assert loss in report.to_html()


def test_the_loss_of_the_report_is_the_loss_of_the_search() -> None:
    found = optimal(PEOPLE, ROLES, LEVELS, [KAnonymity(5)], suppression=0.1)
    comparison = table_report(found.table, ROLES, original=PEOPLE, hierarchies=LEVELS).comparison
    assert comparison is not None
    measured = sum(one.normalised for one in comparison.losses) / len(comparison.losses)
    assert measured == pytest.approx(found.loss, abs=1e-12)


def test_a_report_can_be_made_again(report: TableReport) -> None:
    found = optimal(PEOPLE, ROLES, LEVELS, MODELS, suppression=0.1)
    options = {"original": PEOPLE, "hierarchies": LEVELS, "population": 10_000, "name": "people", "how": "by <search>"}
    assert table_report(found.table, ROLES, MODELS, **options).to_json() == report.to_json()  # type: ignore[arg-type]


def test_a_table_without_sensitive_columns_has_a_report_too() -> None:
    found = table_report(PEOPLE, Roles.of(PEOPLE.column_names, quasi=["zip"]))
    assert "GROUP BY zip" in found.price.sql
    assert json.loads(found.to_json())["comparison"] is None
    assert "Class sizes" in found.to_html()


def test_broken_models_are_listed_with_their_classes() -> None:
    found = texts_report([KAnonymity(4), DistinctDiversity("disease", 2)])
    assert "broken by 1 class with 4 rows" in str(found)
    assert "Cancer 4" in str(found)
    assert "Cancer 4" in found.to_html()


def test_infinite_measures_are_null_in_json() -> None:
    found = json.loads(texts_report().to_json())
    recursive = next(one for one in found["check"]["strictest"] if one["parameter"] == "c")
    assert recursive["value"] is None


def test_a_release_of_other_people_is_refused() -> None:
    other = pa.table({"zip": ["x"] * 5, "age": [1] * 5, "note": list("abcde"), "disease": ["flu"] * 5})
    with pytest.raises(InvalidValue):
        table_report(other, ROLES, original=PEOPLE)


# The page ---------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Collects tags, and checks that they close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_fetches_nothing(report: TableReport) -> None:
    page = Page(report.to_html())
    assert not page.open
    tags = {tag for tag, _ in page.seen}
    assert "svg" in tags
    assert not tags & {"script", "link", "img", "iframe"}
    assert not [attributes for _, attributes in page.seen if {"src", "href"} & set(attributes)]
    assert not re.search(r"url\(|https?://|@import", report.to_html())


def test_the_page_suits_light_dark_and_phones(report: TableReport) -> None:
    text = report.to_html()
    assert "prefers-color-scheme:dark" in text
    assert 'name="viewport"' in text


def test_values_and_names_cannot_write_into_the_page() -> None:
    evil = "<script>alert(1)</script>"
    table = pa.table({evil: ["a", evil], "disease": [evil, "&"]})
    roles = Roles.of(table.column_names, quasi=evil, sensitive="disease")
    found = table_report(table, roles, [KAnonymity(2)], original=table, name=evil, how=evil)
    page = Page(found.to_html())
    assert not page.open
    assert "script" not in {tag for tag, _ in page.seen}
    assert evil in str(found).replace("\n", "")


def test_markup_of_the_terminal_is_not_read_in_values() -> None:
    table = pa.table({"age": ["[red]", "[/]"], "disease": ["[bold]x[/]", "y"]})
    found = table_report(table, Roles.of(table.column_names, quasi="age", sensitive="disease"), [KAnonymity(2)])
    assert "[bold]x[/]" in str(found)


def test_a_notebook_shows_the_page_in_a_frame(report: TableReport) -> None:
    assert report._repr_html_().startswith("<iframe srcdoc=")


def test_bars_stay_within_their_frame() -> None:
    assert 'width="100.00%"' in meter(Meter(1.7))
    assert 'width="0.00%"' in meter(Meter(-1))
    assert "NaN" not in column_chart(ColumnChart("a", ["a"], [0.0], [0.0]))


def test_sizes_are_shares_of_rows() -> None:
    found = size_shares([1, 1, 2, 96])
    assert found["1"] == pytest.approx(0.02)
    assert found["50-99"] == pytest.approx(0.96)
    assert sum(found.values()) == pytest.approx(1)


# The curator ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [1, 3, 10, 47, 300])
def test_the_price_keeps_the_error_and_is_hardly_more_than_needed(error: int) -> None:
    epsilon = epsilon_within(error)
    assert Laplace(str(epsilon)).error(0.95) <= error
    assert Laplace(str(epsilon * 0.55)).error(0.95) > error


def test_the_question_of_the_report_is_answered_by_the_curator_at_its_price(report: TableReport, tmp_path) -> None:
    """The SQL runs, and the error that the curator states is the error that the report promised."""
    curator = Curator(tmp_path / "c")
    keyed = PEOPLE.append_column("person", pa.array(range(ROWS)))
    curator.protect(keyed, table="people", unit="person", budget=Budget(epsilon=10))
    stated = curator.explain(report.price.sql, epsilon=str(report.price.epsilon))
    assert [error.within <= report.price.within for error in stated.errors] == [True]
    cheaper = curator.explain(report.price.sql, epsilon=str(round(report.price.epsilon - 0.002, 6)))
    assert [error.within > report.price.within for error in cheaper.errors] == [True]
