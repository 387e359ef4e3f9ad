"""What a report says, once: a document of plain values, which the terminal, a page and JSON each render in their way.

>>> shares = TableBlock(("answer", "", "share"), [("yes", Meter(0.25), "25 %")], "llr")
>>> found = Document("A survey", [Headline("One in four says yes."), Section("Shares", [shares])])
>>> [type(block).__name__ for block in found.blocks]
['Headline', 'Section']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from discreet.errors import InvalidValue

__all__ = [
    "Alert",
    "Code",
    "ColumnChart",
    "Details",
    "Document",
    "DocumentBlock",
    "Gallery",
    "Headline",
    "HeatCell",
    "HeatTable",
    "IntervalBar",
    "ItemList",
    "LineChart",
    "ListItem",
    "Meter",
    "PairedMeters",
    "Paragraph",
    "Quiet",
    "Section",
    "Series",
    "Stacked",
    "TableBlock",
    "TableCell",
    "Tone",
    "Toned",
]


Tone = Literal["", "good", "fair", "bad", "worst"]
"""How good what is said is; nothing where that is not the point."""
Fill = Literal["before", "after", "danger"]
"""What a bar stands for: what others are compared with, what there is, or what should be short."""


@dataclass(frozen=True)
class Paragraph:
    """Words."""

    words: str
    """As they are read; every renderer escapes them."""


class Headline(Paragraph):
    """The document in a sentence."""


class Quiet(Paragraph):
    """Words that may be skipped."""


@dataclass(frozen=True)
class Alert:
    """Words that must not be missed, under a verdict."""

    words: str
    """What to know."""
    title: str = ""
    """The verdict."""
    tone: Tone = "fair"
    """How good it is."""


@dataclass(frozen=True)
class Code:
    """Words as they are typed: lines of their own, or a cell."""

    words: str
    """Lines."""


@dataclass(frozen=True)
class Toned:
    """A cell that says how good it is."""

    words: str
    """What it says."""
    tone: Tone
    """How good that is."""


@dataclass(frozen=True)
class Stacked:
    """A cell with quieter words below."""

    first: str | Code
    """The cell."""
    below: str
    """What stands below; empty where nothing does."""


@dataclass(frozen=True)
class Meter:
    """A share from 0 to 1 as a bar, or a range from ``start`` to ``value``."""

    value: float | Fraction
    """Where the bar ends."""
    start: float | Fraction = 0
    """Where it starts."""
    fill: Fill = "after"
    """What it stands for."""


@dataclass(frozen=True)
class PairedMeters:
    """Two shares, one above the other."""

    before: float
    """The upper one."""
    after: float
    """The lower one."""


@dataclass(frozen=True)
class IntervalBar:
    """A share as a bar, its interval as a whisker, and another share as a line across."""

    value: float
    """Where the bar ends."""
    interval: tuple[float, float]
    """Where the whisker starts and ends."""
    level: float
    """Where the line is."""
    fill: Fill = "after"
    """What the bar stands for."""


TableCell = str | Toned | Code | Stacked | Meter | PairedMeters | IntervalBar


@dataclass(frozen=True)
class TableBlock:
    """Cells in rows under names."""

    columns: Sequence[str]
    """The names; none at all for a table without a header."""
    rows: Sequence[Sequence[TableCell]]
    """As many cells in each as there are names."""
    align: str = ""
    """A letter for each column: ``r`` for figures, which stand right and stay on a line, and ``l`` for all else."""

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.rows} | ({len(self.columns)} if self.columns else set())
        if len(widths) > 1 or (self.align and widths - {len(self.align)}) or set(self.align) - set("lr"):
            rule = "a table must have a cell and a letter for each column"
            raise InvalidValue(rule, [*sorted(widths), self.align], "rows of one length, and letters l and r")


@dataclass(frozen=True)
class ListItem:
    """One of a list: a name, how large a share it is about, and words."""

    title: str
    """The name."""
    words: str
    """What there is to say."""
    beside: str = ""
    """Quieter words beside the name."""
    share: float | None = None
    """The share; None where there is none."""


@dataclass(frozen=True)
class ItemList:
    """Items, one below the other."""

    items: Sequence[ListItem]
    """In the order in which they are read."""


@dataclass(frozen=True)
class HeatCell:
    """One share of a heat table."""

    value: float | None
    """How bad it is, from 0 to 1; None where there is nothing to measure."""
    text: str
    """What the cell says."""
    tip: str = ""
    """More words, for whoever points at the cell."""
    tone: Tone = ""
    """How bad it is for readers of a terminal."""

    def __post_init__(self) -> None:
        if self.value is not None and not 0 <= self.value <= 1:
            raise InvalidValue("a share must lie from 0 to 1", self.value, "None where there is nothing to measure")


@dataclass(frozen=True)
class HeatTable:
    """A table of shares, each cell the warmer the worse it is; the words and a bar in the cell say the same."""

    rows: Sequence[str]
    """A name for each row."""
    columns: Sequence[str]
    """A name for each column."""
    cells: Sequence[Sequence[HeatCell]]
    """A sequence for each row."""
    corner: str = ""
    """What the cells are."""

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.rows) or any(len(line) != len(self.columns) for line in self.cells):
            rule = "there must be a cell for each row and column"
            raise InvalidValue(
                rule, [len(line) for line in self.cells], f"{len(self.rows)} rows of {len(self.columns)}"
            )


@dataclass(frozen=True)
class Series:
    """A named line, or points, with or without a band around it."""

    name: str
    """What the legend calls it."""
    points: Sequence[tuple[float, float]]
    """The points (x, y), in the order in which the line passes through them."""
    band: Sequence[tuple[float, float]] | None = None
    """For each point the lowest and highest y, such as the ends of a confidence interval."""
    marks: bool = False
    """Whether each point gets a mark that tells its numbers; a series without marks is a line alone."""

    def __post_init__(self) -> None:
        if self.band is not None and len(self.band) != len(self.points):
            rule = "a band must have two ends for each point"
            raise InvalidValue(rule, len(self.band), f"there are {len(self.points)} points")


@dataclass(frozen=True)
class LineChart:
    """Lines and points over two axes. A terminal leaves it out, so that tables have to say what matters."""

    series: Sequence[Series]
    """The lines."""
    title: str
    """What is drawn."""
    x_label: str
    """What goes across."""
    y_label: str
    """What goes upwards."""
    log_x: bool = False
    """Whether equal ratios are equally far apart across."""
    reference: float | None = None
    """A level that goes across."""
    reference_label: str = ""
    """What the legend calls it."""
    y_holds: Sequence[float] = ()
    """Values that the upright axis shows whatever the series are, such as (0, 1) for shares."""


@dataclass(frozen=True)
class ColumnChart:
    """Upright bars, two for each label: what was before, and what is after."""

    title: str
    """What is drawn."""
    labels: Sequence[str]
    """A name for each pair of bars."""
    before: Sequence[float]
    """The first bars."""
    after: Sequence[float]
    """The second bars."""
    beside: str = ""
    """Quieter words beside the title."""


@dataclass(frozen=True)
class Gallery:
    """Charts beside each other, as many as the width takes. A terminal leaves it out."""

    words: str
    """What they show."""
    charts: Sequence[ColumnChart]
    """The charts."""


@dataclass(frozen=True)
class Details:
    """Blocks that unfold on a page; a terminal shows them where they are open."""

    title: str
    """What stands there as long as they are folded."""
    blocks: Sequence[DocumentBlock]
    """What unfolds."""
    is_open: bool = False
    """Whether they are unfolded from the start."""
    name: str = ""
    """An identifier within the page, by which a script can keep them open."""


@dataclass(frozen=True)
class Section:
    """Blocks under a title."""

    title: str
    """The title."""
    blocks: Sequence[DocumentBlock]
    """The blocks."""


DocumentBlock = (
    Section | Paragraph | Alert | Code | TableBlock | ItemList | HeatTable | LineChart | ColumnChart | Gallery | Details
)


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    """What the report is about, for a tab and a list of files."""
    blocks: Sequence[DocumentBlock]
    """What it says."""
    heading: str = ""
    """What stands on top, where that is not the title."""
    footer: str = "Made by Discreet."
    """The last words of a page."""
