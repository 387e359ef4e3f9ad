"""How commands speak: one console, and refusals as one line that a person can act on.

The files of this room import what is heavy inside their functions, so that ``discreet --help`` answers at once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.markup import escape

from discreet.errors import (
    DiscreetError,
    InvalidInput,
    InvalidValue,
    NoProvedPath,
    NotFound,
    OutOfReach,
    QueryRefused,
    RequestConflict,
    UnreadableSource,
)

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = ["BAD_INPUT", "check_folder", "console", "emit", "opened", "refusals", "say", "whisper"]

console = Console(highlight=False)
_errors = Console(stderr=True, highlight=False)
FAILED, BAD_INPUT = 1, 2
"""The exit codes of what went wrong, or was found wrong, and of what was asked wrongly."""
_ASKED_WRONGLY = (InvalidInput, QueryRefused, OutOfReach, NoProvedPath, NotFound, RequestConflict, UnreadableSource)
_NAMED_WRONGLY = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)
_INTERRUPTED = 130
"""The exit code that shells give to a command that was stopped with Ctrl-C."""


@contextmanager
def refusals(stopped: str = "nothing was changed", failed: int = FAILED) -> Iterator[None]:
    """Print a refusal without a traceback and leave with its exit code; on Ctrl-C say what it means, and leave too.

    Bad input has the code 2 everywhere. Other failures have ``failed``, which differs where 1 says something else.
    """
    code = failed
    try:
        yield
    except DiscreetError as refusal:
        reason = f"[red]refused[/]  {escape(str(refusal))}"
        code = BAD_INPUT if isinstance(refusal, _ASKED_WRONGLY) else failed
    except OSError as fault:
        code = BAD_INPUT if isinstance(fault, _NAMED_WRONGLY) else failed
        place = fault.filename or "a file"
        reason = f"[red]refused[/]  {escape(f'{place}: {fault.strerror or type(fault).__name__}')}"
    except KeyboardInterrupt:
        reason, code = f"[yellow]stopped[/]  {escape(stopped)}", _INTERRUPTED
    else:
        return
    _errors.print(reason, soft_wrap=True)
    raise typer.Exit(code)


def emit(facts: Any) -> None:
    """Print facts as JSON, for programs."""
    typer.echo(json.dumps(facts, ensure_ascii=False, indent=2, default=str))


def say(text: str) -> None:
    """Print one line as it is, whatever it holds."""
    console.print(escape(text), soft_wrap=True)


def whisper(text: str) -> None:
    """Print one line that may be skipped."""
    console.print(f"[dim]{escape(text)}[/]", soft_wrap=True)


def check_folder(folder: Path) -> None:
    """Refuse a folder without a curator, so that a mistyped name does not start an empty one."""
    if not any((folder / name).exists() for name in ("ledger.db", "ledger.witness", "ledger.server")):
        remedy = "name its folder with -c or DISCREET_CURATOR, or start one with discreet protect"
        raise InvalidValue("there must be a curator in the folder", str(folder), remedy)


def opened(folder: Path) -> Curator:
    """The curator that is in ``folder`` already."""
    from discreet.curator.curator import Curator
    from discreet.curator.suggestions import Offers

    check_folder(folder)
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it warns about is refused in words of our own
    return Curator(folder, offers=Offers.COMMANDS)
