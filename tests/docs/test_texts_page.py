"""The page of the course texts: every call in its tables runs, and gives the result that stands beside it."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
from typing import Any

import pytest
import typer

from discreet.cli.main import app
from tests.docs.installed import BLOCK, ROOT

PAGE = (ROOT / "docs" / "texts.md").read_text("utf-8")
ROW = re.compile(r"^\| (.+?) \| (.*?) ?\| (.*?) ?\|$", re.MULTILINE)
SPAN = re.compile(r"`([^`]+)`")
HEADINGS = {"item", "---"}


def rows() -> list[tuple[str, list[str], list[str]]]:
    """The item of each row, what is called for it, and what should come out."""
    found = [(item, SPAN.findall(shown), SPAN.findall(result)) for item, shown, result in ROW.findall(PAGE)]
    return [row for row in found if row[0] not in HEADINGS]


def is_command(span: str) -> bool:
    return span.startswith("discreet ")


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the blocks of the page define."""
    found: dict[str, Any] = {"__name__": "page"}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in BLOCK.findall(PAGE):
            exec(block, found)
    return found


def _is(value: Any, expected: str) -> bool:
    """Whether a value is what a cell says: to three digits where it is a number."""
    try:
        wanted = ast.literal_eval(expected)
    except (SyntaxError, ValueError):
        return str(value) == expected
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return float(value) == pytest.approx(wanted, rel=2e-3)
    return bool(value == wanted)


def test_calls_give_the_results_that_stand_beside_them(names: dict[str, Any]) -> None:
    wrong = []
    for item, shown, results in rows():
        calls = [span for span in shown if not is_command(span)]
        assert len(results) in (0, len(calls)), item
        for call, expected in zip(calls, results or [""] * len(calls), strict=True):
            value = eval(call, names)
            is_right = _is(value, expected) if expected else value is not False
            if not is_right:
                wrong.append((item, call, str(value)[:80]))
    assert not wrong


def test_commands_exist_with_their_options() -> None:
    root = typer.main.get_command(app)
    commands = [span for _, shown, _ in rows() for span in shown if is_command(span)]
    assert commands
    for command in commands:
        words = shlex.split(command)[1:]
        found: Any = root
        while hasattr(found, "commands"):
            found = found.commands[words.pop(0)]
        known = {name for parameter in found.params for name in parameter.opts}
        assert not [word for word in words if word.startswith("-") and word not in known], command


def test_every_text_has_a_table() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    assert [section[0] for section in sections] == list("12345")
    assert all(len(ROW.findall(section)) > 15 for section in sections)
