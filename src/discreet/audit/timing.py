"""Timing: does the time that an answer takes tell two neighbouring inputs apart?

Both inputs are timed in pairs, one right after the other, and a fair coin decides each time which comes first. On half
of the pairs it is learned what a long or a short time says; on the other half, from the two times alone, it is guessed
how the coin fell.

Promise. If times do not depend on which input is asked, each guess is right with probability 1/2, whatever the machine
does: times may drift, come in bursts and depend on each other, but they do not know the coin. So the number of right
guesses is binomial, and ``tells`` is wrongly true with probability at most ``false_alarm``. What is reported as
``accuracy`` is exceeded in some pair's chance of a right guess, with the same confidence.

>>> def slow_for_one(value):
...     return sum(range(20_000 if value else 10))
>>> timing(slow_for_one, 0, 1, pairs=200).tells
True
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.proof import check_rate
from discreet.errors import InvalidType
from discreet.exact.binomial import Proportion
from discreet.exact.rational import integer
from discreet.noise.experiment import experiment

__all__ = ["Clock", "TimingReport", "judged", "timing"]


Times = npt.NDArray[np.float64]
"""Seconds: one row per pair, and in it the call that came first and the one that came second."""
Coins = npt.NDArray[np.bool_]
"""Per pair, whether the second input came first."""
Guesses = npt.NDArray[np.int64]
"""Per pair 1 for "the second input came first", -1 for the other, 0 for "cannot say"."""

_CLOCKS = ("cpu", "wall")
_TESTS = 2 * len(_CLOCKS)
"""Two ways to guess on each clock; all share the false alarms."""
_BINS = 16
_WARM_UP = 8
_FEWEST_PAIRS = 64


@dataclass(frozen=True)
class Clock:
    """What one clock says."""

    name: str
    """``cpu`` or ``wall``."""
    first: float
    """The median time for the first input, in seconds."""
    second: float
    """The median time for the second input."""
    guesses: tuple[Proportion, ...]
    """How many guesses were right, of those that were made, for either way to guess."""
    seen: float
    """A constant delay for either input of this many seconds would have been seen; infinite with too few pairs."""


@dataclass(frozen=True)
class TimingReport:
    """Whether time tells two inputs apart."""

    tells: bool
    """Whether it does."""
    accuracy: float
    """How the coin fell can be guessed from the times with a chance above this; 1/2 where nothing is proved."""
    clocks: tuple[Clock, ...]
    """CPU time and wall time."""
    pairs: int
    """How many pairs were timed; half of them were guessed."""
    false_alarm: float
    """How often a mechanism whose time tells nothing is reported, at most."""

    def __str__(self) -> str:
        medians = ", ".join(f"{clock.name} {_format(clock.first)} and {_format(clock.second)}" for clock in self.clocks)
        if self.tells:
            return f"Timing tells the two inputs apart, with accuracy above {self.accuracy:.0%}; medians: {medians}."
        reach = min(clock.seen for clock in self.clocks)
        could = f"a constant delay of {_format(reach)} would have been seen" if reach < np.inf else "too few pairs"
        return f"No difference in time was seen in {self.pairs:,} pairs; {could}; medians: {medians}."

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "tells": self.tells,
            "accuracy": self.accuracy,
            "pairs": self.pairs,
            "false_alarm": self.false_alarm,
            "clocks": [
                {
                    "name": clock.name,
                    "median_first": clock.first,
                    "median_second": clock.second,
                    "right": [guess.hits for guess in clock.guesses],
                    "guessed": [guess.trials for guess in clock.guesses],
                    "would_have_been_seen": clock.seen if clock.seen < np.inf else None,
                }
                for clock in self.clocks
            ],
        }


def _format(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def timing(
    function: Callable[[Any], Any],
    first: Any,
    second: Any,
    *,
    pairs: int = 2000,
    calls: int = 1,
    false_alarm: float = 1e-6,
    seed: int = 0,
) -> TimingReport:
    """Time ``function`` on both inputs, pair by pair, and say whether the times tell them apart.

    ``calls`` is how many calls are timed as one, for functions that are faster than the clock. An exception ends a call
    like an answer does: how long it took is what counts.
    """
    if not callable(function):
        raise InvalidType("what is timed must be callable", function, "pass a function of one value")
    count = integer(pairs, "pairs", least=_FEWEST_PAIRS, most=2**32)
    each = integer(calls, "calls", least=1, most=2**32)
    check_rate(false_alarm)
    chance = experiment(integer(seed, "seed", least=0))
    coins = chance.integers(0, 2, count) == 1
    learns = chance.permutation(count) < count // 2
    times = _time(function, (first, second), coins, each)
    return judged(times, coins, learns, false_alarm)


def _time(function: Callable[[Any], Any], inputs: tuple[Any, Any], coins: Coins, calls: int) -> dict[str, Times]:
    for value in inputs * _WARM_UP:
        _called(function, value, 1)
    found = {name: np.empty(2 * len(coins)) for name in _CLOCKS}
    # in order before anything is timed: putting a pair in order right before it would tell its times how the coin fell
    order = [value for coin in coins.tolist() for value in (inputs[::-1] if coin else inputs)]
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for call, value in enumerate(order):
            for name, taken in zip(_CLOCKS, _called(function, value, calls), strict=True):
                found[name][call] = taken
    finally:
        if was_enabled:
            gc.enable()
    return {name: taken.reshape(-1, 2) for name, taken in found.items()}


def _called(function: Callable[[Any], Any], value: Any, calls: int) -> tuple[float, float]:
    """The CPU time and the wall time of so many calls, in seconds."""
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(calls):
        try:  # noqa: SIM105  contextlib.suppress would take longer than what is timed
            function(value)
        except Exception:  # noqa: S110  how long it took is all that is asked
            pass
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    return cpu / 1e9, wall / 1e9


def judged(times: dict[str, Times], coins: Coins, learns: Coins, false_alarm: float = 1e-6) -> TimingReport:
    """What these times say about these coins: learned on the pairs that ``learns`` names, guessed on the others."""
    alpha = false_alarm / _TESTS
    clocks = tuple(_judged_clock(name, each, coins, learns, alpha) for name, each in times.items())
    accuracy = max(guess.lower(alpha) if guess.trials else 0.0 for clock in clocks for guess in clock.guesses)
    return TimingReport(accuracy > 1 / 2, max(accuracy, 1 / 2), clocks, len(coins), false_alarm)


def _judged_clock(name: str, times: Times, coins: Coins, learns: Coins, alpha: float) -> Clock:
    by_input = np.where(coins[:, None], times[:, ::-1], times)
    teaching, guessed = (times[learns], coins[learns]), times[~learns]
    truth = np.where(coins[~learns], 1, -1)
    found = [_right(guesses, truth) for guesses in (_by_order(*teaching, guessed), _by_bins(*teaching, guessed))]
    medians = np.median(by_input, axis=0)
    return Clock(name, float(medians[0]), float(medians[1]), tuple(found), _least_seen(by_input[~learns], alpha))


def _right(guesses: Guesses, truth: Guesses) -> Proportion:
    made = guesses != 0
    return Proportion(int(np.sum(guesses[made] == truth[made])), int(np.sum(made)))


def _by_order(times: Times, coins: Coins, guessed: Times) -> Guesses:
    """Which of the two took longer, and what that meant more often."""
    signs = np.sign(times[:, 0] - times[:, 1]) * np.where(coins, 1, -1)
    return np.asarray(np.sign(guessed[:, 0] - guessed[:, 1]) * (1 if signs.sum() >= 0 else -1), np.int64)


def _by_bins(times: Times, coins: Coins, guessed: Times) -> Guesses:
    """How much likelier each time was for the second input, bin by bin: sees rare slow calls, and both ends at once."""
    edges = np.unique(np.quantile(times, np.linspace(0, 1, _BINS + 1)[1:-1]))
    by_input = np.where(coins[:, None], times[:, ::-1], times)
    counts = [np.bincount(np.searchsorted(edges, each), minlength=len(edges) + 1) for each in by_input.T]
    ratios = np.log((counts[1] + 0.5) / (counts[0] + 0.5))
    scores = ratios[np.searchsorted(edges, guessed)]
    return np.asarray(np.sign(scores[:, 0] - scores[:, 1]), np.int64)


def _least_seen(by_input: Times, alpha: float) -> float:
    """The constant delay at which so many pairs would be in one order that chance does not explain it."""
    needed = _refuting(len(by_input), alpha)
    if needed is None:
        return float("inf")
    gaps = np.sort(by_input[:, 0] - by_input[:, 1])
    return float(max(gaps[needed - 1], -gaps[len(gaps) - needed], 0.0))


def _refuting(trials: int, alpha: float) -> int | None:
    """The least number of right guesses that refutes a fair coin; None where all of them do not."""
    if Proportion(trials, trials).lower(alpha) <= 1 / 2:
        return None
    low, high = trials // 2, trials
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if Proportion(middle, trials).lower(alpha) > 1 / 2 else (middle + 1, high)
    return low
