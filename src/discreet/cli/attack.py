"""``discreet attack``: what outsiders learn from a table, whatever its owner does about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import BAD_INPUT, AsJson, console, emit, refusals, say, whisper
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.attacks.board import Scoreboard
    from discreet.attacks.linkage.link import Links

__all__ = ["attack"]


_MOST_NAMES = 10


def attack(
    table: Annotated[Path | None, typer.Argument(help="The table: a CSV or Parquet file, one row a person.")] = None,
    quasi: Annotated[
        str,
        typer.Option("--quasi", "-q", help="Columns that others may know (quasi-identifiers), separated by commas."),
    ] = "",
    secret: Annotated[str, typer.Option("--secret", "-s", help="The column that nobody should learn.")] = "",
    attacks: Annotated[
        str | None, typer.Option(help="Attacks to run, separated by commas; parts of names are enough.")
    ] = None,
    defences: Annotated[
        str | None, typer.Option(help="Defences to try, separated by commas; parts of names are enough.")
    ] = None,
    epsilon: Annotated[list[str] | None, typer.Option(help="A budget of the curator. Repeat it.")] = None,
    release: Annotated[Path | None, typer.Option(help="Attack this published table, made from TABLE.")] = None,
    outside: Annotated[Path | None, typer.Option(help="A list of people with names, to link with the release.")] = None,
    names: Annotated[str, typer.Option(help="Columns of the list that name people, separated by commas.")] = "",
    demo: Annotated[bool, typer.Option("--demo", help="Attack a made-up hospital of 3,000 patients.")] = False,
    known: Annotated[bool, typer.Option("--list", help="List the attacks and defences.")] = False,
    detail: Annotated[bool, typer.Option("--detail", help="Print every attack by itself, too.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the attacks.")] = 0,
    json: AsJson = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a standalone page with charts.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Attack a table behind every defence: linkage, differencing, averaging, reconstruction, tracing.

    Attacks see what outsiders see. Each is held against guessing without a release.
    The table stays as and where it is. Bad input has exit code 2.

    [dim]Examples:[/]      discreet attack patients.csv --quasi age,zip,sex --secret disease --html attacks.html

    [dim]On a release:[/]  discreet attack patients.csv --quasi age,zip --secret disease
    --release published.csv --outside voters.csv --names name

    [dim]To try:[/]        discreet attack --demo --attacks reconstruction --epsilon 0.5 --epsilon 2
    """
    with refusals("nothing was written", BAD_INPUT):
        if known:
            return _list(epsilon, json)
        from discreet.cli.output import refuse_overwriting, write_texts

        refuse_overwriting({"--html": html}, table, force)
        wanted = {"attacks": _listed(attacks), "seed": seed}
        if release is None:
            wanted |= {"defences": _listed(defences), **({"epsilons": epsilon} if epsilon else {})}
        source = _source(table, demo, quasi, secret)
        links = _links(source, release, outside, _listed(names))
        board = _board(source, release, wanted)
        if html is not None:
            write_texts({html: board.to_html()})
        if json:
            typer.echo(board.to_json())
            return None
        _show(board, detail)
        if release is not None:
            whisper("Nobody is known to be outside this release, so what it tells of the crowd counts as well.")
        if links is not None:
            _show_links(links)
        if html is not None:
            whisper(f"wrote {html}")
        return None


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _source(table: Path | None, demo: bool, quasi: str, secret: str) -> dict[str, Any]:
    """The table, what others know, the secret, and a name."""
    from discreet.attacks.people import QUASI, SECRET, patients

    if demo:
        if table is not None or quasi or secret:
            raise InvalidValue("the demonstration has a table of its own", str(table), "leave out TABLE or --demo")
        return {"table": patients(), "quasi": QUASI, "secret": SECRET, "name": "a made-up hospital"}
    if table is None:
        raise InvalidValue("there must be a table to attack", "<none>", "name a file, or try --demo")
    if not _listed(quasi):
        raise InvalidValue("an attack needs columns that outsiders know", "<no --quasi>", "such as --quasi age,zip,sex")
    if not secret:
        raise InvalidValue("there must be a secret", "<no --secret>", "name the column that nobody should learn")
    return {"table": table, "quasi": _listed(quasi), "secret": secret, "name": table.stem}


def _board(source: dict[str, Any], release: Path | None, wanted: dict[str, Any]) -> Scoreboard:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from discreet.attacks.board import scoreboard
    from discreet.attacks.release import release_scoreboard

    parts = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*parts, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)

        def progress(share: float, words: str) -> None:
            bar.update(task, completed=share, description=words)

        if release is None:
            return scoreboard(**source, **wanted, progress=progress)
        return release_scoreboard(release=release, **source, **wanted, progress=progress)


def _links(source: dict[str, Any], release: Path | None, outside: Path | None, names: list[str] | None) -> Links | None:
    """Who on a list of names is found in the release, or in the table if it were released as it is."""
    from discreet.anonymize.table import arrow_table
    from discreet.attacks.linkage.link import link

    if outside is None:
        if names:
            raise InvalidValue("--names needs a file with those names", names[0], "name its file with --outside")
        return None
    shown = arrow_table(source["table"] if release is None else release)
    kept = [name for name in (*source["quasi"], source["secret"]) if name in shown.column_names]
    return link(shown.select(kept), outside, on=source["quasi"], names=names or None)


def _show_links(links: Links) -> None:
    from rich.markup import escape
    from rich.table import Table

    console.print("\n[bold]Who on the list is found[/]")
    say(str(links))
    grid = Table(*map(escape, links.reidentified.column_names), box=None, pad_edge=False, header_style="dim")
    for row in links.reidentified.slice(0, _MOST_NAMES).to_pylist():
        grid.add_row(*(escape(str(value)) for value in row.values()))
    if links.reidentified.num_rows:
        console.print(grid)
    if links.reidentified.num_rows > _MOST_NAMES:
        whisper(f"and {links.reidentified.num_rows - _MOST_NAMES:,} more")


def _show(board: Scoreboard, detail: bool) -> None:
    from discreet.reports.terminal import document_text

    console.print(board)
    if detail:
        console.print(document_text(board.details()))
    else:
        whisper("Every attack by itself, with intervals: --detail, or --html FILE.")


def _list(epsilon: list[str] | None, as_json: bool) -> None:
    from discreet.attacks.board import EPSILONS
    from discreet.attacks.catalogue import every_attack, every_defence

    if as_json:
        attacks = [{"name": one.name, "needs": one.needs, "claims": one.claims} for one in every_attack()]
        defences = [{"name": one.name, "says": one.says} for one in every_defence(epsilon or EPSILONS)]
        return emit({"attacks": attacks, "defences": defences})
    console.print("[bold]Attacks[/]")
    for one in every_attack():
        say(f"  {one.name}: {one.needs} {one.claims}")
    console.print("[bold]Defences[/]")
    for other in every_defence(epsilon or EPSILONS):
        say(f"  {other.name}: {other.says}")
    return None
