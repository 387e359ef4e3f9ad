"""Files that are there as a whole or not at all: written under another name, then renamed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from discreet.errors import InvalidValue

__all__ = ["refuse_overwriting", "write_texts", "write_together"]


def refuse_overwriting(files: Mapping[str, Path | None], source: Path | None, force: bool) -> None:
    """Refuse files that are there already, that are the source where there is one, or that share a name."""
    wanted = {name: file for name, file in files.items() if file is not None}
    seen: dict[Path, str] = {}
    for name, file in wanted.items():
        real = file.resolve()
        if source is not None and real == source.resolve():
            raise InvalidValue("the table itself must not be overwritten", str(file), f"pass another {name}")
        if real in seen:
            raise InvalidValue("every file must have a name of its own", str(file), f"it is {seen[real]} and {name}")
        if file.exists() and not force:
            raise InvalidValue("nothing is overwritten unasked", str(file), "pass --force, or another name")
        if not file.parent.is_dir():
            raise InvalidValue("the folder of a file must be there", str(file.parent), "make it first")
        seen[real] = name


def write_together(files: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write all files, each by its function, and only then give them their names."""
    with _parts(files) as parts:
        for file, write in files.items():
            write(parts[file])
        for file, part in parts.items():
            os.replace(part, file)


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write all texts, each to its file, or none of them."""
    write_together({file: partial(_write_text, text) for file, text in texts.items()})


def _write_text(text: str, part: Path) -> None:
    part.write_text(text, encoding="utf-8")


@contextmanager
def _parts(files: Mapping[Path, object]) -> Iterator[dict[Path, Path]]:
    """A name beside every file, with its ending; nothing of that name is left behind."""
    parts = {file: file.with_name(f".{file.stem}.part{file.suffix}") for file in files}
    try:
        yield parts
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
