"""Text that is not SQL: the refusal points at the word that was mistyped, not at where the parser gave up."""

from __future__ import annotations

import pytest

from discreet.catalog.catalog import Catalog
from discreet.errors import QueryRefused
from discreet.query.passes import split


@pytest.mark.parametrize(
    ("sql", "line", "column", "words", "remedy"),
    [
        ("SELEC COUNT(*) FROM visits", 1, 1, "SELEC", "SELECT"),
        ("SELECT COUNT(*) FORM visits", 1, 17, "FORM", "FROM"),
        ("SELECT COUNT(*) FROM visits WHER age > 3", 1, 29, "WHER", "WHERE"),
        ("select\n count(*)\n from visits\n whre age = 3", 4, 2, "whre", "WHERE"),
        ("SELECT w, COUNT(*) FROM visits GRUOP BY w", 1, 32, "GRUOP", "GROUP"),
        ("SELECT COUNT(* FROM visits", 1, 16, "FROM", "the one before it"),
        ("SELECT COUNT(*) FROM visits WHERE w = 'a", 1, 39, "'a", "close"),
        ('SELECT COUNT(*)\nFROM visits\nWHERE w = "a', 3, 11, '"a', "close"),
        ("SELECT COUNT(*) FROM visits /* all", 1, 29, "/* all", "close"),
    ],
)
def test_the_refusal_points_at_the_mistake(sql: str, line: int, column: int, words: str, remedy: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        split(sql, Catalog([]))
    assert (refused.value.line, refused.value.column) == (line, column)
    assert f"got {words};" in str(refused.value)
    assert remedy in refused.value.remedy
