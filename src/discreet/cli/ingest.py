"""What ``discreet protect`` does: take in the rows, and tell the owner what became of them."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from discreet.catalog.policy.read import UnreadColumn, unread_words
from discreet.catalog.policy.read import read as read_policy
from discreet.catalog.table import Table
from discreet.cli.output import DEFAULT_FOLDER, console, emit, say, whisper
from discreet.curator.curator import Curator
from discreet.engines.duckdb.growing import Appended
from discreet.engines.duckdb.sources import CSVFiles, DuckDBTable
from discreet.engines.open import open_engine
from discreet.engines.parameters import quote
from discreet.errors import InvalidValue

__all__ = ["progress_bar", "size_of", "source_of", "take_in"]


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
    done: list[Appended] = []
    with _nothing_left_behind(folder), progress_bar(is_quiet=as_json) as bar:
        curator = Curator(folder, engine=open_engine(folder, rows, **({"owner_log": _print_words} if verbose else {})))
        is_known = table.name in curator.catalog
        task = bar.add_task(f"taking in {size_of(source)}", total=1.0)
        curator.protect(
            source,
            table,
            lambda share: bar.update(task, completed=share),
            unread=unread.update,
            appended=done.append,
        )
    sentences = [*unread_words(table, unread), *(one.words() for one in done), *curator.find_duplicates(table.name)]
    if as_json:
        counts = {name: one.count for name, one in unread.items()}
        facts = {
            "table": table.name,
            "public": table.public,
            "new_data": is_known,
            "unread": counts,
            "words": sentences,
        }
        return emit(facts | ({"appended": done[0].to_dict()} if done else {}))
    for words in sentences:
        say(words)
    if is_known and not table.public and table.time is None:
        whisper("New data: the budget goes on where it was, and a question that was asked before costs again.")
    return say(f"{table.name} is {'public' if table.public else 'protected'}. Next: {_next(table, folder)}")


def _next(table: Table, folder: Path) -> str:
    """A question that everybody may type, whatever the columns are; before there is anything to ask about, a close."""
    there = [] if folder == DEFAULT_FOLDER else ["-c", str(folder)]
    if table.time is not None:
        return shlex.join(["discreet", "close", table.name, "--through", table.time.after(None).name, *there])
    name = table.name if _PLAIN_NAME.fullmatch(table.name) else quote(table.name)
    return shlex.join(["discreet", "ask", " ".join(["SELECT COUNT(*) FROM", name]), "-e", "0.1", *there])


def _print_words(words: str) -> None:
    """The database's own words, which can hold values of rows: for the owner who asked for them."""
    _owner.print(f"[dim]{escape(words)}[/]", soft_wrap=True)


def progress_bar(*, is_quiet: bool) -> Progress:
    """What is done of the owner's own file, and how long the rest takes; on a terminal alone."""
    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn())
    is_off = is_quiet or not console.is_terminal
    return Progress(*parts, *left, console=console, transient=True, disable=is_off)


def size_of(source: Any) -> str:
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
