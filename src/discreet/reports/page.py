"""The frame of a page and the parts that every page has.

A part is a piece of HTML. What takes words escapes them; what takes parts or cells takes them as they are, so a caller
escapes what goes into a cell, once, with ``html.escape``.

>>> print(section("Who < whom", paragraph("1 & 2")))
<section><h2>Who &lt; whom</h2><p>1 &amp; 2</p></section>

How pages look: one sheet, with the colours as variables so that light and dark differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = [
    "STYLE",
    "code_block",
    "details",
    "entries",
    "figure",
    "figures",
    "footer",
    "framed",
    "headline",
    "mark",
    "page",
    "paragraph",
    "quiet",
    "section",
    "table",
    "warning",
]


STYLE = """
:root{--paper:#fff;--ink:#1b2430;--quiet:#5a6675;--line:#dde3ea;--track:#eceff3;--before:#9aa5b1;--after:#2563b8;
--danger:#c2410c;--good:#166534;--bad:#b42318;--warn:#fff6e0;--warnline:#d9a21b;
--hot:214 69 29;--line0:#2563b8;--line1:#c2410c;--line2:#15803d;--line3:#7c3aed;--line4:#a16207;--line5:#be185d}
@media (prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e6eaf0;--quiet:#9aa7b6;--line:#2b333e;--track:#232a33;
--before:#77828f;--after:#6aa8f7;--danger:#f08a4b;--good:#5fd08a;--bad:#ff8a7a;--warn:#2b2410;--warnline:#c9971f;
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
.headline{font-size:1.1rem;margin:0 0 .4rem}
.scroll{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th{text-align:left;color:var(--quiet);font-weight:500;padding:.25rem .7rem .25rem 0}
td{padding:.3rem .7rem .3rem 0;border-top:1px solid var(--line);vertical-align:middle}
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
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
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


def page(title: str, parts: Iterable[str], *, heading: str | None = None) -> str:
    """A whole page, without network or scripts; ``heading`` stands on top where it is not the title."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    top = f"<h1>{escape(title if heading is None else heading)}</h1>"
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head><body><main>{top}{"".join(parts)}</main></body></html>\n'
    )


def framed(whole: str) -> str:
    """A whole page in a frame, as notebooks show it: its style then touches nothing else."""
    return f'<iframe srcdoc="{escape(whole)}" style="width:100%;height:720px;border:0"></iframe>'


def section(title: str, *parts: str) -> str:
    """Parts under a title."""
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already, under words; it scrolls by itself where it is too wide."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    head = f"<thead><tr>{names}</tr></thead>" if header else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def paragraph(words: str, kind: str = "") -> str:
    """Words; ``kind`` is a class of the style sheet."""
    name = f' class="{escape(kind)}"' if kind else ""
    return f"<p{name}>{escape(words)}</p>"


def warning(words: str) -> str:
    """Words that must not be missed."""
    return paragraph(words, "warning")


def headline(words: str) -> str:
    """The page in a sentence."""
    return paragraph(words, "headline")


def quiet(words: str) -> str:
    """Words that may be skipped."""
    return paragraph(words, "quiet")


def footer(words: str) -> str:
    """The last words."""
    return f"<footer>{escape(words)}</footer>"


def code_block(words: str) -> str:
    """Words as they are typed."""
    return f"<pre>{escape(words)}</pre>"


def details(summary: str, *parts: str, shown: bool = False) -> str:
    """Parts that unfold."""
    return f"<details{' open' if shown else ''}><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def figure(caption: str, picture: str, beside: str = "") -> str:
    """A picture with its name, and quieter words beside the name."""
    more = f" <small>{escape(beside)}</small>" if beside else ""
    return f"<figure><figcaption>{escape(caption)}{more}</figcaption>{picture}</figure>"


def figures(parts: Iterable[str]) -> str:
    """Figures beside each other, as many as the width takes."""
    return f'<div class="charts">{"".join(parts)}</div>'


def entries(parts: Iterable[str]) -> str:
    """A list of parts, one below the other."""
    return f'<ul class="entries">{"".join(f"<li>{part}</li>" for part in parts)}</ul>'


def mark(good: bool, yes: str = "yes", no: str = "no") -> str:
    """One word for good or bad, in its colour."""
    return f'<span class="good">{escape(yes)}</span>' if good else f'<span class="bad">{escape(no)}</span>'
