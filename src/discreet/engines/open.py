"""Where the rows of a folder are: in files of its own, or on the server that the file ``rows.server`` names.

The file holds one line: ``postgresql://curator@db.example/clinic``, or ``sc://spark.example:15002`` for Spark Connect,
or ``spark`` for a Spark session of this process. A password belongs into the server's password file or the variable
PGPASSWORD, not here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.engine import OwnerFile, TableStore
from discreet.errors import InvalidValue, MissingExtra
from discreet.storage.postgres import line_in, write_line

__all__ = ["FILE", "SERVERS", "ServerKind", "open_engine"]


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


@dataclass(frozen=True)
class ServerKind:
    """A kind of server that can hold the rows of a folder."""

    form: str
    """How people write where it is."""
    pattern: str
    """What a line about it begins with."""
    engine: str
    """The module and the class of its engine, which is loaded where it is needed; it takes a folder and the line."""
    needs: str
    """What the engine needs that may not be installed."""
    extra: str
    """The extra of this package that installs it."""

    def open(self, folder: Path, server: str, settings: Mapping[str, Any]) -> TableStore:
        """The engine of a folder whose rows are on this server."""
        module, _, name = self.engine.partition(":")
        try:
            kind = getattr(import_module(module), name)
        except ImportError:
            remedy = f"pip install 'discreet[{self.extra}]'"
            raise MissingExtra(f"this needs {self.needs}", "<not installed>", remedy) from None
        opened: TableStore = kind(folder, server, **settings)
        return opened


SERVERS = (
    ServerKind(
        "postgresql://USER@HOST/DATABASE",
        r"postgres(ql)?://",
        "discreet.engines.postgres.engine:PostgresEngine",
        "psycopg",
        "postgres",
    ),
    ServerKind("sc://HOST:PORT", r"sc://", "discreet.engines.spark.engine:SparkEngine", "pyspark", "spark"),
    ServerKind("spark", r"spark\Z", "discreet.engines.spark.engine:SparkEngine", "pyspark", "spark"),
)
"""Every kind of server; a new engine stands here."""


def _engine(folder: Path, server: str | None, settings: dict[str, Any]) -> TableStore:
    if server is None:
        return DuckDBEngine(folder, **settings)
    of_servers = {name: value for name, value in settings.items() if name not in _OF_FILES}
    for kind in SERVERS:
        if re.match(kind.pattern, server):
            return kind.open(folder, server, of_servers)
    remedy = f"write {', '.join(kind.form for kind in SERVERS)}"
    raise InvalidValue("rows are on a server of a known kind", "<another form>", remedy)
