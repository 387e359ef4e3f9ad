"""``discreet init`` and ``discreet protect``: from a file to a protected table.

What ``discreet protect`` does: take in the rows, and tell the owner what became of them.

What ``discreet init`` does: a first policy, with what the owner says in the terminal.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from discreet.catalog.budget import Budget
from discreet.catalog.names import suggestion
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.read import UnreadColumn, unread_words
from discreet.catalog.policy.read import read as read_policy
from discreet.catalog.policy.write import Schema, draft, read_schema
from discreet.catalog.table import Table
from discreet.cli.output import DEFAULT_FOLDER, AsJson, Folder, console, emit, refusals, say, whisper
from discreet.curator.curator import Curator
from discreet.engines.duckdb.sample import Guess, guess
from discreet.engines.duckdb.sources import CSVFiles, DuckDBTable
from discreet.engines.open import open_engine
from discreet.engines.sql_text import quote
from discreet.errors import InvalidInput, InvalidValue

__all__ = ["Drafted", "draft_policy", "init", "protect", "source_of", "take_in", "taken_in_now"]


_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_owner = Console(stderr=True, highlight=False)


def source_of(file: Path | str, table: str | None, delimiter: str | None) -> Any:
    """What the options of the command say about the file."""
    if table is not None and delimiter is not None:
        raise InvalidValue("a source is a CSV file or a DuckDB file", "<both>", "pass --table or --delimiter")
    if table is not None:
        return DuckDBTable(file, table)
    return CSVFiles(file, delimiter) if delimiter is not None else str(file)


def take_in(
    source: Any, policy: Path, folder: Path, rows: str | None, *, verbose: bool = False, as_json: bool = False
) -> None:
    """Take in the rows of ``source`` under the policy, and say what to do next."""
    table = read_policy(policy)
    unread: dict[str, UnreadColumn] = {}
    with _nothing_left_behind(folder), _bar(is_quiet=as_json) as bar:
        curator = Curator(folder, engine=open_engine(folder, rows, **({"owner_log": _print_words} if verbose else {})))
        is_known = table.name in curator.catalog
        task = bar.add_task(f"taking in {_size(source)}", total=1.0)
        curator.protect(source, table, lambda share: bar.update(task, completed=share), unread=unread.update)
    told = [*unread_words(table, unread), *curator.twins(table.name)]
    if as_json:
        counts = {name: one.count for name, one in unread.items()}
        return emit(
            {"table": table.name, "public": table.public, "new_data": is_known, "unread": counts, "words": told}
        )
    for words in told:
        say(words)
    if is_known and not table.public:
        whisper("New data: the budget goes on where it was, and a question that was asked before costs again.")
    return say(f"{table.name} is {'public' if table.public else 'protected'}. Next: {_next(table, folder)}")


def _next(table: Table, folder: Path) -> str:
    """A question that everybody may type, whatever the columns are."""
    there = [] if folder == DEFAULT_FOLDER else ["-c", str(folder)]
    name = table.name if _PLAIN_NAME.fullmatch(table.name) else quote(table.name)
    return shlex.join(["discreet", "ask", " ".join(["SELECT COUNT(*) FROM", name]), "-e", "0.1", *there])


def _print_words(words: str) -> None:
    """The database's own words, which can hold values of rows: for the owner who asked for them."""
    _owner.print(f"[dim]{escape(words)}[/]", soft_wrap=True)


def _bar(*, is_quiet: bool) -> Progress:
    """What is done of the owner's own file, and how long the rest takes; on a terminal alone."""
    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn())
    is_off = is_quiet or not console.is_terminal
    return Progress(*parts, *left, console=console, transient=True, disable=is_off)


def _size(source: Any) -> str:
    """The bytes of the owner's file, where there is one."""
    path = Path(getattr(source, "path", source))
    return decimal(path.stat().st_size) if path.is_file() else ""


@contextmanager
def _nothing_left_behind(folder: Path) -> Iterator[None]:
    """Remove a curator that was started for a first table which could not be taken in."""
    was_there = folder.exists()
    try:
        yield
    except BaseException:
        # A curator with a policy, or with a version of rows, has something to lose and stays.
        has_tables = any((folder / "policies").glob("*")) or (folder / "store" / "manifest.json").exists()
        if not was_there and not has_tables:
            shutil.rmtree(folder, ignore_errors=True)
        raise


_EACH_ROW = "row"


@dataclass(frozen=True)
class Drafted:
    """A first policy."""

    text: str
    """What the file will hold."""
    blank: list[str]
    """Fields that the owner has to fill in."""
    unclear: list[str]
    """Columns of the sample that can be read in two ways."""
    was_asked: bool
    """Whether somebody sits at a terminal."""

    @property
    def words(self) -> list[str]:
        """What to say about the sample."""
        told = (
            "dates can be read with the day or the month first, or commas as decimals or thousands; it stays text"
            ' until you say its type and csv: {dates: \'%d/%m/%Y\'}, {decimal: ","} or {thousands: ","}'
        )
        return [f"{name}: {told}" for name in self.unclear]


