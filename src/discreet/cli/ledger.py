"""``discreet ledger``: what was spent, on what, and whether to believe it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from discreet.cli.options import DEFAULT_FOLDER, Folder
from discreet.cli.output import check_folder, console, refusals, say
from discreet.errors import LedgerError

if TYPE_CHECKING:
    from discreet.curator.ledger import Entry

__all__ = ["show", "verify"]


def show(folder: Folder = DEFAULT_FOLDER, last: Annotated[int, typer.Option(min=1, help="How many.")] = 20) -> None:
    """Show the last records of the ledger.

    [dim]Example:[/]  discreet ledger show --last 50
    """
    with refusals():
        import apsw

        from discreet.curator.ledger import Ledger

        check_folder(folder)
        ledger = Ledger(folder)
        try:
            start = max(ledger.head()[0] - last + 1, 1)
            for entry in ledger.entries(start):
                say(_line(entry))
        except apsw.Error:
            raise LedgerError("the ledger must be readable", str(folder), "see discreet ledger verify") from None


def _line(entry: Entry) -> str:
    body = entry.body
    what = str(body.get("request", ""))
    if body["kind"] == "account":
        what = f"opened {body['name']}"
    elif body["kind"] == "charge" and "sql" in body["note"]:
        what = f"{body['note']['price']}  {body['note']['sql']}"
    return f"{entry.position:>6}  {body['time']}  {body['kind']:<8} {what}"


def verify(folder: Folder = DEFAULT_FOLDER) -> None:
    """Replay the ledger and say whether it can be believed.

    [dim]Example:[/]  discreet ledger verify
    """
    with refusals():
        from discreet.curator.verification import verify as replay

        check_folder(folder)
        found = replay(folder)
        if found.is_sound:
            return say(f"sound: {found.entries} records, head {found.head.hex()[:16]}…")
        for problem in found.problems:
            console.print(f"[red]{escape(problem)}[/]", soft_wrap=True)
        raise typer.Exit(1)
