"""Neighbouring tables behind two doors: price, plan, refusal, shape and ledger never tell them apart."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from discreet import Curator
from discreet.engines.parameters import quote
from discreet.errors import DiscreetError
from discreet.query.bind import relation as relation_module
from discreet.query.run import contribution_bounds as statement_module
from tests.query.hostile import PEOPLE, Person, world_of
from tests.query.world import CATALOG, FIXTURES, read_queries
from tests.thoroughness import many

ANSWERED = [*read_queries("answers.sql"), *read_queries("measured.sql")]
REFUSED = [query for query, _ in yaml.safe_load((FIXTURES / "refusals.yaml").read_text(encoding="utf-8"))]
FILTERS = ("HAVING", "LIMIT", "DISTINCT", "WHERE n", "QUALIFY")
PRICE = "0.25"
TARGET = 99
NOBODY = Person([], [], (None, None))
HEAVY = Person([("a", 2**63 - 1, 1e300, 5e-324, -(2**63), None, None, True, "\\'", "z")] * 7, [(2**60, "x")], (0, None))
ORDINARY = Person([("b", 40, 10.0, 1.0, 5, None, None, True, "n", "x")] * 3, [(1950, "f")], (50, True))


def protected(folder: Path, people: dict[int, Person]) -> Curator:
    curator, world = Curator(folder), world_of(people)
    for table in sorted(CATALOG, key=lambda table: len(table.foreign_keys)):
        curator.protect(world.plain(f'SELECT * EXCLUDE (_unit) FROM "{table.name}"'), table, unread=lambda _: None)
    return curator


def story(curator: Curator, queries: list[str]) -> list[Any]:
    """All that can be seen of these questions, but for the noisy values."""
    told = [seen(curator, query) for query in queries]
    entries = [(entry.body["kind"], entry.body.get("prices")) for entry in curator.ledger.entries()]
    return [*told, curator.budget(), entries]


def seen(curator: Curator, query: str) -> tuple[Any, ...]:
    try:
        plan = curator.explain(query, PRICE)
        answer = curator.ask(query, PRICE)
    except DiscreetError as refusal:
        return type(refusal), str(refusal)
    rows = None if any(word in query for word in FILTERS) else answer.table.num_rows
    return plan, answer.price, answer.charged, answer.table.schema, rows, answer.error.keys()


@given(
    st.dictionaries(st.integers(1, 5), PEOPLE, max_size=5),
    st.tuples(PEOPLE, st.none() | PEOPLE),
    st.lists(st.sampled_from(ANSWERED), min_size=8, max_size=16),
    st.lists(st.sampled_from(REFUSED), min_size=4, max_size=8),
)
@example({}, (HEAVY, None), ANSWERED[::6], REFUSED[::12])
@example({1: ORDINARY}, (HEAVY, NOBODY), ANSWERED[3::6], REFUSED[5::12])
@settings(
    max_examples=many(2, 4),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a door takes a second to build, too long for shrinking
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@pytest.mark.thorough
def test_nothing_but_noise_tells_neighbours_apart(
    others: dict[int, Person], target: tuple[Person, Person | None], answered: list[str], refused: list[str]
) -> None:
    here, there = others | {TARGET: target[0]}, others | ({TARGET: target[1]} if target[1] is not None else {})
    assert (
        differences(here, there, [*answered, *refused, *answered[:2]]) == []
    )  # asked again, perhaps with nothing left


def test_a_planted_cast_that_fails_on_one_row_tells_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(argument: Any, *others: Any) -> str:
        return f"CAST({argument.write(others[-1])} AS TINYINT)"

    monkeypatch.setattr(statement_module, "_on_grid", narrow)
    monkeypatch.setattr(relation_module, "normalise", lambda column, *_: quote(column.name))
    question = "SELECT SUM(age) FROM visits"
    assert differences({TARGET: HEAVY}, {TARGET: ORDINARY}, [question]) == [question, "entries"]


def differences(here: dict[int, Person], there: dict[int, Person], queries: list[str]) -> list[str]:
    """Which of these questions, or of the accounts kept of them, look different behind the two doors."""
    with TemporaryDirectory() as folder:
        stories = [story(protected(Path(folder) / name, p), queries) for name, p in (("a", here), ("b", there))]
    named = zip([*queries, "budget", "entries"], *stories, strict=True)
    return [name for name, first, second in named if first != second]
