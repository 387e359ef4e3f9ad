"""Rows that a statement finds the same however often it reads them.

Spark keeps nothing between two readings of a table within one statement. If the second found other rows, what the first
said of a unit (that it has few rows, or few keys) would not hold for what is added up, and a person could count for
more than the privacy loss says. A view that draws lots does that, and so does a table that is written meanwhile. So a
statement that reads twice is run in one of two ways:

- **Files at rest.** Parquet files that are named by their path, or by a table that is nothing but a folder of them
  (`discreet.engines.spark.plain_tables`), none of them written in the last minute, and whose lengths and times of
  writing are the same before the statement and after it. Suppose that a file was written between two readings. Its time
  is then that of a moment after the first look; before, it was at least a minute older; so the two looks differ, and
  the result is thrown away. Spark's list of files is made once for all readings, and statements
  hold nothing that draws lots or hangs on the order of rows. Whoever sets the time of a file back to the very
  millisecond, with as many bytes in it, can write it unseen; so can who sets a clock back by a minute.
- **Rows that are kept.** Everything else: the rows are read once, and all readings are of what was kept. What is kept
  and lost is an error, and never read anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.noise.source import fresh_id

__all__ = ["Files", "files_at_rest", "frame_of_files", "rows_kept"]

_SMALL = 2**30


@dataclass(frozen=True)
class Files:
    """Files as they were at a look."""

    entries: frozenset[tuple[str, int, int]]
    """The path, the length, and the time of writing in milliseconds of each."""

    @property
    def are_small(self) -> bool:
        """Whether the heavy units among their rows surely fit every machine."""
        return sum(length for _, length, _ in self.entries) <= _SMALL


def files_at_rest(session: Any, paths: Sequence[str]) -> Files | None:
    """The files at these paths; None where one of them was written in the last minute, or will have been."""
    rows = [row for path in paths for row in _listed(session, path)]
    if not all(row.is_old for row in rows):
        return None
    return Files(frozenset((row.path, row.size, row.written) for row in rows))


def _listed(session: Any, path: str) -> Any:
    """What is known of the files at a path without a look into them; the list is the one that a reading makes."""
    files = session.read.format("binaryFile").load(path)
    is_old = "_metadata.file_modification_time < current_timestamp() - INTERVAL '1' MINUTE AS is_old"
    written = "unix_millis(_metadata.file_modification_time) AS written"
    return files.selectExpr("_metadata.file_path AS path", "_metadata.file_size AS size", written, is_old).collect()


def frame_of_files(session: Any, path: str, schema: Any | None = None) -> Any:
    """Parquet files as they are now: with an option of its own, a reading matches none that the owner has cached."""
    reader = session.read.option("discreet", fresh_id())
    return (reader if schema is None else reader.schema(schema)).parquet(path)


def rows_kept(frame: Any) -> Any:
    """The rows, read once."""
    return frame.localCheckpoint()
