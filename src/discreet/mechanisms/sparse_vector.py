"""Above threshold (the sparse vector technique): which of many questions have large answers, at the price of few.

Promise. If neighbouring inputs move every integer answer by at most Δ, saying of each answer in turn whether it is
above a public threshold, until the c-th "yes", costs ε of pure differential privacy in total, for every ε > 0, integer
Δ ≥ 1 and c ≥ 1, and any number of questions, each of which may be chosen after seeing the replies before it. "No" is
free. Proof sheet: ``sparse_vector.md``.

>>> alarm = AboveThreshold(1, threshold=100, cutoff=1)
>>> alarm.loss, alarm.error(confidence=0.95, questions=10)
(Pure(ε=1), 28)
>>> print(alarm.distribution([95, 105]))
(False, True)   0.676
(True,)         0.1883
(False, False)  0.1358
"""

from __future__ import annotations

import math
from fractions import Fraction
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BudgetExceeded, InvalidType, InvalidValue
from discreet.exact.ball import BITS, Ball, working_precision
from discreet.exact.grid import LARGEST_STEPS, Grid, Integers, exact_array, holds_integers
from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.distribution import FiniteLaw, Many
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.selection import moved_by
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import open_probability
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import Pure
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["AboveThreshold", "Run"]


_MOST_TERMS = 2**24
_FINEST_SPLIT = 1000


