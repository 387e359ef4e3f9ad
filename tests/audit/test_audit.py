"""Audits of mechanisms of all kinds. Each gives a false alarm with probability 1e-6 at most, by the theorem."""

from __future__ import annotations

import datetime
import decimal
import itertools
import json
import math
import signal
import sys
import time
from collections import Counter
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit import Batched, Verdict, audit, audit_laws
from discreet.audit.canonical import canonical, key_of
from discreet.audit.draws import piece
from discreet.audit.outcomes import tally
from discreet.errors import InvalidType, InvalidValue
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from tests.thoroughness import many

CHANCE = experiment(5)
DRAWS = 20_000


def two_coins(value: bool) -> bool:
    return value if CHANCE.random() < 0.75 else not value


# Claims.


@pytest.mark.parametrize(
    "claim", [Pure("0.8"), Approximate("0.8", "0.001"), ZeroConcentrated("0.1"), GaussianDP("0.5"), Renyi({2: "0.2"})]
)
def test_a_claim_of_any_kind_can_be_refuted(claim):
    report = audit(two_coins, True, False, claim, draws=40_000)
    assert report.verdict is Verdict.VIOLATION
    assert report.best.epsilon > report.best.claimed_epsilon
    assert report.best.proved_delta > report.best.delta


@pytest.mark.parametrize(
    "claim", [Pure("1.1"), Approximate(1, "0.1"), ZeroConcentrated("0.61"), GaussianDP("1.4"), Renyi({2: "1.1"})]
)
def test_a_claim_of_any_kind_that_holds_is_let_pass(claim):
    assert audit(two_coins, True, False, claim, draws=40_000).verdict is Verdict.CONSISTENT


def test_a_number_is_a_pure_epsilon_and_a_measurement_brings_its_own_claim():
    assert audit(two_coins, True, False, 2, draws=1000).claim == Pure(2)
    assert audit(Laplace("0.5"), 0, 1, draws=1000).claim == Pure("0.5")


def test_what_is_proved_comes_close_to_the_truth():
    report = audit(RandomizedResponse(1), 0, 1, draws=1_000_000)
    assert 0.96 < report.observed_epsilon <= 1


# Exact laws.


@pytest.mark.parametrize(
    ("mechanism", "inputs", "true", "short"),
    [
        (Laplace(1), (0, 1), Pure(1), Pure("0.999999")),
        (RandomizedResponse.coins(), (0, 1), Pure("1.0987"), Pure("1.0986")),
        (Gaussian(1, "1e-6"), (0, 1), Approximate(1, "1e-6"), Approximate(1, "9e-7")),
        (Gaussian(rho="0.5"), (0, 1), ZeroConcentrated("0.5"), ZeroConcentrated("0.499")),
        (Gaussian(sigma=2), (0, 1), GaussianDP("0.51"), GaussianDP("0.4")),
        (Gaussian(rho="0.5"), (0, 1), Renyi({2: 1, 8: 4}), Renyi({2: 1, 8: "3.99"})),
    ],
)
def test_exact_laws_tell_a_true_claim_from_one_that_is_a_little_too_low(mechanism, inputs, true, short):
    kept, broken = (audit(mechanism, *inputs, claim, draws=200) for claim in (true, short))
    assert not kept.exact.violated
    assert kept.verdict is Verdict.CONSISTENT
    assert broken.exact.violated
    assert broken.verdict is Verdict.VIOLATION


def test_exact_laws_are_compared_in_both_directions():
    first, second = {"a": "1/2", "b": "1/2"}, {"a": "9/10", "b": "1/10"}
    there, back = (audit_laws(*laws, Approximate(1, "0.2")).exact for laws in ((first, second), (second, first)))
    assert there.epsilon == back.epsilon == pytest.approx(math.log(5))
    assert there.delta == back.delta == pytest.approx(0.5 - math.e / 10)
    assert there.violated
    assert back.violated
    assert all(audit_laws(*laws, "1.6").exact.violated for laws in ((first, second), (second, first)))
    # Of order 2 the divergence is ln(2.78) one way and ln(1.64) the other.
    assert all(audit_laws(*laws, Renyi({2: 1})).exact.violated for laws in ((first, second), (second, first)))
    assert not audit_laws(first, second, Renyi({2: "1.03"})).exact.violated


