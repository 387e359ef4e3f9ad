"""Groups can be the values of a public table: all of them, also those that nobody is in, and nothing else."""

from __future__ import annotations

from datetime import date

import pytest

from discreet.errors import InvalidValue, QueryRefused
from discreet.query.bind.public_tables import PublicValues
from discreet.query.passes import split
from discreet.query.plan import list_groups as listing
from discreet.query.plan.list_groups import list_groups
from tests.query.world import CATALOG, COUNT_ALIKE, World

WORLD = World({})


def _values(world: World = WORLD) -> PublicValues:
    return PublicValues(CATALOG, world.run, lambda _: "1")


def _groups(key: str, join: str = "JOIN sites AS s ON v.ward = s.ward") -> list[tuple[object, ...]]:
    (block,) = split(
        f"SELECT {key}, COUNT(*) FROM visits AS v {join} GROUP BY {key}", CATALOG, count_alike=COUNT_ALIKE
    ).blocks
    found = list_groups(block, _values())
    return [] if found is None else [tuple(values) for values in found.domains]


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("s.region", ("north", "south", None)),
        ("s.ward", ("a", "b", "it's", "zz")),
        ("s.rate", (0.5, 1.0, 2.0)),  # the default for missing values, and the bound for what lies outside
        ("s.opened", (date(1990, 1, 1), date(2001, 2, 3), date(2020, 1, 1), None)),
        ("upper(s.region)", ("NORTH", "SOUTH", None)),
        ("year(s.opened)", (1990, 2001, 2020, None)),
        ("coalesce(s.region, 'none')", ("none", "north", "south")),
    ],
)
def test_the_groups_are_what_the_public_column_holds(key: str, values: tuple[object, ...]) -> None:
    assert _groups(key) == [values]


def test_an_outer_join_adds_the_missing_value() -> None:
    assert _groups("s.ward", "LEFT JOIN sites AS s ON v.ward = s.ward") == [("a", "b", "it's", "zz", None)]


def test_a_public_column_keeps_its_values_through_subqueries() -> None:
    assert _groups("s.r", "JOIN (SELECT ward, region AS r FROM sites) AS s ON v.ward = s.ward") == [
        ("north", "south", None)
    ]


def test_a_private_column_is_not_listed_however_it_is_named() -> None:
    (block,) = split(
        "SELECT region, COUNT(*) FROM (SELECT note AS region FROM visits) AS t GROUP BY region", CATALOG
    ).blocks
    assert list_groups(block, _values()) is None


def test_a_protected_table_is_never_listed() -> None:
    with pytest.raises(InvalidValue, match="public tables alone"):
        _values()("visits", ("ward",), 10)


def test_more_values_than_groups_may_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_GROUPS", 2)
    with pytest.raises(QueryRefused, match="there may be at most 2 groups"):
        _groups("s.ward")


def test_a_version_is_read_once_and_the_next_one_again() -> None:
    statements: list[str] = []
    version = ["1"]

    def run(text: str, parameters: list[object]) -> object:
        statements.append(text)
        return WORLD.run(text, parameters)

    values = PublicValues(CATALOG, run, lambda _: version[0])  # type: ignore[arg-type]
    for _ in range(3):
        values("sites", ("region",), 10)
    version[0] = "2"
    values("sites", ("region",), 10)
    assert len(statements) == 2


def test_a_relation_knows_which_public_tables_it_reads() -> None:
    (block,) = split(
        "SELECT COUNT(*) FROM visits AS v JOIN sites AS s ON v.ward = s.ward", CATALOG, count_alike=COUNT_ALIKE
    ).blocks
    assert block.rows.public == {"sites"}
