"""Where the books of a folder are: files in it, or on the PostgreSQL server that the file ``ledger.server`` names.

The file holds one connection string, such as ``postgresql://curator@db.example/discreet``. A password belongs into
the server's password file or the variable PGPASSWORD, not here.
"""

from __future__ import annotations

from pathlib import Path

from discreet.books.files import write_whole
from discreet.errors import InvalidValue, LedgerError

__all__ = ["FILE", "checked_server", "line_in", "server_of", "write_line", "write_server"]

FILE = "ledger.server"
_SCHEMES = ("postgresql://", "postgres://")


def server_of(folder: Path) -> str | None:
    """The server that holds the books of a folder; None where they are files."""
    found = line_in(folder / FILE)
    return None if found is None else checked_server(found)


def line_in(file: Path) -> str | None:
    """What a file of one line says; None where there is none, also where its folder is no folder."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as fault:
        raise LedgerError(f"{file.name} must be readable", f"<{type(fault).__name__}>") from None


def checked_server(url: str) -> str:
    """The connection string, if it is one of PostgreSQL; it is not repeated, because it may hold a password."""
    if not url.startswith(_SCHEMES) or not url.isprintable():
        raise InvalidValue("a server must be named as postgresql://USER@HOST/DATABASE", "<another form>")
    return url


def write_server(folder: Path, url: str) -> None:
    """From now on the books of this folder are on that server."""
    write_line(folder / FILE, checked_server(url))


def write_line(file: Path, text: str) -> None:
    """Replace a file of one line in one step; only its owner may read it, for it may hold a password."""
    write_whole(file, f"{text}\n".encode())
