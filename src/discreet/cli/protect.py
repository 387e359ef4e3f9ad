"""``discreet init`` and ``discreet protect``: from a file to a protected table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import Progress

from discreet.catalog.draft import draft
from discreet.catalog.schema import schema_of
from discreet.cli.output import console, refusals
from discreet.curator.curator import Curator
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
        table = name or file.stem
        schema = schema_of(file)
        target = Path(f"{table}.yaml")
        if target.exists():
            raise InvalidValue("a draft overwrites nothing", str(target), "move it away first, or pass --name")
        target.write_text(draft(table, schema.columns, types_are_stated=schema.types_are_stated))
        console.print(
            f"wrote {escape(str(target))}: fill in unit, budget, types, bounds and keys, then:", soft_wrap=True
        )
        console.print(escape(f"discreet protect {shlex.join([str(file), str(target)])}"), soft_wrap=True)


def protect(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet: a file, a folder or a pattern.")],
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    folder: Annotated[Path, typer.Option("--curator", "-c", help="The curator's folder.")] = Path("hospital"),
) -> None:
    """Take in a file under a policy; the curator starts in its folder if there is none yet.

    [dim]Example:[/]  discreet protect visits.parquet visits.yaml -c hospital
    """
    with refusals(), Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("taking in", total=1.0)
        table = Curator(folder).protect(str(file), policy, lambda share: bar.update(task, completed=share))
    console.print(f"{escape(table.name)} is protected. Next: discreet explain, discreet ask", soft_wrap=True)
