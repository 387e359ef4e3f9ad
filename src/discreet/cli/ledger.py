"""``discreet budget`` and ``discreet ledger``: what was granted, spent and left, on what, and whether to believe it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from discreet.catalog.budget import Budget
from discreet.cli.output import (
    DEFAULT_FOLDER,
    AsJson,
    Folder,
    check_folder,
    console,
    emit,
    opened,
    refusals,
    say,
    whisper,
)
from discreet.errors import InvalidValue, LedgerError

if TYPE_CHECKING:
    from discreet.curator.ledger.ledger import Account, Entry
    from discreet.curator.ledger.witness_repair import WitnessRepair

if TYPE_CHECKING:
    from discreet.curator.balances import Balances

__all__ = [
    "budget",
    "lift",
    "move",
    "repair",
    "rotate_key",
    "show",
    "suspensions",
    "verify",
]


def show(
    folder: Folder = DEFAULT_FOLDER,
    last: Annotated[int, typer.Option(min=1, help="How many to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the last records of the ledger.

    [dim]Example:[/]  discreet ledger show --last 50
    """
    with refusals():
        from discreet.curator.ledger.ledger import Ledger

        check_folder(folder)
        ledger = Ledger(folder)
        try:
            start, accounts = max(ledger.head()[0] - last + 1, 1), ledger.accounts()
            entries = list(ledger.entries(start))
            if as_json:
                return emit([{"position": one.position, "hash": one.hash.hex(), **one.body} for one in entries])
            for entry in entries:
                say(_line(entry, accounts))
            return None
        except LedgerError:
            raise LedgerError("the ledger must be readable", str(folder), "see discreet ledger verify") from None


def _line(entry: Entry, accounts: Mapping[str, Account]) -> str:
    body = entry.body
    return f"{entry.position:>6}  {body['time']}  {body['kind']:<8} {_words(body, accounts)}"


def _words(body: dict[str, Any], accounts: Mapping[str, Account]) -> str:
    kind = body["kind"]
    if kind == "account":
        return f"opened {body['name']}"
    if kind == "charge" and ("sql" in body["note"] or "series" in body["note"]):
        return _charged(body["note"])
    if kind == "cap":
        return f"{body['name']} may spend {_cap(body, accounts)} in all{_by(body)}"
    if kind == "analyst":
        return f"{body['analyst']} may ask {'' if body['may_ask'] else 'no more '}about {body['table']}{_by(body)}"
    if kind == "repair":
        return f"mended lines {', '.join(map(str, body['lines']))} of {body['what']}{_by(body)}"
    if kind == "key":
        return f"the key {body['fingerprint'][:16]}… signs certificates from here on{_by(body)}"
    if kind == "publication":
        return f"published {body['name']} with infinite loss, approved by {body['approved_by']}"
    from discreet.curator.ledger.maintenance import upkeep_words
    from discreet.curator.suspensions import ending_words

    return ending_words(body) or upkeep_words(body) or str(body.get("request", ""))


def _charged(note: dict[str, Any]) -> str:
    """A question; or a series, one of its periods, or its end."""
    if "series" not in note:
        return f"{note['price']}  {note['sql']}"
    if "sql" not in note:
        return f"series {note['series']}: {'stopped' if note.get('stop') else note['period']}"
    return f"{note['price']}  series {note['series']}, {note['periods']} periods: {note['sql']}"


def _cap(body: dict[str, Any], accounts: Mapping[str, Account]) -> str:
    from discreet.curator.ledger.units import balance

    return balance(accounts[body["name"]].allowance.loss(body["cap"]))


def _by(body: dict[str, Any]) -> str:
    return f", says {body['by']}" if body["by"] else ""


