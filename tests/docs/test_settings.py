"""Every setting is documented, and settings that pages show are settings."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from discreet.service.settings import Settings, read_settings

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "settings.md").read_text()
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.rglob("*.md"))
    for number, block in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_has_words_and_a_line_in_the_page(name: str) -> None:
    words = Settings.model_fields[name].description
    assert words, "a setting without a description"
    assert words.endswith("."), "a description is a sentence"
    assert f"| `{name}` | {words} |" in PAGE, "run `make docs` and commit the result"


def test_the_page_knows_no_other_settings() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(Settings.model_fields)


@pytest.mark.parametrize("block", BLOCKS)
def test_settings_that_pages_show_are_accepted(block: str, tmp_path: Path) -> None:
    assert tomllib.loads(block)
    file = tmp_path / "discreet.toml"
    file.write_text(block)
    read_settings(file, {}, {})
