"""Random questions on neighbouring databases: nothing that a plan claims is broken.

Spark takes minutes for a few questions, so `make soak` asks it.
"""

from __future__ import annotations

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
IN_DUCKDB, IN_POSTGRES = 2000, many(100, 240)
"""How many questions are asked."""
A_WORLD = 100
"""Of each world that is taken in."""
PLAIN_WORLDS = many(5, 12)


def _check(tally: Tally) -> None:
    assert tally.answered > tally.asked / 3, "most of what is asked should be answered"
    assert not tally.cases, f"{summary(tally)}\n" + "\n".join(told(case) for case in tally.cases[:5])


def test_nothing_tells_neighbours_apart_in_duckdb() -> None:
    _check(fuzz(DuckDBPlaces(), SEED, IN_DUCKDB, a_world=A_WORLD))


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
