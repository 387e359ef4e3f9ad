"""How commands speak: one console, and refusals as one line that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape

from discreet.curator.curator import Curator
from discreet.errors import DiscreetError, InvalidValue
from discreet.privacy.loss import Loss, Pure, ZeroConcentrated, shown

__all__ = ["amount", "check_folder", "console", "opened", "refusals"]

console = Console(highlight=False)
_errors = Console(stderr=True, highlight=False)


@contextmanager
def refusals() -> Iterator[None]:
    """Print a refusal without a traceback and leave with exit code 1."""
    try:
        yield
    except DiscreetError as refusal:
        reason = str(refusal)
    except OSError as fault:
        reason = f"{fault.filename or 'a file'}: {fault.strerror or type(fault).__name__}"
    else:
        return
    _errors.print(f"[red]refused[/]  {escape(reason)}", soft_wrap=True)
    raise typer.Exit(1)


def check_folder(folder: Path) -> None:
    """Refuse a folder without a curator, so that a mistyped name does not start an empty one."""
    if not any((folder / name).exists() for name in ("ledger.db", "ledger.witness")):
        raise InvalidValue(
            "there must be a curator in the folder",
            str(folder),
            "name its folder with -c, or start one with discreet protect",
        )


def opened(folder: Path) -> Curator:
    """The curator that is in ``folder`` already."""
    check_folder(folder)
    return Curator(folder)


def amount(loss: Loss) -> str:
    """A price or a balance in its own unit: ε 0.5, or ρ 0.006 for budgets with a δ."""
    if isinstance(loss, Pure):
        return f"ε {shown(loss.epsilon)}"
    return f"ρ {shown(loss.rho)}" if isinstance(loss, ZeroConcentrated) else repr(loss)
