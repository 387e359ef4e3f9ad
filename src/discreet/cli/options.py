"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["DEFAULT_FOLDER", "Analyst", "Folder", "Sql"]

DEFAULT_FOLDER = Path("curator")

Folder = Annotated[
    Path, typer.Option("--curator", "-c", envvar="DISCREET_CURATOR", help="The curator's folder.", show_default=True)
]
Sql = Annotated[str, typer.Argument(help="A question in SQL.")]
Analyst = Annotated[str | None, typer.Option(help="Who asks.")]
