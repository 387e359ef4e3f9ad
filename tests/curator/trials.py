"""What is audited: the questions, the crowds, how often they are asked, and how much of the price must be proved."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.privacy.neighbours import Neighbours
from tests.curator.auditing import Trial
from tests.thoroughness import IS_THOROUGH, many

__all__ = ["POWER", "TRIALS", "TWO_AGES"]

TURNS = many(2, 5)
"""How often every ward is asked about: 20,000 answers of each world, and 50,000 where a run is thorough."""
POWER = 1.0 if IS_THOROUGH else 0.7
"""Two turns proved at least 0.88 times what is asked of five, in 84 audits."""

CROWD = ((1, 0), (2, 99), (3, 100))
FEWER = CROWD[:2]
MEAN = "COUNT(*) AS n, (AVG(age) - 50) * COUNT(*) AS s"
SWAPPED = Neighbours.REPLACE_ONE
MANY = tuple((person, 50) for person in range(9))
UNLISTED = Trial(
    "COUNT(*)",
    (),
    (),
    3,
    budget=20,
    delta=Fraction(1, 10),
    delta_for_keys=Fraction(1, 20),
    lists_wards=False,
)
PURE_UNLISTED = replace(UNLISTED, delta=UNLISTED.delta_for_keys)
APART = Trial("COUNT(*)", CROWD, (), conditions=("age = 99", "age = 100"), ages_stay=True)
MOVED = replace(APART, neighbour=(*CROWD[:2], (3, 99)), neighbours=SWAPPED)
TWO_AGES = replace(APART, crowd=((1, 0), (2, 99), (2, 100)), neighbour=((1, 0),))
"""The policy says that a person has one age, and somebody has two: taking this in is refused."""
OVERLAPPING = ("TRUE", "age > 50", "age = 100")

# One person moves the median by the whole of ε only where nearly all points that it could be lie to one side.
TRIALS: dict[str, tuple[Trial, int, float]] = {
    "count": (Trial("COUNT(*)", CROWD, FEWER), TURNS, 0.8),
    "count as shown": (Trial("COUNT(*)", CROWD, FEWER, raw=False), TURNS, 0.8),
    "sum": (Trial("SUM(age)", CROWD, FEWER), TURNS, 0.8),
    "mean": (Trial("AVG(age)", CROWD, FEWER), TURNS, 0.7),
    "mean as shown": (Trial("AVG(age)", CROWD, FEWER, raw=False), TURNS, 0.7),
    "mean with its count": (Trial(MEAN, CROWD, FEWER), TURNS, 0.7),
    "median": (Trial("MEDIAN(age)", CROWD[1:], FEWER[1:], 3), TURNS, 0.6),
    "mode": (Trial("MODE(age)", CROWD, FEWER, 3), TURNS, 0.6),
    "one ward": (Trial("COUNT(*)", CROWD, FEWER, Fraction(1, 2), wards=1), 100, 0.0),
    "nobody left": (Trial("COUNT(*)", CROWD[1:2], ()), TURNS, 0.75),
    "many rows each": (Trial("COUNT(*)", ((1, 50), *[(2, 50)] * 7), ((1, 50),), rows_per_unit=3), TURNS, 0.8),
    "a person replaced": (
        Trial("SUM(age)", ((1, 0), (2, 100)), ((1, 0), (2, -100)), bounds=(-100, 100), neighbours=SWAPPED),
        TURNS,
        0.8,
    ),
    "an age beyond the bounds": (Trial("SUM(age)", ((1, 0), (2, 1000)), ((1, 0),)), TURNS, 0.8),
    "gaussian noise": (Trial("COUNT(*)", CROWD, FEWER, 3, delta=Fraction(1, 100)), TURNS, 0.5),
    "unlisted wards": (replace(UNLISTED, crowd=MANY, neighbour=MANY[1:]), TURNS, 0.2),
    "unlisted wards, where epsilon adds up": (replace(PURE_UNLISTED, crowd=MANY, neighbour=MANY[1:]), TURNS, 0.5),
    "an unlisted ward of one person, where epsilon adds up": (
        replace(PURE_UNLISTED, crowd=MANY[:1], neighbour=()),
        TURNS,
        0.0,
    ),
    "an unlisted ward of one person": (replace(UNLISTED, crowd=MANY[:1], neighbour=()), TURNS, 0.0),
    "two answers subtracted": (Trial("COUNT(*)", CROWD, FEWER, conditions=("TRUE", "age < 100")), TURNS, 0.4),
    "two different people": (replace(APART, neighbour=CROWD[:2]), TURNS, 0.8),
    "one of two different people replaced": (MOVED, TURNS, 0.3),
    "a batch": (Trial("COUNT(*)", CROWD, FEWER, conditions=OVERLAPPING, is_batch=True), TURNS, 0.5),
    "a batch about different people": (replace(APART, neighbour=CROWD[:2], is_batch=True), TURNS, 0.8),
    "a batch about different people, one replaced": (replace(MOVED, is_batch=True), TURNS, 0.2),
    "asked four times": (Trial("COUNT(*)", CROWD, FEWER, conditions=("TRUE",) * 4), 2, 0.7),
}
