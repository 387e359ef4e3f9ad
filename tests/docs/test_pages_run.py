"""Every Python block of the README and the docs runs, in order, as a reader would type it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs_from_top_to_bottom(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for match in BLOCK.finditer(page.read_text()):
        line = page.read_text()[: match.start()].count("\n") + 2
        code = compile("\n" * (line - 1) + match.group(1), str(page), "exec")
        exec(code, names)


LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


def test_the_prose_avoids_words_that_belittle_the_reader() -> None:
    belittling = re.compile(r"\b(simply|just|obviously|trivially)\b", re.IGNORECASE)
    found = [f"{page.name}: {m.group(0)}" for page in PAGES for m in belittling.finditer(page.read_text())]
    assert not found
