"""Mondrian: how classes are written, what is released, and what is refused."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.recode.mondrian import mondrian
from discreet.anonymize.recode.recoding import Recoded
from discreet.anonymize.recode.taxonomy_mondrian import taxonomy_mondrian
from discreet.anonymize.roles import Roles
from discreet.errors import InvalidType, InvalidValue, OutOfReach
from tests.anonymize.people import QUASI, census, census_hierarchies

PEOPLE = pa.table(
    {
        "name": ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal"],
        "age": [21, 24, 24, 29, 35, 41, 44, 52],
        "job": ["Surgeon", "Nurse", "Clerk", "GP", "Surgeon", "Clerk", "Nurse", "GP"],
        "disease": ["flu", "flu", "cold", "cold", "flu", "cold", "flu", "cold"],
    }
)
ROLES = Roles.of(PEOPLE.column_names, quasi=["age", "job"], sensitive="disease", identifying="name")
AGE = Roles.of(["age", "disease"], quasi="age", sensitive="disease")
JOBS = Hierarchy.of(
    ["Surgeon", "GP", "Nurse", "Clerk"],
    [["Doctor", "Doctor", "Nurse", "Clerk"], ["Medical"] * 3 + ["Office"], ["*"] * 4],
)


def ages(values: list[Any], **options: Any) -> list[str]:
    """How ages are written when classes have two rows."""
    table = pa.table({"age": pa.array(values), "disease": ["flu"] * len(values)})
    return mondrian(table, AGE, KAnonymity(2), **options).table["age"].to_pylist()


# How classes are written ---------------------------------------------------------------------------------------------


def test_ranges_name_the_smallest_and_the_largest_number() -> None:
    assert ages([5, 9, 1, 3]) == ["[1, 3]", "[1, 3]", "[5, 9]", "[5, 9]"]


def test_equal_numbers_are_written_as_one() -> None:
    assert ages([7, 7, 9, 9]) == ["7", "7", "9", "9"]


def test_regions_cover_all_numbers() -> None:
    assert ages([1, 3, 5, 9, 11, 12], tight=False) == [">5"] * 3 + ["≤5"] * 3
    assert ages([1, 2, 5, 6, 11, 12, 17, 18], tight=False)[:4] == ["(2, 6]", "(2, 6]", "(6, 12]", "(6, 12]"]


def test_a_relaxed_region_holds_its_shared_threshold() -> None:
    assert ages([1, 2, 2, 3], tight=False, relaxed=True) == ["≤2", "≤2", "≥2", "≥2"]


def test_missing_cells_are_a_value_of_their_own() -> None:
    assert ages([None, 3, None, 4]) == ["(missing)", "(missing)", "[3, 4]", "[3, 4]"]
    assert ages([None, 3, 4]) == ["[3, 4] or (missing)"] * 3
    assert ages([None, None, None]) == ["(missing)"] * 3
    assert ages([None, 1, 2, 9, 10], tight=False) == [">9 or (missing)"] * 2 + ["≤9"] * 3


def test_dates_have_ranges_too() -> None:
    days = [date(2020, 1, day) for day in (1, 2, 30, 31)]
    assert ages(days) == ["[2020-01-01, 2020-01-02]"] * 2 + ["[2020-01-30, 2020-01-31]"] * 2


def test_text_is_written_as_a_set() -> None:
    table = pa.table({"age": list("aabcd"), "disease": ["flu"] * 5})
    assert mondrian(table, AGE, KAnonymity(2)).table["age"].to_pylist() == ["{a, b}"] * 3 + ["{c, d}"] * 2
    assert mondrian(table, AGE, KAnonymity(3)).table["age"].to_pylist() == ["*"] * 5


def test_sets_name_the_numbers_that_are_there() -> None:
    assert ages([1, 5, 7, 8, 9], labels="set") == ["{1, 5, 7}"] * 3 + ["{8, 9}"] * 2


def test_groups_of_a_hierarchy_are_the_smallest_that_hold_a_class() -> None:
    found = mondrian(PEOPLE, ROLES, KAnonymity(2), hierarchies={"job": JOBS}, labels="hierarchy")
    assert set(found.table["job"].to_pylist()) <= {label for labels in JOBS.labels for label in labels}
    assert any(age.startswith("[") for age in found.table["age"].to_pylist())


def test_a_rest_keeps_the_group_of_its_parent() -> None:
    table = pa.table({"age": ["Surgeon"] * 3 + ["GP"] * 2 + ["Nurse"] + ["Clerk"] * 2, "disease": ["flu"] * 8})
    found = taxonomy_mondrian(table, AGE, {"age": JOBS}, KAnonymity(2))
    assert found.table["age"].to_pylist() == ["Clerk"] * 2 + ["Medical"] * 3 + ["Surgeon"] * 3


def test_equal_labels_of_two_leaves_make_one_class() -> None:
    tree = Hierarchy.of(["a", "b", "c", "d"], [["*"] * 4])
    table = pa.table({"age": list("abcd") * 2, "disease": ["flu"] * 8})
    found = mondrian(table, AGE, KAnonymity(4), hierarchies={"age": tree}, labels="hierarchy")
    assert found.classes.sizes.tolist() == [8]


# What is released ----------------------------------------------------------------------------------------------------


@pytest.fixture(params=["strict", "relaxed", "taxonomy"])
def fit(request: pytest.FixtureRequest) -> Any:
    def run(source: Any, roles: Roles, models: Any, **options: Any) -> Recoded:
        if request.param == "taxonomy":
            return taxonomy_mondrian(source, roles, None, models, **options)
        return mondrian(source, roles, models, relaxed=request.param == "relaxed", **options)

    return run


def test_identifying_columns_and_the_index_are_not_released(fit: Any) -> None:
    frame = PEOPLE.to_pandas().set_index(pd.Index(range(100, 108), name="row"))
    found = fit(frame, ROLES, KAnonymity(2))
    assert found.table.column_names == ["age", "job", "disease"]
    assert found.table.schema.metadata is None
    assert found.table.to_pylist() == fit(PEOPLE, ROLES, KAnonymity(2)).table.to_pylist()


def test_rows_are_sorted_by_what_is_released(fit: Any) -> None:
    rows = fit(PEOPLE, ROLES, KAnonymity(2)).table.to_pylist()
    assert rows == sorted(rows, key=lambda row: tuple(row.values()))


def test_a_released_dictionary_does_not_list_what_is_left_out() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "disease": pa.array(["flu", "flu", "cold", "cold"]).dictionary_encode()})
    released = mondrian(table, AGE, KAnonymity(2)).recoding.transform(table.slice(0, 3))
    assert released["disease"].to_pylist() == ["flu", "flu"]
    assert released.schema.field("disease").type == pa.string()


def test_nothing_is_suppressed_and_losses_are_shares(fit: Any) -> None:
    found = fit(PEOPLE, ROLES, KAnonymity(2))
    assert (found.table.num_rows, found.suppressed) == (8, 0)
    assert found.classes.sizes.sum() == 8
    assert set(found.losses) == {"age", "job"}
    assert all(0 < loss <= 1 for loss in found.losses.values())


def test_the_loss_counts_the_values_that_cells_cover() -> None:
    table = pa.table({"age": [1, 2, 3, 4, 5, 5], "disease": ["flu"] * 6})
    assert mondrian(table, AGE, KAnonymity(2)).table["age"].to_pylist() == ["[1, 3]"] * 3 + ["[4, 5]"] * 3
    assert mondrian(table, AGE, KAnonymity(2)).loss == pytest.approx((3 * 3 / 5 + 3 * 2 / 5) / 6)


def test_progress_grows_to_one(fit: Any) -> None:
    told: list[float] = []
    fit(PEOPLE, ROLES, KAnonymity(2), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize(
    "models", [[KAnonymity(5)], [KAnonymity(3), DistinctDiversity("salary", 2), Closeness("salary", 0.2)]]
)
def test_a_census_keeps_its_promise(fit: Any, models: list[Any]) -> None:
    table = census(3_000)
    roles = Roles.of(table.column_names, quasi=QUASI, sensitive="salary")
    found = fit(table, roles, models)
    pairs = found.table.group_by(list(QUASI)).aggregate([("salary", "count"), ("salary", "count_distinct")])
    assert min(pairs["salary_count"].to_pylist()) >= models[0].k
    assert len(models) == 1 or min(pairs["salary_count_distinct"].to_pylist()) >= 2
    assert found.recoding.transform(table).equals(found.table)


def test_hierarchies_lose_least_when_mondrian_follows_them() -> None:
    table = census(3_000)
    roles = Roles.of(table.column_names, quasi=QUASI, sensitive="salary")
    trees = census_hierarchies()
    along = taxonomy_mondrian(table, roles, trees, KAnonymity(5)).loss
    assert along < mondrian(table, roles, KAnonymity(5), hierarchies=trees, labels="hierarchy").loss


def test_classes_that_new_rows_leave_too_small_are_left_out() -> None:
    table = pa.table({"age": [1, 2, 8, 9], "disease": ["flu"] * 4})
    recoding = mondrian(table, AGE, KAnonymity(2)).recoding
    assert recoding.transform(table.slice(0, 3))["age"].to_pylist() == ["[1, 2]"] * 2


def test_new_rows_are_recoded_where_the_cuts_allow_it() -> None:
    table = pa.table({"age": [1, 2, 8, 9], "disease": ["flu"] * 4})
    later = pa.table({"age": [-5, 1, 5, 9, 100, None], "disease": ["flu"] * 6})
    by_cuts = mondrian(table, AGE, KAnonymity(2), tight=False).recoding
    assert by_cuts.transform(later)["age"].to_pylist() == [">2"] * 3 + ["≤2"] * 2
    by_rows = mondrian(table, AGE, KAnonymity(2)).recoding
    assert by_rows.transform(later).num_rows == 0


def test_a_new_row_that_lacks_what_its_class_has_is_left_out() -> None:
    roles = Roles.of(["sex", "age"], quasi=["sex", "age"])
    fitted = pa.table({"sex": [0, 0, 9, 9], "age": [1, 2, None, None]})
    recoding = mondrian(fitted, roles, KAnonymity(2)).recoding
    later = pa.table({"sex": [0, 0, 0, 9, 9], "age": [1, 2, None, None, None]})
    assert recoding.transform(later)["age"].to_pylist() == ["[1, 2]"] * 2 + ["(missing)"] * 2


def test_groups_that_the_fit_did_not_see_go_to_the_rest_or_nowhere() -> None:
    fitted = pa.table({"age": ["Surgeon"] * 2 + ["Clerk"] * 2, "disease": ["flu"] * 4})
    recoding = taxonomy_mondrian(fitted, AGE, {"age": JOBS}, KAnonymity(2)).recoding
    later = pa.table({"age": ["Surgeon"] * 2 + ["GP"] * 2 + ["Nurse"] * 2, "disease": ["flu"] * 6})
    assert recoding.transform(later)["age"].to_pylist() == ["Surgeon"] * 2


# What is refused -----------------------------------------------------------------------------------------------------


def test_more_than_the_table_has_is_out_of_reach(fit: Any) -> None:
    with pytest.raises(OutOfReach, match=r"9-anonymity must hold at least when all 8 rows are one class, got <k = 8>"):
        fit(PEOPLE, ROLES, KAnonymity(9))
    with pytest.raises(OutOfReach, match=r"3-diversity of disease must hold .* got <l = 2>"):
        fit(PEOPLE, ROLES, [KAnonymity(2), DistinctDiversity("disease", 3)])


def test_constant_columns_and_classes_of_one_are_no_trouble(fit: Any) -> None:
    table = pa.table({"age": [1] * 4, "disease": list("abcd")})
    assert fit(table, AGE, KAnonymity(2)).table["age"].to_pylist() == ["1"] * 4
    assert fit(table.slice(0, 1), AGE, KAnonymity(1)).table.num_rows == 1


def test_bad_requests_are_refused_in_words(fit: Any) -> None:
    with pytest.raises(InvalidValue, match="under a model"):
        fit(PEOPLE, ROLES, [])
    with pytest.raises(InvalidType, match="must be one of"):
        fit(PEOPLE, ROLES, [5])
    with pytest.raises(InvalidValue, match="sensitive column"):
        fit(PEOPLE, ROLES, [DistinctDiversity("age", 2)])
    with pytest.raises(InvalidValue, match="must have rows"):
        fit(PEOPLE.slice(0, 0), ROLES, KAnonymity(2))
    with pytest.raises(InvalidValue, match="must have a role"):
        fit(PEOPLE, AGE, KAnonymity(2))


def test_unknown_labels_and_hierarchies_without_a_value_are_refused() -> None:
    with pytest.raises(InvalidValue, match="labels must be known"):
        mondrian(PEOPLE, ROLES, KAnonymity(2), labels="ranges")  # type: ignore[arg-type]
    few = Hierarchy.of(["Surgeon", "GP"], [["*", "*"]])
    for run in (
        lambda: mondrian(PEOPLE, ROLES, KAnonymity(2), hierarchies={"job": few}),
        lambda: taxonomy_mondrian(PEOPLE, ROLES, {"job": few}, KAnonymity(2)),
    ):
        with pytest.raises(InvalidValue, match=r"the hierarchy of 'job' must hold every value.*Clerk.*Nurse"):
            run()


def test_new_rows_of_another_type_are_refused() -> None:
    recoding = mondrian(PEOPLE, ROLES, KAnonymity(2)).recoding
    text = PEOPLE.set_column(1, "age", pa.array([str(age) for age in PEOPLE["age"].to_pylist()]))
    with pytest.raises(InvalidType, match="the values of 'age' must be of the same type"):
        recoding.transform(text)


def test_sixty_columns_are_no_trouble(fit: Any) -> None:
    draw = np.random.default_rng(0)
    table = pa.table({f"q{place}": draw.integers(0, 9, 500) for place in range(60)})
    assert fit(table, Roles.of(table.column_names, quasi=table.column_names), KAnonymity(5)).classes.sizes.min() >= 5


@pytest.mark.parametrize(
    "values",
    [
        [float("-inf"), 0.0, 1.0, float("inf")],
        [-1.7e308, 0.0, 1.0, 1.7e308],
        [2**62, 2**62 + 1, 2**62 + 2, 2**62 + 3],
        [datetime(1, 1, 1), datetime(2020, 1, 1), datetime(2020, 1, 2), datetime(9999, 1, 1)],
        [timedelta(1), timedelta(2), timedelta(8), timedelta(9)],
        [Decimal("0.1"), Decimal("0.2"), Decimal(3), Decimal(4)],
        [b"a", b"b", b"c", b"d"],
        [False, False, True, True],
    ],
)
def test_values_of_every_type_and_size_are_cut(values: list[Any]) -> None:
    assert len(set(ages(values))) == 2
