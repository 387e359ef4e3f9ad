"""A made-up hospital with one row for each patient, the same on every machine.

>>> patients(3).to_pylist()[0]
{'age': 65, 'zip': '13002', 'sex': 'f', 'diagnosis': 'flu'}
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.attacks.people import Codes
from discreet.noise.experiment import Chance, experiment

__all__ = ["QUASI", "SECRET", "patients"]

QUASI = ("age", "zip", "sex")
"""What others know of a patient."""
SECRET = "diagnosis"  # noqa: S105  a column
"""What nobody should learn."""
_SEED = 1913
_ZIPS = tuple(str(13_001 + number) for number in range(40))
_DIAGNOSES = ("arthritis", "asthma", "cancer", "depression", "diabetes", "flu", "heart disease", "pregnancy")
_AT_20 = (1, 6, 1, 5, 2, 8, 1, 4)
_AT_80 = (8, 2, 6, 3, 6, 3, 8, 0)
_PREGNANCY = _DIAGNOSES.index("pregnancy")
_CHILDBEARING = 50


def patients(count: int = 3000) -> pa.Table:
    """Patients of all ages, more of them in some places than in others; what they have depends on age and sex."""
    chance = experiment(_SEED)
    age = np.clip(np.rint(chance.normal(50, 18, count)), 18, 90).astype(np.int64)
    weights = 1 / np.arange(2, len(_ZIPS) + 2)
    place = chance.choice(len(_ZIPS), count, p=weights / weights.sum())
    is_woman = chance.random(count) < 0.52
    return pa.table(
        {
            "age": age,
            "zip": pa.array(_ZIPS).take(pa.array(place)),
            "sex": np.where(is_woman, "f", "m"),
            "diagnosis": pa.array(_DIAGNOSES).take(pa.array(_diagnosed(age, is_woman, chance))),
        }
    )


def _diagnosed(age: Codes, is_woman: npt.NDArray[np.bool_], chance: Chance) -> Codes:
    """Odds that move from those at 20 to those at 80."""
    part = np.clip((age - 20) / 60, 0, 1)[:, None]
    odds = (1 - part) * np.array(_AT_20) + part * np.array(_AT_80)
    odds[~is_woman | (age > _CHILDBEARING), _PREGNANCY] = 0
    reached = np.cumsum(odds, axis=1) / odds.sum(axis=1, keepdims=True)
    return np.asarray((chance.random(len(age))[:, None] > reached).sum(axis=1))
