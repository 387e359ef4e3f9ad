"""``discreet certificate``: read a certificate, and check it without the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from discreet.cli.output import DEFAULT_FOLDER, AsJson, Folder, check_folder, console, emit, refusals, say

__all__ = ["public_key", "show", "verify"]


File = Annotated[Path, typer.Argument(help="A certificate, as discreet ask --certificate wrote it.")]


def verify(
    file: File,
    public_key: Annotated[str | None, typer.Option(help="The curator's public key, to insist on it.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--curator", "-c", help="The curator's folder, to look the answer up in its ledger.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a certificate without the data: whether the curator signed it as it stands.

    [dim]Example:[/]  discreet certificate verify count.json --public-key 3f0c…
    """
    with refusals():
        paper = _read(file)
        fault = _fault(paper, public_key, folder)
        if as_json:
            facts = {"genuine": fault is None, "public_key": paper.get("public_key")}
            emit({**facts, "insisted": public_key is not None or folder is not None, "why": fault and fault[1]})
        if fault is not None:
            _fail(*fault, quiet=as_json)
        if as_json:
            return
        if public_key is None and folder is None:
            say(f"genuine: signed by the holder of {paper.get('public_key')}")
            say("pass --public-key to insist on a certain curator")
        else:
            say("genuine: signed by this curator" + ("" if folder is None else ", and in its ledger"))


def _fault(paper: dict[str, Any], public_key: str | None, folder: Path | None) -> tuple[str, str] | None:
    """What is wrong, and why."""
    from discreet.curator.certificates.certificate import is_genuine

    if not is_genuine(paper):
        return "not genuine", "the signature does not fit what it says"
    if not is_genuine(paper, public_key):
        return "not genuine", "another curator signed it"
    return None if folder is None else _look_up(paper, folder)


def _look_up(paper: dict[str, Any], folder: Path) -> tuple[str, str] | None:
    from discreet.curator.certificates.certificate import is_by_curator, is_in_ledger
    from discreet.curator.ledger.ledger import Ledger
    from discreet.curator.ledger.verify import verify as verify_ledger

    check_folder(folder)
    if not is_by_curator(paper, Ledger(folder)):
        return "not genuine", "another curator signed it"
    if not verify_ledger(folder).is_sound:
        return "not proved", "the ledger itself cannot be believed; see discreet ledger verify"
    if not is_in_ledger(paper, Ledger(folder)):
        return "not genuine", "the ledger does not have this answer at the position that it states"
    return None


def show(file: File, as_json: AsJson = False) -> None:
    """Print what a certificate says as a table.

    [dim]Example:[/]  discreet certificate show count.json
    """
    with refusals():
        from discreet.curator.certificates.certificate import is_genuine

        paper = _read(file)
        if as_json:
            emit(paper)
        else:
            _show_lines(_lines(paper))
        if not is_genuine(paper):
            _fail("not genuine", "the signature does not fit what it says", quiet=as_json)


def public_key(folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """Print the curator's public key, to hand to those who check its certificates.

    [dim]Example:[/]  discreet certificate public-key
    """
    with refusals():
        key = _key_of(folder)
        if as_json:
            emit({"public_key": key})
        else:
            say(key)


def _key_of(folder: Path) -> str:
    from discreet.curator.ledger.ledger import Ledger
    from discreet.curator.ledger.signing_keys import check_signer

    check_folder(folder)
    return check_signer(folder, Ledger(folder)).public_key.hex()


def _read(file: Path) -> dict[str, Any]:
    from discreet.curator.certificates.certificate import read_certificate

    return read_certificate(file.read_bytes())


def _show_lines(lines: list[tuple[str, Any]]) -> None:
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        console.print(f"[bold]{escape(name.ljust(width))}[/]  {escape(str(value))}", soft_wrap=True)


def _fail(what: str, why: str, *, quiet: bool = False) -> None:
    if not quiet:
        console.print(f"[red]{what}[/]: {escape(why)}", soft_wrap=True)
    raise typer.Exit(1)


def _lines(value: Any, name: str = "") -> list[tuple[str, Any]]:
    """Every fact with the names that lead to it; a number is shown as it reads, rounded up."""
    if isinstance(value, dict) and value.keys() == {"exact", "rounded_up"}:
        return [(name, value["rounded_up"])]
    if isinstance(value, dict) and value:
        return [line for key, part in value.items() for line in _lines(part, f"{name} {key}".strip())]
    if isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        return [line for place, part in enumerate(value, 1) for line in _lines(part, f"{name} {place}")]
    return [(name, ", ".join(map(str, value)) if isinstance(value, list) else value)]
