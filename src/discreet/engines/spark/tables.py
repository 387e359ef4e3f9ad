"""Rows that a statement finds the same however often it reads them.

Some tables of Spark's catalog are nothing but Parquet files in a folder, and can be read as those. A table cannot be
looked at before and after as files can: Spark reads it from a list of files that it made some time ago, or from rows
that somebody cached, of which some may be lost and read anew between two readings. Its folder can. Read by its path,
with the columns that the catalog says, it has the same rows, provided that nothing stands between:

- the catalog is Spark's own, and no extension of the session adds rules of its own, such as rows that are hidden;
- the table is no view, has no partitions or buckets, and no options for its files;
- no column has a default, which rows of older files would get, or a length, to which Spark fills up texts.

Whatever else the catalog says of a table makes it none of these.

Spark keeps nothing between two readings of a table within one statement. If the second found other rows, what the first
said of a unit (that it has few rows, or few keys) would not hold for what is added up, and a person could count for
more than the privacy loss says. A view that draws lots does that, and so does a table that is written meanwhile. So a
statement that reads twice is run in one of two ways:

- **Files at rest.** Parquet files that are named by their path, or by a table that is nothing but a folder of them
  (`discreet.engines.spark.tables`), none of them written in the last minute, and whose lengths and times of
  writing are the same before the statement and after it. Suppose that a file was written between two readings. Its time
  is then that of a moment after the first look; before, it was at least a minute older; so the two looks differ, and
  the result is thrown away. Spark's list of files is made once for all readings, and statements
  hold nothing that draws lots or hangs on the order of rows. Whoever sets the time of a file back to the very
  millisecond, with as many bytes in it, can write it unseen; so can who sets a clock back by a minute.
- **Rows that are kept.** Everything else: the rows are read once, and all readings are of what was kept. What is kept
  and lost is an error, and never read anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.noise.source import fresh_id

__all__ = ["Files", "files_at_rest", "find_folder", "frame_of_files", "rows_kept"]


_SAID = {
    *("table_name", "catalog_name", "namespace", "schema_name", "columns", "location", "type", "provider", "collation"),
    *("created_time", "last_access", "created_by", "owner", "comment", "statistics", "table_properties"),
}
_SAID_OF_COLUMNS = {"name", "type", "nullable", "comment"}
_RULES = ("spark.sql.extensions", "spark.sql.catalog.spark_catalog")
_OF_LENGTH = ("char", "varchar")
_PATH = re.compile(r"[A-Za-z0-9_./:=+@-]+")
"""Paths in which nothing is a pattern, or stands for another character."""


def find_folder(session: Any, address: str) -> str | None:
    """The folder of Parquet files that a table is; None where it is anything more."""
    if any(session.conf.get(name, None) not in (None, "", "builtin") for name in _RULES):
        return None
    try:
        said = json.loads(session.sql(f"DESCRIBE TABLE EXTENDED {address} AS JSON").collect()[0][0])
        types = [row.data_type for row in session.sql(f"DESCRIBE TABLE {address}").collect()]
    except Exception:  # a version, or a catalog, that cannot say
        return None
    is_plain = _is_plain(said) and not any(str(kind).startswith(_OF_LENGTH) for kind in types)
    return str(said["location"]) if is_plain else None


def _is_plain(said: Mapping[str, Any]) -> bool:
    columns_are = all(set(column) <= _SAID_OF_COLUMNS for column in said.get("columns", ()))
    is_of_files = said.get("provider") == "parquet" and said.get("type") in ("MANAGED", "EXTERNAL")
    is_read_as_written = _PATH.fullmatch(str(said.get("location"))) is not None
    return is_of_files and columns_are and set(said) <= _SAID and is_read_as_written


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
    rows = [row for path in paths for row in _list(session, path)]
    if not all(row.is_old for row in rows):
        return None
    return Files(frozenset((row.path, row.size, row.written) for row in rows))


def _list(session: Any, path: str) -> Any:
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
