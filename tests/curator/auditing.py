"""An audit through the door: how much about one person do a curator's answers prove, at least?

A protected table is made of very many wards, each with people of its own, all wards alike. In a second table every ward
has the neighbouring crowd: one person fewer, or one person's rows replaced. One person lies in one ward only and every
group gets noise of its own, so what is answered about one ward has the same law as if that ward alone had changed: a
question grouped by ward draws thousands of times from the law on a table and from the law on its neighbour.

What is proved. An event is chosen on half of the answers, and its probabilities p and q in the two worlds are bounded
on the other half, each by Clopper and Pearson at confidence 1 - FALSE_ALARM / 2. If the answers are (ε, δ)-private then
p ≤ e^ε q + δ, so that ε ≥ ln((p - δ) / q). A sound curator is found guilty at most once in a million audits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import stats

from discreet import Budget, Curator
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours

__all__ = ["FALSE_ALARM", "Finding", "Trial", "audit", "certified_epsilon"]

FALSE_ALARM = 1e-6
WARDS = 10_000
LEAST, GREATEST = 0, 100
_MISSING = -1e12
_THRESHOLDS = 400
_PEOPLE = 100

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Visit = tuple[int, int]
"""The number of a person within the ward, and an age."""


@dataclass(frozen=True)
class Trial:
    """Questions about a ward, and two neighbouring crowds that a ward can have."""

    select: str
    """Columns that are numbers; together they are one answer."""
    crowd: tuple[Visit, ...]
    neighbour: tuple[Visit, ...]
    epsilon: Fraction | int = 1
    """The price that each question is asked at."""
    conditions: tuple[str, ...] = ("TRUE",)
    """One question per condition; what is answered and charged for all of them counts as one answer."""
    is_batch: bool = False
    """Whether all conditions are asked about in one batch, for the price of one question."""
    bounds: tuple[int, int] = (LEAST, GREATEST)
    ages_stay: bool = False
    """Whether the policy says that a person has one age, so that people of other ages are other people."""
    rows_per_unit: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE_ONE
    budget: int = 5000
    """The ε of the budget, enough for all questions."""
    delta: Fraction | int = 0
    delta_for_keys: Fraction | int = 0
    wards: int = WARDS
    """How many wards a table has; one is asked about without GROUP BY."""
    lists_wards: bool = True
    """Whether the policy says which wards there are."""
    raw: bool = True
    """Whether values are read before they are made plausible."""


@dataclass(frozen=True)
class Finding:
    """What an audit found about one answer."""

    certified: float
    """The ε that the answers prove to be lost, at least."""
    charged: float
    """The ε that the ledger took, at the δ that goes with it."""
    answers: int
    """How many answers both worlds gave."""


def audit(folder: Path, trial: Trial, asks: int) -> Finding:
    """Ask both worlds ``asks`` times about every ward, and compare what is proved with what the ledger took."""
    sides = [Curator(folder / name) for name in ("crowd", "neighbour")]
    answers = []
    for curator, crowd in zip(sides, (trial.crowd, trial.neighbour), strict=True):
        curator.protect(_wards(trial, crowd), _policy(trial))
        answers.append(np.concatenate([_answers(curator, trial, turn) for turn in range(asks)]))
    charged = {_charged(curator, trial, asks) for curator in sides}
    if len(charged) != 1:
        raise AssertionError(f"neighbours were charged differently: {charged}")
    epsilon, delta = charged.pop()
    return Finding(certified_epsilon(*answers, delta), epsilon, sum(map(len, answers)))


def certified_epsilon(crowd: Floats, neighbour: Floats, delta: float = 0.0) -> float:
    """The least ε at which these answers of two worlds are plausible; one answer per row, in the order they came."""
    learning = [side[::2] for side in (crowd, neighbour)]
    testing = [side[1::2] for side in (crowd, neighbour)]
    event, is_swapped = _telling_event(learning, delta)
    p, q = (np.array([np.sum(event.occurs(side))]) for side in testing)
    sizes = len(testing[0]), len(testing[1])
    proved = _proved(q, sizes[1], p, sizes[0], delta) if is_swapped else _proved(p, sizes[0], q, sizes[1], delta)
    return max(float(proved[0]), 0.0)


@dataclass(frozen=True)
class _Event:
    """A score of an answer is at least a threshold."""

    score: Callable[[Floats], Floats]
    threshold: float

    def occurs(self, answers: Floats) -> npt.NDArray[np.bool_]:
        return self.score(answers) >= self.threshold


def _telling_event(sides: list[Floats], delta: float) -> tuple[_Event, bool]:
    """The event that proves most about these answers, and whether it speaks for the neighbour."""
    best, found = -math.inf, (_Event(lambda answers: answers[:, 0], 0.0), False)
    for score in _scores(np.concatenate(sides)):
        p, q = (score(side) for side in sides)
        for is_swapped, (one, other) in enumerate(((p, q), (q, p))):
            proved, threshold = _best_threshold(one, other, delta)
            if proved > best:
                best, found = proved, (_Event(score, threshold), bool(is_swapped))
    return found


def _scores(answers: Floats) -> Iterator[Callable[[Floats], Floats]]:
    """Numbers whose high values may speak for a world: columns, their signed sums, and the corners that they form."""
    width = answers.shape[1]
    middle = np.median(answers, axis=0)
    spread = np.maximum(np.mean(np.abs(answers - middle), axis=0), 1e-9)
    for signs in (np.array(signs) for signs in itertools.product((0.0, 1.0, -1.0), repeat=width) if any(signs)):
        yield lambda rows, signs=signs: rows @ signs
        used = signs != 0
        if used.sum() > 1:
            yield lambda rows, signs=signs, used=used: np.min(((rows - middle) / spread * signs)[:, used], axis=1)


def _best_threshold(p: Floats, q: Floats, delta: float) -> tuple[float, float]:
    pooled = np.concatenate([p, q])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0, 1, _THRESHOLDS), method="nearest"))
    p_hits, q_hits = (len(side) - np.searchsorted(np.sort(side), thresholds) for side in (p, q))
    proved = _proved(p_hits, len(p), q_hits, len(q), delta)
    place = int(np.argmax(proved))
    return float(proved[place]), float(thresholds[place])


def _proved(p_hits: Counts, p_all: int, q_hits: Counts, q_all: int, delta: float) -> Floats:
    """ln((p - δ) / q) with p at its lower and q at its upper end."""
    low = np.where(p_hits == 0, 0.0, stats.beta.ppf(FALSE_ALARM / 2, np.maximum(p_hits, 1), p_all - p_hits + 1))
    high = stats.beta.ppf(1 - FALSE_ALARM / 2, q_hits + 1, np.maximum(q_all - q_hits, 1))
    high = np.where(q_hits == q_all, 1.0, high)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(low - delta, 0.0)) - np.log(high))


# The two worlds.


def _policy(trial: Trial) -> Table:
    ends = {"lower": 0, "upper": max(trial.wards - 1, 1)} if trial.lists_wards else {}
    columns = (
        Column("person", ColumnType.INTEGER),
        Column("ward", ColumnType.INTEGER, nullable=False, **ends),
        Column(
            "age",
            ColumnType.INTEGER,
            lower=trial.bounds[0],
            upper=trial.bounds[1],
            nullable=False,
            constant_per_unit=trial.ages_stay,
        ),
    )
    return Table(
        "visits",
        columns,
        unit="person",
        budget=Budget(trial.budget, trial.delta, trial.delta_for_keys),
        rows_per_unit=trial.rows_per_unit,
        neighbours=trial.neighbours,
    )


def _wards(trial: Trial, crowd: tuple[Visit, ...]) -> pa.Table:
    """The same visits in every ward, by people of its own."""
    wards = np.repeat(np.arange(trial.wards), len(crowd))
    visits = np.tile(np.array(crowd, np.int64).reshape(-1, 2), (trial.wards, 1))
    return pa.table({"person": wards * _PEOPLE + visits[:, 0], "ward": wards, "age": visits[:, 1]})


def _answers(curator: Curator, trial: Trial, turn: int) -> Floats:
    """What is answered about every ward, all conditions side by side; new in every turn, so that none was stored."""
    questions = [_question(trial, f"{condition} AND age > -{10**6 + turn}") for condition in trial.conditions]
    if trial.is_batch:
        answers = curator.ask_all(questions, trial.epsilon, raw=trial.raw)
    else:
        answers = [curator.ask(question, trial.epsilon, raw=trial.raw) for question in questions]
    return np.concatenate([_by_ward(answer.to_arrow(), trial.wards) for answer in answers], axis=1)


def _question(trial: Trial, condition: str) -> str:
    if trial.wards == 1:
        return f"SELECT 0 AS ward, {trial.select} FROM visits WHERE {condition}"
    return f"SELECT ward AS ward, {trial.select} FROM visits WHERE {condition} GROUP BY ward"


def _by_ward(table: pa.Table, wards: int) -> Floats:
    found = np.full((wards, table.num_columns - 1), _MISSING)
    for place, name in enumerate(table.column_names[1:]):
        found[np.asarray(table["ward"]), place] = np.asarray(table[name], np.float64)
    return found


def _charged(curator: Curator, trial: Trial, asks: int) -> tuple[float, float]:
    """The ε and δ of one answer by the ledger's own account: what conversion takes, and what the keys took."""
    account = curator.budget()["visits"]
    spent, keys = account["spent"], account.get("delta_spent", Fraction(0)) / asks
    if isinstance(spent, Pure):
        return float(spent.epsilon / asks), 0.0
    composing = trial.delta - trial.delta_for_keys
    return float(ZeroConcentrated(spent.rho / asks).epsilon_at(composing)), float(composing + keys)
