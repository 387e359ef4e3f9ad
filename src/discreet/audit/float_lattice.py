"""The float lattice: do the numbers that can come out at all depend on what went in?

A float of noise added to a float is rounded to the floats near the sum, which lie denser near 0 than near 1. So whether
an answer has bits below some place, or is a multiple of some step, can tell which of two inputs it came from, however
much noise there is (Mironov 2012). Answers on a grid that was fixed before the data is seen pass.

Promise. If the draws are independent and the mechanism keeps its claim, a dependence is reported with probability at
most ``false_alarm``: the events are bounded on draws that they were not chosen by, like those of every audit.

>>> from discreet.audit.mechanism import Batched
>>> from discreet.noise.experiment import experiment
>>> chance = experiment(1)
>>> report = lattice(Batched(lambda value, size: value + chance.laplace(0, 1, size)), 0.0, 1.0, 1, draws=20_000)
>>> report.depends
True
>>> from discreet.mechanisms.laplace import Laplace
>>> honest = lattice(Laplace(1, grid="1/1024"), 0.0, 1.0, draws=20_000)
>>> honest.depends, honest.first_grid, honest.second_grid
(False, 0.0009765625, 0.0009765625)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.audit import audit
from discreet.audit.draws import Deadline, draw, joined
from discreet.audit.events import Floats, Learning, OutcomeScore, coordinate_words, grouped_score, lowest_bit
from discreet.audit.mechanism import Mechanism, checked_mechanism
from discreet.audit.outcomes import Outcomes
from discreet.audit.report import AuditReport, number
from discreet.errors import InvalidValue
from discreet.exact.rational import Number
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Loss

__all__ = ["FloatLattice", "LatticeReport", "lattice"]


_MOST_COORDINATES = 8
_SAMPLE = 2000
_NEAR = 1e-6
"""How near to a whole number a multiple of a step must be, in steps."""
_HARDLY_EVER = 0.01
"""What is likelier than this for an input can come out for it: the difference is then one of noise, not of lattices."""
_FINEST = 2.0**40
"""More steps than this do not fit between 0 and an answer with room for the test above."""


class FloatLattice:
    """Which floats can come out: how fine an answer is for its size, and of which steps it is a multiple."""

    name = "lattice"

    def scores(self, learning: Learning) -> Iterator[OutcomeScore]:
        """Cells of size and lowest bit, and multiples of the least gap that either input showed."""
        numbers = learning.outcomes.numbers
        for k in range(min(numbers.shape[1], _MOST_COORDINATES)):
            values, words = numbers[:, k], coordinate_words(k, numbers.shape[1])
            yield _cells(values, learning, words)
            for counts in (learning.first, learning.second):
                step = _least_gap(values[counts > 0])
                if step is not None:
                    yield _multiples(values, step, words)


def _cells(values: Floats, learning: Learning, words: str) -> OutcomeScore:
    """Answers of one binary order of magnitude with the same lowest bit."""
    found = np.isfinite(values)
    filled = np.where(found, values, 0.0)
    size, lowest = np.frexp(filled)[1].astype(np.int64), lowest_bit(filled).astype(np.int64)
    cells, place = np.unique(np.column_stack([size, lowest]), axis=0, return_inverse=True)
    groups = np.where(found, place.reshape(-1), -1)

    def name(k: int) -> str:
        size, lowest = cells[k].tolist()
        return "0" if lowest > size else f"below 2^{size} with the lowest bit 2^{lowest}"

    return grouped_score(groups, learning, f"{words} is", name)


def _least_gap(values: Floats) -> float | None:
    """The least difference of two answers; none where there are no two, or where it is lost in rounding."""
    finite = np.unique(values[np.isfinite(values)])
    if len(finite) < 2:
        return None
    step = float(np.diff(finite).min())
    return step if np.abs(finite).max() < _FINEST * step else None


def _multiples(values: Floats, step: float, words: str) -> OutcomeScore:
    with np.errstate(invalid="ignore"):
        steps = values / step
        off = np.abs(steps - np.rint(steps))
    score = np.where(np.isfinite(values), (off < _NEAR).astype(np.float64), np.nan)

    def phrase(holds: npt.NDArray[np.bool_]) -> str:
        is_multiple = bool(np.nanmin(score[holds], initial=1.0)) if holds.any() else True
        return f"{words} is {'a' if is_multiple else 'no'} multiple of {step:.6g}"

    return OutcomeScore(score, f"{words} is a multiple of {step:.6g}", phrase)


@dataclass(frozen=True)
class LatticeReport:
    """Whether the numbers that can come out depend on what went in."""

    depends: bool
    """Whether they do: by more than the claim allows, some are seen for one input and hardly ever for the other."""
    first_grid: float | None
    """The largest power of two of which all answers for the first input were multiples, in a sample; None for zeros."""
    second_grid: float | None
    """The same for the second input."""
    example: float | None
    """An answer for one input that is no multiple of the other's grid; None where there is none."""
    distinguished: float
    """At least this share of the answers for one input tells it apart; 0 where nothing is proved."""
    mistaken: float
    """At most this share of the answers for the other input looks the same; 1 where nothing is proved."""
    audit: AuditReport
    """The audit behind it."""

    def __str__(self) -> str:
        first, second = ("any" if grid is None else number(grid) for grid in (self.first_grid, self.second_grid))
        grids = f"grids: {first} for the first input, {second} for the second"
        if not self.depends:
            return f"No lattice tells the two inputs apart, in {self.audit.draws:,} draws; {grids}."
        like = "" if self.example is None else f" An answer like {self.example!r} was seen for one input alone."
        share = f"at least {self.distinguished:.1%} of the answers for one input are of a kind that is hardly ever seen"
        other = f"for the other, at most {self.mistaken:.2%} of the time"
        return f"Which numbers can come out depends on the input: {share} {other}.{like} {grids.capitalize()}."

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {name: value for name, value in vars(self).items() if name != "audit"} | {"audit": self.audit.to_dict()}


