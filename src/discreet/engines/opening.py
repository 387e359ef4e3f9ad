"""Where the rows of a folder are: in files of its own, or on the server that the file ``rows.server`` names.

The file holds one line: ``postgresql://curator@db.example/clinic``, or ``sc://spark.example:15002`` for Spark Connect,
or ``spark`` for a Spark session of this process. A password belongs into the server's password file or the variable
PGPASSWORD, not here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.engine import Place
from discreet.errors import InvalidValue, MissingExtra, StoreError

__all__ = ["FILE", "opened"]

FILE = "rows.server"


def opened(folder: Path, server: str | None = None, **settings: Any) -> Place:
    """The engine of a folder; ``server`` says where its rows are, once and for all, where nobody said so before.

    Settings are those of the engine: ``timeout``, ``owner_log``, and for files ``threads`` and ``memory_limit``.
    """
    known = _remembered(folder)
    place = _engine(folder, server or known, settings)
    if server is not None and server != known:
        if place.store.manifest().ingests:
            remedy = f"start another folder, or change {FILE} where the server has only moved"
            raise InvalidValue("the rows of a folder stay where they are", "<another place>", remedy)
        _remember(folder, server)
    return place


def _engine(folder: Path, server: str | None, settings: dict[str, Any]) -> Place:
    if server is None:
        return DuckDBEngine(folder, **settings)
    if server.startswith(("postgresql://", "postgres://")):
        return _postgres(folder, server, settings)
    if server == "spark" or server.startswith("sc://"):
        from discreet.engines.spark.engine import SparkEngine  # noqa: PLC0415  only who needs it waits for it

        return SparkEngine(folder, None if server == "spark" else server, **settings)
    remedy = "write postgresql://USER@HOST/DATABASE, sc://HOST:PORT, or spark"
    raise InvalidValue("a server is PostgreSQL or Spark", "<another form>", remedy)


def _postgres(folder: Path, server: str, settings: dict[str, Any]) -> Place:
    try:
        from discreet.engines.postgres.engine import PostgresEngine  # noqa: PLC0415  needs an extra
    except ImportError:
        raise MissingExtra("this needs psycopg", "<not installed>", "pip install 'discreet[postgres]'") from None
    return PostgresEngine(folder, server, **settings)


def _remembered(folder: Path) -> str | None:
    try:
        return (folder / FILE).read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):  # whoever opens the folder says so
        return None
    except (OSError, UnicodeDecodeError) as fault:
        raise StoreError(f"{FILE} must be readable", f"<{type(fault).__name__}>") from None


def _remember(folder: Path, server: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{FILE}"
    draft.write_text(server + "\n", encoding="utf-8")
    draft.chmod(0o600)
    draft.replace(folder / FILE)
