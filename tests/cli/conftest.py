"""The commands are built once for all tests of a process, and not for every line that a test types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
import typer.testing
from typer.main import get_command


@pytest.fixture(scope="session", autouse=True)
def _built_once() -> Iterator[None]:
    """Typer's runner builds all commands at every call, which takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(get_command))
        yield
