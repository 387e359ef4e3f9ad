"""An audit through the door: how much about one person do a curator's answers prove, at least?

A protected table is made of very many wards, each with people of its own, all wards alike. In a second table every ward
has the neighbouring crowd: one person fewer, or one person's rows replaced. One person lies in one ward only and every
group gets noise of its own, so what is answered about one ward has the same law as if that ward alone had changed: a
question grouped by ward draws thousands of times from the law on a table and from the law on its neighbour.

What is proved. `discreet.audit` chooses events on half of the answers and bounds their probabilities p and q in the two
worlds on the other half, all bounds together at confidence 1 - FALSE_ALARM. If the answers are (ε, δ)-private then
p ≤ e^ε q + δ, so that ε ≥ ln((p - δ) / q). A sound curator is found guilty at most once in a million audits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet import Budget, Curator
from discreet.audit.audit import FAMILIES
from discreet.audit.draws import DrawRoles
from discreet.audit.mechanism import Claimed
from discreet.audit.proof import tested
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Approximate, Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours

__all__ = ["FALSE_ALARM", "Finding", "Trial", "audit", "certified_epsilon"]

FALSE_ALARM = 1e-6
WARDS = 10_000
LEAST, GREATEST = 0, 100
_MISSING = -1e12
_PEOPLE = 100

Floats = npt.NDArray[np.float64]
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
    """The ε that these answers of two worlds prove to be lost; one answer per row, in the order they came."""
    claim = Claimed(Approximate(0, delta))
    found = tested([crowd], [neighbour], DrawRoles(experiment(0)), claim, FALSE_ALARM, FAMILIES)
    return max((proof.epsilon for proof in found.proofs), default=0.0)


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
        return float(spent.epsilon / asks), float(keys)
    composing = trial.delta - trial.delta_for_keys
    return float(ZeroConcentrated(spent.rho / asks).epsilon_at(composing)), float(composing + keys)
