"""Random histories of tables that grow, for the replay: what comes, closes, is asked, forgotten and cut off.

A history follows from its number. The unit x has the rows that tell most: in many periods, at their borders, late,
before the first, without a date, with values beyond every bound, and more of them than count.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from discreet.audit.replay.compare import Difference
from discreet.audit.replay.history import Append, Ask, Close, CloseDue, Forget, Reopen, Step, WorldHistory, live
from discreet.audit.replay.losses import ReleaseLoss, compare_lives, list_losses
from discreet.catalog.column import Column
from discreet.catalog.period import Every, Period, TimeColumn
from discreet.catalog.table import Table

__all__ = ["KINDS", "Played", "make_history", "play"]

KINDS = ("row", "person and period", "person")
X = 7
"""The person of a history; where rows are units, the one who is there for the row."""
WARDS = ("A", "B")
FIRST = {"week": date(2026, 1, 5), "day": date(2026, 3, 28), "month": date(2025, 12, 1)}
_MOST_PERIODS = 4
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Played:
    """What became of a history."""

    found: list[Difference]
    losses: list[ReleaseLoss]
    answered: int
    refused: int


def play(history: WorldHistory, folder: Path | None = None) -> Played:
    """Let a history happen in both worlds, and compare them."""
    with TemporaryDirectory(prefix="discreet-history-", dir=folder) as name:
        here, there = (live(Path(name) / str(k), history, is_here=not k) for k in range(2))
    asked = [one.asked for one in here.moments if one.asked is not None]
    refused = sum(one.refusal is not None for one in asked)
    return Played(compare_lives(history, here, there), list_losses(here, there), len(asked) - refused, refused)


def make_history(seed: int) -> WorldHistory:
    """The history of this number."""
    return _Maker(random.Random(seed)).make()


class _Maker:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.kind = chance.choice(KINDS)
        self.every = chance.choice(("week", "week", "day", "month"))
        self.is_moment = chance.random() < 0.5
        self.budget: dict[str, Any] = chance.choice(
            ({"epsilon": 2}, {"epsilon": 2, "delta": "1e-6"}, {"epsilon": 3, "delta": "1e-6", "delta_for_keys": "5e-7"})
        )
        time = TimeColumn("t", Every.of(self.every), FIRST[self.every])
        self.periods: list[Period] = []
        for _ in range(_MOST_PERIODS + 1):
            self.periods.append(time.after(self.periods[-1] if self.periods else None))
        self.lag = chance.choice((0, 0, 1))
        self.has_lifetime = chance.random() < 0.5
        is_two = self.kind != "row" and chance.random() < 0.4
        self.tables = [self._table("visits"), *([self._table("labs")] if is_two else [])]
        # A unit is in one period; a person is in all of them, and is so too where the period makes the unit.
        is_in_one = self.kind == "row" or (self.kind == "person and period" and chance.random() < 0.6)
        self.x_in = chance.choice(self.periods[:_MOST_PERIODS]) if is_in_one else None
        self.is_replaced = self.kind != "row" and self.tables[0].neighbours.value != "add-remove-one"
        self.has_row = False

    def _table(self, name: str) -> Table:
        chance, per = self.chance, self.every if self.kind == "person and period" else None
        budget = dict(self.budget)
        if per is not None:
            budget |= {"per": per} | ({"lifetime": {**self.budget, "epsilon": 6}} if self.has_lifetime else {})
        elif self.kind == "person":
            budget["epsilon"] *= 4
        kind = "timestamp" if self.is_moment else "date"
        return Table(
            name,
            (
                Column("p", "integer"),
                Column("ward", "text", keys=WARDS, constant_per_unit=per is not None and chance.random() < 0.3),
                Column("t", kind),
                Column("age", "integer", lower=0, upper=10, nullable=chance.random() < 0.7),
                Column("tag", "text"),
            ),
            unit=None if self.kind == "row" else "p",
            unit_name=None if self.kind == "row" else "patient",
            unit_per=per,
            time={"column": "t", "every": self.every, "from": FIRST[self.every].isoformat(), "grace": self.lag},
            budget=budget,
            rows_per_unit=1 if self.kind == "row" else chance.choice((1, 2, 3)),
            analysts={"ann": None, "bob": {**self.budget, "epsilon": 1}},
        )

    def make(self) -> WorldHistory:
        """Its tables and steps."""
        chance = self.chance
        public = Table("wards", (Column("ward", "text"), Column("floor", "integer")), public=True)
        floors = pa.table({"ward": ["A", "B"], "floor": [1, 2]})
        begun = [(table, self._rows(table, self.periods[:2], chance.randrange(12))) for table in self.tables]
        steps: list[Step] = []
        for place in range(chance.randint(2, _MOST_PERIODS)):
            steps += self._in_period(place)
        steps += [self._ask() for _ in range(chance.randint(1, 3))]
        period = None if self.x_in is None else self.x_in.name
        return WorldHistory([(public, floors), *begun], steps, period)

    def _in_period(self, place: int) -> list[Step]:
        """Rows come, perhaps somebody is forgotten, and the period closes; questions in between."""
        chance, period = self.chance, self.periods[place]
        steps: list[Step] = []
        for table in self.tables:
            steps += [self._append(table, place, f"{table.name}-{place}-{k}") for k in range(chance.choice((1, 1, 2)))]
        if chance.random() < 0.3:
            steps.append(Forget(chance.choice(self.tables).name, chance.choice((X, X, 1, 2, 99))))
        if chance.random() < 0.15:
            steps.append(chance.choice([one for one in steps if isinstance(one, Append)]))  # a job is repeated
        chance.shuffle(steps)
        crash = chance.choice((None, None, None, "prepared", "recorded", "shown"))
        if chance.random() < 0.3:
            moment = datetime.combine(period.end.date() + self.lag * _DAY, datetime.min.time(), UTC)
            steps.append(CloseDue(moment + chance.choice((-1, 0, 1)) * timedelta(seconds=1), crash))
            steps += [CloseDue(moment)] if crash else []
        else:
            steps += [Close(table.name, period.name, crash) for table in self.tables]
            steps += [Close(table.name, period.name) for table in self.tables if crash]
        steps += [self._ask() for _ in range(chance.choice((0, 1, 2, 2)))]
        return [*steps, *([Reopen()] if chance.random() < 0.15 else [])]

    def _append(self, table: Table, place: int, name: str) -> Append:
        chance = self.chance
        others = self._rows(table, self.periods[max(0, place - 1) : place + 2], chance.randrange(10), wrong=0.15)
        here, there = (self._rows_of_x(table, place) for _ in range(2))
        there = there if self.is_replaced else there.slice(0, 0)
        return Append(table.name, others, here, there, name, chance.randint(0, others.num_rows))

    # Rows.

    def _rows_of_x(self, table: Table, place: int) -> pa.Table:
        chance = self.chance
        if self.kind == "row":
            is_now = not self.has_row and (chance.random() < 0.5 or self.x_in in self.periods[: place + 1])
            self.has_row |= is_now
            return self._table_of([self._row(X, [self.x_in])] if is_now and self.x_in else [])
        around = [self.x_in] if self.x_in else self.periods[max(0, place - 1) : place + 2]
        count = chance.choice((0, 1, 1, 2, 3, 7))
        wrong = 0.0 if self.x_in else 0.3
        ward = chance.choice(WARDS) if chance.random() < 0.8 else None
        return self._table_of([self._row(X, around, wrong=wrong, ward=ward) for _ in range(count)])

    def _rows(self, table: Table, periods: list[Period], count: int, wrong: float = 0.0) -> pa.Table:
        people = [one for one in range(1, 13) if one != X]
        return self._table_of([self._row(self.chance.choice(people), periods, wrong=wrong) for _ in range(count)])

    def _row(
        self, person: int, periods: list[Period | None], *, wrong: float = 0.0, ward: str | None = None
    ) -> tuple[Any, ...]:
        chance = self.chance
        period = chance.choice([one for one in periods if one is not None])
        last = period.end - timedelta(microseconds=1)
        moment = chance.choice((period.start, last, period.start + (period.end - period.start) * chance.random()))
        if chance.random() < wrong:
            moment = chance.choice((None, datetime(1999, 1, 1), self.periods[0].start - timedelta(seconds=1), last))
        when = moment if self.is_moment or moment is None else moment.date()
        ages = (0, 3, 7, 10, 10, None, 1000) if person == X else (0, 3, 7, 10)
        named = None if chance.random() < wrong / 3 and person != X else person
        return (
            named,
            ward or chance.choice((*WARDS, *WARDS, "Z", None)),
            when,
            chance.choice(ages),
            chance.choice("uvw"),
        )

    def _table_of(self, rows: list[tuple[Any, ...]]) -> pa.Table:
        time = pa.timestamp("us") if self.is_moment else pa.date32()
        types = {"p": pa.int64(), "ward": pa.string(), "t": time, "age": pa.int64(), "tag": pa.string()}
        schema = pa.schema(list(types.items()))
        return pa.table(
            [pa.array([row[k] for row in rows], kind) for k, kind in enumerate(types.values())], schema=schema
        )

    # Questions.

    def _ask(self) -> Ask:
        chance = self.chance
        table = chance.choice(self.tables).name
        known = {"T": table, "G": f"date_trunc('{chance.choice((self.every, self.every, 'month', 'day'))}', t)"}
        sql = chance.choice(QUESTIONS).format(**known, W=self._where(chance.random() < 0.6), A=self._where(False)[6:])
        terms: dict[str, Any] = {"epsilon": chance.choice(("0.25", "0.5", "0.5", "1"))}
        if chance.random() < 0.25:
            terms = {"part": chance.choice(("1/8", "1/4", "1/2"))}
        if chance.random() < 0.3:
            terms["analyst"] = chance.choice(("ann", "bob"))
        if chance.random() < 0.1:
            terms["as_of"] = chance.choice(self.periods).start.date().isoformat()
        return Ask(sql, terms)

    def _where(self, is_free: bool) -> str:
        """A condition, most often on the time, at a border of a period."""
        chance = self.chance
        if is_free:
            return chance.choice(("", "", "", "WHERE age > 3", "WHERE ward = 'A'"))
        first, second = sorted(self._edge() for _ in range(2))
        return "WHERE " + chance.choice(
            (
                f"t >= '{first}'",
                f"t > '{first}'",
                f"t < '{second}'",
                f"t <= '{second}'",
                f"'{second}' > t",
                f"t BETWEEN '{first}' AND '{second}'",
                f"t >= '{first}' AND t < '{second}'",
                f"NOT (t < '{first}' OR t >= '{second}')",
                f"(t < '{first}' OR t >= '{second}')",
                f"t = '{first}'",
                f"t IN ('{first}', '{second}')",
                f"date_trunc('{self.every}', t) = '{chance.choice(self.periods).start.date()}'",
                f"date_trunc('month', t) >= '{second[:8]}01'",
                f"EXTRACT(year FROM t) = {second[:4]}",
                f"EXTRACT(month FROM t) = {int(second[5:7])}",
                f"(t >= '{second}' OR age > 3)",
                f"(t >= '{second}' AND ward = 'A')",
                f"t + INTERVAL 1 DAY > '{second}'",
                f"t - INTERVAL 1 DAY < '{second}'",
                "t > CURRENT_DATE - 7",
                f"CAST(t AS DATE) = '{first[:10]}'",
                f"CASE WHEN ward = 'A' THEN t >= '{first}' ELSE t < '{first}' END",
            )
        )

    def _edge(self) -> str:
        moment = self.chance.choice(self.periods).start
        if self.is_moment and self.chance.random() < 0.5:
            return str(moment + self.chance.choice((-1, 0, 1)) * timedelta(microseconds=1))
        return str((moment + self.chance.choice((-1, 0, 0, 1)) * _DAY).date())


QUESTIONS = (
    "SELECT {G} AS g, ward, COUNT(*) AS n FROM {T} {W} GROUP BY 1, 2",
    "SELECT {G} AS g, COUNT(*) AS n FROM {T} {W} GROUP BY 1 ORDER BY 1",
    "SELECT {G} AS g, SUM(age) AS s, AVG(age) AS m FROM {T} {W} GROUP BY 1",
    "SELECT t, COUNT(*) AS n FROM {T} {W} GROUP BY 1",
    "SELECT COUNT(*) AS n FROM {T} {W}",
    "SELECT COUNT(*) FILTER (WHERE {A}) AS n, SUM(CASE WHEN {A} THEN age ELSE 0 END) AS s FROM {T}",
    "SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM {T} {W} GROUP BY ward",
    "SELECT tag, COUNT(*) AS n FROM {T} {W} GROUP BY tag",
    "SELECT {G} AS g, tag, COUNT(*) AS n FROM {T} {W} GROUP BY 1, 2",
    "SELECT MAX(age) AS a, MEDIAN(age) AS m FROM {T} {W}",
    "SELECT {G} AS g, MEDIAN(age) AS m FROM {T} {W} GROUP BY 1",
    "SELECT MIN(t) AS first, MAX(t) AS last FROM {T} {W}",
    "SELECT COUNT(DISTINCT p) AS n FROM {T} {W}",
    "SELECT {G} AS g, COUNT(DISTINCT p) AS n FROM {T} {W} GROUP BY 1",
    "SELECT {G} AS g, COUNT(DISTINCT age) AS n FROM {T} {W} GROUP BY 1",
    "SELECT COUNT(*) AS n, AVG(k) AS m FROM (SELECT p, LEAST(COUNT(*), 3) AS k FROM {T} {W} GROUP BY p) AS q",
    "SELECT g, SUM(k) AS m FROM (SELECT p, {G} AS g, LEAST(COUNT(*), 3) AS k FROM {T} {W} GROUP BY 1, 2) GROUP BY 1",
    "SELECT AVG(k) AS m FROM (SELECT p, {G} AS g, LEAST(MAX(age), 5) AS k FROM {T} GROUP BY p, 2) AS q",
    "SELECT floor, COUNT(*) AS n FROM {T} JOIN wards USING (ward) {W} GROUP BY floor",
    "SELECT {G} AS g, SUM(floor) AS n FROM {T} LEFT JOIN wards USING (ward) {W} GROUP BY 1",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT p FROM {T} {W}) AS q",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ON (p) p, age FROM {T} {W}) AS q",
    "SELECT ward, COUNT(*) AS n FROM {T} {W} GROUP BY ward ORDER BY n DESC LIMIT 1",
    "SELECT {G} AS g, ward, COUNT(*) AS n FROM {T} {W} GROUP BY 1, 2 ORDER BY n DESC LIMIT 2",
    "SELECT COUNT(*) AS n FROM {T} {W} UNION ALL SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) AS n FROM visits JOIN labs ON visits.p = labs.p",
    "SELECT COUNT(*) AS n FROM visits AS a JOIN {T} AS b ON a.p = b.p AND a.t = b.t",
    "SELECT COUNT(*) AS n FROM visits WHERE p IN (SELECT p FROM {T} {W})",
    "SELECT {G} AS g, COUNT(*) AS n FROM {T} {W} GROUP BY ROLLUP (1)",
)
"""T is the table, G a part of the calendar, W a condition and A another one, always there."""
