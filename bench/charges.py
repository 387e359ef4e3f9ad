"""Durable charges a second from 32 askers at once: ``python -m bench.charges [seconds for each figure]``.

All charge one account of a real ledger: in a file, and on a PostgreSQL server that is started for it, from 32 threads
and from 4 processes with 8 threads each. Beside each figure stand two others of the same store and the same run: what
one asker alone reaches, and how many bare rows one connection commits, one by one. A machine that is shared is slower
in all of them, so read the ratios. Afterwards the totals are held against each other and the chain is replayed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
import psycopg
from rich.console import Console
from rich.table import Table
from tests.servers.postgres import PostgresServer, binaries

from bench.figure import Figure
from bench.page import markdown_of, write_part
from bench.peers import versions
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.move import move
from discreet.curator.ledger.units import Allowance, LedgerPrice
from discreet.curator.ledger.verify import verify
from discreet.privacy.loss import Pure

SECONDS = 5.0
ASKERS = 32
PROCESSES = 4
LEAST = 500
"""Charges a second that 32 askers should get on a machine with two cores."""
ACCOUNT = "visits"
PRICE = LedgerPrice(1000)
NOTE = {"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "analyst": "ann"}
CONSOLE = Console(width=None if sys.stdout.isatty() else 120, highlight=False)


@dataclass(frozen=True)
class Charged:
    """What some askers reached."""

    charges: int
    """How many charges were acknowledged."""
    seconds: float
    """How long it took, until the last of them."""

    @property
    def rate(self) -> float:
        """Charges a second."""
        return self.charges / self.seconds


def charge_until(ledger: Ledger, name: str, threads: int, seconds: float) -> Charged:
    """Charge from several threads until the time is up."""
    counts = [0] * threads
    start = time.monotonic()
    end = start + seconds

    def ask(number: int) -> None:
        while time.monotonic() < end:
            request = f"{name}-{number}-{counts[number]}"
            ledger.charge(request, request.encode(), {ACCOUNT: PRICE}, NOTE)
            counts[number] += 1

    askers = [threading.Thread(target=ask, args=(number,)) for number in range(threads)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    return Charged(sum(counts), time.monotonic() - start)


def in_processes(folder: Path, processes: int, threads: int, seconds: float) -> Charged:
    """The same from several processes, which start together."""
    command = [sys.executable, "-m", "bench.charges", "asker", str(folder)]
    askers = [
        subprocess.Popen(
            [*command, f"p{k}", str(threads), str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for k in range(processes)
    ]
    for process in askers:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in askers:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0].split() for process in askers]
    return Charged(sum(int(charges) for charges, _ in said), max(float(taken) for _, taken in said))


def asker(folder: str, name: str, threads: str, seconds: str) -> None:
    """One process of `in_processes`."""
    ledger = Ledger(Path(folder))
    ledger.head()
    print("ready", flush=True)
    sys.stdin.readline()
    found = charge_until(ledger, name, int(threads), float(seconds))
    print(found.charges, found.seconds)


def committed(insert: Callable[[int], object], seconds: float) -> float:
    """How often a row is inserted and committed in a second."""
    start, done = time.monotonic(), 0
    while time.monotonic() < start + seconds:
        insert(done)
        done += 1
    return done / (time.monotonic() - start)


def bare_file(folder: Path, seconds: float) -> float:
    """Bare rows in a file that is as durable as a ledger."""
    database = apsw.Connection(str(folder / "bare.db"))
    database.pragma("journal_mode", "wal")
    database.pragma("synchronous", 2)
    database.execute("CREATE TABLE IF NOT EXISTS bare (number INTEGER)")
    rate = committed(lambda number: database.execute("INSERT INTO bare VALUES (?)", (number,)), seconds)
    database.close()
    return rate


def bare_server(url: str, seconds: float) -> float:
    """Bare rows on a server."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bare (number BIGINT)")
        return committed(lambda number: connection.execute("INSERT INTO bare VALUES (%s)", (number,)), seconds)


@contextmanager
def opened(folder: Path, url: str | None) -> Iterator[Ledger]:
    """A ledger with one account."""
    ledger = Ledger.create(folder)
    ledger.open_account(ACCOUNT, Allowance.of(Pure(100)))
    if url is not None:
        ledger.close()
        move(folder, url)
        ledger = Ledger(folder)
    yield ledger
    ledger.close()


