"""``discreet member``: who may use a served curator, from the computer that serves it.

Whoever may write the curator's folder may do all of this: it is also the way back in for an owner without a token.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.output import DEFAULT_FOLDER, AsJson, check_folder, console, emit, refusals, say, whisper

if TYPE_CHECKING:
    from discreet.service.auth.members import Member, Members, Token

__all__ = ["add", "list_members", "recover", "remove", "revoke", "token"]


_DAYS = 90.0


class RoleName(StrEnum):
    """What a member may do."""

    owner = "owner"
    analyst = "analyst"
    auditor = "auditor"
    feeder = "feeder"


Folder = Annotated[
    Path,
    typer.Option("--folder", "--curator", "-c", envvar="DISCREET_FOLDER", help="The folder of the served curator."),
]
Name = Annotated[str, typer.Argument(help="The member's name, as policies call them.")]
Days = Annotated[float, typer.Option(help="Days until the token expires.")]
Label = Annotated[str, typer.Option(help="What the token is for.")]
Once = Annotated[bool, typer.Option("--once", help="A token that is used up by signing in.")]


def add(
    name: Name,
    role: Annotated[RoleName, typer.Option(help="What they may do.")] = RoleName.analyst,
    days: Days = _DAYS,
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Add a member and print their token, which is shown once.

    An analyst asks under this name, so policies that name it apply. Names of former members stay taken.

    [dim]Example:[/]  discreet member add ana --folder hospital
    [dim]Example:[/]  discreet member add otto --role auditor --days 30
    """
    with refusals():
        from discreet.service.auth.roles import MemberRole

        members = _opened(folder)
        members.check_days(days)
        members.add(name, MemberRole(role.value))
        _show(members.issue(name, label="from the command line", days=days), as_json)


def list_members(folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """List the members and their tokens, without secrets.

    [dim]Example:[/]  discreet member list --folder hospital
    """
    with refusals():
        members = _opened(folder)
        found = members.all()
        if as_json:
            return emit([_facts(member, members) for member in found])
        if not found:
            return say("no members yet: discreet serve makes the first owner, or discreet member add … --role owner")
        grid = Grid(box=None, pad_edge=False)
        for heading in ("name", "role", "token", "label", "until"):
            grid.add_column(heading, overflow="fold")
        for member in found:
            _add_rows(grid, member, [one for one in members.tokens(member.name) if members.is_good(one)])
        console.print(grid)
        return None


def remove(name: Name, folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """Remove a member: their tokens end at once, and their name stays taken. The last owner stays.

    [dim]Example:[/]  discreet member remove ana --folder hospital
    """
    with refusals():
        _opened(folder).remove(name)
        _record(folder)
        if as_json:
            return emit({"removed": name})
        return say(f"{name} is no member any more; their tokens have ended")


def token(
    name: Name,
    days: Days = _DAYS,
    label: Label = "",
    once: Once = False,
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Print a new token for a member, which is shown once.

    [dim]Example:[/]  discreet member token ana --label notebook
    [dim]Example:[/]  discreet member token owner --once --days 1
    """
    with refusals():
        _show(_opened(folder).issue(name, label=label, days=days, once=once), as_json)


def revoke(
    token: Annotated[str, typer.Argument(help="The id of the token, as discreet member list shows it.")],
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Take a token back: it is refused from now on, also by a server that is running.

    [dim]Example:[/]  discreet member revoke 0123456789abcdef --folder hospital
    """
    with refusals():
        _opened(folder).revoke(token)
        _record(folder)
        if as_json:
            return emit({"revoked": token})
        return say(f"token {token} is refused from now on")


def recover(folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """Continue with a service.db that is older than the ledger expects: every token ends, on record.

    It is for a service.db that was lost or put back from an older copy, which brings back tokens that were revoked, and
    forgets members who were added or removed since. Look at the list of members afterwards, and make new tokens.

    [dim]Example:[/]  discreet member recover --folder hospital
    """
    with refusals():
        from discreet.curator.ledger.ledger import Ledger
        from discreet.service.maintenance.restore import recover as recover_members
        from discreet.service.storage import ServiceStore

        check_folder(folder)
        store, ledger = ServiceStore(folder), Ledger(folder)
        try:
            ended = recover_members(store, ledger)
        finally:
            store.close()
            ledger.close()
        if as_json:
            return emit({"recovered": ended is not None, "ended_tokens": ended})
        if ended is None:
            return say("nothing to recover: service.db is as new as the ledger expects")
        say(f"{ended} tokens have ended; look at discreet member list, then make new ones with discreet member token")
        return None


def _record(folder: Path) -> None:
    """The ledger hears at once of what takes a right away, so that an older database cannot bring it back."""
    from discreet.curator.ledger.ledger import Ledger
    from discreet.service.audit_trail import Trail, record_in_ledger
    from discreet.service.storage import ServiceStore

    store, ledger = ServiceStore(folder), Ledger(folder)
    try:
        record_in_ledger(Trail(store), ledger)
    finally:
        store.close()
        ledger.close()


def _opened(folder: Path) -> Members:
    from discreet.curator.answers.plot import extra

    extra("argon2", "serve")
    from discreet.service.auth.members import Members
    from discreet.service.storage import ServiceStore

    check_folder(folder)
    return Members(ServiceStore(folder))


def _show(secret: str, as_json: bool) -> None:
    if as_json:
        return emit({"token": secret})
    say(secret)
    return whisper("shown once: keep it like a password")


def _facts(member: Member, members: Members) -> dict[str, Any]:
    tokens = [one for one in members.tokens(member.name) if members.is_good(one)]
    return {
        "name": member.name,
        "role": str(member.role),
        "former": member.removed is not None,
        "tokens": [{"id": one.id, "label": one.label, "once": one.once, "until": _day(one.expires)} for one in tokens],
    }


def _add_rows(grid: Grid, member: Member, tokens: list[Token]) -> None:
    role = str(member.role) if member.removed is None else f"former {member.role}"
    rows = [(one.id, escape(one.label) + (" (once)" if one.once else ""), _day(one.expires)) for one in tokens]
    for number, row in enumerate(rows or [("", "", "")]):
        grid.add_row(*((escape(member.name), role) if number == 0 else ("", "")), *row)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="minutes")[:16]