def test_a_gaussian_claim_is_compared_at_every_corner():
    """At a false-positive rate of 0.05 the claim allows false negatives from 0.7405 on, and no listed ε shows it."""
    laws = {"a": "0.05", "b": "0.95"}, {"a": "0.2598", "b": "0.7402"}
    found = audit_laws(*laws, GaussianDP(1)).exact
    assert found.violated
    assert not audit_laws(laws[0], {"a": "0.259", "b": "0.741"}, GaussianDP(1)).exact.violated


def test_the_sign_of_a_zero_in_an_array_is_seen():
    assert audit(Batched(lambda value, size: np.full(size, -0.0 if value else 0.0)), 0, 1, 1, draws=1000).violated
    both = Batched(lambda value, size: np.full((size, 2), -0.0 if value else 0.0))
    assert audit(both, 0, 1, 1, draws=1000).violated


def test_laws_that_are_written_down_need_no_draws():
    report = audit_laws({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"}, Pure("1.0987"))
    assert report.verdict is Verdict.CONSISTENT
    assert report.exact.epsilon == pytest.approx(math.log(3))
    assert report.exact.corners == ((0.0, 1.0), (0.25, 0.25), (1.0, 0.0))
    assert audit_laws({"a": 1}, {"b": 1}, 5).exact.epsilon == math.inf
    with pytest.raises(InvalidValue, match="a law must map outcomes to probabilities"):
        audit_laws([1], {"b": 1}, 5)


def test_a_law_without_a_list_of_outcomes_is_only_sampled():
    report = audit(Laplace(1), [0] * 5, [1, 0, 0, 0, 0], draws=2000)
    assert report.exact is None
    assert report.verdict is Verdict.CONSISTENT


# Mechanisms that misbehave.


def test_an_exception_on_one_input_alone_is_an_outcome():
    report = audit(lambda value: 1 // value, 0, 1, 1, draws=DRAWS)
    assert report.violated
    assert "It raised in 10,000 of 10,000 calls for the first input and in 0 of 10,000" in report.notes[0]


def test_an_exception_that_says_something_is_told_apart_from_others():
    def says(value):
        raise ValueError(value if CHANCE.random() < 0.1 else "nothing")

    def answers(value):
        return says(value) if CHANCE.random() < 0.5 else 0

    assert audit(answers, 4711, 4712, 1, draws=DRAWS).violated


def test_what_only_raises_is_refused_with_its_message():
    with pytest.raises(InvalidValue, match="every call raised, got <ZeroDivisionError: division by zero>"):
        audit(lambda value: 1 / 0, 0, 1, 1, draws=DRAWS)


def test_nan_is_an_outcome():
    report = audit(lambda value: math.nan if CHANCE.random() < 0.4 + value / 4 else 1.0, 0, 1, 1, draws=DRAWS)
    assert not report.violated
    report = audit(lambda value: math.nan if CHANCE.random() < 0.05 + value / 2 else 1.0, 0, 1, 1, draws=DRAWS)
    assert report.violated
    assert "Some answers are NaN; NaN counts as an outcome of its own." in report.notes


@pytest.mark.parametrize(
    "kinds", [(1, 1.0), (True, 1), (1.0, True), ((1, 2), [1, 2.0]), ("1", 1), (None, 0), (b"1", "1")]
)
def test_a_type_that_depends_on_the_data_gives_it_away(kinds):
    report = audit(lambda value: kinds[value] if CHANCE.random() < 0.9 else kinds[1 - value], 0, 1, 1, draws=DRAWS)
    assert report.violated


def test_answers_that_change_type_by_chance_are_noted():
    report = audit(lambda value: "yes" if CHANCE.random() < 0.5 else 1, 0, 1, 1, draws=DRAWS)
    assert report.verdict is Verdict.CONSISTENT
    assert any(note.startswith("Answers are of several kinds: ") for note in report.notes)


def test_lists_of_different_lengths_and_unhashable_answers_are_compared():
    class Box:
        __hash__ = None

        def __init__(self, value):
            self.value = value

        def __repr__(self):
            return f"Box({self.value})"

    report = audit(lambda value: Box(value if CHANCE.random() < 0.9 else 2), 0, 1, 1, draws=DRAWS)
    assert report.violated
    assert any("compared by their text" in note for note in report.notes)
    assert audit(lambda value: [0] * int(CHANCE.integers(1, 3 + 2 * value)), 0, 1, 1, draws=DRAWS).violated
    assert audit(lambda value: {"n": {value}}, 0, 1, 1, draws=DRAWS).violated


class Evil:
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


STRANGE = {
    "infinities": lambda value: math.inf if value else -math.inf,
    "an infinity in a list": lambda value: (math.inf, 1.0) if CHANCE.random() < 0.5 else (value, 2.0),
    "more digits than Python spells": lambda value: 10**5000 + value,
    "the smallest float": lambda value: 5e-324 * value,
    "the sign of zero": lambda value: -0.0 if value else 0.0,
    "complex numbers": lambda value: complex(value, 1),
    "a date": lambda value: datetime.date(2020, 1, 1 + value),
    "a decimal": decimal.Decimal,
    "a square": lambda value: np.full((2, 2), value),
    "a frame": lambda value: pa.table({"a": [value]}),
    "an exit": sys.exit,
    "a small float": np.float32,
}
"""Answers that give their input away, in unusual ways."""


@pytest.mark.parametrize("mechanism", STRANGE.values(), ids=STRANGE)
@pytest.mark.some(4)
def test_strange_answers_are_compared_and_shown(mechanism):
    report = audit(lambda value: mechanism(value) if CHANCE.random() < 0.9 else None, 0, 1, 1, draws=4000)
    assert report.violated
    assert all((str(report), report.to_json(), report.to_html()))


@pytest.mark.parametrize(
    "answer", [None, (), [], object(), Evil(), math.nan, "", np.zeros(0)], ids=lambda one: type(one).__name__
)
def test_strange_answers_that_say_nothing_are_no_violation(answer):
    report = audit(lambda value: answer, 0, 1, 0, draws=1000)
    assert not report.violated
    assert all((str(report), report.to_json(), report.to_html()))


def test_objects_that_say_nothing_of_what_they_hold_are_not_passed_over_in_silence():
    class Sealed:
        def __init__(self, value):
            self.value = value

    report = audit(Sealed, 0, 1, 1, draws=1000)
    assert any("nothing they hold was compared" in note for note in report.notes)


@pytest.mark.parametrize(
    "lazy", [lambda value: iter([value]), lambda value: map(str, [value]), lambda value: (x for x in [value])]
)
def test_what_is_yet_to_be_computed_is_no_answer(lazy):
    with pytest.raises(InvalidType, match="an answer must be a value, and not something that is yet to be computed"):
        audit(lazy, 0, 1, 1, draws=1000)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"false_alarm": "x"}, "false_alarm must lie strictly between 0 and 1"),
        ({"false_alarm": math.nan}, "false_alarm must lie strictly between 0 and 1"),
        ({"seconds": math.nan}, "seconds must be a positive number"),
        ({"seconds": math.inf}, "seconds must be a positive number"),
        ({"seconds": "5"}, "seconds must be a positive number"),
        ({"seconds": -1}, "seconds must be a positive number"),
        ({"families": ()}, "an audit must look for some events"),
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_refused_in_a_sentence(options, rule):
    with pytest.raises(InvalidValue, match=rule):
        audit(lambda value: value, 0, 1, 1, draws=1000, **options)


@pytest.mark.parametrize("answers", [np.array(3.0), {0: 1}], ids=["a single number", "a mapping"])
def test_a_batch_that_is_no_sequence_is_refused(answers):
    with pytest.raises(InvalidType, match="must return a sequence of answers"):
        audit(Batched(lambda value, size: answers), 0, 1, 1, draws=1000)


def test_a_function_that_catches_whatever_interrupts_it_is_stopped_all_the_same():
    caught = 0

    def stubborn(value):
        nonlocal caught
        for _ in range(3):
            try:
                time.sleep(2)
            except BaseException:
                caught += 1
        return value

    with pytest.raises(InvalidValue, match="the mechanism must answer in time"):
        audit(stubborn, 0, 1, 1, draws=1000, seconds=0.2)
    assert caught >= 3
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_answers_that_never_change_are_noted():
    stored = lru_cache(lambda value: CHANCE.random())
    report = audit(stored, 0, 1, 1, draws=DRAWS)
    assert any("it adds no noise, or it stores its answers" in note for note in report.notes)
    assert audit(lambda value: 7, 0, 1, 0, draws=DRAWS).verdict is Verdict.CONSISTENT


def test_random_numbers_that_are_used_again_are_noted():
    report = audit(Batched(lambda value, size: experiment(3).integers(0, 10**6, size)), 0, 1, 1, draws=DRAWS)
    assert any("the same random numbers were used again" in note for note in report.notes)


def test_a_counter_depends_on_hidden_state_and_not_on_its_input():
    calls = itertools.count()
    report = audit(lambda value: next(calls), 0, 1, 1, draws=DRAWS)
    assert report.verdict is Verdict.CONSISTENT
    assert any("The mechanism depends on hidden state." in note for note in report.notes)


def test_a_law_that_changes_between_blocks_is_not_called_a_violation():
    calls = itertools.count()
    report = audit(Batched(lambda value, size: CHANCE.normal(next(calls), 1, size)), 0, 1, 1, draws=DRAWS)
    assert report.verdict is Verdict.UNSTEADY
    assert not report.violated


def test_a_mechanism_that_changes_its_input_is_noted():
    report = audit(lambda rows: rows.append(0) or len(rows) * 0, [1], [2], 1, draws=1000)
    assert "The mechanism changes its input: later calls did not see what the first one saw." in report.notes


def test_a_call_that_never_returns_is_stopped():
    def endless(value):
        while True:
            time.sleep(0.01)

    with pytest.raises(InvalidValue, match="the mechanism must answer in time"):
        audit(endless, 0, 1, 1, draws=DRAWS, seconds=0.2)


def test_a_slow_mechanism_is_judged_by_what_there_was_time_for():
    def slow(value):
        time.sleep(0.001)
        return value

    report = audit(slow, 0, 1, "0.1", draws=10**6, seconds=0.5)
    assert report.draws < 10**6
    assert "The time was up after" in report.notes[0]


def test_too_few_draws_say_so():
    report = audit(two_coins, True, False, 5, draws=200)
    assert report.verdict is Verdict.TOO_FEW
    assert "no audit of 200 draws can prove more than ε = " in report.notes[-1]
    assert report.reach.epsilon < 5


def test_the_reach_is_what_a_mechanism_without_noise_shows():
    report = audit(lambda value: value, 0, 1, 1, draws=DRAWS)
    assert report.observed_epsilon == pytest.approx(report.reach.epsilon)


def test_progress_is_told():
    seen = []
    audit(Laplace(1), 0, 1, draws=DRAWS, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (DRAWS, DRAWS)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


# Refusals.


def test_refusals():
    with pytest.raises(InvalidType, match="what is audited must be callable"):
        audit(5, 0, 1, 1)
    with pytest.raises(InvalidType, match="a function's claim must be said"):
        audit(two_coins, 0, 1)
    with pytest.raises(InvalidValue, match="draws must be at least 64"):
        audit(two_coins, 0, 1, 1, draws=10)
    with pytest.raises(InvalidValue, match="false_alarm must lie strictly between 0 and 1"):
        audit(two_coins, 0, 1, 1, false_alarm=0)
    with pytest.raises(InvalidValue, match="a batched function must return as many answers"):
        audit(Batched(lambda value, size: [1]), 0, 1, 1)
    with pytest.raises(InvalidType, match="a batched function must return a sequence"):
        audit(Batched(lambda value, size: 1), 0, 1, 1)
    with pytest.raises(InvalidValue, match="a batched function must not raise, got <KeyError: 'x'>"):
        audit(Batched(lambda value, size: {}["x"]), 0, 1, 1)
    with pytest.raises(InvalidValue, match="scores must name"):
        audit(Exponential(1, ["a", "b"]), {"a": 1}, {"b": 1})


# Counting.

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, 1.0, 0.5, math.nan, math.inf]),
    st.text("ab", max_size=2),
    st.none(),
)
ANSWERS = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.tuples(st.integers(0, 2), st.integers(0, 2)))
GROUPS = st.lists(
    st.one_of(st.lists(ANSWERS), st.lists(st.integers(-(2**70), 2**70)), st.lists(st.floats(allow_nan=False))),
    min_size=1,
    max_size=3,
)


