"""Hierarchies in the files of ARX: one line per value, the value first, then its group at every level, with ``;``."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

from discreet.anonymize.coded import MISSING
from discreet.anonymize.hierarchy import Hierarchy
from discreet.errors import InvalidValue

__all__ = ["read_arx_csv", "write_arx_csv"]

_DELIMITER = ";"


def read_arx_csv(path: str | os.PathLike[str], *, delimiter: str = _DELIMITER) -> Hierarchy:
    """The hierarchy of a file. Its values are text; a column of numbers is matched by how its values are written."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as text:
            lines = [line for line in csv.reader(text, delimiter=delimiter) if line]
    except OSError:
        raise InvalidValue("the file of a hierarchy must be readable", str(path)) from None
    except UnicodeDecodeError:
        raise InvalidValue("the file of a hierarchy must be text in UTF-8", str(path), "save it as UTF-8") from None
    _refuse_ragged(lines, str(path))
    columns = list(zip(*lines, strict=True))
    return Hierarchy.of([None if value == MISSING else value for value in columns[0]], columns[1:])


def write_arx_csv(hierarchy: Hierarchy, path: str | os.PathLike[str], *, delimiter: str = _DELIMITER) -> None:
    """Write a hierarchy so that ARX and ``read_arx_csv`` read it."""
    written = [hierarchy.written(level) for level in range(hierarchy.height + 1)]
    with Path(path).open("w", encoding="utf-8", newline="") as text:
        # The writer puts a cell in quotes if it holds a character that ends lines, so both must.
        csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(zip(*written, strict=True))


def _refuse_ragged(lines: Sequence[Sequence[str]], path: str) -> None:
    if not lines:
        raise InvalidValue("the file of a hierarchy must have a line for every value", path, "it is empty")
    wrong = [number for number, line in enumerate(lines, start=1) if len(line) != len(lines[0])]
    if wrong:
        places = ", ".join(map(str, wrong[:10])) + ("" if len(wrong) <= 10 else f" and {len(wrong) - 10} more")
        rule = f"every line of a hierarchy must have {len(lines[0])} cells, as the first has; lines {places} have not"
        raise InvalidValue(rule, path)
