"""The frame of a page and the parts that every page has.

A part is a piece of HTML. What takes words escapes them; what takes parts or cells takes them as they are, so a caller
escapes what goes into a cell, once, with ``html.escape``.

>>> print(section("Who < whom", paragraph("1 & 2")))
<section><h2>Who &lt; whom</h2><p>1 &amp; 2</p></section>
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from discreet.pages.style import STYLE

__all__ = [
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
