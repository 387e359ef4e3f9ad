"""Products with a matrix of zeros and ones, dense or sparse, beside NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from discreet.attacks.methods import solvers as subset_queries
from discreet.attacks.methods.solvers import SubsetQueries, random_subsets
from discreet.errors import InvalidValue
from discreet.noise.experiment import experiment


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_products_in_blocks_are_the_products(kind, monkeypatch):
    monkeypatch.setattr(subset_queries, "_FEW_ROWS", 7)
    monkeypatch.setattr(subset_queries, "_MANY_ROWS", 9)
    chance = experiment(1)
    matrix = chance.integers(0, 2, (40, 9))
    queries = SubsetQueries(kind(matrix))
    people, answers = chance.random(9), chance.random(40)
    np.testing.assert_allclose(queries.times(people), matrix @ people)
    np.testing.assert_allclose(queries.transposed_times(answers), matrix.T @ answers)
    np.testing.assert_array_equal(queries.gram(), matrix.T @ matrix)
    np.testing.assert_array_equal(queries.sparse().toarray(), matrix)
    assert (queries.questions, queries.people) == (40, 9)


def test_random_subsets_hold_every_person_half_of_the_time():
    """False alarms: 40,000 fair coins are further than 7 deviations from one half with probability below 3e-12."""
    queries = random_subsets(400, 100, experiment(2))
    assert abs(queries.matrix.mean() - 0.5) < 7 * 0.5 / 200


@pytest.mark.parametrize(
    "matrix", [[[0, 2]], [[0.5, 1]], [["a", "b"]], [0, 1], [[0, 1], [1]], np.zeros((0, 3)), [[np.nan, 1.0]]]
)
def test_what_is_no_matrix_of_zeros_and_ones_is_refused(matrix):
    with pytest.raises(InvalidValue, match="queries must"):
        SubsetQueries(matrix)
