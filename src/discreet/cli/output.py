"""How commands speak: one console, and refusals as one line that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from discreet.errors import DiscreetError

__all__ = ["console", "refusals"]

console = Console(highlight=False)
_errors = Console(stderr=True, highlight=False)


@contextmanager
def refusals() -> Iterator[None]:
    """Print a refusal without a traceback and leave with exit code 1."""
    try:
        yield
    except DiscreetError as refusal:
        _errors.print(f"[red]refused[/]  {refusal}", soft_wrap=True, markup=True)
        raise typer.Exit(1) from None
