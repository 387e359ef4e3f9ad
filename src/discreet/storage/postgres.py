"""A database on a PostgreSQL server, for curators on several hosts.

One row is the write lock: whoever writes holds it until the commit, on whatever host. A server that does not wait for
its disk, or that only follows another one, is refused. Where a connection breaks at a commit, the outcome is not
guessed. Statements are sent ahead: nobody waits for the server but to hear what was read, and at the commit. A server
that says nothing is given up after some seconds, and for a moment nobody else waits for it.

The databases of a folder are files in it, or on the server that the file ``ledger.server`` names. That holds one
connection string, such as ``postgresql://curator@db.example/discreet``. A password belongs into the server's password
file or the variable PGPASSWORD, not here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.errors import DiscreetError, InvalidValue, LedgerError, MissingExtra
from discreet.storage.database import Database, GroupCommitDatabase, Rows, Shape, check_version
from discreet.storage.files import write_whole
from discreet.storage.presence import ServerPresence
from discreet.time_limits import LEDGER_CONNECT, LEDGER_LOCK, LEDGER_SILENT_SINCE

if TYPE_CHECKING:
    import psycopg

    from discreet.storage.server_silence import AttentiveConnection

__all__ = [
    "FILE",
    "PostgresStorage",
    "check_server",
    "line_in",
    "read_schema_version",
    "read_server",
    "write_line",
    "write_server",
]


_MOST_IDLE = 4
_SILENT = ("SilentServer", "ConnectionTimeout")
"""Faults of a server that says nothing."""
_SESSION = {
    "synchronous_commit": "on",
    "lock_timeout": f"'{LEDGER_LOCK}s'",
    # Whoever gets the write lock sees what the one before has written.
    "default_transaction_isolation": "'read committed'",
}
_WRITING = {"statement_timeout": "'60s'", "idle_in_transaction_session_timeout": "'15s'"}
"""Of the one that writes: a host that froze with the write lock in its hand does not keep it."""
_NETWORK: dict[str, Any] = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""For a host that is gone without a word."""
_OF_THE_DATA = ("22", "54")
"""Classes of states that say that a value is at fault, also when it is sent again."""
_VERSION_TABLE = "CREATE TABLE pen (version INTEGER NOT NULL)"
_SHAPES = """
SELECT 'table ' || c.relname, concat_ws(' ', c.relkind, c.relpersistence, c.relrowsecurity)
    FROM pg_class c WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind <> 'i'
UNION ALL SELECT 'index ' || c.relname, concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisvalid)
    FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE c.relnamespace = %(schema)s::regnamespace
UNION ALL SELECT 'column ' || c.relname || '.' || a.attname, concat_ws(' ', a.attnum,
        format_type(a.atttypid, a.atttypmod), a.attnotnull, k.collname,
        pg_get_expr(d.adbin, d.adrelid))
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        LEFT JOIN pg_collation k ON k.oid = a.attcollation
    WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind <> 'i' AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT 'check ' || c.relname || '.' || n.conname, concat_ws(' ', pg_get_constraintdef(n.oid), n.convalidated)
    FROM pg_class c JOIN pg_constraint n ON n.conrelid = c.oid
    WHERE c.relnamespace = %(schema)s::regnamespace AND n.contype IN ('c', 'f', 'p', 'u', 'x')
UNION ALL SELECT 'trigger ' || c.relname || '.' || t.tgname, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
    FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid
    WHERE c.relnamespace = %(schema)s::regnamespace AND NOT t.tgisinternal
UNION ALL SELECT 'trigger ' || c.relname || ' of references', string_agg(concat_ws(' ', t.tgtype, t.tgenabled), ','
        ORDER BY t.tgtype, t.tgenabled)
    FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid
    WHERE c.relnamespace = %(schema)s::regnamespace AND t.tgisinternal GROUP BY c.relname
UNION ALL SELECT 'rule ' || c.relname || '.' || r.rulename, pg_get_ruledef(r.oid)
    FROM pg_class c JOIN pg_rewrite r ON r.ev_class = c.oid WHERE c.relnamespace = %(schema)s::regnamespace
UNION ALL SELECT 'function ' || p.proname, pg_get_functiondef(p.oid)
    FROM pg_proc p WHERE p.pronamespace = %(schema)s::regnamespace
"""
"""Everything in a schema that decides what can be written."""
_SETTINGS = {"synchronous_commit": "on", "fsync": "on", "full_page_writes": "on"}

