"""The tables that the texts print, made from raw tables by hierarchies, with the claims that are made about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from discreet.anonymize.check import check
from discreet.anonymize.hierarchies.builders import masked, taxonomy
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.hierarchies.intervals import intervals
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.recode.optimal import generalised
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable
from tests.texts.tables import FIGURE_1, FIGURE_2

Rows = list[tuple[Any, ...]]


def decade(low: str, high: str) -> str:
    """30 to 40 is written 3*."""
    return f"{low[:-1]}*"


def table_of(names: Sequence[str], rows: Rows) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def released(table: pa.Table, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> CodedTable:
    return generalised(CodedTable.of(table), hierarchies, levels)


def printed(table: CodedTable) -> Rows:
    return list(zip(*([c.values[code] for code in c.codes] for c in table.columns.values()), strict=True))


# The hospital records and their 4-anonymous version ---------------------------------------------------------------

HOSPITAL = table_of(
    ["zip", "age", "nationality", "condition"],
    [
        ("13053", 28, "Russian", "Heart Disease"),
        ("13068", 29, "American", "Heart Disease"),
        ("13068", 21, "Japanese", "Viral Infection"),
        ("13053", 23, "American", "Viral Infection"),
        ("14853", 50, "Indian", "Cancer"),
        ("14853", 55, "Russian", "Heart Disease"),
        ("14850", 47, "American", "Viral Infection"),
        ("14850", 49, "American", "Viral Infection"),
        ("13053", 31, "American", "Cancer"),
        ("13053", 37, "Indian", "Cancer"),
        ("13068", 36, "Japanese", "Cancer"),
        ("13068", 35, "American", "Cancer"),
    ],
)
HOSPITAL_ROLES = Roles.of(HOSPITAL.column_names, quasi=["zip", "age", "nationality"], sensitive="condition")


def hospital_released() -> CodedTable:
    hierarchies = {
        "zip": taxonomy({"130**": ["13053", "13068"], "1485*": ["14850", "14853"]}),
        "age": intervals(HOSPITAL["age"], [10], bottom=30, top=40, label=decade),
        "nationality": Hierarchy.suppressing(HOSPITAL["nationality"].unique().to_pylist()),
    }
    return released(HOSPITAL, hierarchies, {"zip": 1, "age": 1, "nationality": 1})


def test_the_hospital_records_become_the_printed_table() -> None:
    assert printed(hospital_released()) == [
        ("130**", "<30", "*", "Heart Disease"),
        ("130**", "<30", "*", "Heart Disease"),
        ("130**", "<30", "*", "Viral Infection"),
        ("130**", "<30", "*", "Viral Infection"),
        ("1485*", "≥40", "*", "Cancer"),
        ("1485*", "≥40", "*", "Heart Disease"),
        ("1485*", "≥40", "*", "Viral Infection"),
        ("1485*", "≥40", "*", "Viral Infection"),
        ("130**", "3*", "*", "Cancer"),
        ("130**", "3*", "*", "Cancer"),
        ("130**", "3*", "*", "Cancer"),
        ("130**", "3*", "*", "Cancer"),
    ]


def test_the_hospital_records_single_everybody_out_and_their_release_nobody() -> None:
    assert check(HOSPITAL, HOSPITAL_ROLES).unique_rows == 12
    assert check(hospital_released(), HOSPITAL_ROLES).k == 4


def test_the_release_is_4_anonymous_and_everyone_in_their_thirties_has_cancer() -> None:
    report = check(hospital_released(), HOSPITAL_ROLES, [KAnonymity(4), DistinctDiversity("condition", 2)])
    assert [verdict.holds for verdict in report.verdicts] == [True, False]
    (thirties,) = report.violating()
    assert thirties.values == {"zip": "130**", "age": "3*", "nationality": "*"}
    assert thirties.sensitive == {"condition": {"Cancer": 4}}
    assert thirties.breaks == ("distinct 2-diversity of condition",)


# The 4-anonymous and the 6-anonymous table that tell more together ------------------------------------------------

# The texts print no raw rows for these two; any ages and zip codes in the printed ranges give the same tables.
AGES_1 = [28, 25, 21, 29, 50, 55, 47, 40, 31, 37, 36, 35]
AGES_2 = [28, 30, 34, 21, 33, 25, 35, 60, 47, 39, 52, 41]
ZIPS = ["13012", "13053", "13068"] * 4


def figure(ages: Sequence[int], conditions: Sequence[str]) -> pa.Table:
    people = ["American", "Indian", "Japanese"] * 4
    return pa.table({"zip": ZIPS, "age": ages, "nationality": people, "condition": conditions})


def figure_released(table: pa.Table, ages: Hierarchy) -> CodedTable:
    people = Hierarchy.suppressing(table["nationality"].unique().to_pylist())
    hierarchies = {"zip": masked(table["zip"], hidden=[2]), "age": ages, "nationality": people}
    return released(table, hierarchies, {"zip": 1, "age": 1, "nationality": 1})


FIRST = figure_released(
    figure(AGES_1, [row[-1] for row in FIGURE_1]), intervals(AGES_1, [10], bottom=30, top=40, label=decade)
)
SECOND = figure_released(figure(AGES_2, [row[-1] for row in FIGURE_2]), intervals(AGES_2, [[35]]))


def test_the_figures_are_printed_as_in_the_texts() -> None:
    assert [(z, a, c) for z, a, n, c in printed(FIRST) if n == "*"] == FIGURE_1
    assert [(z, a, c) for z, a, n, c in printed(SECOND) if n == "*"] == FIGURE_2


def test_one_is_4_anonymous_and_the_other_6_anonymous() -> None:
    assert check(FIRST, HOSPITAL_ROLES).k == 4
    assert check(SECOND, HOSPITAL_ROLES).k == 6
    assert check(FIRST, HOSPITAL_ROLES).measure("distinct l-diversity", "condition") == 1
    assert check(SECOND, HOSPITAL_ROLES).measure("distinct l-diversity", "condition") == 3


def test_the_two_together_pin_down_who_is_28_and_lives_in_13012() -> None:
    zips = masked(ZIPS, hidden=[2])
    ages = [intervals([28], [10], bottom=30, top=40, label=decade), intervals([28], [[35]])]
    told = []
    for table, age in zip((FIRST, SECOND), ages, strict=True):
        known = (zips.label(1, zips.ancestors(0, ZIPS.index("13012"))[1]), age.label(1, 0))
        told.append({row[-1] for row in printed(table) if row[:2] == known})
    assert [len(conditions) for conditions in told] == [3, 4]
    assert told[0] & told[1] == {"AIDS"}


# The 3-diverse table with salary and disease ----------------------------------------------------------------------

SALARIES = table_of(
    ["zip", "age", "salary", "disease"],
    [
        ("47677", 29, "3K", "gastric ulcer"),
        ("47602", 22, "4K", "gastritis"),
        ("47678", 27, "5K", "stomach cancer"),
        ("47905", 43, "6K", "gastritis"),
        ("47909", 52, "11K", "flu"),
        ("47906", 47, "8K", "bronchitis"),
        ("47605", 30, "7K", "bronchitis"),
        ("47673", 36, "9K", "pneumonia"),
        ("47607", 32, "10K", "stomach cancer"),
    ],
)
SALARY_ROLES = Roles.of(SALARIES.column_names, quasi=["zip", "age"], sensitive=["salary", "disease"])


def salaries_released() -> CodedTable:
    codes = SALARIES["zip"].to_pylist()
    hierarchies = {
        "zip": taxonomy({"476**": [c for c in codes if c < "477"], "4790*": [c for c in codes if c > "477"]}),
        "age": intervals(SALARIES["age"], [10], top=40, label=decade),
    }
    return released(SALARIES, hierarchies, {"zip": 1, "age": 1})


def test_salaries_and_diseases_become_the_printed_table() -> None:
    assert printed(salaries_released()) == [
        ("476**", "2*", "3K", "gastric ulcer"),
        ("476**", "2*", "4K", "gastritis"),
        ("476**", "2*", "5K", "stomach cancer"),
        ("4790*", "≥40", "6K", "gastritis"),
        ("4790*", "≥40", "11K", "flu"),
        ("4790*", "≥40", "8K", "bronchitis"),
        ("476**", "3*", "7K", "bronchitis"),
        ("476**", "3*", "9K", "pneumonia"),
        ("476**", "3*", "10K", "stomach cancer"),
    ]


def test_it_is_3_diverse_in_both_columns() -> None:
    models = [KAnonymity(3), DistinctDiversity("salary", 3), DistinctDiversity("disease", 3)]
    report = check(salaries_released(), SALARY_ROLES, models)
    assert report.holds
    assert [verdict.strictest for verdict in report.verdicts] == [3, 3, 3]


def test_it_still_tells_that_people_in_their_twenties_earn_little_and_have_stomach_trouble() -> None:
    pay = [int(text[:-1]) for text in SALARIES["salary"].to_pylist()]
    columns = {**salaries_released().columns, "salary": CodedColumn.of("salary", pay)}
    close = check(CodedTable(columns, len(pay)), SALARY_ROLES, [Closeness("salary", 0.3, "ordered")])
    assert close.verdicts[0].strictest == pytest.approx(0.375)
    (twenties,) = close.violating()
    assert twenties.values == {"zip": "476**", "age": "2*"}
    assert twenties.sensitive["salary"] == {"3": 1, "4": 1, "5": 1}
    assert set(twenties.sensitive["disease"]) == {"gastric ulcer", "gastritis", "stomach cancer"}
