"""What `make test` leaves to `make test-all` is spread evenly, and never everything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import thoroughness
from tests.conftest import group_of
from tests.thoroughness import many, some


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_some_cases_are_few_different_and_in_order(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thoroughness, "IS_THOROUGH", False)
    found = some(range(50), most)
    assert len(found) == most
    assert found == sorted(set(found))
    assert found[0] == 0
    assert most == 1 or found[-1] == 49
    assert some("ab", 2) == ["a", "b"]


def test_a_thorough_run_takes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thoroughness, "IS_THOROUGH", True)
    assert some(range(50), 3) == list(range(50))
    assert len(some(range(50), 3, 10)) == 10
    monkeypatch.setattr(thoroughness, "IS_SOAK", True)
    assert some(range(50), 3, 10) == list(range(50))
    assert many(3, 50) == 50


MARKED = """
import pytest
from tests.thoroughness import in_turns

@pytest.fixture(params=in_turns("file", "server"))
def place(request): return request.param

def test_first(place): pass
def test_alone(): pass
def test_second(place): pass
@pytest.mark.parametrize("k", range(3))
def test_third(place, k): pass
@pytest.mark.parametrize("k", range(9))
@pytest.mark.some(2)
def test_some(k): pass
@pytest.mark.thorough
def test_thorough(): pass
"""


@pytest.mark.parametrize(("thorough", "count"), [("", 8), ("1", 21)])
def test_a_run_takes_what_the_marks_say(thorough: str, count: int, tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    (tmp_path / "test_it.py").write_text(MARKED)
    words = ["--collect-only", "-q", "-c", str(root / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)]
    words = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", *words]
    surroundings = {**os.environ, "THOROUGH": thorough}
    done = subprocess.run(words, check=True, cwd=root, env=surroundings, capture_output=True, text=True)
    found = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    assert len(found) == count
    if not thorough:
        assert found[:3] == ["test_first[file]", "test_alone", "test_second[server]"]  # each has its turn
        assert found[3:] == [*(f"test_third[file-{k}]" for k in range(3)), "test_some[0]", "test_some[8]"]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("tests/query/test_top.py::test_a[1]", "tests/query/test_top.py::test_b", True),
        ("tests/query/test_top.py::test_a", "tests/query/test_work.py::test_a", False),
        ("tests/console/test_ask.py::test_a", "tests/console/test_frame.py::test_a", True),
        ("tests/engines/test_spark.py::TestSameOnSpark::test_a", "tests/curator/test_seam.py::test_a[spark]", True),
        ("tests/engines/test_spark.py::test_a", "tests/curator/test_seam.py::test_a[duckdb]", False),
        ("tests/engines/test_spark.py::test_a", "tests/engines/test_spark_servers.py::test_a", False),
        ("tests/fuzz/test_fuzz_neighbours.py::test_a[0]", "tests/fuzz/test_fuzz_neighbours.py::test_a[3]", False),
    ],
)
def test_what_shares_something_expensive_goes_to_one_process(one: str, other: str, is_same: bool) -> None:
    assert (group_of(one) == group_of(other)) is is_same