def lattice(
    mechanism: Mechanism,
    first: Any,
    second: Any,
    claim: Loss | Number | None = None,
    *,
    draws: int = 100_000,
    false_alarm: float = 1e-6,
    seconds: float | None = None,
    seed: int = 0,
) -> LatticeReport:
    """Whether the set of numbers that can come out tells two inputs apart by more than the claim allows.

    ``seconds`` limits the time for drawing.
    """
    limits: dict[str, Any] = {"draws": draws, "false_alarm": false_alarm, "seconds": seconds, "seed": seed}
    found = audit(mechanism, first, second, claim, families=(FloatLattice(),), **limits)
    samples = _samples(checked_mechanism(mechanism), (first, second), seed, min(draws, _SAMPLE))
    grids = [_grid(sample) for sample in samples]
    proof = next((one for one in found.proofs if one.refutes and one.most < _HARDLY_EVER), None)
    return LatticeReport(
        depends=proof is not None,
        first_grid=grids[0],
        second_grid=grids[1],
        example=_example(samples, grids) if proof is not None else None,
        distinguished=0.0 if proof is None else proof.least,
        mistaken=1.0 if proof is None else proof.most,
        audit=found,
    )


def _samples(mechanism: Mechanism, inputs: tuple[Any, Any], seed: int, size: int) -> list[Floats]:
    drawn = draw(mechanism, inputs, size, experiment(seed), Deadline(None))
    sides = [chunk.first for chunk in drawn.chunks], [chunk.second for chunk in drawn.chunks]
    found = []
    for side in sides:
        parts = [Outcomes(one).numbers.reshape(-1) for one in joined(side)]
        values = np.concatenate(parts) if parts else np.empty(0)
        found.append(values[np.isfinite(values)])
    if not any(map(len, found)):
        raise InvalidValue("a lattice is a question about numbers", "<answers without any>", "audit it instead")
    return found


def _grid(values: Floats) -> float | None:
    nonzero = values[values != 0]
    return float(2.0 ** lowest_bit(nonzero).min()) if len(nonzero) else None


def _example(samples: list[Floats], grids: list[float | None]) -> float | None:
    for here, grid in ((samples[0], grids[1]), (samples[1], grids[0])):
        finer = here[lowest_bit(here) < np.log2(grid)] if grid is not None else here[here != 0]
        if len(finer):
            return float(finer[0])
    return None
