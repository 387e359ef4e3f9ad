"""``discreet ledger``: what was spent, on what, and whether to believe it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from discreet.cli.options import DEFAULT_FOLDER, Folder
from discreet.cli.output import check_folder, console, refusals, say
from discreet.errors import LedgerError

if TYPE_CHECKING:
    from discreet.curator.ledger import Account, Entry

__all__ = ["move", "show", "verify"]


def show(folder: Folder = DEFAULT_FOLDER, last: Annotated[int, typer.Option(min=1, help="How many.")] = 20) -> None:
    """Show the last records of the ledger.

    [dim]Example:[/]  discreet ledger show --last 50
    """
    with refusals():
        from discreet.curator.ledger import Ledger

        check_folder(folder)
        ledger = Ledger(folder)
        try:
            start, accounts = max(ledger.head()[0] - last + 1, 1), ledger.accounts()
            for entry in ledger.entries(start):
                say(_line(entry, accounts))
        except LedgerError:
            raise LedgerError("the ledger must be readable", str(folder), "see discreet ledger verify") from None


def _line(entry: Entry, accounts: Mapping[str, Account]) -> str:
    body = entry.body
    return f"{entry.position:>6}  {body['time']}  {body['kind']:<8} {_words(body, accounts)}"


def _words(body: dict[str, Any], accounts: Mapping[str, Account]) -> str:
    kind = body["kind"]
    if kind == "account":
        return f"opened {body['name']}"
    if kind == "charge" and "sql" in body["note"]:
        return f"{body['note']['price']}  {body['note']['sql']}"
    if kind == "cap":
        return f"{body['name']} may spend {_cap(body, accounts)} in all{_by(body)}"
    if kind == "analyst":
        return f"{body['analyst']} may ask {'' if body['may_ask'] else 'no more '}about {body['table']}{_by(body)}"
    if kind == "publication":
        return f"published {body['name']} with infinite loss, approved by {body['approved_by']}"
    return str(body.get("request", ""))


def _cap(body: dict[str, Any], accounts: Mapping[str, Account]) -> str:
    from discreet.curator.amount import balance

    return balance(accounts[body["name"]].allowance.loss(body["cap"]))


def _by(body: dict[str, Any]) -> str:
    return f", says {body['by']}" if body["by"] else ""


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


def move(
    to: Annotated[str, typer.Option(help="The server: postgresql://USER@HOST/DATABASE.")],
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Move the ledger from its file to a PostgreSQL server, for curators on several hosts; the chain goes on there.

    The members of a service go with it, so nobody may serve the folder meanwhile. A password belongs into the variable
    PGPASSWORD or the server's password file.

    [dim]Example:[/]  discreet ledger move --to postgresql://curator@db.example/discreet
    """
    with refusals():
        from discreet.service.moving import move as moved

        check_folder(folder)
        records = moved(folder, to)
        say(f"{records:,} records are on the server, and the folder's file ledger.server names it.")
