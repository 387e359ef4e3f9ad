"""A field that both sides change: whoever types in it, and the page that lets it follow another control."""

from __future__ import annotations

from nicegui import ui

__all__ = ["shared"]


def shared(field: ui.input) -> ui.input:
    """Let what is typed be the field's value in the browser at once.

    A new value of ours comes in two messages: the second shows what the first brought. Without this, it would show it
    again over what was typed between the two.
    """
    is_it = f"(typed) => {{ mounted_app.elements[{field.id}].props.value = typed; }}"
    return field.on("update:value", js_handler=is_it)
