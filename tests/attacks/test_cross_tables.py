"""Tables that cross a few columns are asked for where somebody would print them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet.attacks.board import Scene
from discreet.attacks.defences.interactive import RawStatistics
from discreet.attacks.methods.tabulations import MOST_CELLS, TwoWayTables, crossed
from discreet.attacks.methods.tracing import Tracing
from discreet.attacks.people import People
from discreet.attacks.queries import Value


def column(name: str, size: int) -> Value:
    return Value(name, tuple(map(str, range(size))))


def test_every_choice_of_columns_is_crossed_but_for_huge_tables():
    wide, narrow, yes = column("wide", MOST_CELLS), column("narrow", 30), column("yes", 2)
    assert crossed([wide, narrow, yes], 1) == [(wide,), (narrow,), (yes,)]
    assert crossed([wide, narrow, yes], 2) == [(narrow, yes)]


@pytest.mark.parametrize("attack", [TwoWayTables(), Tracing()])
def test_columns_in_which_everybody_is_unique_do_not_stop_an_attack(attack):
    chance = np.random.default_rng(1)
    unique = {name: chance.permutation(30_000)[:20_000] for name in ("born", "home")}
    people = pa.table({**unique, "ill": chance.choice(["no", "yes"], 20_000)})
    score = Scene.of(attack, People.of(people, ["born", "home"], "ill")).run(RawStatistics())
    assert 0 <= score.right.rate <= 1
