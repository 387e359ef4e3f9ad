"""Random questions on neighbouring databases: nothing that a plan claims is broken.

Spark takes minutes for a few questions, so `make soak` asks it.
"""

from __future__ import annotations

import pytest

from tests.fuzz.fuzzer import Tally, fuzz, questions_of
from tests.fuzz.meaning import PlainDatabase, compare_meaning
from tests.fuzz.places import DuckDBPlaces, PostgresPlaces
from tests.fuzz.run import summary, told
from tests.fuzz.worlds import make_world
from tests.servers.fixtures import postgres_server
from tests.servers.postgres import PostgresServer
from tests.thoroughness import many

__all__ = ["postgres_server"]

SEED = 1
WORLDS, A_WORLD = many(1, 5), 100
"""How many worlds are taken in by each test in DuckDB, and how many questions are asked in each of them."""
PARTS = 4
"""How many tests in DuckDB there are, so that they can run side by side."""
IN_POSTGRES, PLAIN_WORLDS = many(15, 240), many(1, 12)


def _check(tally: Tally) -> None:
    assert tally.answered > tally.asked / 3, "most of what is asked should be answered"
    assert not tally.cases, f"{summary(tally)}\n" + "\n".join(told(case) for case in tally.cases[:5])


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.some(2)
def test_nothing_tells_neighbours_apart_in_duckdb(part: int) -> None:
    _check(fuzz(DuckDBPlaces(), SEED + WORLDS * part, WORLDS * A_WORLD, a_world=A_WORLD))


def test_nothing_tells_neighbours_apart_in_postgres(postgres_server: PostgresServer) -> None:
    _check(fuzz(PostgresPlaces(postgres_server), SEED, IN_POSTGRES))


def test_answers_mean_what_a_plain_database_says_where_nothing_is_bounded() -> None:
    found = []
    for seed in range(SEED, SEED + PLAIN_WORLDS):
        world = make_world(seed, plain=True)
        plain = PlainDatabase(world)
        with DuckDBPlaces().taken_in(world) as pair:
            asked = [*questions_of(world), *questions_of(world, narrow=True)]
            found += [compare_meaning(pair, plain, sql) for sql, _ in asked]
    wrong = [one for one in found if one is not None]
    assert not wrong, "\n".join(map(str, wrong[:5]))
