"""What growing by periods costs: ``python -m bench.periods [rows] [periods]``.

A table of so many rows is taken in whole, and as periods that are appended and closed one after the other. Measured
are the last append and close beside the whole ingest, opening a store of 365 periods, one of them asked beside a table
of its own, a charge to all of their accounts, and how many periods a dashboard pays that is loaded again and again. CPU
time of this process and its threads, in one run.
"""

from __future__ import annotations

import datetime as days
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table as Grid

from bench.figure import Figure
from bench.page import markdown_of, write_part
from bench.peers import versions
from discreet.catalog.column import Column
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.curator.ledger.units import LedgerPrice

FIRST = days.date(2025, 1, 1)
WARDS = tuple("ABCDE")
ONE_DAY = "SELECT ward, COUNT(*) AS n FROM visits WHERE admitted = DATE '2025-01-31' GROUP BY ward"
DASHBOARD = "SELECT admitted, COUNT(*) AS n FROM visits WHERE admitted >= CURRENT_DATE - 30 GROUP BY admitted"
CONSOLE = Console(width=None if sys.stdout.isatty() else 140, highlight=False)


def policy(*, grows: bool, every: str = "day") -> Table:
    """Visits, each a unit."""
    columns = (Column("patient_id", "integer"), Column("ward", "text", keys=WARDS), Column("admitted", "date"))
    time_column = {"column": "admitted", "every": every, "from": str(FIRST)} if grows else None
    return Table("visits", columns, time=time_column, budget=1000)


def rows(count: int, first: int, last: int) -> pa.Table:
    """Visits between two days, evenly."""
    random = np.random.default_rng(first)
    admitted = np.datetime64(FIRST) + random.integers(first, last, count)
    wards = np.array(WARDS)[random.integers(0, len(WARDS), count)]
    ids = pa.array(random.integers(0, 10**6, count))
    return pa.table(
        {"patient_id": ids, "ward": pa.array(wards), "admitted": pa.array(admitted.astype("datetime64[D]"))}
    )


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of some work."""
    before = time.process_time()
    work()
    return time.process_time() - before


def close(curator: Curator, through: int) -> None:
    """Close all days before one."""
    end = days.datetime.combine(FIRST + days.timedelta(days=through), days.time(), days.UTC)
    curator.close_due(end)


def growth(folder: Path, count: int) -> list[Figure]:
    """The last hundredth of a table, appended and closed, beside taking in all of it."""
    whole = cpu(lambda: Curator(folder / "whole").protect(rows(count, 0, 100), policy(grows=False)))
    curator = Curator(folder / "grown")
    curator.protect(rows(count * 99 // 100, 0, 99), policy(grows=True))
    close(curator, 99)
    last = rows(count // 100, 99, 100)
    found = cpu(lambda: (curator.append("visits", last, id="last"), close(curator, 100)))
    share = found / whole
    name = f"append and close 1 % of {count:,} rows"
    return [Figure(name, f"{found:.2f} s", f"whole ingest {whole:.2f} s", f"{share:.1%}", "≤ 3 %", share <= 0.03)]


def year(folder: Path, periods: int) -> list[Figure]:
    """A store of many periods."""
    curator = Curator(folder / "year")
    curator.protect(rows(1000 * periods, 0, periods), policy(grows=True))
    close(curator, periods)
    own = Curator(folder / "own")
    day = (days.date(2025, 1, 31) - FIRST).days
    own.protect(rows(1000, day, day + 1), policy(grows=False))
    curator.engine.close()
    opening = cpu(curator.engine.snapshot)
    curator.ask(ONE_DAY, epsilon=1)
    asked = [[cpu(asking(one, k)) for one in (curator, own)] for k in range(1, 22)]
    here, there = (median(each[which] for each in asked) for which in (0, 1))
    names = [name for name in curator.ledger.accounts() if "//" in name]
    prices = dict.fromkeys(names, LedgerPrice(1))
    charged = median(cpu(charging(curator, k, prices)) for k in range(11))
    beside, ratio = f"a table of its own {there:.4f} s", here / there
    return [
        Figure(f"opening a store of {periods} periods", f"{opening:.2f} s", "", "", "≤ 0.3 s", opening <= 0.3),
        Figure("one period asked", f"{here:.4f} s", beside, f"{ratio:.2f}", "≤ 1.3", ratio <= 1.3),
        Figure(f"one charge to {len(names)} periods", f"{charged * 1000:.1f} ms", "", "", "≤ 10 ms", charged <= 0.01),
    ]


def asking(curator: Curator, k: int) -> Callable[[], object]:
    """One day, at a price that nobody named before."""
    return lambda: curator.ask(ONE_DAY, epsilon=f"{k}/1000")


def charging(curator: Curator, k: int, prices: dict[str, LedgerPrice]) -> Callable[[], object]:
    """A charge that nobody made before."""
    return lambda: curator.ledger.charge(f"r{k}", b"r", prices, {})


def dashboard(folder: Path) -> list[Figure]:
    """Thirty days, loaded a hundred times in a week."""
    curator = Curator(folder / "dashboard")
    curator.protect(rows(1000, 0, 35), policy(grows=True))
    close(curator, 30)
    curator.ask(DASHBOARD, epsilon=1)
    before = paid(curator)
    for day in range(30, 37):
        curator.append("visits", rows(100, day, day + 1), id=str(day))
        close(curator, day + 1)
        for _ in range(15):
            curator.ask(DASHBOARD, epsilon=1)
    new = paid(curator) - before
    return [Figure("days that a view of 30 days pays in a week of 105 loads", str(new), "", "", "7", new == 7)]


def paid(curator: Curator) -> int:
    """How many periods were charged."""
    return sum(bool(account.spent) for name, account in curator.ledger.accounts().items() if "//" in name)


def main(count: int, periods: int) -> None:
    """Measure, print, and write the page of benchmarks."""
    grid = Grid(title="Growing by periods")
    for heading in ("measure", "measured", "beside", "ratio", "wanted"):
        grid.add_column(heading, justify="left" if heading == "measure" else "right")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [*growth(folder, count), *year(folder, periods), *dashboard(folder)]
    for one in figures:
        grid.add_row(one.measure, one.ours, one.beside, one.ratio, one.target)
    CONSOLE.print(grid)
    write_part("bench-periods", markdown_of(grid), versions([None]), figures)


if __name__ == "__main__":
    main(*map(int, [*sys.argv[1:], *["5000000", "365"][len(sys.argv) - 1 :]]))
