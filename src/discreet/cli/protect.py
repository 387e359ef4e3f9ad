"""``discreet init`` and ``discreet protect``: from a file to a protected table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.options import DEFAULT_FOLDER, Folder
from discreet.cli.output import refusals, say
from discreet.errors import InvalidValue

__all__ = ["init", "protect"]


def init(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.")],
    name: Annotated[str | None, typer.Option(help="The table's name; the file's by default.")] = None,
) -> None:
    """Write a first policy from the names and types of a file's columns. The values are never read.

    [dim]Example:[/]  discreet init visits.parquet
    """
    with refusals():
        from discreet.catalog.draft import draft
        from discreet.catalog.schema import schema_of

        table = name or file.stem
        schema = schema_of(file)
        target = Path(f"{table}.yaml")
        if target.exists():
            raise InvalidValue("a draft overwrites nothing", str(target), "move it away first, or pass --name")
        target.write_text(draft(table, schema.columns, types_are_stated=schema.types_are_stated), encoding="utf-8")
        say(f"wrote {target}: fill in unit, budget, types, bounds and keys, then:")
        say(f"discreet protect {shlex.join([str(file), str(target)])}")


def protect(
    file: Annotated[
        str,
        typer.Argument(
            help="CSV or Parquet: a file, a folder or a pattern; or a DuckDB file; or a table of the server that --rows"
            " names."
        ),
    ],
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    folder: Folder = DEFAULT_FOLDER,
    rows: Annotated[
        str | None,
        typer.Option(
            help="Where the rows stay, said once for a folder: postgresql://USER@HOST/DATABASE, sc://HOST:PORT for"
            " Spark Connect, or spark. Left out, they are taken into the folder."
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Which table of a DuckDB file to take in.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print the database's own words about a failure, values included.")
    ] = False,
) -> None:
    """Take in a file under a policy; the curator starts in its folder if there is none yet.

    [dim]Examples:[/]  discreet protect visits.parquet visits.yaml
               discreet protect public.visits visits.yaml --rows postgresql://curator@db.example/clinic
    """
    with refusals("nothing was taken in; what was there before is as it was"):
        from discreet.cli.taking_in import source_of, take_in

        take_in(source_of(file, table, delimiter), policy, folder, rows, verbose)
