"""Whoever uses the keyboard stays where they were when a control is drawn anew."""

from __future__ import annotations

from nicegui.element import Element

__all__ = ["come_back_to", "stay_on"]

_FRAMES = 120
"""How many frames to wait until the control is on the page."""


def stay_on(control: Element) -> None:
    """Put the focus on a control that was drawn a moment ago."""
    control.client.run_javascript(
        "(function again(frames) {"
        f"const box = getHtmlElement({control.id});"
        "if (box) (box.querySelector('input') ?? box).focus();"
        "else if (frames) requestAnimationFrame(() => again(frames - 1));"
        f"}})({_FRAMES})"
    )


def come_back_to(control: Element) -> None:
    """Put the focus on a control that lost it while it could not be used, unless something else has it by now."""
    if control.is_deleted:
        return
    control.client.run_javascript(
        "(function again(frames) {"
        f"const box = getHtmlElement({control.id});"
        "if (!box || document.activeElement !== document.body) return;"
        "box.focus();"
        "if (frames) requestAnimationFrame(() => again(frames - 1));"
        f"}})({_FRAMES})"
    )
