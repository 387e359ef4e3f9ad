"""An audit with one run: many canaries, a coin for each, and guesses from one output who was in the data.

Where a mechanism is too slow to run a million times, one run with many canaries takes the place of many runs with one
(Steinke, Nasr, Jagielski 2023). Each canary is a made-up record that is put into the data or left out by a fair coin;
a score of the output says which ones look present, and the most extreme scores are taken as guesses.

Promise. If the mechanism keeps its claim for one canary more or less, the verdict is "violation" with probability at
most ``false_alarm``. Proof: ``one_run.md``.

It rests on a bound on how many of many coins can be guessed from one private output, for every (ε, δ).

Promise. Let m fair coins decide independently who is in the data of an (ε, δ)-private mechanism, and let a rule that
sees its output alone guess r of them, r fixed in advance. Then P(at least v guesses are right) ≤
`chance_of_guessing`(m, r, v, ε, δ). Proof: ``one_run.md``.

>>> chance_of_guessing(100, 100, 90, epsilon=0.0, delta=0.0) < 1e-16
True
>>> round(chance_of_guessing(1, 1, 1, epsilon=0.0, delta=0.1), 3)
0.55
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from discreet.audit.canonical import Raised
from discreet.audit.mechanism import Claimed, Verdict, claimed
from discreet.audit.proof import check_rate
from discreet.errors import DiscreetError, InvalidType, InvalidValue
from discreet.exact.rational import Number, integer
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import Approximate, Loss

__all__ = ["GuessCount", "OneRunReport", "chance_of_guessing", "least_epsilon", "one_run", "p_value"]


_SLACK = 1 + 1e-9  # far more than the tails are off by rounding
_HALVINGS = 60
_LARGEST_EPSILON = 50.0


def chance_of_guessing(coins: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """An upper bound on the probability that ``right`` or more of ``guesses`` about ``coins`` are right."""
    if right <= 0:
        return 1.0
    share = 1 / (1 + math.exp(-epsilon))
    tail = float(binom.sf(right - 1, guesses, share))
    # What δ adds on average in right guesses; at worst it lifts those runs that fall short by the least.
    left = coins * delta * math.exp(-epsilon) * share
    if left > 0:
        short = np.arange(1, right + 1)
        masses = binom.pmf(right - short, guesses, share)
        costs = np.cumsum(short * masses)
        paid = int(np.searchsorted(costs, left, side="right"))
        tail += float(masses[:paid].sum())
        if paid < right:
            tail += (left - (float(costs[paid - 1]) if paid else 0.0)) / (paid + 1)
    return min(tail * _SLACK, 1.0)


def p_value(coins: int, guesses: int, right: int, claim: Claimed) -> float:
    """The same for any claim: each (ε, δ) that it implies bounds the same probability, so the least bound counts."""
    return min(
        chance_of_guessing(coins, guesses, right, float(epsilon), math.nextafter(float(delta), 1.0) if delta else 0.0)
        for epsilon, delta in claim.terms
    )


def least_epsilon(coins: int, guesses: int, right: int, delta: float, alpha: float) -> float:
    """The largest ε that is refuted at this δ: no (ε, δ)-private mechanism guesses so well but with ``alpha``."""
    low, high = 0.0, _LARGEST_EPSILON
    if chance_of_guessing(coins, guesses, right, low, delta) > alpha:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_refuted = chance_of_guessing(coins, guesses, right, middle, delta) <= alpha
        low, high = (middle, high) if is_refuted else (low, middle)
    return low


def delta_of(claim: Claimed) -> float:
    """The δ at which an observed ε is told: that of the claim where it has one, else 0."""
    return float(claim.loss.delta) if isinstance(claim.loss, Approximate) else 0.0


_FEWEST = 8
_PARTS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class GuessCount:
    """So many guesses, and how many of them were right."""

    made: int
    """How many coins were guessed: those with the most extreme scores, half of them high and half low."""
    right: int
    """How many guesses were right."""
    p_value: float
    """If the claim is true, so many are right with at most this probability."""
    epsilon: float
    """The ε that these guesses prove to be lost, at the δ of the report."""


@dataclass(frozen=True)
class OneRunReport:
    """What one run shows."""

    claim: Loss
    """What the mechanism says it costs."""
    verdict: Verdict
    """The conclusion."""
    canaries: int
    """How many coins were thrown."""
    delta: float
    """The δ at which an ε is proved."""
    guesses: tuple[GuessCount, ...]
    """Each number of guesses that was fixed in advance."""
    false_alarm: float
    """How often a mechanism that keeps its claim may be found guilty, for all numbers of guesses together."""

    @property
    def best(self) -> GuessCount:
        """The number of guesses that proves most."""
        return max(self.guesses, key=lambda one: (one.epsilon, -one.p_value))

    @property
    def epsilon(self) -> float:
        """The ε that the run proves to be lost."""
        return self.best.epsilon

    @property
    def violated(self) -> bool:
        """Whether the claim was found to be false."""
        return self.verdict is Verdict.VIOLATION

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "claim": repr(self.claim),
            "verdict": str(self.verdict),
            "canaries": self.canaries,
            "delta": self.delta,
            "false_alarm": self.false_alarm,
            "epsilon": self.epsilon,
            "guesses": [vars(one) for one in self.guesses],
        }

    def to_json(self) -> str:
        """The report as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def __str__(self) -> str:
        best = self.best
        at = f" at δ = {self.delta:.4g}" if self.delta else ""
        return (
            f"{self.verdict}: claimed {self.claim!r}, observed ε ≥ {self.epsilon:.4g}{at}. Of {self.canaries:,} coins "
            f"{best.made:,} were guessed and {best.right:,} guesses were right; with the claim so many are right with "
            f"probability {best.p_value:.3g} at most."
        )


