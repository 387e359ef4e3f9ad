"""Every Python block of the README and the docs runs, in order, as a reader would type it, with what a reader has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docs.installed import BLOCK, ROOT, extras_of, installed

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
RUNNING = [page for page in PAGES if BLOCK.search(page.read_text("utf-8"))]

Reader = Callable[[Path], str | None]


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """Somebody with the base install and the extras that a page names; says how a page failed."""
    command = [sys.executable, "-W", "error", "-m", "tests.docs.installed"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]

        def read(page: Path) -> str | None:
            process.stdin.write(f"{page}\n")
            process.stdin.flush()
            found: str | None = json.loads(process.stdout.readline())
            return found

        yield read
        process.stdin.close()


@pytest.mark.some(20)
@pytest.mark.parametrize("page", RUNNING, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs_from_top_to_bottom_with_what_it_says_is_installed(page: Path, reader: Reader) -> None:
    failure = reader(page)
    assert failure is None, failure


def test_a_page_that_needs_what_it_does_not_name_fails(tmp_path: Path, reader: Reader) -> None:
    block = "```python\nimport pandas\n```\n"
    bare, named = tmp_path / "bare.md", tmp_path / "named.md"
    bare.write_text(block)
    named.write_text(f"You need `pip install 'discreet[frames]'`.\n{block}")
    assert "No module named 'pandas'" in (reader(bare) or "")
    assert reader(named) is None


def test_a_reader_has_the_base_install_and_the_extras_that_are_named_alone() -> None:
    assert {"discreet", "pyarrow", "typer"} <= installed()
    assert not {"pandas", "polars", "matplotlib", "fastapi", "httpx", "pytest"} & installed()
    assert {"pandas", "python-dateutil"} <= installed(["frames"])
    assert extras_of("pip install 'discreet[frames,plot]'") == {"frames", "plot"}
    assert extras_of("from a clone: pip install '.[frames]'") == {"frames"}


LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


PART = re.compile(r"\]\((?!https?://|mailto:)([^)#]*)#([^)]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAMED = re.compile(r'<a id="([^"]+)">')


def anchors(page: Path) -> set[str]:
    """What a link can name within a page: headings as they are shown on the web, and names that are written out."""
    text = page.read_text("utf-8")
    headings = (re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text))
    return {*headings, *NAMED.findall(text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_a_part_of_a_page_find_it(page: Path) -> None:
    found = PART.findall(page.read_text("utf-8"))
    assert not [part for name, part in found if part not in anchors(page.parent / name if name else page)]


def test_the_prose_avoids_words_that_belittle_the_reader() -> None:
    belittling = re.compile(r"\b(simply|just|obviously|trivially)\b", re.IGNORECASE)
    found = [f"{page.name}: {m.group(0)}" for page in PAGES for m in belittling.finditer(page.read_text())]
    assert not found
