"""Files on the server that owners may protect by path: those in the folders that the settings list, and no others.

Links and dots are followed first, and what lies elsewhere is refused in the same words whether or not it is there, so
that nobody looks around on the server by asking.
"""

from __future__ import annotations

from pathlib import Path

from discreet.errors import InvalidValue
from discreet.service.house import House
from discreet.service.role import Role
from discreet.service.table_files import ENDINGS
from discreet.service.visitor import Visitor

__all__ = ["server_file"]

_OWNERS = frozenset({Role.OWNER})


def server_file(house: House, visitor: Visitor, path: str) -> Path:
    """The file that a path leads to."""
    visitor.must_be(_OWNERS)
    if not path.lower().endswith(ENDINGS):
        raise InvalidValue("a table on the server must be a .csv, .tsv or .parquet file", path)
    try:
        found = Path(path).resolve(strict=True)
        is_fine = found.is_file() and _is_allowed(house, found)
    except (OSError, ValueError, RuntimeError):  # it is not there, no path at all, or leads in circles
        is_fine = False
    if not is_fine or not Path(path).is_absolute():
        rule = "a table on the server must be in one of the folders that the setting data_folders lists"
        raise InvalidValue(rule, path, "write its whole path, or upload it")
    return found


def _is_allowed(house: House, found: Path) -> bool:
    folders = [folder.resolve() for folder in house.settings.data_folders]
    is_own = found.is_relative_to(house.settings.folder.resolve())  # what the house keeps is no table to take in
    return not is_own and any(found.is_relative_to(folder) for folder in folders)
