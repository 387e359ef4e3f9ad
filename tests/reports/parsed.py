"""A page read back: its tags in order, what is still open at its end, and all its words."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "br"}
FETCHING = {"script", "link", "img", "iframe", "object", "embed", "image", "use", "foreignobject"}


class ParsedPage(HTMLParser):
    """The parse; an end tag that does not fit fails at once."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source = text
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not (self.open and self.open[-1] == "style"):
            self.said.append(data)

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.seen}

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.said).split())

    def having(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all tags of a name."""
        return [attributes for name, attributes in self.seen if name == tag]


def assert_standalone(text: str) -> ParsedPage:
    """The page is whole, closes all it opens, fetches nothing and runs nothing."""
    page = ParsedPage(text)
    assert text.startswith("<!doctype html>")
    assert not page.open
    assert not page.tags & FETCHING
    assert not [attributes for _, attributes in page.seen if {"src", "href", "action"} & set(attributes)]
    assert not [name for _, attributes in page.seen for name in attributes if name.startswith("on")]
    assert not re.search(r"url\(|https?://|@import", text)
    return page
