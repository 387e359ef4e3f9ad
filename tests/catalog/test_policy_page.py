"""The pages about policies say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discreet.catalog.column import ColumnType
from discreet.catalog.policy.read import dumps, loads
from tests.catalog.policy_page import PAGE, filled

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-policy.md"
BLOCKS = [
    block
    for page in (PAGE, HOW_TO)
    for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
]


def test_the_tables_of_fields_are_up_to_date() -> None:
    assert filled(PAGE.read_text()) == PAGE.read_text(), "run `python -m tests.catalog.policy_page`"


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.startswith("table:")])
def test_every_policy_shown_is_a_good_one(block: str) -> None:
    table = loads(block)
    assert loads(dumps(table)) == table


def test_every_column_type_is_explained() -> None:
    assert all(f"| `{kind.value}` |" in PAGE.read_text() for kind in ColumnType)
