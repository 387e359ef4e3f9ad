"""The page of benchmarks: every measurement writes its own part of it, with the machine and the versions."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["PAGE", "as_markdown", "write_part"]

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "benchmarks.md"
_HEAD = """# Benchmarks

What was measured last, as it came out. Each part was written by the command that it names, in one run; run it again
to compare. Times are CPU time where nothing else is said. Machines differ and are noisy: read the ratios.
[Figures](../explanation/figures.md) says how questions are put, and where others are better.
"""
_ORDER = ("bench", "bench-large", "bench-error", "bench-charges", "bench-engines", "bench-service")


def as_markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column is to the left, the others are to the right."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_part(command: str, text: str, versions: Sequence[str] = ()) -> None:
    """Put what a command measured in its place on the page."""
    parts = _parts()
    said = ", ".join(
        [f"`{' '.join(['python -m bench', *sys.argv[1:]])}`", f"{datetime.now(UTC):%d %B %Y}", _machine(), *versions]
    )
    parts[command] = f"## make {command}\n\n{text}\n\n*{said}.*"
    found = [parts[name] for name in sorted(parts, key=lambda name: (*_ORDER, name).index(name))]
    PAGE.write_text("\n\n".join([_HEAD.strip(), *found]) + "\n", encoding="utf-8")


def _parts() -> dict[str, str]:
    """What stands on the page now, by the command that wrote it."""
    if not PAGE.exists():
        return {}
    pieces = re.split(r"^(?=## make )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {piece.splitlines()[0].removeprefix("## make ").strip(): piece.strip() for piece in pieces}


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    processor = f"{len(models)} × {models[0]}" if models else platform.machine()
    return f"{processor}, {platform.system()} {platform.release().split('-')[0]}, Python {platform.python_version()}"
