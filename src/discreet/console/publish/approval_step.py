"""Last step of a publication: the owner approves a release by name, and it enters the ledger as what it is."""

from __future__ import annotations

import asyncio

from nicegui import ui

from discreet.console.publish.attempts import ReleaseCandidate
from discreet.console.publish.plan import csv_bytes, parquet_bytes
from discreet.console.publish.state import PublicationState
from discreet.console.theme import button, confirm, download_button, in_pages, notice, quiet, row, says_why, section
from discreet.curator.publications import PublicationRecord
from discreet.errors import DiscreetError
from discreet.service.auth.roles import Principal
from discreet.service.operations import publications as publications_ops
from discreet.service.operations import uploads
from discreet.service.state import ServiceState

__all__ = ["ApprovalStep"]


_WORDS = (
    "A published table cannot be taken back, and no ε bounds what it tells. "
    "The ledger records it with an infinite loss, its SHA-256, your name and your reason; then you can download it."
)
_FORMS = {"parquet": "Parquet", "csv": "CSV"}
_KINDS = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv"}


class ApprovalStep:
    """A reason, a confirmation, and what was published before."""

    def __init__(self, state: PublicationState) -> None:
        self._state = state
        self._problem = ""
        self._made: PublicationRecord | None = None
        for what in ("table", "chosen"):
            state.when(what, self._begin)

    def _begin(self) -> None:
        self._problem, self._made = "", None
        self.draw.refresh()

    @ui.refreshable_method
    def draw(self) -> None:
        """The step, once there is a candidate; before that, what was published before."""
        one, table = self._state.chosen, self._state.table
        if one is not None and table is not None:
            with section("6. Approve and publish", _WORDS):
                self._approval(one, table.brought.name)
        self._before()

    def _approval(self, one: ReleaseCandidate, name: str) -> None:
        if self._made is not None:
            notice(_done_words(self._made), "good")
            return
        with row():
            called = ui.input("Name of the publication", value=name).props("outlined dense").classes("w-64 max-w-full")
            form = ui.select(_FORMS, value="csv", label="As a file of").props("outlined dense").classes("w-36")
        why = ui.textarea("Why, and for whom").props("outlined autogrow").classes("w-full")
        read = ui.checkbox("I have read what an attacker can still do.")
        if self._problem:
            notice(self._problem, "error")
        who = self._state.visit.principal.name
        with row():
            publish = button(f"Approve as {who}", icon="how_to_reg", kind="danger")
            publish.bind_enabled_from(read, "value")
            says_why(publish, "Tick the box above first.")
        publish.on_click(lambda: self._confirm(one, (called.value or "").strip(), str(form.value), why.value or ""))

    async def _confirm(self, one: ReleaseCandidate, name: str, form: str, why: str) -> None:
        """Ask once more, with what is about to happen."""
        rows = f"{one.release.table.num_rows:,} rows by “{one.title}”"
        text = f"{rows}, approved by {self._state.visit.principal.name}: {why.strip() or '(no reason)'}"
        if await confirm(f"Publish {name}?", text, "Publish", danger=True):
            await self._publish(one, name, form, why)

    async def _publish(self, one: ReleaseCandidate, name: str, form: str, why: str) -> None:
        self._problem = ""
        try:
            self._made = await asyncio.to_thread(self._published, one, name, form, why)
        except DiscreetError as refusal:
            self._problem = str(refusal)
        self.draw.refresh()

    def _published(self, one: ReleaseCandidate, name: str, form: str, why: str) -> PublicationRecord:
        """Send the release to the service as anybody would, where it is checked again, and publish it."""
        service, principal, table = self._state.visit.service, self._state.visit.principal, self._state.table
        content = csv_bytes(one.release.table) if form == "csv" else parquet_bytes(one.release.table)
        kept = uploads.receive(service, principal, f"release.{form}", [content])
        checked = one.report.checked
        try:
            return publications_ops.publish(
                service,
                principal,
                name,
                kept.id,
                checked.roles,
                [verdict.model for verdict in checked.verdicts],
                why=why,
                approved=True,
                more={"method": one.method, "highest_risk": one.highest_risk, "average_risk": one.average_risk},
                reference=table.brought.table if table is not None and one.needs_reference else None,
            )
        except DiscreetError:
            uploads.discard(service, principal, kept.id)
            raise

    def _before(self) -> None:
        found = publications_ops.publications(self._state.visit.service, self._state.visit.principal)
        if found:
            with section("Published so far"):
                in_pages(found, self._published_before, "publications", 20)

    def _published_before(self, one: PublicationRecord) -> None:
        service, principal = self._state.visit.service, self._state.visit.principal
        with row(spread=True):
            with ui.column().classes("gap-0").style("min-width:0"):
                ui.label(f"{one.name}, record {one.entry} of the ledger, loss {one.loss}").classes("text-weight-medium")
                quiet(f"{one.time[:16].replace('T', ' ')} UTC, approved by {one.approved_by}, SHA-256 {one.sha256}")
            ending = str(one.statement.get("file"))
            if ending in _KINDS:  # what the library recorded has no file here
                give = download_button(
                    "Release", f"{one.name}.{ending}", _KINDS[ending], lambda: _bytes(service, principal, one)
                )
                give.props["aria-label"] = f"Release {one.name}, record {one.entry}"


def _bytes(service: ServiceState, principal: Principal, one: PublicationRecord) -> bytes:
    """The bytes that were published, as long as they are those on record."""
    return publications_ops.release(service, principal, one.entry).path.read_bytes()


def _done_words(made: PublicationRecord) -> str:
    return (
        f"{made.name} is published: record {made.entry} of the ledger, loss {made.loss}, approved by "
        f"{made.approved_by}, SHA-256 {made.sha256}."
    )
