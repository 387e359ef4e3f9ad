"""How commands speak: one console, and refusals as one line that a person can act on.

It has the options that several commands share, explanations and answers in the terminal, a bar that counts what is
done, and files that are there as a whole or not at all. Modules of this package import what is heavy inside their
functions, so that ``discreet --help`` answers at once.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

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
    from discreet.curator.answers.answer import Answer
    from discreet.curator.curator import Curator, Explanation
    from discreet.curator.series.explanation import SeriesExplanation

__all__ = [
    "BAD_INPUT",
    "DEFAULT_FOLDER",
    "Analyst",
    "AsJson",
    "Folder",
    "Sql",
    "SqlFile",
    "check_folder",
    "console",
    "counted",
    "emit",
    "opened",
    "refusals",
    "refuse_overwriting",
    "say",
    "show_answer",
    "show_explanation",
    "sql_of",
    "whisper",
    "write_texts",
    "write_together",
]


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
    from discreet.curator.advice.histogram import Offers
    from discreet.curator.curator import Curator

    check_folder(folder)
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it warns about is refused in words of our own
    return Curator(folder, offers=Offers.COMMANDS)


def refuse_overwriting(files: Mapping[str, Path | None], source: Path | None, force: bool) -> None:
    """Refuse files that are there already, that are the source where there is one, or that share a name."""
    wanted = {name: file for name, file in files.items() if file is not None}
    seen: dict[Path, str] = {}
    for name, file in wanted.items():
        real = file.resolve()
        if source is not None and real == source.resolve():
            raise InvalidValue("the table itself must not be overwritten", str(file), f"pass another {name}")
        if real in seen:
            raise InvalidValue("every file must have a name of its own", str(file), f"it is {seen[real]} and {name}")
        if file.exists() and not force:
            raise InvalidValue("nothing is overwritten unasked", str(file), "pass --force, or another name")
        if not file.parent.is_dir():
            raise InvalidValue("the folder of a file must be there", str(file.parent), "make it first")
        seen[real] = name


def write_together(files: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write all files, each by its function, and only then give them their names."""
    with _parts(files) as parts:
        for file, write in files.items():
            write(parts[file])
        for file, part in parts.items():
            os.replace(part, file)


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write all texts, each to its file, or none of them."""
    write_together({file: partial(_write_text, text) for file, text in texts.items()})


def _write_text(text: str, part: Path) -> None:
    part.write_text(text, encoding="utf-8")


@contextmanager
def _parts(files: Mapping[Path, object]) -> Iterator[dict[Path, Path]]:
    """A name beside every file, with its ending; nothing of that name is left behind."""
    parts = {file: file.with_name(f".{file.stem}.part{file.suffix}") for file in files}
    try:
        yield parts
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


DEFAULT_FOLDER = Path("curator")
_STANDARD_INPUT = "-"

Folder = Annotated[
    Path, typer.Option("--curator", "-c", envvar="DISCREET_CURATOR", help="The curator's folder.", show_default=True)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Sql = Annotated[str | None, typer.Argument(help="A question in SQL; - reads it from standard input.")]
SqlFile = Annotated[Path | None, typer.Option("--file", "-f", help="Read the question from this file.")]
Analyst = Annotated[str | None, typer.Option(help="The name of the analyst who asks.")]


def sql_of(sql: str | None, file: Path | None) -> str:
    """The question: as it was typed, from a file, or from standard input."""
    if (sql is None) == (file is None):
        given = "neither" if sql is None else "both"
        raise InvalidValue("a question is typed or in a file", f"<{given}>", "pass it, or -f question.sql, or -")
    if file is not None:
        text = file.read_bytes().decode("utf-8", "replace")
    else:
        text = sys.stdin.read() if sql == _STANDARD_INPUT else str(sql)
    return text.strip().removesuffix(";")


def show_explanation(found: Explanation | SeriesExplanation) -> None:
    """Print what a question would cost and how good its answer would be."""
    for name, words in found.lines():
        style = "yellow" if (name, words) == ("afforded", "no") else None
        console.print(f"{name:<8} {words}", style=style, markup=False, soft_wrap=True)
    for note in found.notes:
        whisper(note)


def show_answer(answer: Answer) -> None:
    """Print an answer with its error bars, notes and price."""
    grid = Grid(box=None, pad_edge=False)
    for name in answer.table.column_names:
        grid.add_column(escape(name), justify="right")
    for row in range(answer.table.num_rows):
        grid.add_row(*(escape(answer.cell(name, row)) for name in answer.table.column_names))
    console.print(grid)
    for line in (*answer.notes, answer.receipt()):
        if line:
            whisper(line)


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