def verify(folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """Replay the ledger and say whether it is sound.

    [dim]Example:[/]  discreet ledger verify
    """
    with refusals():
        from discreet.curator.ledger.verify import verify as verify_ledger

        check_folder(folder)
        found = verify_ledger(folder)
        if as_json:
            facts = {"sound": found.is_sound, "records": found.entries, "head": found.head.hex()}
            emit({**facts, "problems": list(found.problems)})
        elif found.is_sound:
            say(f"sound: {found.entries} records, head {found.head.hex()[:16]}…")
        for problem in () if as_json else found.problems:
            console.print(f"[red]{escape(problem)}[/]", soft_wrap=True)
        if not found.is_sound:
            raise typer.Exit(1)


def repair(folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """Repair a witness whose lines a full disk left broken; it says what it did.

    [dim]Example:[/]  discreet ledger repair
    """
    with refusals():
        from discreet.curator.ledger.witness_repair import repair_witness

        check_folder(folder)
        found = repair_witness(folder)
        if as_json:
            emit({"record": found.record, "mended": found.mended, "left": found.left, "kept": found.kept})
        else:
            _tell_repair(found)
        if found.left:
            raise typer.Exit(1)


def _tell_repair(found: WitnessRepair) -> None:
    if found.record is not None:
        say(f"mended lines {', '.join(map(str, found.mended))} of the witness; record {found.record}")
        say(f"the file as it was: {found.kept}")
    for line in found.left:
        console.print(f"[red]line {line} is damaged and attests nothing that the ledger has; it stays[/]")
    if found.record is None and not found.left:
        say("nothing to mend")


def rotate_key(folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """Begin to sign certificates with a new key; those that the old key signed stay genuine.

    The ledger records the new key and keeps the public half of the old one. Hand the new public key to those who check
    certificates. Somebody who has a copy of the old key can still sign with it, so hold old certificates against the
    ledger with discreet certificate verify --curator.

    [dim]Example:[/]  discreet ledger rotate-key
    """
    with refusals():
        from discreet.curator.ledger.signing_keys import rotate_key as rotate_signing_key

        check_folder(folder)
        key = rotate_signing_key(folder)
        if as_json:
            return emit({"record": key.position, "public_key": key.public_key.hex()})
        return say(f"record {key.position}: a new key signs from here on; its public half is {key.public_key.hex()}")


def suspensions(
    folder: Folder = DEFAULT_FOLDER,
    every: Annotated[bool, typer.Option("--all", help="Also those that were lifted.")] = False,
    as_json: AsJson = False,
) -> None:
    """List who cannot ask about which tables, because a question of theirs failed.

    Why it failed stands in owner.log, in the curator's folder.

    [dim]Example:[/]  discreet ledger suspensions --curator hospital
    [dim]Example:[/]  discreet ledger suspensions --all
    """
    with refusals():
        from discreet.curator.ledger.ledger import Ledger
        from discreet.curator.suspensions import suspensions_in

        check_folder(folder)
        found = suspensions_in(Ledger(folder), lifted=every)
        if as_json:
            return emit([asdict(one) for one in found])
        for one in found:
            who, at = one.analyst or "whoever names no analyst", ", ".join(one.tables)
            end = f"; lifted by record {one.lifted}: {one.because}" if one.is_lifted else ""
            say(f"{one.record:>6}  {one.time}  {who} at {at}{end}\n        {one.sql}")
        if not found:
            say("nobody is suspended" if not every else "nobody was ever suspended")
        return None


def lift(
    record: Annotated[int, typer.Argument(help="The record of the failure, as discreet ledger suspensions lists it.")],
    because: Annotated[str, typer.Option(help="What was found and done; it stands in the ledger.")],
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Lift a suspension, so that its analyst can ask again; look at owner.log first.

    [dim]Example:[/]  discreet ledger lift 42 --because "the disk was full; it is larger now"
    """
    with refusals():
        from discreet.curator.ledger.ledger import Ledger
        from discreet.curator.suspensions import lift as lift_suspension

        check_folder(folder)
        found = lift_suspension(Ledger(folder), record, because, None)
        if as_json:
            return emit(asdict(found))
        return say(f"record {found.lifted}: {found.analyst or 'whoever names no analyst'} may ask again.")


def move(
    to: Annotated[str, typer.Option(help="The server: postgresql://USER@HOST/DATABASE.")],
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Move the ledger from its file to a PostgreSQL server, for curators on several hosts; the chain goes on there.

    The members of a service go with it, so nobody may serve the folder meanwhile. A password belongs into the variable
    PGPASSWORD or the server's password file.

    [dim]Example:[/]  discreet ledger move --to postgresql://curator@db.example/discreet
    """
    with refusals():
        from discreet.service.storage import move as move_service

        check_folder(folder)
        records = move_service(folder, to)
        if as_json:
            return emit({"records": records})
        return say(f"{records:,} records are on the server, and the folder's file ledger.server names it.")


_PEOPLE = "Whose budget to lower, as they are called here, such as patients.id."


def budget(
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
    lower: Annotated[str | None, typer.Option(metavar="PEOPLE", help=_PEOPLE)] = None,
    epsilon: Annotated[str | None, typer.Option("--to", help="With --lower: the ε that they have in all.")] = None,
    delta: Annotated[str, typer.Option(help="With --lower: the δ, where their budget has one.")] = "0",
    delta_for_keys: Annotated[str, typer.Option(help="With --lower: the part of it for unlisted keys.")] = "0",
) -> None:
    """Show what was granted, spent and left: per people, table, and analyst with a cap. Or lower what people have.

    [dim]Example:[/]  discreet budget
    [dim]Example:[/]  discreet budget --json
    [dim]Example:[/]  discreet budget --lower patients.id --to 2
    """
    with refusals():
        if (lower is None) is not (epsilon is None):
            raise InvalidValue("a lower budget is one of people", "<half of it>", "pass --lower patients.id --to 2")
        if lower is not None and epsilon is not None:
            opened(folder).lower(lower, Budget(epsilon, delta, delta_for_keys))
        found = opened(folder).budget()
        if as_json:
            return emit(found.to_dict())
        if not found:
            return say("no protected table yet: discreet protect")
        _show(found)
        return None


def _show(found: Balances) -> None:
    grid = Grid(box=None, pad_edge=False)
    for heading in found.HEADS:
        grid.add_column(heading, justify="left" if heading in ("account", "in questions") else "right")
    for line in found.lines():
        grid.add_row(*map(escape, line))
    console.print(grid)
    for note in found.notes():
        whisper(note)
