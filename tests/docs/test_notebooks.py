"""The notebooks run from top to bottom, and what they show without noise is what is stored in them."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from tools.notebooks import NOTEBOOKS, run, shown

from tests.docs.test_pages_run import LINK


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.some(1)
def test_a_notebook_shows_what_is_stored_in_it(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))  # nothing is written where the user keeps settings
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    assert shown(run(path)) == shown(stored), "run `python -m tools.notebooks` and commit the result"


def test_every_cell_with_noise_says_so_and_most_have_none() -> None:
    for path in NOTEBOOKS:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        noisy = [cell for cell in cells if "noisy" in cell.metadata.get("tags", [])]
        assert len(noisy) <= len(cells) / 2, path.name


def test_links_of_a_notebook_lead_somewhere() -> None:
    for path in NOTEBOOKS:
        texts = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
        links = [link for text in texts for link in LINK.findall(text)]
        assert links
        assert not [link for link in links if not (path.parent / link).exists()], path.name


def test_nothing_of_the_machine_is_in_a_notebook() -> None:
    assert len(NOTEBOOKS) == 5
    for path in NOTEBOOKS:
        text = path.read_text("utf-8")
        assert not [word for word in ("/tmp/", "/home/", " at 0x", "Traceback") if word in text], path.name
