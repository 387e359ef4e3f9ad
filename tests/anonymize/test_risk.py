"""Who can be found: closed forms, and estimates of a population that is there to be counted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.loss.release_loss import Publication
from discreet.anonymize.report.report import table_report
from discreet.anonymize.risk.population import pitman_uniques, population_sizes, population_uniques, zayatz_uniques
from discreet.anonymize.risk.risk import distinction, distinctions, risks
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedTable
from discreet.errors import InvalidType, InvalidValue

SIZES = st.lists(st.integers(1, 30), min_size=1, max_size=20).map(np.array)


# Attackers --------------------------------------------------------------------------------------------------------


def test_risk_is_averaged_over_rows_and_not_over_classes() -> None:
    """Of {99, 1} one class has risk 1 and the other 1/99; the mean over classes would be 0.505."""
    found = risks(np.array([99, 1]))
    assert found.prosecutor.average == 0.02
    assert found.prosecutor.highest == 1
    assert found.prosecutor.at_risk == 0.01
    assert (found.unique_rows, found.uniqueness) == (1, 0.01)


@settings(deadline=None)
@given(SIZES)
def test_the_prosecutor_is_the_mean_of_what_each_row_risks(sizes: np.ndarray) -> None:
    rows = [1 / size for size in sizes for _ in range(size)]
    found = risks(sizes)
    assert found.prosecutor.average == pytest.approx(np.mean(rows))
    assert found.prosecutor.highest == pytest.approx(max(rows))
    assert found.prosecutor.at_risk == pytest.approx(np.mean([risk > 0.2 for risk in rows]))
    assert found.marketer == pytest.approx(found.prosecutor.average)
    assert found.journalist == found.prosecutor


@settings(deadline=None)
@given(SIZES, st.integers(1, 5))
def test_a_population_lowers_the_journalist_and_the_marketer(sizes: np.ndarray, times: int) -> None:
    found = risks(sizes, sizes * times)
    rows = [1 / (times * size) for size in sizes for _ in range(size)]
    assert found.journalist.highest == pytest.approx(max(rows))
    assert found.journalist.average == pytest.approx(np.mean(rows))
    assert found.marketer == pytest.approx(np.mean(rows))
    assert found.journalist.at_risk == pytest.approx(np.mean([risk > 0.2 for risk in rows]))
    assert found.has_population


def test_the_journalist_takes_the_better_of_two_ways() -> None:
    """He picks a row and looks for its person (marketer), or picks a person: J / ΣF."""
    assert risks(np.array([1, 1]), np.array([1, 9])).journalist.average == pytest.approx((1 + 1 / 9) / 2)
    assert risks(np.array([10, 1]), np.array([100, 1])).journalist.average == pytest.approx((0.1 + 1) / 11)


def test_a_class_of_five_is_not_above_a_risk_of_a_fifth() -> None:
    assert risks(np.array([5])).prosecutor.at_risk == 0
    assert risks(np.array([4])).prosecutor.at_risk == 1
    for k in range(1, 200):  # 1/k is above no threshold of 1/k, however it was rounded
        assert risks(np.array([k]), threshold=1 / k).prosecutor.at_risk == 0, k


@pytest.mark.parametrize(
    ("sizes", "population", "threshold"),
    [([], None, 0.2), ([3], [2], 0.2), ([3], [3, 4], 0.2), ([3], None, 0), ([3], None, 1.5)],
)
def test_what_makes_no_sense_is_refused(sizes: list[int], population: list[int] | None, threshold: float) -> None:
    with pytest.raises(InvalidValue):
        risks(np.array(sizes, dtype=int), None if population is None else np.array(population), threshold=threshold)


def test_people_who_fit_a_class_are_counted_one_by_one() -> None:
    """Three of five people of the town fit the first class, and two the second; one lives elsewhere."""
    sample = pa.table({"age": [21, 25, 40], "town": ["x", "x", "y"]})
    roles = Roles.of(sample.column_names, quasi=["age", "town"])
    release = pa.table({"age": ["[21, 25]", "[21, 25]", "40"], "town": ["x", "x", "y"]})
    town = pa.table({"age": [21, 25, 21, 40, 40, 21], "town": ["x", "x", "x", "y", "y", "z"]})
    publication = Publication.of(sample, release, roles)
    sizes = population_sizes(publication, town)
    assert sorted(zip(publication.classes.sizes.tolist(), sizes.tolist(), strict=True)) == [(1, 2), (2, 3)]
    found = table_report(release, roles, original=sample, population=town).risks
    assert found.has_population
    assert found.journalist.highest == 1 / 2
    assert found.marketer == pytest.approx((2 / 3 + 1 / 2) / 3)


def test_a_population_without_the_people_of_the_table_is_refused() -> None:
    sample = pa.table({"age": [21, 25]})
    with pytest.raises(InvalidValue, match="at least as many people"):
        table_report(sample, Roles.of(["age"], quasi="age"), population=pa.table({"age": [21, 30]}))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("ab")), min_size=1, max_size=15), st.integers(1, 3))
def test_a_population_in_one_recoding_is_counted_as_its_classes(rows: list[tuple[int, str]], times: int) -> None:
    """Where classes do not overlap, the people who fit are those who would be recoded alike."""
    table = pa.table({"n": [row[0] for row in rows], "c": [row[1] for row in rows]})
    release = pa.table({"n": [f"[{row[0] // 2 * 2}, {row[0] // 2 * 2 + 2})" for row in rows], "c": table["c"]})
    publication = Publication.of(table, release, Roles.of(["n", "c"], quasi=["n", "c"]))
    sizes = population_sizes(publication, pa.concat_tables([table] * times))
    assert sizes.tolist() == (times * publication.classes.sizes).tolist()


# Sets of columns --------------------------------------------------------------------------------------------------

PEOPLE = CodedTable.of(pa.table({"sex": list("ffmm"), "age": [30, 40, 30, 30], "town": ["x"] * 4}))


def test_distinction_and_separation_by_hand() -> None:
    both = distinction(PEOPLE, ["sex", "age"])
    assert (both.distinction, both.separation, both.uniqueness) == (3 / 4, 5 / 6, 2 / 4)
    town = distinction(PEOPLE, ["town"])
    assert (town.distinction, town.separation, town.uniqueness) == (1 / 4, 0, 0)


def test_every_set_is_there_and_the_telling_ones_come_first() -> None:
    found = distinctions(PEOPLE, ["sex", "age", "town"])
    assert len(found) == 7
    assert found[0].columns == ("sex", "age")
    assert found[-1].columns == ("town",)


def test_sixty_columns_do_not_make_2_to_the_60_sets() -> None:
    wide = CodedTable.of(pa.table({f"c{n}": [0, 1] for n in range(60)}))
    found = distinctions(wide, list(wide.columns))
    assert len(found) == 61
    assert {len(one.columns) for one in found} == {1, 60}


def test_one_row_has_no_pairs() -> None:
    one = CodedTable.of(pa.table({"x": [1]}))
    assert distinctions(one, ["x"])[0].separation == 0


# The population ---------------------------------------------------------------------------------------------------


def restaurant(people: int, theta: float, alpha: float, seed: int) -> np.ndarray:
    """The tables of everybody in an Ewens-Pitman process, one after the other."""
    rng = np.random.default_rng(seed)
    sizes: list[int] = []
    seat = np.empty(people, dtype=np.int64)
    draws = rng.random((people, 2))
    seat_of_guest: list[int] = []
    for guest in range(people):
        is_new = draws[guest, 0] * (guest + theta) < theta + alpha * len(sizes)
        if not is_new:  # an old table with probability proportional to its size - α
            while True:
                table = seat_of_guest[int(rng.random() * guest)]
                if rng.random() * sizes[table] < sizes[table] - alpha:
                    break
            sizes[table] += 1
        else:
            table = len(sizes)
            sizes.append(1)
        seat_of_guest.append(table)
        seat[guest] = table
    return seat


@pytest.mark.parametrize(("theta", "alpha"), [(50.0, 0.5), (200.0, 0.1), (20.0, 0.8)])
def test_pitman_finds_the_unique_people_of_its_own_process(theta: float, alpha: float) -> None:
    """Fixed seeds, so no false alarm; the estimate comes from a twentieth of the population."""
    seats = restaurant(20_000, theta, alpha, seed=7)
    truth = int(np.count_nonzero(np.bincount(seats) == 1))
    chosen = np.random.default_rng(8).permutation(len(seats))[:1000]
    sample = np.unique(seats[chosen], return_counts=True)[1]
    assert pitman_uniques(sample, len(seats)) == pytest.approx(truth, rel=0.35)
    assert population_uniques(sample, len(seats)).estimate == pitman_uniques(sample, len(seats))


def test_zayatz_finds_the_unique_people_where_half_of_them_are_sampled() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.geometric(0.4, size=4000)
    seats = np.repeat(np.arange(len(sizes)), sizes)
    truth = int(np.count_nonzero(sizes == 1))
    chosen = rng.permutation(len(seats))[: int(0.7 * len(seats))]
    sample = np.unique(seats[chosen], return_counts=True)[1]
    assert zayatz_uniques(sample, len(seats)) == pytest.approx(truth, rel=0.25)
    assert population_uniques(sample, len(seats)).estimate == zayatz_uniques(sample, len(seats))


def test_a_sample_that_is_everybody_is_counted_and_not_estimated() -> None:
    sizes = np.array([1, 1, 1, 2, 5])
    assert zayatz_uniques(sizes, 10) == pytest.approx(3)


def test_nobody_is_unique_where_no_row_is() -> None:
    assert zayatz_uniques(np.array([2, 7]), 1000) == 0
    assert pitman_uniques(np.array([2, 7]), 1000) == 0


@settings(deadline=None, max_examples=25)
@given(SIZES, st.integers(1, 1000))
def test_estimates_stay_within_the_population(sizes: np.ndarray, more: int) -> None:
    people = int(sizes.sum()) * more
    found = population_uniques(sizes, people)
    assert 0 <= found.zayatz <= people
    assert 0 <= found.pitman <= people
    assert 0 <= found.share <= 1


@pytest.mark.parametrize(("people", "kind"), [(5, InvalidValue), (2.5, InvalidType), (True, InvalidType)])
def test_a_population_smaller_than_its_sample_is_refused(people: object, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        population_uniques(np.array([3, 3]), people)  # type: ignore[arg-type]
