"""A certificate in a dialog: what it says in a few lines, whether its signature is genuine, and all of it below."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from nicegui import ui

from discreet.console.look import Kind, button, download_button, figure, figures, heading, notice, row
from discreet.curator.certificate import is_genuine
from discreet.service.books import Paper

__all__ = ["show_certificate"]

_LOOKED_UP: dict[bool, tuple[str, Kind]] = {
    True: ("The ledger has this answer at the place that the certificate states.", "good"),
    False: ("The ledger does not have this answer at the place that the certificate states.", "error"),
}


def show_certificate(certificate: Mapping[str, Any], checked: Paper | None = None) -> None:
    """Open the dialog; ``checked`` is what the books say about it, where they were asked."""
    with ui.dialog(value=True) as dialog, ui.card().classes("d-section d-certificate"):
        name = heading("Certificate")
        if is_genuine(certificate) if checked is None else checked.is_genuine:
            notice("The signature is genuine: this curator signed it, and nothing was changed since.", "good")
        else:
            notice("The signature is not genuine: somebody changed this, or another key signed it.", "error")
        if checked is not None:
            notice(*_LOOKED_UP[checked.is_in_ledger])
        ui.label(str(certificate.get("question", ""))).classes("d-code d-question")
        with figures():
            for label, value in _told(certificate):
                figure(label, value)
        with ui.expansion("All of it, as it is signed").classes("w-full"):
            ui.label(json.dumps(certificate, indent=2, ensure_ascii=False)).classes("d-code d-whole").props(
                "tabindex=0"
            )
        with row():
            text = json.dumps(certificate, indent=2, ensure_ascii=False)
            download_button("Download", "certificate.json", "application/json", text.encode)
            button("Close", dialog.close, kind="plain").props("autofocus")
    dialog.props(f'aria-labelledby="{name.html_id}"')
    dialog.on("hide", dialog.delete)


def _told(certificate: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    price, ledger = certificate.get("price", {}), certificate.get("ledger", {})
    yield "Price", f"{price.get('unit', '')} {price.get('amount', '')}"
    yield "Ledger record", str(ledger.get("position", "none"))
    yield "A person is", str(certificate.get("unit") or "one row")
    noise = {one["noise"].partition("(")[0] for block in _blocks(certificate) for one in block.get("mechanisms", [])}
    yield "Noise", ", ".join(sorted(noise)) or "none"


def _blocks(certificate: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = certificate.get("plan", {}).get("blocks", [])
    return found