@given(GROUPS)
@settings(max_examples=many(75, 300), deadline=None)
def test_every_answer_is_counted_once_and_kinds_are_kept_apart(groups):
    found = tally([[piece(group)] for group in groups])
    for row, group in enumerate(groups):
        expected = Counter(repr(key_of(canonical(answer))) for answer in group)
        seen = {repr(key_of(canonical(found.outcomes[k]))): int(n) for k, n in enumerate(found.counts[row]) if n}
        assert seen == dict(expected)


@pytest.mark.parametrize("large", [[0, 2**63], [-1, 2**63], [(0, 1), (2**63, -1)]])
def test_integers_that_numpy_takes_for_floats_stay_integers(large):
    found = tally([[piece(list(large))]])
    assert {found.outcomes[k] for k in range(2)} == set(large)
    assert all(type(part) is int for k in range(2) for part in np.ravel(np.array(found.outcomes[k], object)))


def test_rows_of_an_array_are_counted_as_a_whole():
    rows = np.array([[0, 1], [1, 0], [0, 1]])
    found = tally([[rows], [rows[:1]]])
    assert {found.outcomes[k]: found.counts[:, k].tolist() for k in range(2)} == {(0, 1): [2, 1], (1, 0): [1, 0]}
    for spread in (3, 10**6, 2**40):
        whole = CHANCE.integers(-spread, spread, (500, 3)) * CHANCE.integers(0, 2, (500, 3))
        found = tally([[whole[:300], whole[300:]]])
        seen = {found.outcomes[k]: int(n) for k, n in enumerate(found.counts[0])}
        assert seen == Counter(map(tuple, whole.tolist()))
    reals = CHANCE.random((1000, 8))
    assert tally([[reals], [reals[:5]]]).counts.sum(axis=1).tolist() == [1000, 5]


# Views.


def test_a_report_reads_the_same_in_every_view():
    report = audit(two_coins, True, False, 1, draws=100_000)
    text, page, data = str(report), report.to_html(), json.loads(report.to_json())
    assert data["verdict"] == "violation"
    assert data["observed"]["epsilon"] == pytest.approx(report.observed_epsilon)
    assert data["headline"] in " ".join(text.split())
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert page.count('<figure class="plot">') == 2


def test_what_is_infinite_is_null_in_json():
    report = audit_laws({"a": 1}, {"b": 1}, 5)
    assert json.loads(report.to_json())["exact"]["epsilon"] is None
    assert "∞" in str(report)
