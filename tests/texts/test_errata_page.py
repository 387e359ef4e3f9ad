"""The errata page names a test for each slip that can be checked, and those tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "errata.md").read_text()
SECTIONS = re.findall(r"Tests in `(tests/texts/\w+\.py)`\.\n(.*?)(?=\n## |\Z)", PAGE, re.DOTALL)


@pytest.mark.parametrize(("file", "section"), SECTIONS, ids=[file for file, _ in SECTIONS])
def test_the_tests_that_the_errata_name_exist(file: str, section: str) -> None:
    tests = (ROOT / file).read_text()
    named = re.findall(r"`(test_\w+)`", section)
    assert named
    assert not [name for name in named if f"def {name}(" not in tests]


def test_every_text_has_a_section() -> None:
    files = sorted(str(path.relative_to(ROOT)) for path in Path(__file__).parent.glob("test_*.py"))
    assert sorted(file for file, _ in SECTIONS) == [file for file in files if not file.endswith("test_errata_page.py")]
