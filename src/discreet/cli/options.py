"""Options that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.errors import InvalidValue

__all__ = ["DEFAULT_FOLDER", "Analyst", "AsJson", "Folder", "Sql", "SqlFile", "sql_of"]

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
