"""``discreet budget``, ``discreet ledger`` and ``discreet certificate``: what was spent, and whether to believe it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.output import amount, check_folder, console, opened, refusals
from discreet.curator.certificate import is_genuine
from discreet.curator.ledger import Entry, Ledger
from discreet.curator.verification import verify

__all__ = ["budget", "certificate", "show", "verify_ledger"]

Folder = Annotated[Path, typer.Option("--curator", "-c", help="The curator's folder.")]


def budget(folder: Folder = Path("hospital")) -> None:
    """Show what was granted, spent and left.

    [dim]Example:[/]  discreet budget -c hospital
    """
    with refusals():
        grid = Grid(box=None, pad_edge=False)
        for column in ("account", "granted", "spent", "left"):
            grid.add_column(column, justify="left" if column == "account" else "right")
        for name, amounts in opened(folder).budget().items():
            grid.add_row(escape(name), *(amount(amounts[key]) for key in ("cap", "spent", "left")))
        console.print(grid)


def show(folder: Folder = Path("hospital"), last: Annotated[int, typer.Option(min=1, help="How many.")] = 20) -> None:
    """Show the last records of the ledger.

    [dim]Example:[/]  discreet ledger show -c hospital
    """
    with refusals():
        check_folder(folder)
        ledger = Ledger(folder)
        start = max(ledger.head()[0] - last + 1, 1)
        for entry in ledger.entries(start):
            console.print(escape(_line(entry)), soft_wrap=True)


def _line(entry: Entry) -> str:
    body = entry.body
    what = str(body.get("request", ""))
    if body["kind"] == "account":
        what = f"opened {body['name']}"
    elif body["kind"] == "charge" and "sql" in body["note"]:
        what = f"{body['note']['price']}  {body['note']['sql']}"
    return f"{entry.position:>6}  {body['time']}  {body['kind']:<8} {what}"


def verify_ledger(folder: Folder = Path("hospital")) -> None:
    """Replay the ledger and say whether it can be believed.

    [dim]Example:[/]  discreet ledger verify -c hospital
    """
    with refusals():
        check_folder(folder)
    found = verify(folder)
    if found.is_sound:
        console.print(f"sound: {found.entries} records, head {found.head.hex()[:16]}…")
        return
    for problem in found.problems:
        console.print(f"[red]{escape(problem)}[/]", soft_wrap=True)
    raise typer.Exit(1)


def certificate(
    file: Annotated[Path, typer.Argument(help="A certificate, as JSON.")],
    public_key: Annotated[str | None, typer.Option(help="The curator's public key, to insist on it.")] = None,
) -> None:
    """Check a certificate without the data.

    [dim]Example:[/]  discreet certificate answer.json
    """
    try:
        paper = json.loads(file.read_text())
    except OSError as fault:
        console.print(f"[red]refused[/]  {escape(str(file))}: {fault.strerror}", soft_wrap=True)
        raise typer.Exit(1) from None
    except ValueError:
        console.print("[red]refused[/]  a certificate is a JSON file")
        raise typer.Exit(1) from None
    if not is_genuine(paper, public_key):
        console.print("[red]not genuine[/]: the signature does not fit what it says")
        raise typer.Exit(1)
    console.print(escape(f"genuine: {paper.get('loss')} for {paper.get('question')}"), soft_wrap=True)
