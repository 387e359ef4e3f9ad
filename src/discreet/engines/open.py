"""Where the rows of a folder are: in files of its own, or on the server that the file ``rows.server`` names.

The file holds one line: ``postgresql://curator@db.example/clinic``, or ``sc://spark.example:15002`` for Spark Connect,
or ``spark`` for a Spark session of this process. A password belongs into the server's password file or the variable
PGPASSWORD, not here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.engine import OwnerFile, TableStore
from discreet.errors import InvalidValue, MissingExtra
from discreet.storage.postgres import line_in, write_line

__all__ = ["FILE", "open_engine"]


FILE = "rows.server"
_OF_FILES = ("threads", "memory_limit")


def open_engine(folder: Path, server: str | None = None, **settings: Any) -> TableStore:
    """The engine of a folder; ``server`` says where its rows are, once and for all, where nobody said so before.

    Settings are those of the engine: ``timeout``, ``owner_log``, which is a file in the folder where nobody says
    otherwise, and ``threads`` and ``memory_limit``, which are for rows in files alone: a server has its own.
    """
    known = line_in(folder / FILE)
    place = _engine(folder, server or known, {"owner_log": OwnerFile(folder), **settings})
    if server is not None and server != known:
        if place.store.manifest().ingests:
            remedy = f"start another folder, or change {FILE} where the server has only moved"
            raise InvalidValue("the rows of a folder stay where they are", "<another place>", remedy)
        folder.mkdir(parents=True, exist_ok=True)
        write_line(folder / FILE, server)
    return place


def _engine(folder: Path, server: str | None, settings: dict[str, Any]) -> TableStore:
    if server is None:
        return DuckDBEngine(folder, **settings)
    settings = {name: value for name, value in settings.items() if name not in _OF_FILES}
    if server.startswith(("postgresql://", "postgres://")):
        return _postgres(folder, server, settings)
    if server == "spark" or server.startswith("sc://"):
        from discreet.engines.spark.engine import SparkEngine  # noqa: PLC0415  only who needs it waits for it

        return SparkEngine(folder, None if server == "spark" else server, **settings)
    remedy = "write postgresql://USER@HOST/DATABASE, sc://HOST:PORT, or spark"
    raise InvalidValue("a server is PostgreSQL or Spark", "<another form>", remedy)


def _postgres(folder: Path, server: str, settings: dict[str, Any]) -> TableStore:
    try:
        from discreet.engines.postgres.engine import PostgresEngine  # noqa: PLC0415  needs an extra
    except ImportError:
        raise MissingExtra("this needs psycopg", "<not installed>", "pip install 'discreet[postgres]'") from None
    return PostgresEngine(folder, server, **settings)
