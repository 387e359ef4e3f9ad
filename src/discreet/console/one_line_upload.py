"""One line to choose a file or drop it on, without a list of files below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import events, ui

__all__ = ["UPLOAD_STYLE", "one_line_upload"]

UPLOAD_STYLE = """
.one-line-upload{width:22rem;max-width:100%}
.one-line-upload .q-uploader__list,.one-line-upload .q-uploader__subtitle{display:none}
.one-line-upload .q-uploader__header{background:var(--d-raised);color:var(--d-text);border-radius:8px}
"""
"""The rules of the line, for a page that has one."""


def one_line_upload(
    label: str,
    endings: str,
    largest: int,
    on_upload: Callable[[events.UploadEventArguments], Any],
    on_rejected: Callable[[], object],
) -> ui.upload:
    """The line; files with other ``endings`` or with more bytes than ``largest`` are rejected before they are sent."""
    made = ui.upload(label=label, max_file_size=largest, auto_upload=True, on_upload=on_upload, on_rejected=on_rejected)
    return made.props(f'accept="{endings}" flat bordered').classes("one-line-upload")
