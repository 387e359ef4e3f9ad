"""``discreet trail``, ``discreet ledger head`` and ``check-head``: the audit trail, and heads kept elsewhere."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from discreet.cli.output import DEFAULT_FOLDER, AsJson, check_folder, console, emit, refusals, say
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.curator.ledger.ledger import Ledger
    from discreet.service.audit_trail import Trail, TrailEvent

__all__ = ["check_head", "export", "head", "show", "verify"]


Folder = Annotated[
    Path,
    typer.Option("--folder", "--curator", "-c", envvar="DISCREET_FOLDER", help="The folder of the served curator."),
]


_COLUMNS = ("position", "time", "kind", "by", "facts", "hash")


class EventFormat(StrEnum):
    """How events are written."""

    jsonl = "jsonl"
    csv = "csv"


def show(
    folder: Folder = DEFAULT_FOLDER,
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many to show.")] = 20,
    kind: Annotated[str | None, typer.Option(help="Only events of this kind.")] = None,
    by: Annotated[str | None, typer.Option(help="Only events by this member.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the last events: sign-ins, tokens, members, policies, uploads, publications, refusals.

    [dim]Example:[/]  discreet trail show --folder hospital --last 50
    [dim]Example:[/]  discreet trail show --kind "sign-in failed"
    """
    with refusals(), _opened(folder) as (trail, _):
        from discreet.service.audit_trail import event_words

        found = list(reversed(trail.page(last, kind=kind, by=by)))
        if as_json:
            return emit([_facts(event) for event in found])
        for event in found:
            say(f"{event.position:>6}  {event.time}  {event_words(event)}")
        return None


def verify(folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """Replay the audit trail, and compare it with what the ledger has seen of it.

    [dim]Example:[/]  discreet trail verify --folder hospital
    """
    with refusals(), _opened(folder) as (trail, ledger):
        found = trail.verify(ledger)
        if as_json:
            facts = {"sound": found.is_sound, "events": found.events, "head": found.head.hex()}
            emit({**facts, "problems": list(found.problems)})
        elif found.is_sound:
            say(f"sound: {found.events} events, head {found.head.hex()[:16]}…")
        for problem in () if as_json else found.problems:
            console.print(problem, style="red", markup=False, soft_wrap=True)
        if not found.is_sound:
            raise typer.Exit(1)


def export(
    folder: Folder = DEFAULT_FOLDER,
    form: Annotated[EventFormat, typer.Option("--format", help="Lines of JSON, or CSV.")] = EventFormat.jsonl,
    out: Annotated[Path | None, typer.Option(help="A file; left out: printed.")] = None,
) -> None:
    """Write every event, from the first on.

    [dim]Example:[/]  discreet trail export --folder hospital --format csv --out events.csv
    """
    with refusals(), _opened(folder) as (trail, _):
        if out is None:
            return _write(trail.all(), form, sys.stdout)
        with out.open("w", encoding="utf-8", newline="") as file:
            return _write(trail.all(), form, file)


def head(
    folder: Folder = DEFAULT_FOLDER, out: Annotated[Path | None, typer.Option(help="A file; left out: printed.")] = None
) -> None:
    """Write the signed head of the ledger and the audit trail, to be kept where nobody on this host can reach it.

    [dim]Example:[/]  discreet ledger head --folder hospital --out /mnt/elsewhere/head.json
    """
    with refusals(), _both(folder) as (trail, ledger):
        from discreet.curator.ledger.signed_head import sign_head
        from discreet.curator.ledger.signing import Signer

        text = json.dumps(sign_head(ledger, Signer(folder), None if trail is None else trail.head()), indent=1)
        if out is None:
            return print(text)
        out.write_text(text + "\n", encoding="utf-8")
        return say(f"the head is in {out}")


def check_head(
    file: Annotated[Path, typer.Argument(help="A signed head that was kept elsewhere.")],
    folder: Folder = DEFAULT_FOLDER,
    public_key: Annotated[str | None, typer.Option(help="Who must have signed it; left out: this curator.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare a signed head with the ledger and the audit trail: sound, rolled back, forked, or restored on record.

    The ledger is replayed, too. Keep the public key elsewhere as well: discreet certificate public-key.

    [dim]Example:[/]  discreet ledger check-head /mnt/elsewhere/head.json --folder hospital
    """
    with refusals(), _both(folder) as (trail, ledger):
        from discreet.curator.ledger.signed_head import check_head as compare_head
        from discreet.curator.ledger.signing import Signer
        from discreet.curator.ledger.verify import verify as verify_ledger
        from discreet.service.audit_trail import head_problems

        document = _read(file)
        found = compare_head(ledger, document, public_key or Signer(folder).public_key.hex())
        of_trail = [] if trail is None or not found.is_good else head_problems(trail, document)
        problems = [*of_trail, *verify_ledger(folder).problems]
        if as_json:
            emit({"verdict": found.verdict.value, "good": found.is_good, "words": found.words, "problems": problems})
        else:
            console.print(f"{found.verdict.value}: {found.words}", style=None if found.is_good else "red", markup=False)
        for problem in () if as_json else problems:
            console.print(problem, style="red", markup=False, soft_wrap=True)
        if problems or not found.is_good:
            raise typer.Exit(1)


def _facts(event: TrailEvent) -> dict[str, Any]:
    values = (event.position, event.time, event.kind, event.by, event.facts, event.hash.hex())
    return dict(zip(_COLUMNS, values, strict=True))


def _read(file: Path) -> dict[str, Any]:
    from discreet.curator.certificates.certificate import read_certificate

    return read_certificate(file.read_bytes())


def _write(events: Iterator[TrailEvent], form: EventFormat, file: TextIO) -> None:
    lines = csv.writer(file)
    if form is EventFormat.csv:
        lines.writerow(_COLUMNS)
    for one in map(_facts, events):
        if form is EventFormat.csv:
            facts = json.dumps(one["facts"], ensure_ascii=False, sort_keys=True)
            lines.writerow(_harmless(value) for value in {**one, "facts": facts}.values())
        else:
            file.write(json.dumps(one, ensure_ascii=False) + "\n")


def _harmless(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets a mark in front."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[Trail, Ledger]]:
    with _both(folder) as (trail, ledger):
        if trail is None:
            rule = "there must be the database of a service in the folder"
            raise InvalidValue(rule, str(folder), "discreet serve and discreet member make one")
        yield trail, ledger


@contextmanager
def _both(folder: Path) -> Iterator[tuple[Trail | None, Ledger]]:
    """The audit trail, where there is one, and the ledger."""
    from discreet.curator.ledger.ledger import Ledger
    from discreet.service.audit_trail import Trail
    from discreet.service.storage import ServiceStore
    from discreet.storage.postgres import read_server

    check_folder(folder)
    has_trail = read_server(folder) is not None or (folder / "service.db").exists()
    store, ledger = ServiceStore(folder) if has_trail else None, Ledger(folder)
    try:
        yield None if store is None else Trail(store), ledger
    finally:
        ledger.close()
        if store is not None:
            store.close()
