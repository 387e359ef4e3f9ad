"""A hospital's year as a series, beside 52 weekly questions and one question at its end: ``python -m bench.series``.

2,000 visits a week of 40,000 patients in 5 wards, whose rates vary (gamma, shape 2); the unit is the patient, ε = 2.
Each way is run by the real curator on the same made-up rows. Shown is the error that is promised for a cell, and what
nineteen in twenty cells keep: with the visits that do not count, which the promise leaves out.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rich.console import Console
from rich.table import Table as Grid

import discreet as dp

__all__ = ["Year", "measured_ways", "run"]

FIRST, WARDS = date(2026, 1, 5), ("A", "B", "C", "D", "E")
PATIENTS, VISITS, EPSILON, ROWS = 40_000, 2_000, 2, 6
COUNT = "SELECT date_trunc('week', admitted) AS week, ward, COUNT(*) AS n FROM visits GROUP BY week, ward"
WITH_MEAN = COUNT.replace("COUNT(*) AS n", "COUNT(*) AS n, AVG(age) AS age")
Cells = Mapping[tuple[date, str], float]


@dataclass(frozen=True)
class Year:
    """Made-up visits: who, where and when."""

    patient: npt.NDArray[np.int64]
    ward: npt.NDArray[np.int64]
    week: npt.NDArray[np.int64]

    @classmethod
    def made(cls, weeks: int, seed: int = 1) -> Year:
        """A year in which some come more often than others."""
        chance = np.random.default_rng(seed)
        rates = chance.gamma(2, size=PATIENTS)
        size = VISITS * weeks
        patient = chance.choice(PATIENTS, size, p=rates / rates.sum())
        return cls(patient, chance.integers(len(WARDS), size=size), np.repeat(np.arange(weeks), VISITS))

    def rows(self, week: int) -> pa.Table:
        """The visits of one week."""
        kept = self.week == week
        day = FIRST + timedelta(days=7 * week)
        columns = {"patient_id": self.patient[kept], "ward": [WARDS[one] for one in self.ward[kept]]}
        return pa.table(columns | {"admitted": [day] * int(kept.sum()), "age": self.patient[kept] % 90})

    def cells(self) -> dict[tuple[date, str], float]:
        """How many visits there were, by week and ward."""
        found = {}
        for week in range(int(self.week.max()) + 1):
            counts = np.bincount(self.ward[self.week == week], minlength=len(WARDS))
            found |= {(FIRST + timedelta(days=7 * week), ward): float(n) for ward, n in zip(WARDS, counts, strict=True)}
        return found


def run(folder: Path, year: Year, weeks: int) -> Iterator[tuple[str, float, Cells]]:
    """Each way, the error that it promises at 95 %, and what it showed."""
    curator = dp.Curator(folder)
    # Laplace noise, and a budget in which all ways fit beside each other.
    curator.protect(
        year.rows(0).slice(0, 0),
        table="visits",
        unit="patient_id",
        budget=10,
        rows_per_unit=ROWS,
        time={"column": "admitted", "every": "week", "from": FIRST.isoformat()},
        columns={"ward": {"keys": list(WARDS)}, "age": {"lower": 0, "upper": 110, "nullable": False}},
    )
    ways = {"series, COUNT": COUNT, "series, COUNT and AVG": WITH_MEAN}
    promised = {}
    for name, sql in ways.items():
        said = curator.explain_series(sql, EPSILON, periods=weeks, rows_per_unit=ROWS)
        promised[name] = said.errors[0].within or 0.0
        curator.subscribe(sql, EPSILON, periods=weeks, rows_per_unit=ROWS)
    for week in range(weeks):
        curator.append("visits", year.rows(week), id=str(week))
        curator.close("visits", through=f"2026-W{week + 2:02d}" if week < 52 else "2026-W53")
    for (name, _), series in zip(ways.items(), curator.series(), strict=True):
        yield name, promised[name], _shown(series.table)
    yield _questions(curator, weeks)
    answer = curator.ask(COUNT, EPSILON)
    yield "one question at the end", _reach(answer), _shown(answer.table)
    curator.engine.close()
    curator.ledger.close()


def _questions(curator: dp.Curator, weeks: int) -> tuple[str, float, Cells]:
    """One question a week, for the same price in all."""
    found: dict[tuple[date, str], float] = {}
    reach = 0.0
    for week in range(weeks):
        day = FIRST + timedelta(days=7 * week)
        inside = f"WHERE admitted BETWEEN '{day}' AND '{day + timedelta(days=6)}' GROUP BY"
        answer = curator.ask(COUNT.replace("GROUP BY", inside), f"{EPSILON}/{weeks}")
        found, reach = {**found, **_shown(answer.table)}, _reach(answer)
    return f"{weeks} questions, ε {EPSILON}/{weeks} each", reach, found


def _reach(answer: dp.Answer) -> float:
    widths = [(high - low) / 2 for low, high in filter(None, answer.error["n"])]
    return float(np.median(widths))


def _shown(table: pa.Table) -> Cells:
    return {(row["week"], row["ward"]): float(row["n"]) for row in table.to_pylist()}


def measured_ways(weeks: int) -> list[tuple[str, float, float, float]]:
    """Per way: the promised error, what 95 % of cells keep, and what the last quarter of the year lost."""
    year, found = Year.made(weeks), []
    truth = year.cells()
    late = FIRST + timedelta(days=7 * (weeks * 3 // 4))
    with tempfile.TemporaryDirectory() as folder:
        for name, promised, shown in run(Path(folder), year, weeks):
            off = np.quantile([abs(shown[cell] - n) for cell, n in truth.items()], 0.95)
            last = [cell for cell in truth if cell[0] >= late]
            lost = 1 - sum(shown[cell] for cell in last) / sum(truth[cell] for cell in last)
            found.append((name, promised, float(off), float(lost)))
    return found


def _main(weeks: int) -> None:
    grid = Grid("way", "promised ± at 95 %", "95 % of cells within", "missing in the last quarter")
    for name, promised, off, lost in measured_ways(weeks):
        grid.add_row(name, f"± {promised:.3g}", f"{off:.3g}", f"{lost:.1%}")
    Console().print(grid)


if __name__ == "__main__":
    _main(int(sys.argv[1]) if len(sys.argv) > 1 else 52)
