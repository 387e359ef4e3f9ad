"""A unit's own order of things: the same on both ways to compute it, and fair to every thing."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog.column import ColumnType
from discreet.engines.bounded_keys import PRIME, spell_value, turn_order, write_number, write_places, write_salt

NUMBERS = st.integers(1, PRIME - 1)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_salt_and_its_mirror_put_two_numbers_in_opposite_orders(salt: int, one: int, two: int) -> None:
    here, there = (write_places(np.array([each, each]), np.array([one, two])) for each in (salt, PRIME - salt))
    assert (here[0] == here[1]) == (there[0] == there[1]) == (one == two)
    assert (here[0] < here[1]) == (there[0] > there[1])
    assert here.min() >= 1


def test_arrays_and_statements_find_the_same_places() -> None:
    database = duckdb.connect()
    salts, numbers = ([1, 2, PRIME - 1, 77], [PRIME - 1, 5, PRIME - 1, 123_456_789])
    pairs = zip(salts, numbers, strict=True)
    found = [database.sql(f"SELECT {turn_order(str(s), f'CAST({n} AS BIGINT)')}").fetchall()[0][0] for s, n in pairs]
    assert found == write_places(np.array(salts, np.int32), np.array(numbers)).tolist()


def _column(statement: str) -> np.ndarray:
    found = duckdb.connect().sql(statement).fetchnumpy()
    return np.asarray(next(iter(found.values())))


@pytest.mark.parametrize("secret", ["", "one", "another"])
@pytest.mark.parametrize(("keys", "most"), [(2, 1), (6, 1), (6, 3), (40, 1), (40, 10)])
@pytest.mark.some(4)
def test_every_key_is_among_the_first_of_as_many_people(secret: str, keys: int, most: int) -> None:
    """A share of n people is off by five standard deviations with probability 6·10⁻⁷; nothing is drawn here."""
    people = 20_000
    salts = _column(f"SELECT {write_salt(['CAST(i AS VARCHAR)'], repr(secret))} FROM range({people}) t(i)")
    numbers = _column(f"SELECT {write_number(['CAST(i AS VARCHAR)'], repr(secret))} FROM range({keys}) t(i)")
    places = write_places(np.repeat(salts, keys), np.tile(numbers, people)).reshape(people, keys)
    kept = np.bincount(np.argsort(places, axis=1)[:, :most].ravel(), minlength=keys) / people
    share = most / keys
    assert np.abs(kept - share).max() < 5 * (share * (1 - share) / people) ** 0.5


def test_one_order_for_everybody_would_be_seen() -> None:
    """The planted bug: a salt that is the same for everybody."""
    numbers = _column(f"SELECT {write_number(['CAST(i AS VARCHAR)'], repr(''))} FROM range(6) t(i)")
    firsts = {int(np.argmin(write_places(np.full(6, salt), numbers))) for salt in [12_345] * 100}
    assert len(firsts) == 1


def test_texts_of_values_are_those_of_every_engine() -> None:
    database = duckdb.connect()
    real = spell_value("CAST(0.1 AS DOUBLE)", ColumnType.REAL)
    missing = spell_value("CAST(NULL AS BIGINT)", ColumnType.INTEGER)
    assert database.sql(f"SELECT {real}, {missing}").fetchall() == [("104858", "")]