Refusal = Callable[[str], DiscreetError]
"""The error that says what happened, given in a few words."""


class PostgresStorage(GroupCommitDatabase):
    """The tables of one schema of a server, for any number of threads, processes and hosts."""

    pauses: ClassVar[tuple[float, ...]] = (0.05, 0.2, 0.5, 1, 2, 4, 8)

    def __init__(
        self,
        url: str,
        schema: str,
        tables: str,
        version: int,
        refusal: Refusal,
        upgrades: Mapping[int, str] | None = None,
    ) -> None:
        """Open the schema, and make its tables where there are none; ``refusal`` tells faults in the owner's words.

        ``upgrades`` are statements that make the next version of an older one, without changing what is there.
        """
        super().__init__()
        self._library = _psycopg()
        self._kind: type[AttentiveConnection] = import_module("discreet.storage.server_silence").AttentiveConnection
        self._url, self._schema = url, schema
        self._refusal = refusal
        self.presence = ServerPresence(partial(_connection, self._kind, url, schema), _is_alive)
        self._forget()
        with self._faults():
            self._make(tables, version, upgrades or {})

    def _forget(self) -> None:
        self._process = os.getpid()
        self._writer: psycopg.Connection[Any] | None = None
        self._sent_ahead = ExitStack()
        self._idle: list[psycopg.Connection[Any]] = []
        self._idling = threading.Lock()
        self._local = threading.local()
        self._silent: float | None = None
        """When the server said nothing for too long."""

    def check_process(self) -> None:
        """In a forked child, use nothing of the parent's."""
        if self._process != os.getpid():
            _INHERITED.append((self._writer, self._idle, self._local))
            self._renew_locks()
            self._forget()

    def _make(self, tables: str, version: int, upgrades: Mapping[int, str]) -> None:
        connection = self._writer_session()
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (self._schema,))  # one maker at a time
            connection.execute(_plain(f"CREATE SCHEMA IF NOT EXISTS {self._schema}"))
            if connection.execute("SELECT to_regclass(%s)", (f"{self._schema}.pen",)).fetchone() == (None,):
                connection.execute(_plain(_VERSION_TABLE))
                connection.execute("INSERT INTO pen VALUES (%s)", (version,))
                connection.execute(_plain(tables))
            self._upgrade(connection, version, upgrades)
        found = connection.execute("SELECT version FROM pen").fetchone()
        if found != (version,):
            raise self._refusal(f"tables of version {found[0] if found else 'none'} instead of {version}")

    def _upgrade(self, connection: psycopg.Connection[Any], version: int, upgrades: Mapping[int, str]) -> None:
        row = connection.execute("SELECT version FROM pen").fetchone()
        found = version if row is None else int(row[0])
        check_version(f"the schema {self._schema}", found, version)
        while found < version and found in upgrades:
            connection.execute(_plain(upgrades[found]))
            found += 1
            connection.execute("UPDATE pen SET version = %s", (found,))

    def _connected(self) -> psycopg.Connection[Any]:
        if self._silent is not None and monotonic() < self._silent + LEDGER_SILENT_SINCE:
            raise self._library.OperationalError("the server was silent a moment ago")
        return _connection(self._kind, self._url, self._schema)

    # Reading ------------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """One moment of the database for the whole block; nothing can be written in it."""
        self.check_process()
        within: _Statements | None = getattr(self._local, "within", None)
        if within is not None:
            yield within
            return
        with self._faults(), self._lent() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self._local.within = _Statements(connection)
            try:
                yield self._local.within
            finally:
                self._local.within = None

    @contextmanager
    def _lent(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection that no other thread uses; one that failed is not used again."""
        with self._idling:
            connection = self._idle.pop() if self._idle else None
        if connection is not None and not _is_alive(connection):
            connection = None
        connection = self._connected() if connection is None else connection
        try:
            yield connection
        except self._library.Error:
            connection.close()
            raise
        finally:
            self._take_back(connection)

    def _take_back(self, connection: psycopg.Connection[Any]) -> None:
        with self._idling:
            if not connection.closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def damage(self) -> str | None:
        """A server looks after its own files."""
        return None

    def shape(self) -> Shape:
        """What the catalog of the server says of the schema."""
        with self._faults(), self._lent() as connection:
            return _shape(connection, self._schema)

    def shape_of(self, tables: str) -> Shape:
        """The shape of tables that are made in a schema of their own, in a transaction that is given up."""
        schema = f"{self._schema}_as_made"  # who looks at the same moment waits until it is given up
        with self._faults(), self._lent() as connection, connection.transaction(force_rollback=True):
            connection.execute(_plain(f"CREATE SCHEMA {schema}"))
            connection.execute(_plain(f"SET LOCAL search_path TO {schema}"))
            connection.execute(_plain(f"{_VERSION_TABLE}; {tables}"))
            return _shape(connection, schema)

    # Writing ------------------------------------------------------------------------------------------------------

    def _writer_session(self) -> psycopg.Connection[Any]:
        if self._writer is None or not _is_alive(self._writer):
            self._writer = self._connected()
            settings = (f"SET {name} TO {value}" for name, value in _WRITING.items())
            self._writer.execute(_plain("; ".join(settings)))
            self._check_server(self._writer)
        return self._writer

    def _check_server(self, connection: psycopg.Connection[Any]) -> None:
        if connection.execute("SELECT pg_is_in_recovery()").fetchone() != (False,):
            raise self._refusal("a server that only follows another one")
        for name, wanted in _SETTINGS.items():
            found = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
            if found != (wanted,):
                raise self._refusal(
                    f"a server with {name} {found[0] if found else 'unset'}, which may lose what it said"
                )

    def begin(self, *, ahead: bool) -> Database:
        """Start a transaction as the only writer; who sends ahead has the lock when the first statement is answered."""
        connection = self._writer_session()
        if ahead:
            self._sent_ahead.enter_context(connection.pipeline())
        connection.execute("BEGIN")
        connection.execute("SELECT version FROM pen FOR UPDATE")
        return _Statements(connection)

    def commit(self) -> None:
        """Make it durable; the server skips this where it refused anything that was sent before."""
        assert self._writer is not None  # noqa: S101  it began
        self._writer.execute("COMMIT")
        self._sent_ahead.close()

    def is_refused(self) -> bool:
        """Whether the server said that the transaction failed; where it says nothing, nobody knows."""
        with suppress(Exception):
            self._sent_ahead.close()  # hear the rest
        failed = self._library.pq.TransactionStatus.INERROR
        return self._writer is not None and self._writer.info.transaction_status == failed

    def undo(self) -> None:
        """Give up the transaction and its connection, whose state may be unknown."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with suppress(Exception):
                writer.close()
        with suppress(Exception):
            self._sent_ahead.close()

    def is_open(self) -> bool:
        """Whether the transaction is still there."""
        return self._writer is not None and not self._writer.broken and not self._writer.closed

    def is_broken(self, fault: BaseException) -> bool:
        """Whether the connection broke, or the server wants the transaction again."""
        known = (self._library.OperationalError, self._library.InterfaceError)
        return isinstance(fault, known) and _state(fault)[:2] not in _OF_THE_DATA  # a serialization failure is one

    def explained(self, fault: BaseException) -> BaseException:
        """A fault of the server or the connection in words; others as they are."""
        if isinstance(fault, OSError):
            return self._refusal(type(fault).__name__)
        if not isinstance(fault, self._library.Error):
            return fault
        if type(fault).__name__ in _SILENT:  # whatever is idle is as silent, and nobody connects for a moment
            self._silent = monotonic()
            self._let_go_of_idle()
        error = self._refusal(_words(fault))
        error.__cause__ = None  # its words may name hosts and users
        return error

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except self._library.Error as fault:
            raise self.explained(fault) from None

    def close(self) -> None:
        """Let go of the connections."""
        self.check_process()
        self.presence.close()
        self.undo()
        self._let_go_of_idle()

    def _let_go_of_idle(self) -> None:
        with self._idling:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


class _Statements:
    """A connection that reads question marks, as SQLite does."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows:
        return self._connection.execute(_plain(_with_marks(statement)), values or None)


@lru_cache(maxsize=256)
def _with_marks(statement: str) -> str:
    return statement.replace("?", "%s")


def _plain(statement: str) -> Any:
    """A statement of our own, for a library that takes literals of the source alone."""
    return statement.encode()


def _connection(kind: type[AttentiveConnection], url: str, schema: str) -> psycopg.Connection[Any]:
    connection = kind.connect(
        url, autocommit=True, connect_timeout=LEDGER_CONNECT, application_name="discreet", **_NETWORK
    )
    settings = {"search_path": schema, **_SESSION}
    connection.execute(_plain("; ".join(f"SET {name} TO {value}" for name, value in settings.items())))
    return connection


def _is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Whether a connection can be used; one that the server ended while it was idle cannot."""
    if connection.closed or connection.broken:
        return False
    if not _has_spoken(connection):
        return True
    try:
        connection.execute("SELECT 1")
    except Exception:
        connection.close()
        return False
    return True


def _has_spoken(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server said something that nobody asked for, as it does when it ends a connection."""
    with DefaultSelector() as selector:
        selector.register(connection.fileno(), EVENT_READ)
        return bool(selector.select(0))


def _shape(connection: psycopg.Connection[Any], schema: str) -> Shape:
    """What is in a schema, without its name, as a connection describes it whose path leads there."""
    rows = connection.execute(_plain(_SHAPES), {"schema": schema})
    return {name: " ".join(text.replace(f"{schema}.", "").split()) for name, text in rows}


def _state(fault: BaseException) -> str:
    """What the server calls the fault; psycopg itself refuses text with NUL, and calls it nothing."""
    state: str | None = getattr(fault, "sqlstate", None)
    return state or ("22000" if type(fault).__name__ == "DataError" else "")


def _words(fault: Exception) -> str:
    state = _state(fault)
    known = {"28": "a user or a password that the server does not take", "3D": "a database that is not there"}
    known |= {"42": "tables that are not as they were made", "53": "a full disk, or too many connections"}
    known |= {"55": "a process that holds it", "25": "a server that only follows another one"}
    known |= dict.fromkeys(_OF_THE_DATA, "a value that the server does not take")
    return known.get(state[:2], f"state {state}" if state else "a server that cannot be reached")


def _psycopg() -> Any:
    try:
        return import_module("psycopg")
    except ImportError:
        raise MissingExtra("this needs psycopg", "<not installed>", "pip install 'discreet[postgres]'") from None


def read_schema_version(url: str, schema: str) -> int | None:
    """The version of the tables of a schema, which is left as it is; None where there are none."""
    with _psycopg().connect(url, autocommit=True, connect_timeout=LEDGER_CONNECT) as connection:
        if connection.execute("SELECT to_regclass(%s)", (f"{schema}.pen",)).fetchone() == (None,):
            return None
        return int(connection.execute(_plain(f"SELECT version FROM {schema}.pen")).fetchone()[0])  # noqa: S608


_INHERITED: list[object] = []
"""Connections of a parent process, kept for ever in a forked child: to close them there would end the parent's."""


FILE = "ledger.server"
_SCHEMES = ("postgresql://", "postgres://")


def read_server(folder: Path) -> str | None:
    """The server that holds the databases of a folder; None where they are files."""
    found = line_in(folder / FILE)
    return None if found is None else check_server(found)


def line_in(file: Path) -> str | None:
    """What a file of one line says; None where there is none, also where its folder is no folder."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as fault:
        raise LedgerError(f"{file.name} must be readable", f"<{type(fault).__name__}>") from None


def check_server(url: str) -> str:
    """The connection string, if it is one of PostgreSQL; it is not repeated, because it may hold a password."""
    if not url.startswith(_SCHEMES) or not url.isprintable():
        raise InvalidValue("a server must be named as postgresql://USER@HOST/DATABASE", "<another form>")
    return url


def write_server(folder: Path, url: str) -> None:
    """From now on the databases of this folder are on that server."""
    write_line(folder / FILE, check_server(url))


def write_line(file: Path, text: str) -> None:
    """Replace a file of one line in one step; only its owner may read it, for it may hold a password."""
    write_whole(file, f"{text}\n".encode())
