"""Random words and the reports they must give, for the script of the page and the Python code alike.

``python -m tests.survey.vectors`` writes ``vectors.json`` again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.local.hadamard import HadamardResponse
from discreet.local.mean_mechanisms import DuchiMean, HybridMean, PiecewiseMean
from discreet.local.randomized_response import BinaryResponse, GeneralizedResponse
from discreet.local.randomizer import Randomizer
from discreet.local.subset_selection import SubsetSelection
from discreet.local.terms import Bounds
from discreet.local.unary import OptimalUnary, SymmetricUnary
from discreet.noise.bernoulli import threshold_of, threshold_of_exponential, threshold_of_odds
from discreet.noise.source import ReplayableSource, ScriptedSource
from discreet.noise.uniform import ThresholdAt

FILE = Path(__file__).with_name("vectors.json")
_WORDS = 64
_ROUNDS = 12
_FOUR = ("red", "green", "blue", "none of them")


def randomizers() -> list[Randomizer[Any]]:
    """Every kind that the page runs, with easy and awkward parameters."""
    many = [f"answer {k}" for k in range(19)]
    return [
        BinaryResponse.coins(("no", "yes")),
        BinaryResponse.die(("no", "yes")),
        BinaryResponse("0.1", ("no", "yes")),
        GeneralizedResponse("1/3", _FOUR),
        GeneralizedResponse.truth("0.6", _FOUR),
        SubsetSelection(1, _FOUR),
        SubsetSelection("0.5", many),
        OptimalUnary(2, many),
        OptimalUnary(1, _FOUR),
        SymmetricUnary("7/3", many),
        HadamardResponse(1, many),
        DuchiMean(1, 0, 12),
        PiecewiseMean(3, "-2.5", "10"),
        HybridMean("0.5", 0, 1),
        HybridMean("0.6093", 0, 1),
        HybridMean("0.6094", 0, 1),
        HybridMean("1.25", -40, 50),
        HybridMean(20, 0, 10**6),
    ]


def _answers(randomizer: Randomizer[Any]) -> list[Any]:
    domain = randomizer.terms.domain
    if not isinstance(domain, Bounds):
        return [domain[0], domain[-1], domain[len(domain) // 2]]
    width = domain.upper - domain.lower
    inner = [domain.lower + width * Fraction(k, 10**6) for k in (333_333, 500_000, 999_983)]
    return [domain.lower, domain.upper, *inner]


def case(randomizer: Randomizer[Any], answer: Any, words: list[int]) -> dict[str, Any]:
    """What these words make of an answer, and how many of them it took."""
    script = iter(words)
    reports = randomizer.privatize([answer], source=ScriptedSource(script))
    used = words[: len(words) - len(list(script))]
    found = json.loads(reports.to_json(with_terms=False))["reports"]
    return {
        "terms": randomizer.terms.to_dict(),
        "fingerprint": randomizer.terms.fingerprint,
        "answer": answer if isinstance(answer, str) else str(answer),
        "words": [f"{word:016x}" for word in used],
        "report": {name: values[0] for name, values in found.items()},
    }


def _random_cases() -> Iterator[dict[str, Any]]:
    for number, randomizer in enumerate(randomizers()):
        source = ReplayableSource(f"page {number}")
        for turn in range(_ROUNDS):
            answers = _answers(randomizer)
            yield case(randomizer, answers[turn % len(answers)], source.open().words(_WORDS).tolist())


def _on_the_edge() -> Iterator[dict[str, Any]]:
    """Words that agree with a threshold for 64 or 128 bits, so that the draw must read on."""
    fillers = [7 * 2**60 + 12_345 * k for k in range(_WORDS)]
    for epsilon in ("1/10", "1", "7/3"):
        for answer in ("no", "yes"):
            yield from _edge_cases(BinaryResponse(epsilon, ("no", "yes")), answer, epsilon, 1, fillers)
        yield from _edge_cases(GeneralizedResponse(epsilon, _FOUR), "blue", epsilon, 3, fillers)
        yield from _edge_cases(OptimalUnary(epsilon, _FOUR), "green", epsilon, 1, fillers)


def _edge_cases(
    randomizer: Randomizer[Any], answer: str, epsilon: str, odds: int, fillers: list[int]
) -> Iterator[dict[str, Any]]:
    threshold = threshold_of_odds(Fraction(epsilon), Fraction(odds))
    draws = 4 if randomizer.terms.kind == "oue" else 1
    for bits in (64, 128, 192):
        edge, _ = threshold(bits)
        digits = [edge >> shift & 2**64 - 1 for shift in range(bits - 64, -1, -64)]
        for last in (-1, 0, 1):
            tied = [*digits[:-1], digits[-1] + last]
            yield case(randomizer, answer, [tied[0], *fillers[: draws - 1], *tied[1:], *fillers])


def _on_a_whole_edge() -> Iterator[dict[str, Any]]:
    """Words at a threshold that 64 bits write exactly, where nothing more is read."""
    for step in (-1, 0, 1):
        yield case(BinaryResponse.coins(("no", "yes")), "yes", [2**62 + step, *range(_WORDS)])
        yield case(OptimalUnary(1, _FOUR), "red", [0, 0, 0, 0, 2**63 + step, *range(_WORDS)])
        yield case(HybridMean("0.5", 0, 1), Fraction(1, 3), [2**64 - 1, *range(_WORDS)])


def _unfair_words() -> Iterator[dict[str, Any]]:
    """Words that a uniform number must throw away."""
    last = 2**64 - 1
    yield case(GeneralizedResponse(1, _FOUR), "red", [0, last, 2, *range(_WORDS)])
    yield case(DuchiMean(1, 0, 12), Fraction(11), [last, 5, 2**63, *range(_WORDS)])


def _thresholds() -> Iterator[dict[str, Any]]:
    for bits in (1, 8, 64, 128, 1000):
        for text in ("1/2", "1/3", "3/4", "999/1000"):
            yield _digits("rational", [text], bits, threshold_of(Fraction(text)))
        for x in ("1/1000", "1/3", "1", "7/2", "20", "100"):
            yield _digits("exponential", [x], bits, threshold_of_exponential(Fraction(x)))
            for odds in ("1", "3", "25/7"):
                yield _digits("odds", [x, odds], bits, threshold_of_odds(Fraction(x), Fraction(odds)))


def _digits(kind: str, of: list[str], bits: int, threshold: ThresholdAt) -> dict[str, Any]:
    edge, whole = threshold(bits)
    return {"kind": kind, "of": of, "bits": bits, "edge": f"{edge:x}", "whole": whole}


def vectors() -> dict[str, Any]:
    """All of them."""
    reports = [*_random_cases(), *_on_the_edge(), *_on_a_whole_edge(), *_unfair_words()]
    return {"thresholds": list(_thresholds()), "reports": reports}


def written() -> str:
    """The text of the file, one vector per line."""
    found = vectors()
    lists = [
        f'"{name}": [\n' + ",\n".join(json.dumps(one, sort_keys=True) for one in rows) + "\n]"
        for name, rows in found.items()
    ]
    return "{" + ",\n".join(lists) + "}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
