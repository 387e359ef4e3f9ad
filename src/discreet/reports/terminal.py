"""A document in the terminal, by rich. Drawings that have no words are left out, and bars where the width is small.

>>> from discreet.reports.document import Meter, TableBlock
>>> from rich.console import Console
>>> Console(width=40).print(block_text(TableBlock((), [("yes", Meter(0.25), "25 %")])))
yes  ███░░░░░░░░░  25 %
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import HORIZONTALS
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.measure import Measurement
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from discreet.reports import document as doc
from discreet.reports.format import share

__all__ = ["WIDTH", "block_text", "document_text"]


WIDTH = 100
"""Lines beyond this are hard to read, however wide the terminal is."""
_BLOCKS = 12
_SEEN = 0.01
"""A bar that would round to nothing is one block from here on."""
_STYLES: dict[doc.Tone, str] = {"": "", "good": "green", "fair": "yellow", "bad": "red", "worst": "bold white on red"}
_NO_BREAK = "\N{NO-BREAK SPACE}"
_WIDEST_NAME = 28


def document_text(document: doc.Document) -> RenderableType:
    """The whole document."""
    heading = document.heading or document.title
    top = [Text(heading, "bold")] if heading else []
    return Group(*top, *_blocks(document.blocks))


def block_text(block: doc.DocumentBlock) -> RenderableType:
    """One block."""
    return Group(*_blocks([block]))


def _blocks(blocks: Iterable[doc.DocumentBlock]) -> Iterator[RenderableType]:
    follows_table = False
    for block in blocks:
        is_table = isinstance(block, (doc.TableBlock, doc.HeatTable))
        yield from [Text("")] if follows_table and is_table else []
        yield from _DRAWN.get(type(block), _nothing)(block)
        follows_table = is_table


def _nothing(_: doc.DocumentBlock) -> Iterable[RenderableType]:
    return ()


def _section(block: doc.Section | doc.Details) -> Iterator[RenderableType]:
    """A section of drawings alone has no title here."""
    inside = list(_blocks(block.blocks))
    if inside:
        yield Text(f"\n{block.title}", "bold")
        yield from inside


def _details(block: doc.Details) -> Iterator[RenderableType]:
    if block.is_open:
        yield from _section(block)


def _paragraph(block: doc.Paragraph) -> Iterator[RenderableType]:
    yield Constrain(Text(block.words, "dim" if isinstance(block, doc.Quiet) else ""), WIDTH)


def _code(block: doc.Code) -> Iterator[RenderableType]:
    yield Constrain(Padding(Text(block.words), (0, 0, 0, 2)), WIDTH)


def _alert(block: doc.Alert) -> Iterator[RenderableType]:
    """Without lines at its sides, so that words can be copied."""
    style = _STYLES[block.tone]
    title = [(f"{block.title}\n", f"bold {style}")] if block.title else []
    yield Panel(Text.assemble(*title, block.words), HORIZONTALS, border_style=style, width=WIDTH, padding=0)


def _items(block: doc.ItemList) -> Iterator[RenderableType]:
    for item in block.items:
        size = "" if item.share is None else f"  {share(item.share)}"
        beside = f"  {item.beside}" if item.beside else ""
        yield Constrain(Text.assemble(item.title, (beside, "dim"), size), WIDTH)
        yield Constrain(Padding(Text(item.words), (0, 0, 0, 2)), WIDTH)


def _table(block: doc.TableBlock) -> Iterator[RenderableType]:
    if block.rows:
        yield Constrain(_FittingTable(block), WIDTH)


@dataclass(frozen=True)
class _FittingTable:
    """A table; bars say what figures beside them say, so they go where the width does not hold them."""

    block: doc.TableBlock

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        places = range(len(self.block.rows[0]))
        grid = _grid(self.block, places)
        if Measurement.get(console, options.update(max_width=1000), grid).maximum > options.max_width:
            grid = _grid(self.block, [place for place in places if not _is_bar(self.block.rows[0][place])])
        for segment in console.render(grid, options):
            yield Segment(segment.text.replace(_NO_BREAK, " "), segment.style, segment.control)


def _is_bar(cell: doc.TableCell) -> bool:
    return isinstance(cell, (doc.Meter, doc.PairedMeters, doc.IntervalBar))


def _grid(block: doc.TableBlock, places: Sequence[int]) -> Grid:
    grid = Grid(box=None, pad_edge=False, header_style="dim", show_header=bool(block.columns))
    align = block.align or "l" * len(block.rows[0])
    for place in places:
        is_bar = _is_bar(block.rows[0][place])
        name = Text(block.columns[place] if block.columns else "")
        grid.add_column(name, justify="right" if align[place] == "r" else "left", no_wrap=is_bar, overflow="fold")
    for row in block.rows:
        grid.add_row(*(_unbroken(_cell(row[place])) if align[place] == "r" else _cell(row[place]) for place in places))
    return grid


def _unbroken(cell: Text) -> Text:
    return Text(cell.plain.replace(" ", _NO_BREAK), cell.style)


def _cell(cell: doc.TableCell) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    draw: Callable[[Any], Text] = _CELLS[type(cell)]
    return draw(cell)


def _stack(cell: doc.Stacked) -> Text:
    first = cell.first if isinstance(cell.first, str) else cell.first.words
    return Text.assemble(first, *([("\n" + cell.below, "dim")] if cell.below else []))


def _meter(cell: doc.Meter) -> Text:
    low, high = (min(max(end, 0), 1) for end in (cell.start, cell.value))
    start, until = round(_BLOCKS * low), round(_BLOCKS * high)
    if until == start and (low > 0 or high >= _SEEN):
        start, until = (start, until + 1) if until < _BLOCKS else (start - 1, until)
    return Text("░" * start + "█" * (until - start) + "░" * (_BLOCKS - until))


def _pair(cell: doc.PairedMeters) -> Text:
    """Both bars on a line: the one before in the upper half, the one after in the lower half."""
    before, after = ((bar == "█" for bar in _meter(doc.Meter(value)).plain) for value in (cell.before, cell.after))
    signs = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): "░"}
    return Text("".join(signs[pair] for pair in zip(before, after, strict=True)))


def _interval(cell: doc.IntervalBar) -> Text:
    """The bar, its interval in another shade, and a line at the level where that is not the end of the bar."""
    low, high = (_BLOCKS * min(max(end, 0.0), 1.0) for end in cell.interval)
    bar = list(_meter(doc.Meter(cell.value)).plain)
    for place in range(math.floor(low), math.ceil(high)):
        bar[place] = "▒"
    if cell.level != cell.value:
        bar[min(int(_BLOCKS * max(cell.level, 0)), _BLOCKS - 1)] = "│"
    return Text("".join(bar))


@dataclass(frozen=True)
class _HeatPieces:
    """A heat table, in as many pieces as the width asks for."""

    table: doc.HeatTable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, places in enumerate(self._pieces(options.max_width)):
            yield from [Text("")] if number else []
            yield self._piece(places)

    def _pieces(self, width: int) -> Iterator[list[int]]:
        names = min(max(map(len, self.table.rows), default=0), _WIDEST_NAME)
        piece: list[int] = []
        used = names
        for place in range(len(self.table.columns)):
            wide = 2 + self._width(place)
            if piece and used + wide > width:
                yield piece
                piece, used = [], names
            piece.append(place)
            used += wide
        yield piece

    def _width(self, place: int) -> int:
        """The longest word of the name, or the longest cell."""
        words, cells = self.table.columns[place].split(), (row[place].text for row in self.table.cells)
        return max(map(len, (*words, *cells)), default=0)

    def _piece(self, places: Sequence[int]) -> Grid:
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        grid.add_column("", max_width=_WIDEST_NAME, overflow="fold")
        for place in places:
            head = Text(self.table.columns[place])
            grid.add_column(head, width=self._width(place), justify="right", vertical="bottom", overflow="fold")
        for name, row in zip(self.table.rows, self.table.cells, strict=True):
            grid.add_row(Text(name), *(_heat_cell(row[place]) for place in places))
        return grid


def _heat_cell(cell: doc.HeatCell) -> Text:
    return Text(cell.text, _STYLES[cell.tone] if cell.value is not None else "dim")


_CELLS: dict[type, Callable[[Any], Text]] = {
    doc.Toned: lambda cell: Text(cell.words, _STYLES[cell.tone]),
    doc.Code: lambda cell: Text(cell.words),
    doc.Stacked: _stack,
    doc.Meter: _meter,
    doc.PairedMeters: _pair,
    doc.IntervalBar: _interval,
}
_DRAWN: dict[type, Callable[[Any], Iterable[RenderableType]]] = {
    doc.Section: _section,
    doc.Details: _details,
    doc.Paragraph: _paragraph,
    doc.Headline: _paragraph,
    doc.Quiet: _paragraph,
    doc.Code: _code,
    doc.Alert: _alert,
    doc.ItemList: _items,
    doc.TableBlock: _table,
    doc.HeatTable: lambda block: [_HeatPieces(block)],
}
"""How each kind of block is drawn; a terminal leaves charts out."""
