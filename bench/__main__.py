"""Measure Discreet and its peers in one run: ``make bench``; ``make bench-error`` and ``make bench-large`` take longer.

Peers are installed here and nowhere else, each in an environment of its own under ``.bench`` because their pins
conflict; one that does not install or run is listed with what it said. Times are CPU seconds, the least of several
rounds; machines differ and are noisy, so read the ratios. A missed target is said and is no error. Each command takes
a number: of rows at most (``python -m bench standard 100000``, ``large``), or of repetitions (``error``).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.arrays import ARRAYS, array_figures
from bench.audits import audit_figures
from bench.environments import ENVIRONMENTS, PeerFailed, interpreter, run_side
from bench.errors import REPEATS, error_figures, error_table, measured_errors
from bench.figure import Figure, table_of
from bench.large import COLUMNS, SIZES, growth
from bench.local import PEERS as LOCAL
from bench.local import local_figures
from bench.noise import SIDES, noise_figures
from bench.own import curator_figures, ledger_figures
from bench.page import markdown_of, write_part
from bench.peers import ANSWERERS, versions
from bench.speed import first_figures, speed_figures
from bench.unlisted import REPEATS as UNLISTED_REPEATS
from bench.unlisted import measured_unlisted, unlisted_figures, unlisted_table

CONSOLE = Console(width=None if sys.stdout.isatty() else 180)
ROWS = 10_000_000
MEASURED = {name: packages for name, (packages, _) in (ANSWERERS | LOCAL | SIDES | ARRAYS).items()}
"""Everybody, by name."""


def prepare(names: list[str]) -> None:
    """Install what is not there yet, before the clock runs; who cannot be installed is told and left out."""
    for name in names:
        CONSOLE.print(f"preparing {name} …")
        try:
            interpreter(MEASURED[name])
        except PeerFailed as problem:
            CONSOLE.print(f"[red]{name} {problem}[/]")


def standard(folder: Path, rows: int) -> dict[str, list[Figure]]:
    """What ``make bench`` measures."""
    return {
        "Noise, choices, composition": noise_figures(),
        "Frequencies without a curator: 100 categories, ε = 1, per million people": local_figures(),
        f"The curator beside the plain query: {rows:,} rows, 50 groups, COUNT, SUM, AVG": curator_figures(
            run_side(None, "curator.py", str(rows))
        ),
        "One ledger, 16 processes; everything durable when it returns": ledger_figures(),
        "The same question asked of others: 50 groups, COUNT, SUM, AVG, ε = 1": speed_figures(folder, rows),
        "1,000 rows, unit = person": first_figures(folder),
        "An array of a million numbers from 0 to 100, ε = 1; errors of 20 answers, where a factor of 1.5 is "
        "chance for a single number": array_figures(),
        "Audits of 10 million draws": audit_figures(),
    }


def measure_standard(folder: Path) -> None:
    """``make bench``."""
    prepare(list(MEASURED))
    sections = standard(folder, _number(ROWS))
    published("bench", [table_of(sections)], list(MEASURED), [one for figures in sections.values() for one in figures])


def measure_error(folder: Path) -> None:
    """``make bench-error``."""
    measure_unlisted(folder)
    repeats = _number(REPEATS)
    errors = measured_errors(folder, CONSOLE.print, repeats)
    table = error_table(errors, repeats)
    published("bench-error", [table], list(ANSWERERS), error_figures(errors), "listed groups")


def measure_unlisted(folder: Path) -> None:
    """The part of ``make bench-error`` about groups that nobody listed."""
    prepare(list(ANSWERERS))
    repeats = min(_number(UNLISTED_REPEATS), UNLISTED_REPEATS)
    found = measured_unlisted(folder, CONSOLE.print, repeats)
    table = unlisted_table(found, repeats)
    published("bench-error", [table], list(ANSWERERS), unlisted_figures(found), "unlisted groups")


def measure_large(folder: Path) -> None:
    """``make bench-large``."""
    table = Table(title="Growth: CPU time and most memory, a process for each step")
    for k, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if k else "left")
    for one in growth(folder, _number(SIZES[-1]), CONSOLE.print):
        table.add_row(*one.line())
    published("bench-large", [table], ["Discreet"], [])


def published(command: str, tables: list[Table], measured: list[str], figures: list[Figure], part: str = "") -> None:
    """Show tables, and put them on the page of benchmarks."""
    for table in tables:
        CONSOLE.print(table)
    known = versions([MEASURED[name] for name in measured])
    CONSOLE.print("versions:", ", ".join(known))
    write_part(command, "\n\n".join(map(markdown_of, tables)), known, figures, part)


def _number(usual: int) -> int:
    return int(sys.argv[2]) if len(sys.argv) > 2 else usual


COMMANDS = {"standard": measure_standard, "error": measure_error, "unlisted": measure_unlisted, "large": measure_large}


def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else "standard"
    ENVIRONMENTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ENVIRONMENTS) as name:
        COMMANDS[what](Path(name))


if __name__ == "__main__":
    main()
