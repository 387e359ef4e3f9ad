"""The script of the page and the Python code give the same report for the same random words, in a real browser."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from playwright.sync_api import Browser, Error

from discreet.local.hadamard import HadamardResponse
from discreet.local.mean_mechanisms import DuchiMean, HybridMean, PiecewiseMean
from discreet.local.randomized_response import BinaryResponse, GeneralizedResponse
from discreet.local.randomizer import Randomizer
from discreet.local.subset_selection import SubsetSelection
from discreet.local.terms import Bounds
from discreet.local.unary import OptimalUnary, SymmetricUnary
from discreet.noise.source import fresh_id
from discreet.survey.survey import MEANS, ORACLES, mean, oracle
from tests.noise.goodness import misfit
from tests.survey.serving import Serving
from tests.survey.vectors import FILE, case, randomizers, written

FALSE_ALARM = 1e-8
"""Chance that one statistical test of a correct script fails; there are fewer than fifty here."""

_FOUR = ["red", "green", "blue", "none of them"]
SMALL: list[Randomizer[Any]] = [
    BinaryResponse.coins(["no", "yes"]),
    BinaryResponse.die(["no", "yes"]),
    BinaryResponse("0.1", ["no", "yes"]),
    GeneralizedResponse("1.1", _FOUR),
    SubsetSelection("0.7", _FOUR),
    OptimalUnary(1, _FOUR[1:]),
    SymmetricUnary(1, _FOUR[1:]),
    HadamardResponse(1, _FOUR[1:]),
    DuchiMean(1, 0, 12),
    PiecewiseMean(2, 0, 12, steps=6),
    HybridMean("0.5", 0, 1, steps=4),
    HybridMean(2, -1, 1, steps=4),
]
"""Every kind, small enough to list its reports."""

_REPORTS = """async cases => {
  const [{Words}, {position, randomize}] = await Promise.all([import("/chance.js"), import("/randomizers.js")]);
  return cases.map(({terms, answer, words}) => {
    const left = words.map(digits => BigInt(`0x${digits}`));
    const report = randomize(terms, position(terms, answer), new Words(() => left.shift()));
    return [report, left.length];
  });
}"""
_THRESHOLDS = """async cases => {
  const found = await import("/thresholds.js");
  const kinds = {rational: found.thresholdOf, exponential: found.thresholdOfExponential, odds: found.thresholdOfOdds};
  return cases.map(({kind, of, bits}) => {
    const [edge, whole] = kinds[kind](...of.map(found.rational))(bits);
    return [edge.toString(16), whole];
  });
}"""
_DRAWS = """async ([terms, answer, count]) => {
  const [{machine}, {position, randomize}] = await Promise.all([import("/chance.js"), import("/randomizers.js")]);
  const place = position(terms, answer), chance = machine();
  return Array.from({length: count}, () => Object.values(randomize(terms, place, chance))[0]);
}"""
_THROWN = """async ([terms, answer, throws, base]) => {
  const {ThrowAgain, Thrown} = await import("/chance.js"), {position, randomize} = await import("/randomizers.js");
  const place = position(terms, answer);
  return throws.map(digits => {
    const chance = new Thrown(digits, base);
    try { return [Object.values(randomize(terms, place, chance))[0], chance.used]; }
    catch (problem) { if (problem instanceof ThrowAgain) return null; throw problem; }
  });
}"""


@pytest.fixture(scope="module")
def run(browser: Browser, serving: Serving) -> Iterator[Any]:
    """What runs a function in the page, with the scripts that the server hands out."""
    page = browser.new_page()
    page.goto(serving.address)
    yield page.evaluate
    page.close()


def test_the_vectors_are_those_of_the_python_code() -> None:
    assert FILE.read_text(encoding="utf-8") == written(), "python -m tests.survey.vectors writes them again"


def test_same_words_same_reports(run: Any) -> None:
    cases = json.loads(FILE.read_text(encoding="utf-8"))["reports"]
    assert {case["terms"]["kind"] for case in cases} == {one.terms.kind for one in randomizers()}
    found = run(_REPORTS, cases)
    assert found == [[case["report"], 0] for case in cases]


def test_same_words_same_reports_for_questions_that_nobody_wrote_down(run: Any) -> None:
    """Other questions and words in each run. The reports are compared exactly, so there are no false alarms."""
    seed = fresh_id()
    chance = random.Random(seed)
    cases = [_made_up(chance) for _ in range(200)]
    assert run(_REPORTS, cases) == [[one["report"], 0] for one in cases], f"seed {seed}"


def _made_up(chance: random.Random) -> dict[str, Any]:
    epsilon = Fraction(chance.randint(1, 5000), chance.choice([1000, 999, 7919]))
    words = [chance.getrandbits(64) for _ in range(300)]
    if chance.random() < 0.4:
        lower = Fraction(chance.randint(-(10**6), 10**6), chance.choice([1, 10, 333]))
        width = Fraction(chance.randint(10**4, 10**7), chance.choice([1, 10, 333]))
        numbers = mean(chance.choice([*MEANS]), epsilon, lower, lower + width)
        return case(numbers, lower + width * Fraction(chance.randint(0, 10**6), 10**6), words)
    kind = chance.choice([*ORACLES])
    categories = [f"answer {k}" for k in range(2 if kind == "rr" else chance.randint(2, 60))]
    return case(oracle(kind, epsilon, categories), chance.choice(categories), words)


def test_thresholds_are_exact_as_far_as_anybody_reads(run: Any) -> None:
    cases = json.loads(FILE.read_text(encoding="utf-8"))["thresholds"]
    assert run(_THRESHOLDS, cases) == [[case["edge"], case["whole"]] for case in cases]


@pytest.mark.parametrize("randomizer", SMALL, ids=repr)
@pytest.mark.some(4)
def test_draws_with_the_browsers_own_generator_have_the_stated_law(run: Any, randomizer: Randomizer[Any]) -> None:
    """False alarms: 1e-8 each, by the bound of `misfit` for any sample size."""
    answer = _third(randomizer)
    drawn = Counter(run(_DRAWS, [randomizer.terms.to_dict(), str(answer), 4000]))
    law = randomizer.law(answer)
    assert set(drawn) <= set(law.outcomes)
    assert misfit([drawn[one] for one in law.outcomes], [float(law.mass(one)) for one in law.outcomes]) > FALSE_ALARM


@pytest.mark.parametrize("base", [2, 6])
@pytest.mark.parametrize("randomizer", SMALL, ids=repr)
@pytest.mark.some(8)
def test_coins_and_dice_have_the_stated_law_too(run: Any, randomizer: Randomizer[Any], base: int) -> None:
    """All sequences of throws up to a length, exactly: what they decide is no more than the law, and little is left.

    A sequence that decides with its last throw has probability base^-length. Such sequences are disjoint events, so the
    total for a report is at most its probability, and all totals fall short of 1 by what is undecided.
    """
    length = 8 if base == 2 else 3
    throws = [list(digits) for count in range(length + 1) for digits in itertools.product(range(base), repeat=count)]
    answer = _third(randomizer)
    found = run(_THROWN, [randomizer.terms.to_dict(), str(answer), throws, base])
    decided: Counter[Any] = Counter()
    for digits, result in zip(throws, found, strict=True):
        if result is not None and result[1] == len(digits):
            decided[result[0]] += Fraction(1, base ** len(digits))
    left = 1 - sum(decided.values())
    law = randomizer.law(answer)
    for outcome in law.outcomes:
        mass = float(law.mass(outcome))
        assert float(decided[outcome]) - 1e-12 <= mass <= float(decided[outcome] + left) + 1e-12
    assert set(decided) <= set(law.outcomes)


def test_two_coins_decide_as_the_page_says(run: Any) -> None:
    throws = [[1], [0, 1], [0, 0], [0], []]
    assert run(_THROWN, [SMALL[0].terms.to_dict(), "yes", throws, 2]) == [[1, 1], [1, 2], [0, 2], None, None]


def test_a_die_decides_as_the_page_says(run: Any) -> None:
    throws = [[k - 1] for k in range(1, 7)]
    assert run(_THROWN, [SMALL[1].terms.to_dict(), "yes", throws, 6]) == [[0, 1]] * 2 + [[1, 1]] * 4


@pytest.mark.parametrize("answer", ["13", "-1", "seven", "", "1/0", "1e999", "NaN"])
def test_numbers_outside_the_bounds_are_no_answers(run: Any, answer: str) -> None:
    with pytest.raises(Error, match="RangeError"):
        run(_DRAWS, [DuchiMean(1, 0, 12).terms.to_dict(), answer, 1])


def _third(randomizer: Randomizer[Any]) -> Any:
    domain = randomizer.terms.domain
    return domain.lower + (domain.upper - domain.lower) / 3 if isinstance(domain, Bounds) else domain[-1]