def draft_policy(
    file: Path,
    name: str | None,
    unit: str | None,
    budget: str | None,
    sample: Path | None,
    delimiter: str | None,
    encoding: str,
    *,
    quiet: bool,
) -> Drafted:
    """The policy of ``file``, from its names and types, a sample, and what is said here or in the terminal."""
    stated = CSVFormat(delimiter=delimiter, encoding=encoding)
    schema = read_schema(file, stated)
    found = None if sample is None else guess(sample, stated)
    is_asked = not quiet and console.is_terminal and sys.stdin.isatty()
    unit = _unit(unit, schema, is_asked)
    budget = _budget(budget, is_asked)
    text = draft(
        name or file.stem,
        schema.columns if found is None else {one: _typed(one, schema, found) for one in schema.columns},
        types_are_stated=schema.types_are_stated,
        unit=unit,
        budget=budget,
        csv=_spelled(stated, found),
        sample=None if sample is None else str(sample),
    )
    blank = [field for field, value in (("unit", unit), ("budget", budget)) if value is None]
    return Drafted(text, blank, [] if found is None else list(found.unclear), is_asked)


def _spelled(stated: CSVFormat, found: Guess | None) -> CSVFormat | None:
    if found is not None and found.csv is not None:
        return found.csv
    return None if stated == CSVFormat() else stated


def _typed(name: str, schema: Schema, found: Guess) -> str:
    """The type that the table states, or that the sample looks like."""
    return schema.columns[name] if schema.types_are_stated else found.types.get(name, schema.columns[name])


def _unit(given: str | None, schema: Schema, is_asked: bool) -> str | None:
    def check(text: str) -> str:
        known = [*schema.columns, _EACH_ROW]
        if text not in known:
            raise InvalidValue("the unit must be one of the columns, or row", text, suggestion(text, known))
        return text

    if given is not None:
        return check(given)
    listed = ", ".join(schema.columns)
    words = f"Whose privacy is protected? The column that names the person, or row where every row is one ({listed})"
    return _answered(words, check) if is_asked else None


def _budget(given: str | None, is_asked: bool) -> str | None:
    def check(text: str) -> str:
        Budget(text)
        return text

    if given is not None:
        return check(given)
    words = "What may everybody together spend? An ε: 1 is careful, 3 is usual, and it cannot be changed later"
    return _answered(words, check) if is_asked else None


def _answered(words: str, check: Callable[[str], str]) -> str:
    while True:
        try:
            return check(str(typer.prompt(words)).strip())
        except InvalidInput as refusal:
            typer.echo(str(refusal))


def taken_in_now(file: Path, policy: Path) -> None:
    """Take in the file at once, if the owner says so."""
    if typer.confirm(f"Take in {file} now?", default=True):
        take_in(source_of(str(file), None, None), policy, DEFAULT_FOLDER, None)


def init(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.")],
    name: Annotated[str | None, typer.Option(help="The table's name; the file's by default.")] = None,
    unit: Annotated[str | None, typer.Option(help="The column that names the person, or row.")] = None,
    budget: Annotated[str | None, typer.Option(help="The ε that everybody together may spend.")] = None,
    sample: Annotated[
        Path | None,
        typer.Option(help="A file of the same shape that is public or made up: types are guessed from its values."),
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")] = None,
    encoding: Annotated[str, typer.Option(help="How a CSV file is encoded, such as latin-1 or cp1252.")] = "utf-8",
    as_json: AsJson = False,
) -> None:
    """Write a first policy from the names and types of a file's columns. The values are never read.

    In a terminal it asks for the unit and the budget, and whether to take in the file. A CSV file states no types;
    --sample guesses them from another file, and whoever passes it says that everybody may see that file.

    [dim]Example:[/]  discreet init visits.parquet
    [dim]Example:[/]  discreet init visits.csv --sample made-up.csv --unit patient_id --budget 3
    """
    with refusals():
        target = Path(f"{name or file.stem}.yaml")
        if target.exists():
            raise InvalidValue("a draft overwrites nothing", str(target), "move it away first, or pass --name")
        made = draft_policy(file, name, unit, budget, sample, delimiter, encoding, quiet=as_json)
        target.write_text(made.text, encoding="utf-8")
        if as_json:
            return emit({"policy": str(target), "blank": made.blank, "unclear": made.unclear})
        for words in made.words:
            say(words)
        todo = f"fill in {', '.join([*made.blank, 'types, bounds and keys'])}"
        say(
            f"wrote {target}: {todo}, then:"
            if made.blank
            else f"wrote {target}; add bounds and keys for more than counts"
        )
        say(f"discreet protect {shlex.join([str(file), str(target)])}")
        if not made.blank and made.was_asked:
            taken_in_now(file, target)
        return None


def protect(
    file: Annotated[
        str,
        typer.Argument(
            help="CSV, Parquet or Excel: a file, a folder or a pattern; or a DuckDB file; or a table of the server"
            " that --rows names."
        ),
    ],
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    folder: Folder = DEFAULT_FOLDER,
    rows: Annotated[
        str | None,
        typer.Option(
            help="Where the rows stay, said once for a folder: postgresql://USER@HOST/DATABASE, sc://HOST:PORT for"
            " Spark Connect, or spark. Left out, they are taken into the folder."
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Which table of a DuckDB file to take in.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print the database's own words about a failure, values included.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take in a file under a policy; the curator starts in its folder if there is none yet.

    [dim]Examples:[/]  discreet protect visits.parquet visits.yaml
               discreet protect public.visits visits.yaml --rows postgresql://curator@db.example/clinic
    """
    with refusals("nothing was taken in; what was there before is as it was"):
        take_in(source_of(file, table, delimiter), policy, folder, rows, verbose=verbose, as_json=as_json)
