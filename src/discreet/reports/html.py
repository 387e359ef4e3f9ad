"""A document as a page that stands alone: no network, no scripts, light and dark, readable on a phone.

A part is a piece of HTML. What takes words escapes them; what takes parts or cells takes them as they are.

>>> from discreet.reports.document import Paragraph, Section
>>> print(blocks_html([Section("Who < whom", [Paragraph("1 & 2")])]))
<section><h2>Who &lt; whom</h2><p>1 &amp; 2</p></section>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import zip_longest
from typing import Any

from discreet.reports import document as doc
from discreet.reports.charts import column_chart, heat_table, interval_bar, line_chart, meter, paired_meters

__all__ = ["STYLE", "blocks_html", "document_html", "framed", "paragraph", "quiet", "section", "table"]


# One sheet, with the colours as variables so that light and dark differ in nothing else.
STYLE = """
:root{--paper:#fff;--ink:#1b2430;--quiet:#5a6675;--line:#dde3ea;--track:#eceff3;--before:#9aa5b1;--after:#2563b8;
--danger:#c2410c;--good:#166534;--fair:#8a5a00;--bad:#b42318;--warn:#fff6e0;--warnline:#d9a21b;
--hot:214 69 29;--line0:#2563b8;--line1:#c2410c;--line2:#15803d;--line3:#7c3aed;--line4:#a16207;--line5:#be185d}
@media (prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e6eaf0;--quiet:#9aa7b6;--line:#2b333e;--track:#232a33;
--before:#77828f;--after:#6aa8f7;--danger:#f08a4b;--good:#5fd08a;--fair:#e0b84a;--bad:#ff8a7a;--warn:#2b2410;--warnline:#c9971f;
--hot:240 106 60;--line0:#6aa8f7;--line1:#f08a4b;--line2:#5fd08a;--line3:#b79bff;--line4:#e0b84a;--line5:#f58bbf}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:56rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.7rem;margin:.2rem 0 1rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:0 0 .6rem}
h3{font-size:1rem;margin:0 0 .2rem}
section{margin-top:2rem;padding-top:1.2rem;border-top:1px solid var(--line)}
small,.quiet,footer{color:var(--quiet);font-weight:400}
.quiet{margin:.2rem 0 .6rem;font-size:.9rem}
.warning{background:var(--warn);border-left:4px solid var(--warnline);padding:.7rem .9rem;margin:0 0 1rem}
.warning strong{display:block}
.warning.good{border-color:var(--good);background:var(--track)}.warning.bad{border-color:var(--bad)}
.headline{font-size:1.1rem;margin:0 0 .4rem}
.scroll{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th{text-align:left;color:var(--quiet);font-weight:500;padding:.25rem .7rem .25rem 0}
td{padding:.3rem .7rem .3rem 0;border-top:1px solid var(--line);vertical-align:middle}
.figure{text-align:right;white-space:nowrap}th.figure{white-space:normal}
td:has(svg){width:45%;min-width:5rem}td:has(svg)~td{white-space:nowrap}
@media (max-width:40rem){td:has(svg){width:30%;min-width:3.5rem}}
.meter{display:block;width:100%;height:10px;margin:4px 0}
.pair .meter{height:8px;margin:3px 0}
.track{fill:var(--track)}
rect.before{fill:var(--before)}rect.after{fill:var(--after)}rect.danger{fill:var(--danger)}
rect.whisker{fill:var(--ink);fill-opacity:.6}rect.level{fill:var(--ink)}
.key{display:inline-block;width:.8rem;height:.8rem;border-radius:2px;margin:0 .3rem 0 .8rem;vertical-align:-1px}
.key.before{background:var(--before)}.key.after{background:var(--after)}
.legend{font-size:.85rem;color:var(--quiet);margin:.2rem 0}.legend .key:first-child{margin-left:0}
span.good,span.fair,span.bad,span.worst{font-weight:600}
span.good{color:var(--good)}span.fair{color:var(--fair)}span.bad,span.worst{color:var(--bad)}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1.2rem}
.plot{max-width:40rem;margin:.6rem 0 1rem}.plot>svg{display:block;width:100%;height:auto;overflow:visible}
.plot text{font-size:13px;fill:var(--quiet);stroke:none}.plot .axis{stroke:var(--quiet)}.plot .rule{stroke:var(--line)}
@media (min-width:44rem){.plot text{font-size:10px}}
.plot .reference,.sample .reference{stroke:var(--ink);stroke-dasharray:2 3}
.plot path,.sample path{fill:none;stroke-width:2;stroke-linejoin:round}
.plot .rule,.plot .axis{stroke-width:1}.plot .band{stroke:none;fill-opacity:.18}
.sample{display:inline-block;width:2rem;height:.8rem;margin-right:.35rem;vertical-align:-1px}
.names{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.85rem;color:var(--quiet);
list-style:none;margin:.3rem 0;padding:0}
.s0{stroke:var(--line0);fill:var(--line0)}
.s1{stroke:var(--line1);fill:var(--line1);stroke-dasharray:7 3}
.s2{stroke:var(--line2);fill:var(--line2);stroke-dasharray:2 3}
.s3{stroke:var(--line3);fill:var(--line3);stroke-dasharray:9 3 2 3}
.s4{stroke:var(--line4);fill:var(--line4);stroke-dasharray:12 3}
.s5{stroke:var(--line5);fill:var(--line5);stroke-dasharray:4 2 1 2}
.mark{stroke-dasharray:none}
.heat td,.heat thead th{text-align:center;padding:.3rem .5rem;border:1px solid var(--line)}
.heat tbody th{min-width:6.5rem;border-bottom:1px solid var(--line);position:sticky;left:0;background:var(--paper)}
.heat td{width:auto;min-width:4.2rem;white-space:nowrap;background:rgb(var(--hot) / var(--heat,0))}
.heat td .meter{height:4px;margin:2px 0 0}
.heat td.unknown{color:var(--quiet)}
figure{margin:0;min-width:0}figcaption{font-weight:600;overflow-wrap:anywhere}
.columns svg{display:block;width:100%;height:7rem;border-bottom:1px solid var(--line)}
.ends{display:flex;justify-content:space-between;gap:1rem;font-size:.78rem;color:var(--quiet)}
.ends span{overflow-wrap:anywhere;max-width:48%}.ends span:last-child{text-align:right}
.entries{list-style:none;margin:0;padding:0}.entries li{margin:0 0 1.1rem}.entries p{margin:.1rem 0 0}
summary{cursor:pointer;color:var(--quiet)}
pre{background:var(--track);padding:.7rem .9rem;border-radius:4px;white-space:pre-wrap;
overflow-wrap:anywhere;font-size:.85rem}
footer{margin-top:2.5rem;font-size:.85rem}
"""


_LEGEND = '<p class="legend"><span class="before key"></span>before <span class="after key"></span>after</p>'


def document_html(document: doc.Document) -> str:
    """The whole page."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(document.title)}</title><style>{STYLE}</style>"
    )
    top = f"<h1>{escape(document.heading or document.title)}</h1>"
    footer = f"<footer>{escape(document.footer)}</footer>"
    main = f"<main>{top}{blocks_html(document.blocks)}{footer}</main>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{main}</body></html>\n'


def framed(whole: str) -> str:
    """A whole page in a frame, as notebooks show it: its style then touches nothing else."""
    return f'<iframe srcdoc="{escape(whole)}" style="width:100%;height:720px;border:0"></iframe>'


def blocks_html(blocks: Iterable[doc.DocumentBlock]) -> str:
    """A part of a page."""
    return "".join(_DRAWN[type(block)](block) for block in blocks)


def section(title: str, *parts: str) -> str:
    """Parts under a title."""
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def paragraph(words: str, kind: str = "") -> str:
    """Words; ``kind`` is a class of the style sheet."""
    return f"<p{_class(kind)}>{escape(words)}</p>"


def quiet(words: str) -> str:
    """Words that may be skipped."""
    return paragraph(words, "quiet")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """A table of cells that are HTML already, under words; it scrolls by itself where it is too wide."""
    names = _row('th scope="col"', map(escape, header), align)
    head = f"<thead>{names}</thead>" if header else ""
    body = "".join(_row("td", row, align) for row in rows)
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def _row(tag: str, cells: Iterable[str], align: str) -> str:
    kinds = (_class("figure" if letter == "r" else "") for letter in align)
    parts = (f"<{tag}{kind}>{cell}</{tag[:2]}>" for cell, kind in zip_longest(cells, kinds, fillvalue=""))
    return f"<tr>{''.join(parts)}</tr>"


def _class(kind: str) -> str:
    return f' class="{escape(kind)}"' if kind else ""


def _alert(block: doc.Alert) -> str:
    title = f"<strong>{escape(block.title)}</strong> " if block.title else ""
    return f"<p{_class(f'warning {block.tone}'.strip())}>{title}{escape(block.words)}</p>"


def _table(block: doc.TableBlock) -> str:
    has_pairs = any(isinstance(cell, doc.PairedMeters) for row in block.rows for cell in row)
    cells = ([_cell(cell) for cell in row] for row in block.rows)
    return f"{_LEGEND if has_pairs else ''}{table(block.columns, cells, block.align)}"


def _cell(cell: doc.TableCell) -> str:
    """No line of a cell ends within an equation."""
    return escape(cell.replace(" = ", "\u00a0=\u00a0")) if isinstance(cell, str) else _CELLS[type(cell)](cell)


def _stack(cell: doc.Stacked) -> str:
    return f"{_cell(cell.first)}<br><small>{escape(cell.below)}</small>" if cell.below else _cell(cell.first)


def _items(block: doc.ItemList) -> str:
    return f'<ul class="entries">{"".join(f"<li>{_item(item)}</li>" for item in block.items)}</ul>'


def _item(item: doc.ListItem) -> str:
    beside = f" <small>{escape(item.beside)}</small>" if item.beside else ""
    bar = "" if item.share is None else meter(doc.Meter(item.share, fill="danger"))
    return f"<h3>{escape(item.title)}{beside}</h3>{bar}{paragraph(item.words)}"


def _gallery(block: doc.Gallery) -> str:
    return f'{quiet(block.words)}{_LEGEND}<div class="charts">{"".join(map(column_chart, block.charts))}</div>'


def _details(block: doc.Details) -> str:
    name, is_open = f' id="{escape(block.name)}"' if block.name else "", " open" if block.is_open else ""
    summary = f"<summary>{escape(block.title)}</summary>"
    return f"<details{name}{is_open}>{summary}{blocks_html(block.blocks)}</details>"


_CELLS: dict[type, Callable[[Any], str]] = {
    doc.Toned: lambda cell: f"<span{_class(cell.tone)}>{escape(cell.words)}</span>",
    doc.Code: lambda cell: f"<code>{escape(cell.words)}</code>",
    doc.Stacked: _stack,
    doc.Meter: meter,
    doc.PairedMeters: paired_meters,
    doc.IntervalBar: interval_bar,
}
_DRAWN: dict[type, Callable[[Any], str]] = {
    doc.Section: lambda block: section(block.title, blocks_html(block.blocks)),
    doc.Details: _details,
    doc.Paragraph: lambda block: paragraph(block.words),
    doc.Headline: lambda block: paragraph(block.words, "headline"),
    doc.Quiet: lambda block: quiet(block.words),
    doc.Alert: _alert,
    doc.Code: lambda block: f"<pre>{escape(block.words)}</pre>",
    doc.TableBlock: _table,
    doc.ItemList: _items,
    doc.HeatTable: heat_table,
    doc.LineChart: line_chart,
    doc.ColumnChart: column_chart,
    doc.Gallery: _gallery,
}
