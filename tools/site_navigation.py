"""For the site: where mkdocs.yml names the page of a folder of proof sheets, the navigation lists the sheets after it.

So a new sheet needs no line there. MkDocs calls `on_config` by its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SHEETS = "src/discreet/"
FOLDER = "/README.md"


def on_config(config: Any) -> Any:
    """The settings with a navigation that is written out."""
    config["nav"] = written_out(config["nav"])
    return config


def written_out(entry: Any) -> Any:
    """A part of the navigation, with the sheets of every folder that it names."""
    if isinstance(entry, dict):
        return {title: written_out(part) for title, part in entry.items()}
    if isinstance(entry, list):
        return [written_out(part) for part in entry]
    if not (entry.startswith(SHEETS) and entry.endswith(FOLDER)):
        return entry
    found = sorted((ROOT / entry).parent.glob("*.md"))
    return [entry, *(path.relative_to(ROOT).as_posix() for path in found if path.name != FOLDER[1:])]
