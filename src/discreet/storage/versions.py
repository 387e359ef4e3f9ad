"""Versions of what is kept: older ones are opened or upgraded, and newer ones are refused in a plain sentence."""

from __future__ import annotations

from discreet.errors import StoreError

__all__ = ["check_version"]


def check_version(what: str, found: int, known: int) -> None:
    """Refuse what a newer release has made: this one cannot know what it means."""
    if found > known:
        rule = f"{what} was made by a newer release of Discreet, and this one reads its format up to version {known}"
        raise StoreError(rule, f"<version {found}>", "install that release again; nothing was changed")
