"""What a server must do like DuckDB for tables that grow: the same integers per period, and no other row is read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.catalog.column import Column
from discreet.catalog.period import Every
from discreet.catalog.table import Table
from discreet.curator.charge import list_plans
from discreet.curator.curator import Curator
from discreet.curator.preconditions import use_stored_columns
from discreet.errors import QueryRefused
from discreet.query.run.contribution_bounds import write_statements
from tests.engines.same_everywhere import comparable

FIRST, CLOSED = date(2025, 12, 29), 3
"""The Monday before a year begins; and how many periods are closed."""
BEGINS = {Every.MONTH: date(2025, 12, 1), Every.QUARTER: date(2025, 10, 1), Every.YEAR: date(2025, 1, 1)}
PER_PERSON = "SELECT person, date_trunc('{every}', admitted) AS t, COUNT(*) AS n FROM visits GROUP BY 1, 2"
QUESTIONS = (
    "SELECT COUNT(*), SUM(age) FROM visits",
    "SELECT ward, COUNT(*), SUM(age) FROM visits GROUP BY ward",
    "SELECT date_trunc('{every}', admitted) AS t, ward, COUNT(*) FROM visits GROUP BY 1, 2",
    "SELECT date_trunc('{every}', admitted) AS t, COUNT(DISTINCT person) FROM visits GROUP BY 1",
    "SELECT SUM(age) FROM visits WHERE admitted >= '{second}' AND ward = 'A'",
    "SELECT COUNT(*) FROM visits WHERE admitted < '{second}' OR admitted >= '{third}'",
    f"SELECT t, AVG(n) FROM ({PER_PERSON}) AS p GROUP BY t",
    "SELECT COUNT(*) FROM (SELECT age FROM visits WHERE admitted < '{second}' UNION ALL SELECT age FROM visits) AS u",
)


def growing(kind: str = "date", every: Every = Every.MONTH, person: str = "integer", **stated: Any) -> Table:
    columns = (
        Column("person", person),
        Column("ward", "text", keys=("A", "B")),
        Column("admitted", kind),
        Column("age", "integer", lower=0, upper=110),
    )
    time = {"column": "admitted", "every": every.value, "from": str(BEGINS.get(every, FIRST))}
    budget = {"epsilon": 1, "per": every.value}
    more = {"unit": "person", "unit_per": every.value, "budget": budget, "rows_per_unit": 2, **stated}
    return Table("visits", columns, time=time, **more)


def starts(table: Table) -> list[datetime]:
    """The first moments of the closed periods, and of the one that is open."""
    assert table.time is not None
    found, one = [], None
    for _ in range(CLOSED + 1):
        one = table.time.after(one)
        found.append(one.start)
    return found


def rows(table: Table, people: int = 30) -> pa.Table:
    """People with one to five rows in each period, at its borders and within; without dates and without names, too."""
    draw, found, tick = random.Random(7), [], timedelta(microseconds=1)
    kind, name = table.columns[2].type.value, table.columns[0].type.value
    edges = starts(table)
    moments = [edges[0] - tick, *edges, *(edge - tick for edge in edges[1:]), edges[-1] + timedelta(days=3)]
    moments += [draw.choice(edges[:-1]) + timedelta(hours=draw.randrange(24)) for _ in range(4)]
    for person in [None, *range(people)]:
        for _ in range(draw.randrange(1, 15)):
            moment = draw.choice([None, *moments, *moments, *moments])
            who = person if name == "integer" or person is None else f"{person}"
            at = moment.date() if moment is not None and kind == "date" else moment
            found.append((who, draw.choice("AB"), at, draw.randrange(110)))
    kinds = {"date": pa.date32(), "timestamp": pa.timestamp("us"), "integer": pa.int64(), "text": pa.string()}
    types = [kinds[name], pa.string(), kinds[kind], pa.int64()]
    arrays = [pa.array([row[k] for row in found], each) for k, each in enumerate(types)]
    return pa.table(arrays, names=[column.name for column in table.columns])


def questions(table: Table) -> list[str]:
    assert table.time is not None
    edges = starts(table)
    words = {"every": table.time.every.value, "second": edges[1].date(), "third": edges[2].date()}
    return [text.format(**words) for text in QUESTIONS]


def close_all(curator: Curator, table: Table) -> None:
    assert table.time is not None
    names = [table.time.period_of(edge).name for edge in starts(table)[:-1]]
    assert [one.name for one in curator.close(table.name, through=names[-1])] == names


def embedded(folder: Path, table: Table, given: pa.Table) -> Curator:
    """The same rows in a folder, with the periods closed."""
    curator = Curator(folder)
    curator.protect(given, table)
    close_all(curator, table)
    return curator


def measured(curator: Curator, sql: str) -> list[Any]:
    """The integers that a question adds noise to, in order, for each period where it is asked so; or why it is not."""
    planner = curator._planner
    try:
        asked = planner.question(sql, 1).asked
    except QueryRefused as refusal:
        return [str(refusal)]
    plans = [use_stored_columns(plan, planner.snapshot) for plan in list_plans(asked)]
    return [comparable(planner.snapshot.run(*one)) for plan in plans for one in write_statements(plan)]


def check_same(there: Curator, here: Curator, table: Table, texts: Sequence[str] = ()) -> None:
    for sql in texts or questions(table):
        found = measured(there, sql)
        assert found == measured(here, sql), sql
        assert found
