"""The lab: attack a table of one's own behind every defence, and audit mechanisms that claim to be private."""

from __future__ import annotations

import asyncio
from importlib import import_module

from nicegui import ui

from discreet.console import theme
from discreet.console.layout import PageVisit

__all__ = ["build"]


_LEAD = (
    "See for yourself what attackers learn, and whether mechanisms keep their word. The lab never touches the rows of "
    "protected tables: it works on a table that you bring, or on people who do not exist."
)


async def build(visit: PageVisit) -> None:
    """The page. What it needs is loaded beside the loop of events, because it is much."""
    theme.page_title("Lab", _LEAD)
    with ui.element("div").classes("w-full") as place:
        waiting = ui.spinner(size="lg").props('aria-label="Loading"')

    async def fill() -> None:
        tabs = await asyncio.to_thread(import_module, "discreet.console.lab.tabs")
        waiting.delete()
        with place:
            tabs.draw(visit)

    ui.timer(0, fill, once=True)