class AboveThreshold(Measurement):
    """One noisy threshold for all questions, fresh noise on every answer, and an end after ``cutoff`` positives."""

    def __init__(
        self,
        epsilon: Number,
        threshold: int,
        cutoff: int = 1,
        *,
        sensitivity: Number | Sensitivity = 1,
        monotone: bool = False,
    ) -> None:
        """Choose the price ``epsilon`` of the whole run, the public threshold and how many positives to report.

        ``monotone`` is a claim about the data: all answers rise together or fall together between neighbours, as
        counts do when one unit is added or removed. It is refused with a sensitivity proved under replace-one.
        """
        self.epsilon = positive(epsilon, "epsilon")
        self.threshold = integer(threshold, "threshold", least=-LARGEST_STEPS, most=LARGEST_STEPS)
        self.cutoff = integer(cutoff, "cutoff", least=1, most=2**20)
        self.sensitivity, self.neighbours = moved_by(sensitivity, monotone=monotone)
        if self.sensitivity.denominator != 1:
            rule = "sensitivity must be a whole number, since the answers are"
            remedy = "round it down: integers that move by less than 3/2 move by 1"
            raise InvalidValue(rule, self.sensitivity, remedy)
        self.monotone = monotone
        times = self.cutoff if monotone else 2 * self.cutoff
        self.threshold_epsilon, answers_epsilon = _split(self.epsilon, times)
        self._threshold_law = DiscreteLaplace(self.sensitivity / self.threshold_epsilon)
        self._answer_law = DiscreteLaplace(times * self.sensitivity / answers_epsilon)

    def __repr__(self) -> str:
        settings = f"epsilon={self.epsilon}, threshold={self.threshold}, cutoff={self.cutoff}"
        return f"AboveThreshold({settings}, sensitivity={self.sensitivity}, monotone={self.monotone})"

    @property
    def loss(self) -> Pure:
        """Pure ε for the whole run, whatever the number of questions."""
        return Pure(self.epsilon, self.neighbours)

    @property
    def threshold_law(self) -> DiscreteLaplace:
        """The noise on the threshold, drawn once."""
        return self._threshold_law

    @property
    def answer_law(self) -> DiscreteLaplace:
        """The noise on each answer."""
        return self._answer_law

    def start(self, *, source: Source = SYSTEM) -> Run:
        """Open a run that takes one question at a time; it is charged whole, here and now."""
        return Run(self, source)

    def release(self, value: npt.ArrayLike, *, source: Source = SYSTEM) -> list[bool]:
        """Whether each answer is above the threshold, up to and including the last positive that is allowed."""
        replies: list[bool] = self.releases(value, 1, source=source)[0]
        return replies

    def releases(self, value: npt.ArrayLike, count: int, *, source: Source = SYSTEM) -> Many:
        """The replies of ``count`` independent runs, each at the full price: for audits and studies."""
        answers = _whole_answers(value)
        stream = source.open()
        levels = self.threshold + self._threshold_law.draw(count, stream)
        noise = self._answer_law.draw(count * len(answers), stream).reshape(count, len(answers))
        above = answers + noise >= levels[:, None]
        # After the last positive that is allowed nothing is said: -1.
        is_over = np.cumsum(above, axis=1) - above >= self.cutoff
        said = np.where(is_over, -1, above).astype(np.int64)
        return Many.of_rows(said, lambda row: [reply == 1 for reply in row if reply >= 0])

    def distribution(self, value: npt.ArrayLike) -> FiniteLaw:
        """The exact law of the replies, for short lists, summed over the noise on the threshold.

        What the sum leaves out is inside the balls.
        """
        gaps = [self.threshold - int(answer) for answer in _whole_answers(value)]
        reach = int(self._threshold_law.scale * BITS) + 1
        replies = _replies(len(gaps), self.cutoff, _MOST_TERMS // (2 * reach + 1))
        with working_precision(2 * BITS):
            rest = Ball(0).union(2 * self._threshold_law.above(reach + 1))
            masses = [rest] * len(replies)
            for noise in range(-reach, reach + 1):
                weight = self._threshold_law.mass(noise)
                above = [self._answer_law.above(gap + noise) for gap in gaps]
                for k, reply in enumerate(replies):
                    masses[k] += weight * _given_noise(reply, above)
        return FiniteLaw(tuple(replies), tuple(masses))

    def error(self, confidence: Number = 0.95, questions: int = 1) -> int:
        """How far from the threshold an answer must be for its reply to be right.

        With this confidence, of ``questions`` in one run every "yes" has an answer of at least threshold - error and
        every "no" one of at most threshold + error. Half of the failure probability goes to each kind of noise.
        """
        half = (1 + open_probability(confidence, "confidence")) / 2
        return self._threshold_law.error(half) + self._answer_law.error(half, questions)


class Run:
    """One run of `AboveThreshold` that keeps its noisy threshold secret between questions."""

    def __init__(self, mechanism: AboveThreshold, source: Source = SYSTEM) -> None:
        self._mechanism = mechanism
        self._source = source
        self._level = mechanism.threshold + int(mechanism.threshold_law.sample(1, source)[0])
        self._positives = 0
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"Run({self._mechanism!r}, {self.left} positives left)"

    @property
    def left(self) -> int:
        """How many positives may still be reported."""
        return self._mechanism.cutoff - self._positives

    def ask(self, value: int) -> bool:
        """Whether the answer ``value`` is above the threshold."""
        answer = int(_whole_answers([value])[0])
        with self._lock:  # two threads must not both get the last positive
            if not self.left:
                rule = f"a run ends with positive number {self._mechanism.cutoff}"
                raise BudgetExceeded(rule, None, "start another run, which costs ε again")
            is_above = answer + int(self._mechanism.answer_law.sample(1, self._source)[0]) >= self._level
            self._positives += is_above
            return is_above


def _split(epsilon: Fraction, times: int) -> tuple[Fraction, Fraction]:
    """ε for the threshold and ε for the answers, about 1 : times^(2/3), which makes their difference vary least."""
    ratio = Fraction(times ** (2 / 3)).limit_denominator(_FINEST_SPLIT)  # any split is private, this one is good
    return epsilon / (1 + ratio), epsilon * ratio / (1 + ratio)


def _whole_answers(answers: Any) -> Integers:
    array = exact_array(answers, "answers")
    if array.ndim != 1 or (array.size and not holds_integers(array)):
        remedy = "count in steps of a grid"
        raise InvalidType("answers must be a flat list of integers", f"<{array.dtype}, shape {array.shape}>", remedy)
    return Grid().steps_of(array)


def _replies(questions: int, positives: int, most: int) -> list[tuple[bool, ...]]:
    """Every list of replies that a run can give: it ends with the last question or the last positive."""
    lists = 0
    for yes in range(min(questions, positives) + 1):  # counted before any is listed
        lists += math.comb(questions, yes)
        if lists * questions > most:
            raise InvalidValue(f"the law is listed for at most {most} replies in all lists", f"<{questions} questions>")
    found: list[tuple[bool, ...]] = []
    unfinished: list[tuple[bool, ...]] = [()]
    while unfinished:
        reply = unfinished.pop()
        if len(reply) == questions or sum(reply) == positives:
            found.append(reply)
        else:
            unfinished += [(*reply, False), (*reply, True)]
    return found


def _given_noise(reply: tuple[bool, ...], above: list[Ball]) -> Ball:
    """The probability of a list of replies once the noisy threshold is known."""
    product = Ball(1)
    for is_above, p in zip(reply, above, strict=False):
        product *= p if is_above else 1 - p
    return product
