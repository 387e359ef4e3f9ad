"""``discreet init`` and ``discreet protect``: from a file to a protected table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import DEFAULT_FOLDER, AsJson, Folder, emit, refusals, say
from discreet.errors import InvalidValue

__all__ = ["init", "protect"]


def init(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.")],
    name: Annotated[str | None, typer.Option(help="The table's name; the file's by default.")] = None,
    unit: Annotated[str | None, typer.Option(help="The column that names the person, or row.")] = None,
    budget: Annotated[str | None, typer.Option(help="The ε that everybody together may spend.")] = None,
    sample: Annotated[
        Path | None,
        typer.Option(help="A file of the same shape that is public or made up: types are guessed from its values."),
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")] = None,
    encoding: Annotated[str, typer.Option(help="How a CSV file is encoded, such as latin-1 or cp1252.")] = "utf-8",
    as_json: AsJson = False,
) -> None:
    """Write a first policy from the names and types of a file's columns. The values are never read.

    In a terminal it asks for the unit and the budget, and whether to take in the file. A CSV file states no types;
    --sample guesses them from another file, and whoever passes it says that everybody may see that file.

    [dim]Example:[/]  discreet init visits.parquet
    [dim]Example:[/]  discreet init visits.csv --sample made-up.csv --unit patient_id --budget 3
    """
    with refusals():
        from discreet.cli.draft import draft_policy, taken_in_now

        target = Path(f"{name or file.stem}.yaml")
        if target.exists():
            raise InvalidValue("a draft overwrites nothing", str(target), "move it away first, or pass --name")
        made = draft_policy(file, name, unit, budget, sample, delimiter, encoding, quiet=as_json)
        target.write_text(made.text, encoding="utf-8")
        if as_json:
            return emit({"policy": str(target), "blank": made.blank, "unclear": made.unclear})
        for words in made.words:
            say(words)
        todo = f"fill in {', '.join([*made.blank, 'types, bounds and keys'])}"
        say(
            f"wrote {target}: {todo}, then:"
            if made.blank
            else f"wrote {target}; add bounds and keys for more than counts"
        )
        say(f"discreet protect {shlex.join([str(file), str(target)])}")
        if not made.blank and made.was_asked:
            taken_in_now(file, target)
        return None


def protect(
    file: Annotated[
        str,
        typer.Argument(
            help="CSV, Parquet or Excel: a file, a folder or a pattern; or a DuckDB file; or a table of the server"
            " that --rows names."
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
    as_json: AsJson = False,
) -> None:
    """Take in a file under a policy; the curator starts in its folder if there is none yet.

    [dim]Examples:[/]  discreet protect visits.parquet visits.yaml
               discreet protect public.visits visits.yaml --rows postgresql://curator@db.example/clinic
    """
    with refusals("nothing was taken in; what was there before is as it was"):
        from discreet.cli.ingest import source_of, take_in

        take_in(source_of(file, table, delimiter), policy, folder, rows, verbose=verbose, as_json=as_json)
