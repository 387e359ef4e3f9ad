"""Erman Ayday, "Data Privacy: Hiding Data from the Database User II" (slides), as tests."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.composition import sequential
from discreet.anonymize.models.l_diversity import DistinctDiversity
from discreet.anonymize.models.t_closeness import Closeness
from discreet.attacks import (
    Centre,
    all_subset_sums,
    chance_of_truth,
    consistent_people,
    differences,
    intersect,
    link,
    maxima,
)
from discreet.exact.ball import Ball, ball, lower, upper, working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.laplace import Laplace
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Pure
from discreet.privacy.meaning import OddsRatio, possible_probabilities
from discreet.privacy.sensitivity import Sensitivity
from tests.texts.laws import Law, factor, loss, pair, random_laws, response, side_by_side
from tests.texts.tables import checked, published

LIGHT = settings(max_examples=30, deadline=None)
F = Fraction

# Tables that can be published.

RACES = [
    ("Black", "1965", "m", "02141", "short breath"),
    ("Black", "1965", "m", "02141", "chest pain"),
    ("Black", "1964", "f", "02138", "obesity"),
    ("Black", "1964", "f", "02138", "chest pain"),
    ("White", "1964", "m", "02138", "chest pain"),
    ("White", "1964", "m", "02138", "obesity"),
    ("White", "1964", "m", "02138", "short breath"),
]

HOSPITAL = [
    ("13053", 28, "Heart Disease"),
    ("13068", 29, "Heart Disease"),
    ("13068", 21, "Viral Infection"),
    ("13053", 23, "Viral Infection"),
    ("14853", 50, "Cancer"),
    ("14853", 55, "Heart Disease"),
    ("14850", 47, "Viral Infection"),
    ("14850", 49, "Viral Infection"),
    ("13053", 31, "Cancer"),
    ("13053", 37, "Cancer"),
    ("13068", 36, "Cancer"),
    ("13068", 35, "Cancer"),
]

GENERALIZED = [("130**", "<30")] * 4 + [("1485*", "≥40")] * 4 + [("130**", "3*")] * 4

SALARIES = [
    ("476**", "2*", 3, "gastric ulcer"),
    ("476**", "2*", 4, "gastritis"),
    ("476**", "2*", 5, "stomach cancer"),
    ("4790*", "≥40", 6, "gastritis"),
    ("4790*", "≥40", 11, "flu"),
    ("4790*", "≥40", 8, "bronchitis"),
    ("476**", "3*", 7, "bronchitis"),
    ("476**", "3*", 9, "pneumonia"),
    ("476**", "3*", 10, "stomach cancer"),
]


def test_the_first_table_is_2_anonymous() -> None:
    table = published(RACES, ("race", "born", "sex", "zip", "problem"))
    assert checked(table, "problem").k == 2


def test_the_4_anonymous_version_generalizes_the_hospital_records() -> None:
    """Each record fits the four rows of its class and no others; one class has cancer alone."""
    released = published([(*shown, row[-1]) for shown, row in zip(GENERALIZED, HOSPITAL, strict=True)])
    patients = published([(name, *row[:2]) for name, row in enumerate(HOSPITAL)], ("name", "zip", "age"))
    assert link(released, patients).matches.tolist() == [4] * 12
    report = checked(released, "condition", models=[DistinctDiversity("condition", 2)])
    assert report.k == 4
    assert report.measure("distinct l-diversity", "condition") == 1
    assert [found.sensitive for found in report.violating()] == [{"condition": {"Cancer": 4}}]


PAY = published(SALARIES, ("zip", "age", "salary", "disease"))


def test_the_3_diverse_table_still_says_low_salaries_and_stomach_diseases() -> None:
    report = checked(PAY, "salary", "disease")
    assert report.k == report.measure("distinct l-diversity", "disease") == 3
    bob = {"zip": "47678", "age": 27}
    stomach = {"gastric ulcer", "gastritis", "stomach cancer"}
    assert set(intersect([PAY], bob, secret="disease").candidates) == stomach
    lowest = sorted(salary for _, _, salary, _ in SALARIES)[:3]
    assert sorted(intersect([PAY], bob, secret="salary").candidates) == lowest == [3, 4, 5]


def test_t_closeness_compares_each_class_with_the_whole_table() -> None:
    """The young hold the three lowest salaries: 2/3 from the table in total variation, 3/8 along the scale of pay."""
    everyone = {salary: F(1, 9) for _, _, salary, _ in SALARIES}
    young = {salary: F(1, 3) for salary in (3, 4, 5)}
    report = checked(PAY, "salary", "disease", models=[Closeness("salary", 0.2, "numeric")])
    equal = report.measure("t-closeness (equal distance)", "salary")
    assert equal == pytest.approx(float(pair(young, everyone).total_variation())) == pytest.approx(2 / 3)
    assert report.measure("t-closeness (numeric distance)", "salary") == pytest.approx(3 / 8)
    assert not report.holds


# Statistics that give a person away.

SICKLE_CELL = {"A": True, "B": True, "C": False, "D": False, "X": False, "Y": True, "Z": False}


def test_two_large_counts_differ_by_one_person() -> None:
    everybody = set(SICKLE_CELL)
    counts = [sum(SICKLE_CELL[name] for name in group) for group in (everybody, everybody - {"X"})]
    (found,) = differences([everybody, everybody - {"X"}], counts)
    assert (found.person, found.value) == ("X", SICKLE_CELL["X"])
    assert found.combination == ((0, 1), (1, -1))


PHD = [
    ("Ben", "Y", "M", 1),
    ("Bha", "N", "M", 1),
    ("Ios", "Y", "M", 1),
    ("Jan", "N", "M", 2),
    ("Jian", "Y", "M", 2),
    ("Jie", "N", "M", 1),
    ("Joe", "N", "M", 2),
    ("Moh", "N", "M", 1),
    ("Son", "N", "F", 1),
    ("Xi", "Y", "F", 3),
    ("Yao", "N", "M", 2),
]


def test_two_maxima_pin_down_the_only_woman_in_her_first_year() -> None:
    groups = [{row for row in PHD if row[2] == "M"}, {row for row in PHD if row[1] == "Y"}]
    greatest = [max(value for *_, value in group) for group in groups]
    assert greatest == [2, 3]
    left = maxima([[name for name, *_ in group] for group in groups], greatest, values=[1, 2, 3])
    assert left["Xi"] == (3,)
    assert [name for name, values in left.items() if len(values) == 1] == ["Xi"]


@pytest.mark.parametrize("n", [3, 10])
def test_a_random_subsample_is_not_private(n: int) -> None:
    """Whoever appears in the sample is given away: no finite ε, and a δ of 2/n at any ε for a sample of 2."""

    def subsample(data: tuple[int, ...]) -> Law:
        found: Law = {}
        for rows in itertools.combinations(data, 2):
            shown = tuple(sorted(rows))
            found[shown] = found.get(shown, F(0)) + F(1, math.comb(n, 2))
        return found

    without, with_one = subsample((0,) * n), subsample((0,) * (n - 1) + (1,))
    assert factor(without, with_one) == math.inf
    assert float(pair(with_one, without).delta(30)) == pytest.approx(2 / n)


@pytest.mark.parametrize("times", [1, 10, 100])
def test_averaging_the_same_question_brings_the_truth_out(times: int) -> None:
    """Independent noise averages away like 1/√k, and each answer is charged: k answers cost kε."""
    assert Laplace(epsilon="0.1").standard_deviation == pytest.approx(math.sqrt(200), rel=0.01)
    often = [chance_of_truth(10, count, Centre.MEAN) for count in (times, 10 * times, 100 * times)]
    assert often == sorted(often)
    assert often[-1] == pytest.approx(math.erf(math.sqrt(100 * times) / 40), abs=0.01)  # the bell curve of the mean
    assert sequential([Pure("0.1")] * times) == Pure(F(times, 10))


@pytest.mark.parametrize("bound", [0, 1])
def test_noise_bounded_by_e_lets_all_subset_sums_rebuild_the_data_within_4_e(bound: int) -> None:
    """Dinur and Nissim: any candidate that agrees with every noisy answer is wrong in at most 4E positions."""
    data = np.array([1, 0, 1, 1, 0, 0])
    noisy = all_subset_sums(data) + bound * (-1) ** np.arange(2**6)
    candidates = [np.array(bits) for bits in itertools.product([0, 1], repeat=6)]
    fitting = [c for c in candidates if np.abs(all_subset_sums(c) - noisy).max() <= bound]
    assert max((c != data).sum() for c in fitting) <= 4 * bound
    assert consistent_people(noisy, bound).tolist() in [c.tolist() for c in fitting]


def test_noise_below_n_over_401_gives_away_99_percent() -> None:
    """With ten people, fewer than 1 % wrong are none."""
    assert 4 * F(1, 401) < F(1, 100)
    data = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1])
    noisy = all_subset_sums(data) + 10 / 401 * (-1) ** np.arange(2**10)
    assert (consistent_people(noisy, 10 / 401) == data).all()


BLOOD = {"Alice": F("4.2"), "Bob": F("5.9"), "Cathy": F("5.2"), "Diana": F("6.9"), "Ellen": F("5.7")}
NOISED_FIRST = [F("4.5"), F("5.1"), F("4.41"), F("6.2"), F("5.7")]
NOISED_SECOND = [F("3.0"), F("3.7"), F("7.5"), F("7.5")]


EVERYBODY, WOMEN = set(BLOOD), set(BLOOD) - {"Bob"}


def blood_of_bob(everybody: Fraction, women: Fraction) -> Fraction | float:
    (found,) = differences([EVERYBODY, WOMEN], [everybody, women], averages=True)
    assert found.person == "Bob"
    assert found.value == 5 * everybody - 4 * women
    return found.value


def test_two_averages_give_the_blood_sugar_of_bob() -> None:
    group = sum(BLOOD.values()) / 5
    women = sum(BLOOD[name] for name in WOMEN) / 4
    assert (group, women) == (F("5.58"), F("5.5"))
    assert blood_of_bob(group, women) == F("5.9") == BLOOD["Bob"]


def test_the_averages_of_the_noised_rows_are_not_the_printed_ones() -> None:
    everybody, women = sum(NOISED_FIRST) / 5, sum(NOISED_SECOND) / 4
    assert (everybody, women) == (F("5.182"), F("5.425"))  # printed 5.23 and 5.46
    assert blood_of_bob(F("5.23"), F("5.46")) == F("4.31")
    assert blood_of_bob(everybody, women) == F("4.21")


def test_bounded_noise_is_never_purely_private() -> None:
    """Uniform noise on [-2, 2], in steps of 1/10: an answer that one value allows and another excludes."""
    uniform = {F(k, 10): F(1, 41) for k in range(-20, 21)}
    laws = [{level + noise: p for noise, p in uniform.items()} for level in (BLOOD["Bob"], BLOOD["Alice"])]
    assert factor(*laws) == math.inf
    assert pair(*laws).epsilon() == Ball.pos_inf()
    assert float(pair(*laws).delta(10)) == pytest.approx(17 / 41)


def test_uniform_noise_on_41_points_is_exactly_zero_and_one_in_41() -> None:
    """On a count that moves by 1: δ = 1/41 at ε = 0, and no less at any ε."""
    laws = [{count + noise: F(1, 41) for noise in range(-20, 21)} for count in (7, 8)]
    for epsilon in (0, 1, 30):
        for both in (pair(*laws), pair(*laws[::-1])):
            assert lower(both.delta(epsilon)) <= F(1, 41) <= upper(both.delta(epsilon))
            assert float(both.delta(epsilon)) == pytest.approx(1 / 41, rel=1e-15)


# Differential privacy and Laplace noise.


@LIGHT
@given(st.integers(-9, 9), st.integers(-10, 10))
def test_densities_of_laplace_noise_at_distance_one_differ_by_at_most_e_to_the_epsilon(answer: int, move: int) -> None:
    """An answer that moves by a tenth of what it may move by costs a tenth of ε, and never more than ε."""
    noise = Laplace(epsilon=1, sensitivity=10)
    there = noise.between(answer, answer + move, outcomes=range(-20, 21))
    assert float(there.epsilon()) == pytest.approx(abs(move) / 10, abs=1e-12)
    assert lower(there.epsilon()) <= noise.loss.epsilon == 1


def test_laplace_noise_is_likeliest_at_zero_and_has_exponential_tails() -> None:
    """Heavier than a bell curve, but not heavy: every moment is finite, E e^(t|η|) too for t below ε."""
    law = Laplace(epsilon=1).law
    assert all(float(law.pmf(0)) > float(law.pmf(k)) for k in (-2, -1, 1, 2))
    ratios = [float(law.pmf(k + 1) / law.pmf(k)) for k in range(5, 30)]
    assert all(ratio == pytest.approx(math.exp(-1)) for ratio in ratios)
    assert math.fsum(float(law.pmf(k)) * math.exp(0.5 * abs(k)) for k in range(-200, 201)) < 2


@pytest.mark.parametrize(
    ("loss", "printed"), [(Pure("0.01"), 1.0101), (Pure("0.1"), 1.1052), (OddsRatio(2), 2.0), (OddsRatio(3), 3.0)]
)
def test_the_epsilons_that_dwork_thinks_of(loss: Pure | OddsRatio, printed: float) -> None:
    """0.01, 0.1, ln 2 and ln 3: what they can do to an event that has probability 1/10."""
    low, high = possible_probabilities("0.1", loss)
    assert float(high) == pytest.approx(0.1 * printed, abs=1e-5)
    assert float(low) == pytest.approx(0.1 / printed, abs=1e-5)


def test_sensitivities_of_the_slides_and_their_relations() -> None:
    """A count moves by 1 under both relations; a histogram by 2 only when an entry is replaced."""
    assert Sensitivity.count("add-remove-one").value == Sensitivity.count("replace-one").value == 1
    assert Sensitivity.histogram("replace-one").value == 2
    assert Sensitivity.histogram("add-remove-one").value == 1


@pytest.mark.parametrize("n", [3, 5])
def test_exercise_mean_and_median_of_integers_from_0_to_100(n: int) -> None:
    assert Sensitivity.mean(0, 100, n, "replace-one").value == F(100, n)
    assert Sensitivity.median(0, 100, "replace-one").value == 100
    low, high = (0,) * (n // 2), (100,) * (n // 2)
    medians = [sorted((*low, x, *high))[n // 2] for x in (0, 100)]
    assert medians == [0, 100]


@LIGHT
@given(*[st.integers(-50, 50)] * 3)
def test_proof_the_log_ratio_is_the_difference_of_distances(a: int, b: int, o: int) -> None:
    """log(e^(-|a-o|/λ) / e^(-|b-o|/λ)) = (|b-o| - |a-o|)/λ ≤ |a-b|/λ; the slide has the sign turned round."""
    noise = Laplace(epsilon=1, sensitivity=7)
    with working_precision():
        loss = (noise.distribution(a).mass(o) / noise.distribution(b).mass(o)).log()
        assert loss.overlaps(ball(F(abs(b - o) - abs(a - o), 7)))
        assert noise.distribution(a).mass(o).overlaps(noise.law.mass(o - a))  # η = o - a, since o = a + η
    assert abs(b - o) - abs(a - o) <= abs(a - b)


@LIGHT
@given(st.lists(st.tuples(random_laws(3), random_laws(3)), min_size=2, max_size=3))
def test_composability_epsilons_add(steps: list[tuple[Law, Law]]) -> None:
    together = [side_by_side(laws) for laws in zip(*steps, strict=True)]
    assert factor(*together) <= math.prod(factor(*laws) for laws in steps)
    assert lower(pair(*together).epsilon()) <= sequential([loss(*laws) for laws in steps]).epsilon_at(0)
    assert sequential([Pure(1), Pure(2), Pure("0.5")]) == Pure("3.5")


# The exponential mechanism.

APPLES = [F(1), F("1.01"), F("4.01"), F("4.02")]
BUYERS = [F(1), F(1), F(1), F("4.01")]


def profit(buyers: list[Fraction], price: Fraction) -> Fraction:
    return price * sum(buyer >= price for buyer in buyers)


def test_apples_for_sale() -> None:
    """One cent too much sells nothing; without noise to speak of, the mechanism takes the best price."""
    assert [profit(BUYERS, price) for price in APPLES] == [4, F("1.01"), F("4.01"), 0]
    assert Exponential(10**6, APPLES, sensitivity="4.02").choose(BUYERS, profit) == F("4.01")  # but for e^-1243


def test_apples_which_price_wins_how_often() -> None:
    """ε = 5 with profits that one buyer moves by at most 4.02: the two good prices win nine times in ten."""
    law = Exponential(5, APPLES, sensitivity="4.02").distribution([profit(BUYERS, price) for price in APPLES])
    often = [law.pmf(price) for price in APPLES]
    assert often == pytest.approx([0.4454, 0.0694, 0.4482, 0.0370], abs=1e-4)
    assert often[0] + often[2] > 0.88


def test_score_functions_of_numbers_are_minus_the_distance() -> None:
    """For a count, -|F(D) - r| moves by 1 when the count does, so that sensitivity 1 is enough."""
    results = range(6)
    scores = {count: [-abs(count - r) for r in results] for count in (3, 4)}
    assert max(abs(a - b) for a, b in zip(scores[3], scores[4], strict=True)) == 1
    choice = Exponential(1, results, sensitivity=Sensitivity.count("replace-one"))
    assert max(results, key=choice.distribution(scores[3]).pmf) == 3
    assert float(choice.between(scores[3], scores[4]).epsilon()) <= choice.loss.epsilon == 1


@LIGHT
@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=7),
    st.fractions(min_value=F(1, 4), max_value=3),
    st.integers(1, 4),
)
def test_utility_theorem_of_gupta_and_others(scores: list[int], epsilon: Fraction, t: int) -> None:
    """Behind by (2Δ/ε)(ln(|R|/|R_OPT|) + t) with probability at most e^-t, exactly summed."""
    law = Exponential(epsilon).distribution(scores)
    optimal = scores.count(max(scores))
    behind = 2 / float(epsilon) * (math.log(len(scores) / optimal) + t)
    bad = math.fsum(law.pmf(r) for r, score in enumerate(scores) if score <= max(scores) - behind)
    assert bad <= math.exp(-t)


@pytest.mark.parametrize(("kinds", "right", "printed"), [(4, 8.77, 6.8), (5, 9.22, 7.4)])
def test_most_common_nationality_and_eye_colour(kinds: int, right: float, printed: float) -> None:
    """2(ln 4 + 3)/ε = 8.77/ε and 2(ln 5 + 3)/ε = 9.22/ε; the printed numbers do not follow."""
    confidence = 1 - F(math.exp(-3)).limit_denominator(10**12)
    assert float(confidence) == pytest.approx(0.95, abs=0.001)
    for epsilon in (F(1, 2), F(1)):
        found = Exponential(epsilon, range(kinds)).utility_bound(confidence) * float(epsilon)
        assert found == pytest.approx(right, abs=0.01)
        assert found > printed + 1
    assert round(2 * (math.log10(5) + 3), 1) == 7.4  # logarithms to base 10 explain one of the two
    assert round(2 * (math.log10(4) + 3), 1) == 7.2


def test_the_bound_does_not_depend_on_the_number_of_people() -> None:
    colours = Exponential(1, ["Red", "Blue", "Green", "Brown", "Purple"])
    assert colours.error(0.95) <= colours.utility_bound(0.95) < 9.3
    crowd, village = [1000, 990, 980, 900, 0], [40, 30, 20, -60, -960]
    assert colours.exact_shortfall(crowd) <= 9.3
    assert colours.distribution(crowd).pmf("Red") == pytest.approx(colours.distribution(village).pmf("Red"))


@LIGHT
@given(st.tuples(random_laws(4), random_laws(4)))
def test_every_private_algorithm_is_an_exponential_mechanism_at_twice_the_price(laws: tuple[Law, Law]) -> None:
    """With score ln P(M(D) = r), of sensitivity ε, and parameter 2ε the law is M's own: captured, but priced 2ε."""
    scores = [[F(math.log(p)) for p in law.values()] for law in laws]
    sensitivity = max(*(abs(a - b) for a, b in zip(*scores, strict=True)), F(1, 100))
    captured = Exponential(2 * sensitivity, sensitivity=sensitivity)
    for law, score in zip(laws, scores, strict=True):
        found = captured.distribution(score)
        assert [found.pmf(r) for r in law] == pytest.approx([float(p) for p in law.values()])
    assert captured.loss == Pure(2 * sensitivity)
    assert float(pair(*laws).epsilon()) <= float(sensitivity) * (1 + 1e-12)


def test_a_strong_adversary_who_knows_all_but_one_learns_little() -> None:
    known = (1, 0, 1)
    laws = [side_by_side(response(bit, F(2, 3)) for bit in (*known, last)) for last in (0, 1)]
    assert factor(*laws) == 2
    with working_precision():
        assert float(Pair(list(laws[0].values()), [laws[1][y] for y in laws[0]]).epsilon()) == pytest.approx(
            math.log(2)
        )
