"""A promise says which two datasets it compares, and whose data differs."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.errors import InvalidInput
from discreet.privacy.neighbours import Neighbours, Unit


def test_relations_are_known_by_their_names() -> None:
    assert Neighbours.of("replace-one") is Neighbours.REPLACE_ONE
    assert Neighbours.of(Neighbours.ADD_REMOVE_ONE) is Neighbours.ADD_REMOVE_ONE
    assert [str(relation) for relation in Neighbours] == ["replace-one", "add-remove-one"]


@pytest.mark.parametrize("unknown", ["replace", "", None, 1, [], {}, "REPLACE-ONE"])
def test_an_unknown_relation_is_refused_with_the_known_ones(unknown: Any) -> None:
    with pytest.raises(InvalidInput, match="'replace-one' or 'add-remove-one'"):
        Neighbours.of(unknown)


def test_a_unit_is_a_row_or_all_rows_with_one_key() -> None:
    assert str(Unit()) == "each row"
    assert str(Unit("patient_id")) == "all rows with the same patient_id"


@pytest.mark.parametrize("key", ["", "  "])
def test_a_key_must_name_a_column(key: str) -> None:
    with pytest.raises(InvalidInput, match="name a column"):
        Unit(key)
