"""Tables of Spark's catalog that are nothing but Parquet files in a folder, and can be read as those.

A table cannot be looked at before and after as files can: Spark reads it from a list of files that it made some time
ago, or from rows that somebody cached, of which some may be lost and read anew between two readings. Its folder can.
Read by its path, with the columns that the catalog says, it has the same rows, provided that nothing stands between:

- the catalog is Spark's own, and no extension of the session adds rules of its own, such as rows that are hidden;
- the table is no view, has no partitions or buckets, and no options for its files;
- no column has a default, which rows of older files would get, or a length, to which Spark fills up texts.

Whatever else the catalog says of a table makes it none of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["folder_of"]

_SAID = {
    *("table_name", "catalog_name", "namespace", "schema_name", "columns", "location", "type", "provider", "collation"),
    *("created_time", "last_access", "created_by", "owner", "comment", "statistics", "table_properties"),
}
_SAID_OF_COLUMNS = {"name", "type", "nullable", "comment"}
_RULES = ("spark.sql.extensions", "spark.sql.catalog.spark_catalog")
_OF_LENGTH = ("char", "varchar")
_PATH = re.compile(r"[A-Za-z0-9_./:=+@-]+")
"""Paths in which nothing is a pattern, or stands for another character."""


def folder_of(session: Any, address: str) -> str | None:
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
