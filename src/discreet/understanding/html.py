"""What an ε means, as a page that stands alone."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from discreet.pages.charts import meter
from discreet.pages.page import footer, headline, page, paragraph, quiet, section, table, warning
from discreet.understanding.chapter import Cell, Chapter
from discreet.understanding.chapters import HOW_ROUNDED, INTRODUCTION, WORST_CASE, chapters, title, verdict_words
from discreet.understanding.pictures import picture_of

if TYPE_CHECKING:
    from discreet.understanding.understanding import Understanding

__all__ = ["understanding_html"]


def understanding_html(found: Understanding) -> str:
    """The page."""
    name = title(found.given)
    parts = [
        paragraph(INTRODUCTION),
        headline(verdict_words(found)),
        warning(f"{found.verdict.words} {WORST_CASE}"),
        *(_section(found, chapter) for chapter in chapters(found)),
        footer(f"{HOW_ROUNDED} Made by Discreet."),
    ]
    return page(name, parts)


def _section(found: Understanding, chapter: Chapter) -> str:
    return section(
        chapter.title,
        *map(paragraph, chapter.words),
        picture_of(found, chapter.name),
        table(chapter.header, map(_row, chapter.rows)) if chapter.rows else "",
        *map(quiet, chapter.notes),
    )


def _row(row: tuple[Cell, ...]) -> list[str]:
    """The cells; all but the first stay on a line."""
    first, *others = map(_cell, row)
    return [first, *(cell if cell.startswith("<") else cell.replace(" ", "&nbsp;") for cell in others)]


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    return meter(float(cell.until), "before" if cell.is_comparison else "after", float(cell.start))
