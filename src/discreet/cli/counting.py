"""A bar that counts what is done, on a terminal, with the name of what is being done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.cli.output import console

__all__ = ["counted"]


@contextmanager
def counted(is_quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Something to tell: a name, how many are done, and how many there are; None where nobody watches."""
    if is_quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*parts, transient=True) as bar:
        task = bar.add_task("")
        yield lambda name, done, total: bar.update(task, description=name, completed=done, total=total)
