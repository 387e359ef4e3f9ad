"""Where the books of a folder are: files in it, or on the PostgreSQL server that the file ``ledger.server`` names.

The file holds one connection string, such as ``postgresql://curator@db.example/discreet``. A password belongs into
the server's password file or the variable PGPASSWORD, not here.
"""

from __future__ import annotations

from pathlib import Path

from discreet.errors import InvalidValue, LedgerError

__all__ = ["FILE", "checked_server", "server_of", "write_server"]

FILE = "ledger.server"
_SCHEMES = ("postgresql://", "postgres://")


def server_of(folder: Path) -> str | None:
    """The server that holds the books of a folder; None where they are files."""
    try:
        found = (folder / FILE).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as fault:
        raise LedgerError(f"{FILE} must be readable", f"<{type(fault).__name__}>") from None
    return checked_server(found)


def checked_server(url: str) -> str:
    """The connection string, if it is one of PostgreSQL; it is not repeated, because it may hold a password."""
    if not url.startswith(_SCHEMES) or not url.isprintable():
        raise InvalidValue("a server must be named as postgresql://USER@HOST/DATABASE", "<another form>")
    return url


def write_server(folder: Path, url: str) -> None:
    """From now on the books of this folder are on that server."""
    draft = folder / f".{FILE}"
    draft.write_text(checked_server(url) + "\n", encoding="utf-8")
    draft.chmod(0o600)
    draft.replace(folder / FILE)