def one_run(
    mechanism: Callable[[list[Any]], Any],
    canaries: Sequence[Any],
    score: Callable[[Any, Any], float],
    claim: Loss | Number,
    *,
    guesses: int | Sequence[int] | None = None,
    false_alarm: float = 1e-6,
    source: Source = SYSTEM,
) -> OneRunReport:
    """Run ``mechanism`` once on those canaries whose coin says so, guess the coins from its output, and judge.

    ``mechanism`` takes the list of canaries that are in, and adds the rest of the data itself. ``score(output,
    canary)`` is high where the canary seems to be in; it must see nothing else that depends on the coins.
    ``guesses`` is how many coins to guess, or several numbers to try, for which the confidence is corrected.
    """
    promised = claimed(claim)
    listed = list(canaries)
    if len(listed) < _FEWEST:
        raise InvalidValue(f"there must be at least {_FEWEST} canaries", len(listed), "hundreds are usual")
    check_rate(false_alarm)
    numbers = _numbers(guesses, len(listed))
    is_in = (source.open().words(len(listed)) >> np.uint64(63)).astype(np.bool_)
    output = _output(mechanism, [canary for canary, chosen in zip(listed, is_in.tolist(), strict=True) if chosen])
    scores = np.asarray([_score(score, output, canary) for canary in listed])
    alpha = false_alarm / len(numbers)
    found = tuple(_judge(made, scores, is_in, promised, alpha) for made in numbers)
    return OneRunReport(
        promised.loss,
        _verdict(found, numbers, promised, alpha, len(listed)),
        len(listed),
        delta_of(promised),
        found,
        false_alarm,
    )


def _numbers(guesses: int | Sequence[int] | None, canaries: int) -> list[int]:
    """Fixed before anything is drawn: all coins, half of them, a quarter and so on, unless the caller says."""
    if guesses is None:
        return sorted({max(canaries // part, 2) for part in _PARTS}, reverse=True)
    wanted = [guesses] if isinstance(guesses, int) else list(guesses)
    if not wanted:
        raise InvalidValue("some number of guesses must be tried", "<none>")
    return [integer(number, "guesses", least=1, most=canaries) for number in wanted]


def _output(mechanism: Callable[[list[Any]], Any], included: list[Any]) -> Any:
    try:
        return mechanism(included)
    except DiscreetError:
        raise
    except Exception as error:
        raise InvalidValue("the mechanism must answer", f"<{Raised.of(error)!r}>") from None


def _score(score: Callable[[Any, Any], float], output: Any, canary: Any) -> float:
    try:
        return float(score(output, canary))
    except Exception as error:  # a score of others may fail in any way
        remedy = "high where the canary seems to be in"
        raise InvalidType("a score must be a number", f"<{Raised.of(error)!r}>", remedy) from None


def _judge(
    made: int, scores: npt.NDArray[np.float64], is_in: npt.NDArray[np.bool_], claim: Claimed, alpha: float
) -> GuessCount:
    middle = float(np.nanmedian(scores)) if not np.isnan(scores).all() else 0.0
    order = np.argsort(np.where(np.isnan(scores), middle, scores), kind="stable")
    out, into = order[: made // 2], order[len(order) - (made - made // 2) :]
    right = int((~is_in[out]).sum() + is_in[into].sum())
    count = len(scores)
    return GuessCount(
        made, right, p_value(count, made, right, claim), least_epsilon(count, made, right, delta_of(claim), alpha)
    )


def _verdict(found: Sequence[GuessCount], numbers: Sequence[int], claim: Claimed, alpha: float, coins: int) -> Verdict:
    if any(one.p_value <= alpha for one in found):
        return Verdict.VIOLATION
    if min(p_value(coins, number, number, claim) for number in numbers) > alpha:
        return Verdict.TOO_FEW
    return Verdict.CONSISTENT
