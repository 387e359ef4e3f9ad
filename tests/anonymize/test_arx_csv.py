"""Hierarchies in the files of ARX, both ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.anonymize.hierarchies.builders import read_arx_csv, write_arx_csv
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.errors import InvalidValue
from tests.anonymize.test_hierarchy import random_hierarchies
from tests.thoroughness import many

writable_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def read(folder: Path, text: str) -> Hierarchy:
    (folder / "h.csv").write_text(text, encoding="utf-8")
    return read_arx_csv(folder / "h.csv")


def test_a_line_is_a_value_and_its_groups(tmp_path: Path) -> None:
    found = read(tmp_path, "\ufeffBachelors;Under;Higher;*\n11th;School;Secondary;*\nMasters;Graduate;Higher;*\n")
    assert found.values == ("Bachelors", "11th", "Masters")
    assert found.labels[2] == ("Higher", "Secondary")
    assert found.levels[2].tolist() == [0, 1, 0]


@settings(deadline=None, max_examples=many(20, 60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hierarchy=random_hierarchies())
def test_what_is_written_is_read(tmp_path: Path, hierarchy: Hierarchy) -> None:
    write_arx_csv(hierarchy, tmp_path / "h.csv")
    found = read_arx_csv(tmp_path / "h.csv")
    assert (found.values, found.labels) == (hierarchy.values, hierarchy.labels)
    assert all((ours == theirs).all() for ours, theirs in zip(found.levels, hierarchy.levels, strict=True))


@settings(deadline=None, max_examples=many(20, 60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(writable_text, min_size=1, unique=True))
def test_any_text_survives_a_file(tmp_path: Path, values: list[str]) -> None:
    write_arx_csv(Hierarchy.suppressing(values), tmp_path / "h.csv")
    assert read_arx_csv(tmp_path / "h.csv").values == tuple(values)


def test_the_missing_value_survives_a_file(tmp_path: Path) -> None:
    write_arx_csv(Hierarchy.suppressing(["a", None]), tmp_path / "h.csv")
    assert read_arx_csv(tmp_path / "h.csv").values == ("a", None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty"),
        ("a;x;*\nb;y\nc;x;*\nd;*\n", "must have 3 cells, as the first has; lines 2, 4 have not"),
        ("a;x;*\na;y;*\n", "must occur once; 'a'"),
        ("a;x;1\nb;x;2\n", "'x' is split"),
    ],
)
def test_files_that_are_no_hierarchy_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InvalidValue, match=problem):
        read(tmp_path, text)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="must be readable"):
        read_arx_csv(tmp_path / "none.csv")
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe;*\n")
    with pytest.raises(InvalidValue, match="UTF-8"):
        read_arx_csv(tmp_path / "bad.csv")
