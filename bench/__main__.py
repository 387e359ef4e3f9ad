"""Measure Discreet and its peers in one run: ``make bench``; ``make bench-error`` and ``make bench-large`` take longer.

Peers are installed here and nowhere else, each in an environment of its own under ``.bench`` because their pins
conflict. Times are CPU seconds, the least of several rounds; machines differ and are noisy, so read the ratios.
A missed target is said and is no error.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.audits import audit_figures
from bench.environments import ENVIRONMENTS, interpreter, run_side
from bench.errors import error_table, measured_errors
from bench.figure import Figure, table_of
from bench.large import COLUMNS, SIZES, growth
from bench.local import local_figures
from bench.noise import SIDES, noise_figures
from bench.own import curator_figures, ledger_figures
from bench.page import as_markdown, write_part
from bench.peers import ANSWERERS, versions
from bench.speed import first_figures, speed_figures

PEERS = [side for side in ANSWERERS if side != "Discreet"]
CONSOLE = Console(width=None if sys.stdout.isatty() else 180)


def prepare() -> None:
    """Install what is not there yet, before the clock runs."""
    for name, (packages, _) in (SIDES | ANSWERERS).items():
        CONSOLE.print(f"preparing {name} …")
        interpreter(packages)


def standard(folder: Path) -> dict[str, list[Figure]]:
    """What ``make bench`` measures."""
    return {
        "Noise, choices, composition": noise_figures(),
        "Frequencies without a curator: 100 categories, ε = 1, per million people": local_figures(),
        "The curator beside the plain query: 10 million rows, 50 groups, COUNT, SUM, AVG": curator_figures(
            run_side(None, "curator.py")
        ),
        "One ledger, 16 processes; everything durable when it returns": ledger_figures(),
        "The same question asked of others: 50 groups, COUNT, SUM, AVG, ε = 1": speed_figures(folder),
        "1,000 rows, unit = person": first_figures(folder, PEERS),
        "Audits of 10 million draws": audit_figures(),
    }


def all_errors(folder: Path) -> Table:
    """What ``make bench-error`` measures."""
    sides = list(ANSWERERS)
    return error_table(measured_errors(folder, sides), sides)


def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else "standard"
    ENVIRONMENTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ENVIRONMENTS) as name:
        folder = Path(name)
        if what == "large":
            return large(folder)
        prepare()
        tables = {"error": all_errors, "standard": lambda place: table_of(standard(place))}
        printed(f"bench-{what}" if what == "error" else "bench", tables[what](folder))
    return None


def large(folder: Path) -> None:
    """What ``make bench-large`` measures."""
    largest = int(sys.argv[2]) if len(sys.argv) > 2 else SIZES[-1]
    table = Table(title="Growth: CPU time and most memory, a process for each step")
    for k, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if k else "left")
    for one in growth(folder, largest, CONSOLE.print):
        table.add_row(*one.line())
    printed("bench-large", table)


def printed(command: str, table: Table) -> None:
    """Show a table, and put it on the page of benchmarks."""
    CONSOLE.print(table)
    known = [] if command == "bench-large" else versions()
    CONSOLE.print("versions:", ", ".join(known))
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    rows = [[Text.from_markup(cell).plain for cell in row] for row in zip(*cells, strict=True)]
    write_part(command, as_markdown([str(column.header) for column in table.columns], rows), known)


if __name__ == "__main__":
    main()
