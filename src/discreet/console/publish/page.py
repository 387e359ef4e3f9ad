"""The page of publications: from a table to a release that its owner approves by name, step by step."""

from __future__ import annotations

from nicegui import ui

from discreet.console.layout import PageVisit
from discreet.console.publish.approval_step import ApprovalStep
from discreet.console.publish.candidates_step import CandidatesStep
from discreet.console.publish.columns_step import ColumnsStep, TableStep
from discreet.console.publish.models_step import ModelsStep
from discreet.console.publish.review_step import ChosenStep
from discreet.console.publish.state import STYLE, PublicationState
from discreet.console.theme import TABLE_STYLE, page_title
from discreet.console.widgets import UPLOAD_STYLE

__all__ = ["build"]


_LEAD = (
    "Make a table coarse enough to hand out, see what it still reveals, and approve it by name. "
    "A coarser table is not differentially private: no k, l or t bounds what it tells to somebody who knows more."
)


async def build(visit: PageVisit) -> None:
    """The page for an owner."""
    ui.add_css(UPLOAD_STYLE + TABLE_STYLE + STYLE)
    state = PublicationState(visit)
    page_title("Publish a table", _LEAD)
    for step in (TableStep, ColumnsStep, ModelsStep, CandidatesStep, ChosenStep, ApprovalStep):
        with ui.element("div").classes("w-full flex flex-col gap-5"):
            step(state).draw()
