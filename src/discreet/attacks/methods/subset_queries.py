"""Questions about subsets of people, as a matrix of zeros and ones: questions down, people across.

Products go through in blocks of rows, so that a matrix of single bytes is never turned into one of floats as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from discreet.attacks.methods.floats import Floats
from discreet.errors import InvalidValue
from discreet.noise.experiment import Chance

__all__ = ["SubsetQueries", "random_subsets"]

_FEW_ROWS = 512  # a block of floats that stays in the cache
_MANY_ROWS = 4096  # counts up to 2^24 are exact in single precision


class SubsetQueries:
    """Which people every question counts."""

    def __init__(self, matrix: Any) -> None:
        """``matrix`` is an array or a sparse matrix of zeros and ones."""
        self.matrix: Any = _by_rows(matrix)
        if self.matrix.ndim != 2 or 0 in self.matrix.shape:
            rule = "queries must be a matrix with a row for each question and a column for each person"
            raise InvalidValue(rule, f"<shape {self.matrix.shape}>")
        if not all(_is_binary(block) for block in self._blocks(_FEW_ROWS)):
            raise InvalidValue("queries must hold zeros and ones", "<other numbers>", "1 where a person is counted")

    @property
    def questions(self) -> int:
        """How many rows there are."""
        return int(self.matrix.shape[0])

    @property
    def people(self) -> int:
        """How many columns there are."""
        return int(self.matrix.shape[1])

    def times(self, people: Floats) -> Floats:
        """The answer to every question, from a number for every person."""
        return np.concatenate([_floats(block) @ people for block in self._blocks(_FEW_ROWS)])

    def transposed_times(self, answers: Floats) -> Floats:
        """For every person the sum over the questions that count the person."""
        total = np.zeros(self.people)
        for place, block in enumerate(self._blocks(_FEW_ROWS)):
            total += _floats(block).T @ answers[place * _FEW_ROWS : (place + 1) * _FEW_ROWS]
        return total

    def gram(self) -> Floats:
        """For every two people the number of questions that count both; exact."""
        total = np.zeros((self.people, self.people))
        for block in self._blocks(_MANY_ROWS):
            single = _dense(block).astype(np.float32)
            total += single.T @ single
        return total

    def sparse(self) -> Any:
        """For solvers that want only the ones."""
        return sparse.csr_array(self.matrix, dtype=np.float64)

    def _blocks(self, rows: int) -> Iterator[Any]:
        return (self.matrix[start : start + rows] for start in range(0, self.questions, rows))


def random_subsets(questions: int, people: int, chance: Chance) -> SubsetQueries:
    """Every person is in every subset with probability one half."""
    return SubsetQueries(chance.integers(0, 2, (questions, people), dtype=np.int8))


def _by_rows(matrix: Any) -> Any:
    try:
        return matrix.tocsr() if hasattr(matrix, "tocsr") else np.asarray(matrix)
    except ValueError:
        rule = "queries must be a matrix with a row for each question and a column for each person"
        raise InvalidValue(rule, "<rows of different lengths>") from None


def _dense(block: Any) -> npt.NDArray[Any]:
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block)


def _floats(block: Any) -> Any:
    """Cast here and not within the product, where NumPy is several times slower."""
    return block.astype(np.float64)


def _is_binary(block: Any) -> bool:
    values = _dense(block)
    if values.dtype.kind not in "biuf":
        return False
    return bool(((values == 0) | (values == 1)).all())
