"""The frame around every page: name, navigation, light and dark, sign out."""

from __future__ import annotations

from nicegui import ui

from discreet.console.look import apply_look
from discreet.console.room import ROOMS, Room
from discreet.console.visit import Visit

__all__ = ["framed"]


async def framed(room: Room, visit: Visit) -> None:
    """Draw a room's page for a visit."""
    apply_look()
    with ui.left_drawer() as drawer:
        for one in ROOMS:
            if visit.visitor.role in one.roles:
                ui.link(one.title, one.path)
    with ui.header().classes("items-center"):
        ui.button(icon="menu", on_click=drawer.toggle).props('flat round aria-label="Navigation"')
        ui.label("Discreet").classes("text-h6")
        ui.space()
        ui.label(f"{visit.visitor.name} · {visit.visitor.role}")
        with ui.element("form").props('method="post" action="/sign-out"'):
            ui.button("Sign out").props('type="submit" flat')
    with ui.column().classes("w-full max-w-6xl mx-auto p-4"):
        ui.label(room.title).classes("text-h5").props('role="heading" aria-level="1"')
        filling = room.build()(visit)
        if filling is not None:
            await filling
