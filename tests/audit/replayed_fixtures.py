"""The project's own questions, asked of the project's own small world and of a neighbour of it."""

from __future__ import annotations

from dataclasses import replace

from discreet.audit.replay.replay import ReplayReport, replay_worlds
from discreet.audit.replay.session import World
from discreet.catalog.budget import Budget
from discreet.privacy.neighbours import Neighbours
from tests.curator.test_neighbouring_tables import ANSWERED, HEAVY, ORDINARY, REFUSED, TARGET
from tests.query.hostile import Person, world_of
from tests.query.world import CATALOG

__all__ = ["QUESTIONS", "replayed"]

ENOUGH = Budget(6000, "1e-6", "5e-7")
OTHERS = dict.fromkeys(range(1, 6), ORDINARY)
REPLACES = {table.name for table in CATALOG if table.neighbours is Neighbours.REPLACE_ONE}
QUESTIONS = {
    relation: [
        query
        for query in [*ANSWERED, *REFUSED]
        if (relation is Neighbours.REPLACE_ONE) == any(name in query.lower() for name in REPLACES)
    ]
    for relation in Neighbours
}
"""The questions about tables of each relation."""


def replayed(relation: Neighbours, questions: list[str]) -> ReplayReport:
    """One person with the worst rows there can be, gone or replaced by an ordinary one."""
    gone = OTHERS if relation is Neighbours.ADD_REMOVE_ONE else OTHERS | {TARGET: ORDINARY}
    return replay_worlds(_world(OTHERS | {TARGET: HEAVY}), [("a neighbour", _world(gone))], questions, epsilon="0.5")


def _world(people: dict[int, Person]) -> World:
    world = world_of(people)
    tables = sorted(CATALOG, key=lambda table: len(table.foreign_keys))
    return [
        (
            world.plain(f'SELECT * EXCLUDE (_unit) FROM "{table.name}"'),
            table if table.public else replace(table, budget=ENOUGH),
        )
        for table in tables
    ]
