"""What it costs to open a ledger and to verify all of it: ``python -m bench.ledger [records at most] [server]``.

Ledgers of ten thousand, a hundred thousand and a million records, half of them charges and half their answers, are
written by the ledger's own code, many in a transaction, with a line of the witness for each answer. Then fresh
processes open each and verify all of it: CPU time, seconds on the clock, and the most memory that was held. A process
that imports the same modules and opens nothing stands beside them. With ``server``, they are on a PostgreSQL server
that is started for it; CPU time and memory are the client's.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.servers.postgres import PostgresServer

from bench.figure import Figure
from bench.page import markdown_of, write_part
from bench.peers import versions
from discreet.curator.ledger.balance import Charge, GivenAnswer, answer_all, charge_all
from discreet.curator.ledger.chain import Receipt
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.move import move
from discreet.curator.ledger.open import OpenedLedger
from discreet.curator.ledger.units import Allowance, LedgerPrice
from discreet.curator.ledger.verify import verify
from discreet.privacy.loss import Pure
from discreet.storage.database import Database
from discreet.storage.postgres import read_server

SIZES = (10_000, 100_000, 1_000_000)
MOST_SECONDS = 60
"""For verifying a million records."""
ACCOUNT = "visits"
PRICE = LedgerPrice(1000)
BATCH = 1000
CONSOLE = Console(width=None if sys.stdout.isatty() else 140, highlight=False)


def grow(ledger: Ledger, records: int) -> None:
    """Charge and answer until the ledger has so many records."""
    while (position := ledger.head()[0]) < records:
        lines = ledger.storage.write(lambda database, start=position: _written(database, start))  # type: ignore[misc]
        with ledger.witness.path.open("ab") as witness:
            witness.write(lines)


def _written(database: Database, start: int) -> bytes:
    charges = [_charge(number) for number in range(start, start + BATCH)]
    charge_all(database, charges)
    answers = [json.dumps({"answer": one.request, "table": "0123456789abcdef" * 16}).encode() for one in charges]
    given = [GivenAnswer(one.request, data, _sha256(data)) for one, data in zip(charges, answers, strict=True)]
    receipts = [one for one in answer_all(database, given) if isinstance(one, Receipt)]
    return b"".join(f"{one.position} {one.head.hex()}\n".encode() for one in receipts)


def _charge(number: int) -> Charge:
    request = f"plan:{_sha256(str(number).encode())}"
    note = {"sql": f"SELECT ward, COUNT(*) FROM visits WHERE age > {number} GROUP BY ward", "analyst": "ann"}
    note |= {"price": "Pure(epsilon=Fraction(1, 10))", "versions": {"visits": "0123456789abcdef"}}  # type: ignore[dict-item]
    record = {"kind": "charge", "request": request, "body": _sha256(request.encode()), "note": note}
    prices = {ACCOUNT: [PRICE.loss, PRICE.delta]}
    return Charge(request, bytes.fromhex(_sha256(request.encode())), {ACCOUNT: PRICE}, record | {"prices": prices})


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def side(what: str, folder: Path) -> None:
    """One process that is measured."""
    start, cpu = time.monotonic(), time.process_time()
    if what == "open":
        OpenedLedger(Ledger(folder))
    if what == "verify":
        assert verify(folder).is_sound
    status = Path("/proc/self/status").read_text(encoding="utf-8")  # what getrusage says holds that of the parent
    memory = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps([time.process_time() - cpu, time.monotonic() - start, memory]))


def measured(what: str, folder: Path) -> list[float]:
    """CPU seconds, seconds on the clock, and MiB at most, of a fresh process."""
    command = [sys.executable, "-m", "bench.ledger", what, str(folder)]
    return list(json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout))


def main(most: int, *, on_server: bool) -> None:
    """Measure, print, and write the page of benchmarks."""
    store = "PostgreSQL" if on_server else "a file"
    table = Table(title=f"A ledger in {store}: opening it, and verifying all of it")
    for heading in ("records", "step", "CPU s", "clock s", "MiB at most"):
        table.add_column(heading, justify="left" if heading == "step" else "right")
    postgres = PostgresServer() if on_server else None
    wanted: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            ledger = started(folder, postgres)
            table.add_row("", "nothing but the imports", *shown(measured("nothing", folder)))
            for records in (size for size in SIZES if size <= most):
                grow(ledger, records)
                wanted += figures(ledger, folder, records, table, store)
            ledger.close()
        finally:
            if postgres is not None:
                postgres.remove()
    CONSOLE.print(table)
    write_part("bench-ledger", markdown_of(table), versions([None]), wanted, store)


def started(folder: Path, postgres: PostgresServer | None) -> Ledger:
    """A ledger with one account."""
    ledger = Ledger.create(folder)
    ledger.open_account(ACCOUNT, Allowance.of(Pure(10_000)))
    if postgres is not None:
        postgres.start()
        ledger.close()
        move(folder, postgres.url)
        ledger = Ledger(folder)
        assert read_server(folder) is not None
    return ledger


def figures(ledger: Ledger, folder: Path, records: int, table: Table, store: str) -> list[Figure]:
    """The steps at one size; the first opening of a ledger that has grown much verifies what is new."""
    first = measured("open", folder)
    verified = measured("verify", folder)
    opened = measured("open", folder)
    for step, found in (("opened after it grew", first), ("verified", verified), ("opened", opened)):
        table.add_row(f"{ledger.head()[0]:,}", step, *shown(found))
    if records < SIZES[-1]:
        return []
    name = f"verifying a million records in {store}"
    return [Figure(name, f"{verified[0]:.1f} s", "", "", f"≤ {MOST_SECONDS} s", verified[0] <= MOST_SECONDS)]


def shown(found: list[float]) -> list[str]:
    """Figures of a process as text."""
    return [f"{found[0]:.2f}", f"{found[1]:.2f}", f"{found[2]:,.0f}"]


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("nothing", "open", "verify"):
        side(sys.argv[1], Path(sys.argv[2]))
    else:
        main(int((sys.argv[1:] or [SIZES[-1]])[0]), on_server="server" in sys.argv[2:])
