"""The page of publications: from a table to a release that its owner approves by name, step by step."""

from __future__ import annotations

from nicegui import ui

from discreet.console.look import page_title
from discreet.console.one_line_upload import UPLOAD_STYLE
from discreet.console.publish_approval import ApprovalStep
from discreet.console.publish_bench import Bench
from discreet.console.publish_candidates import CandidatesStep
from discreet.console.publish_chosen import ChosenStep
from discreet.console.publish_columns import ColumnsStep
from discreet.console.publish_models import ModelsStep
from discreet.console.publish_style import STYLE
from discreet.console.publish_table import TableStep
from discreet.console.quiet_words import TABLE_STYLE
from discreet.console.visit import Visit

__all__ = ["build"]

_LEAD = (
    "Make a table coarse enough to hand out, see what it still tells, and approve it by name. "
    "A coarser table is not differentially private: no k, l or t bounds what it tells to somebody who knows more."
)


async def build(visit: Visit) -> None:
    """The page for an owner."""
    ui.add_css(UPLOAD_STYLE + TABLE_STYLE + STYLE)
    bench = Bench(visit)
    page_title("Publish a table", _LEAD)
    for step in (TableStep, ColumnsStep, ModelsStep, CandidatesStep, ChosenStep, ApprovalStep):
        with ui.element("div").classes("w-full flex flex-col gap-5"):
            step(bench).draw()
