"""The look of the console: colours, spacing, and the few components that pages share."""

from __future__ import annotations

from nicegui import ui

__all__ = ["apply_look"]


def apply_look() -> None:
    """Colours of the page, which follow the reader's choice of light or dark."""
    ui.colors(primary="#1f5f8b", secondary="#5b6b7a", accent="#b35c00", positive="#2d7d46", negative="#b3261e")
    ui.dark_mode(value=None)
