"""``discreet backup``, ``discreet restore`` and ``discreet upgrade``: keeping a folder over years."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import AsJson, emit, refusals, say, whisper
from discreet.errors import InvalidValue

__all__ = ["backup", "restore", "upgrade"]


FolderName = Annotated[Path, typer.Argument(help="The folder of a curator, or of a survey.")]


def backup(
    folder: FolderName,
    target: Annotated[Path, typer.Argument(help="The new folder; must not exist yet.")],
    as_json: AsJson = False,
) -> None:
    """Back up a folder while it is used: ledger, witness, keys, policies, members and rows, as of one moment.

    The copy is verified before it has its name. It holds the rows and the signing key: keep it as you keep the folder.

    [dim]Example:[/]  discreet backup hospital /backups/hospital-2026-02-01
    """
    with refusals("there is no backup"):
        from discreet.service.maintenance.backup import back_up

        made = back_up(folder, target)
        if as_json:
            head = None if made.position is None else made.head.hex()
            facts = {"folder": str(made.folder), "files": len(made.files), "position": made.position, "head": head}
            return emit({**facts, "on_server": made.on_server})
        say(f"{len(made.files)} files are in {made.folder}, each with its hash in backup.json.")
        if made.position is not None:
            say(f"Its ledger is sound and ends at record {made.position}, head {made.head.hex()[:16]}…")
        if made.on_server:
            whisper("the ledger and the members are on the server: save them with pg_dump")
        return None


def restore(
    source: Annotated[Path, typer.Argument(help="The backup.")],
    folder: Annotated[Path, typer.Argument(help="The folder to restore to; empty, or not there yet.")],
    old: Annotated[Path | None, typer.Option(help="The folder that is replaced, with its witness.")] = None,
    head: Annotated[list[Path] | None, typer.Option(help="A signed head that was kept elsewhere.")] = None,
    nothing_lost: Annotated[
        bool, typer.Option("--nothing-lost", help="Say that nothing was charged after the backup.")
    ] = False,
    until_head: Annotated[
        bool, typer.Option("--until-head", help="Say that nothing was charged after the newest head.")
    ] = False,
    use_up: Annotated[bool, typer.Option("--use-up", help="Charge all that is left of every budget.")] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup, and charge for the answers since: somebody saw them, though their records are lost.

    Name the folder that is replaced with --old: its witness tells how far the ledger had come. Without it, say what
    happened after the backup. The restore stands in the ledger; unless nothing was lost, all tokens end.

    [dim]Example:[/]  discreet restore /backups/hospital-2026-02-01 hospital --old hospital.broken
    [dim]Example:[/]  discreet restore /backups/hospital-2026-02-01 hospital --head latest.json --until-head
    """
    with refusals():
        from discreet.service.maintenance.restore import RestoreStatement
        from discreet.service.maintenance.restore import restore as restore_backup

        chosen = {
            RestoreStatement.NOTHING_LOST: nothing_lost,
            RestoreStatement.UNTIL_HEAD: until_head,
            RestoreStatement.USE_UP: use_up,
        }
        said = [one for one, is_said in chosen.items() if is_said] or [RestoreStatement.NOTHING]
        if len(said) > 1:
            raise InvalidValue("one option says what happened after the backup", f"<{len(said)}>", "say one")
        found = restore_backup(source, folder, said=said[0], old=old, heads=head or ())
        if as_json:
            facts = {"folder": str(folder), "record": found.record, "charged": list(found.charged)}
            return emit({**facts, "ended_tokens": found.tokens})
        if found.record is None:
            return say(f"{folder} is as the backup was")
        say(f"{folder} is as the backup was; record {found.record} of its ledger tells of it")
        if found.charged:
            say(f"charged for what was lost: {', '.join(found.charged)}")
        if found.tokens is not None:
            say(f"{found.tokens} tokens have ended, for some may have been revoked since: make new ones")
        return None


def upgrade(
    folder: FolderName,
    dumped: Annotated[
        bool, typer.Option("--dumped", help="Say that the tables on the server were saved with pg_dump.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring a folder of an older release to the formats of this one; a backup is made beside it first.

    It may be run again at any time, also after it was killed. What a newer release made is refused.

    [dim]Example:[/]  discreet upgrade hospital
    """
    with refusals("run it again; what was done is not done twice"):
        from discreet.service.maintenance.upgrade import upgrade as upgrade_folder

        found = upgrade_folder(folder, dumped=dumped)
        if as_json:
            parts = [{"name": one.name, "from": one.found, "to": one.known, "does": one.does} for one in found.parts]
            return emit({"backup": found.backup, "done": list(found.done), "parts": parts})
        if found.backup is not None:
            say(f"as it was: {found.backup}")
        for part in found.parts:
            say(
                f"{part.name}: version {part.known if part.step else part.found}{f'; {part.does}' if part.does else ''}"
            )
        if not found.done:
            say("nothing to do: everything is as this release makes it")
        return None