def measured(folder: Path, url: str | None, seconds: float, table: Table, wanted: list[Figure]) -> list[str]:
    """All figures of one store, into the table and the list; what is wrong with the ledger afterwards."""
    store = "SQLite" if url is None else "PostgreSQL"
    before = _bare(folder, url, seconds / 2)
    with opened(folder, url) as ledger:
        alone = charge_until(ledger, "alone", 1, seconds)
        together = charge_until(ledger, "together", ASKERS, seconds)
        figures = {"1 thread": alone, f"{ASKERS} threads": together}
        if url is not None:
            each = ASKERS // PROCESSES
            figures[f"{PROCESSES} processes of {each} threads"] = in_processes(folder, PROCESSES, each, seconds)
        bare = (before + _bare(folder, url, seconds / 2)) / 2  # half of it before, half after: the load changes
        for who, found in figures.items():
            table.add_row(store, who, *_shown(found.rate, alone.rate, bare, is_judged=found is not alone))
            if found is not alone:
                wanted.append(_figure(store, who, found.rate, alone.rate))
        return _problems(ledger, folder, sum(found.charges for found in figures.values()))


def _bare(folder: Path, url: str | None, seconds: float) -> float:
    return bare_file(folder, seconds) if url is None else bare_server(url, seconds)


def _shown(rate: float, alone: float, bare: float, *, is_judged: bool) -> tuple[str, ...]:
    met = ("reached" if rate >= LEAST else "missed") if is_judged else ""
    return f"{rate:,.0f}", f"{rate / alone:.1f}×", f"{bare:,.0f}", f"{rate / bare:.2f}×", met


def _figure(store: str, who: str, rate: float, alone: float) -> Figure:
    beside, ratio = f"one asker alone {alone:,.0f}", f"{rate / alone:.1f}×"
    return Figure(
        f"durable charges a second, {store}, {who}", f"{rate:,.0f}", beside, ratio, f"≥ {LEAST}", rate >= LEAST
    )


def _problems(ledger: Ledger, folder: Path, charges: int) -> list[str]:
    records = [entry.body["request"] for entry in ledger.entries() if entry.body["kind"] == "charge"]
    spent = ledger.accounts()[ACCOUNT].spent
    found = list(verify(folder).problems)
    if not len(records) == len(set(records)) == charges:
        found.append(f"{charges} charges were acknowledged, {len(set(records))} of {len(records)} are written down")
    if spent != charges * PRICE.loss:
        found.append(f"{charges} charges were acknowledged, and {spent / PRICE.loss} are spent")
    return found


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    table = Table(title=f"Durable charges a second, {seconds:g} s for each figure")
    for heading in ("ledger", "askers", "charges/s", "to one asker", "bare commits/s", "to them", f"≥ {LEAST}"):
        table.add_column(heading, justify="left" if heading in ("ledger", "askers") else "right")
    with tempfile.TemporaryDirectory() as temporary:
        file, server = Path(temporary) / "file", Path(temporary) / "server"
        file.mkdir()
        server.mkdir()
        wanted: list[Figure] = []
        problems = measured(file, None, seconds, table, wanted)
        problems += on_a_server(server, seconds, table, wanted)
    CONSOLE.print(table)
    said = "; ".join(problems) or "every total is exact, and every chain is sound"
    CONSOLE.print(said)
    write_part("bench-charges", f"{markdown_of(table)}\n\nAfterwards: {said}.", versions([None]), wanted)
    sys.exit(bool(problems))


def on_a_server(folder: Path, seconds: float, table: Table, wanted: list[Figure]) -> list[str]:
    """The same with the ledger on a PostgreSQL server, where there is one."""
    if binaries() is None:
        table.add_row("PostgreSQL", "not measured: there is no server on the path", *[""] * 5)
        return []
    postgres = PostgresServer()
    try:
        postgres.start()
        return measured(folder, postgres.url, seconds, table, wanted)
    finally:
        postgres.remove()


if __name__ == "__main__":
    if sys.argv[1:2] == ["asker"]:
        asker(*sys.argv[2:])
    else:
        main()
