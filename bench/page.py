"""The page of benchmarks: every measurement writes its own part of it, with the machine and the versions.

At the top stands what was wanted beside what was measured. A command replaces its own lines there and leaves those of
the others, so the page itself is the only memory.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table
from rich.text import Text

from bench.figure import Figure
from bench.sides.asking import tree_cpu

__all__ = ["PAGE", "as_markdown", "markdown_of", "write_part"]

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "benchmarks.md"
_HEAD = """# Benchmarks

What was measured last, as it came out. Each part was written by the command that it names, in one run; run it again
to compare. Times are CPU time where nothing else is said. Machines differ and are noisy: read the ratios.
[Figures](../explanation/figures.md) says how questions are put, and where others are better.
"""
_WANTED = "## Wanted and measured"
_COLUMNS = ("measure", "wanted", "measured", "", "command")
_MISSED, _REACHED = "**missed**", "reached"
_ORDER = (
    *("bench", "bench-error", "bench-large", "bench-engines"),
    *("bench-charges", "bench-ledger", "bench-periods", "bench-service"),
)


def as_markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column is to the left, the others are to the right."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown_of(table: Table) -> str:
    """A printed table, without its colours; its title goes first."""
    cells = [[_plain(str(cell)) for cell in column.cells] for column in table.columns]
    text = as_markdown([_plain(str(column.header)) for column in table.columns], list(zip(*cells, strict=True)))
    return "\n\n".join(str(part) for part in (table.title, text, table.caption) if part)


def write_part(
    command: str, text: str, versions: Sequence[str] = (), figures: Sequence[Figure] = (), part: str = ""
) -> None:
    """Put what a make target measured in its place on the page; ``part`` tells several runs of one target apart."""
    name = f"{command} ({part})" if part else command
    parts = _parts()
    circumstances = [f"`{_typed()}`", f"{datetime.now(UTC):%d %B %Y}", _machine(), *versions, _weather()]
    parts[name] = f"## make {name}\n\n{text}\n\n*{', '.join(circumstances)}.*"
    wanted = [row for row in _wanted() if row[-1] != f"`make {name}`"] + [
        [_plain(one.measure), one.target, _measured(one), _REACHED if one.met else _MISSED, f"`make {name}`"]
        for one in figures
        if one.met is not None
    ]
    found = [parts[name] for name in sorted(parts, key=_place)]
    PAGE.write_text("\n\n".join([_HEAD.strip(), *_summary(wanted), *found]) + "\n", encoding="utf-8")


def _summary(wanted: list[list[str]]) -> list[str]:
    if not wanted:
        return []
    missed = [row for row in wanted if row[3] == _MISSED]
    reached = [row for row in wanted if row[3] != _MISSED]
    said = f"{len(reached)} of {len(wanted)} targets are reached; what was missed stands first."
    ordered = [row for rows in (missed, reached) for row in sorted(rows, key=lambda row: _place(row[4][6:-1]))]
    return [_WANTED, said, as_markdown(_COLUMNS, ordered)]


def _measured(figure: Figure) -> str:
    beside = f" beside {figure.beside}" if figure.beside else ""
    return f"{figure.ours}{beside}" + (f": {figure.ratio}" if figure.ratio else "")


def _place(name: str) -> tuple[int, str]:
    target = name.partition(" ")[0]
    return (_ORDER.index(target) if target in _ORDER else len(_ORDER)), name


def _parts() -> dict[str, str]:
    """What stands on the page now, by the command that wrote it."""
    pieces = re.split(r"^(?=## make )", _text(), flags=re.MULTILINE)[1:]
    return {piece.splitlines()[0].removeprefix("## make ").strip(): piece.strip() for piece in pieces}


def _wanted() -> list[list[str]]:
    """The lines of the table at the top."""
    top = _text().partition("\n## make ")[0].partition(_WANTED)[2]
    lines = [line for line in top.splitlines() if line.startswith("| ")][2:]
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines]


def _text() -> str:
    return PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""


def _plain(cell: str) -> str:
    return Text.from_markup(cell).plain


def _typed() -> str:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    module = spec.name.removesuffix(".__main__") if spec else "bench"
    return " ".join(["python -m", module, *sys.argv[1:]])


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    processor = f"{len(models)} × {models[0]}" if models else platform.machine()
    return f"{processor}, {platform.system()} {platform.release().split('-')[0]}, Python {platform.python_version()}"


def _ticks() -> tuple[float, float, float]:
    """Of all cores since the start of the machine: time at work, all time; and the time of this run, in seconds."""
    times = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    hertz = os.sysconf("SC_CLK_TCK")
    idle = times[3] + times[4]
    return (sum(times) - idle) / hertz, sum(times) / hertz, tree_cpu()


def _weather() -> str:
    """How much of the machine went elsewhere since this module was loaded."""
    if _BEFORE is None:
        return "on a machine that does not say how busy it is"
    worked, whole, own = (now - then for now, then in zip(_ticks(), _BEFORE, strict=True))
    others = min(max(worked - own, 0.0) / max(whole, 1e-9), 1.0)
    return f"while other work took {others:.0%} of the cores"


_BEFORE = _ticks() if Path("/proc/stat").exists() else None
