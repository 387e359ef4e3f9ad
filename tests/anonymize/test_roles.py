"""Every column has one role."""

from __future__ import annotations

import pytest

from discreet.anonymize.roles import Role, Roles
from discreet.errors import InvalidType, InvalidValue

COLUMNS = ["name", "age", "zip", "disease", "note"]


def test_columns_that_are_not_named_are_insensitive() -> None:
    roles = Roles.of(COLUMNS, quasi=["zip", "age"], sensitive="disease", identifying="name")
    assert roles == Roles(("zip", "age"), ("disease",), ("name",), ("note",))
    assert {name: roles.role_of(name) for name in COLUMNS} == {
        "name": Role.IDENTIFYING,
        "age": Role.QUASI_IDENTIFYING,
        "zip": Role.QUASI_IDENTIFYING,
        "disease": Role.SENSITIVE,
        "note": Role.INSENSITIVE,
    }
    assert sorted(roles.columns) == sorted(COLUMNS)


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InvalidValue, match="got 'agee'; did you mean 'age'"):
        Roles.of(COLUMNS, quasi=["agee"])
    with pytest.raises(InvalidValue, match="did you mean 'age'"):
        Roles.of(COLUMNS, quasi="age").role_of("agee")


def test_a_sensitive_column_that_is_also_a_quasi_identifier_is_refused() -> None:
    with pytest.raises(InvalidValue, match="'age'; it is named as quasi-identifying and sensitive; keep one"):
        Roles.of(COLUMNS, quasi=["age"], sensitive=["age"])
    with pytest.raises(InvalidValue, match="it is named as quasi-identifying; keep one"):
        Roles.of(COLUMNS, quasi=["age", "age"])


def test_duplicate_columns_are_refused() -> None:
    with pytest.raises(InvalidValue, match=r"name of its own, got \['a'\]"):
        Roles.of(["a", "a", "b"], quasi=["b"])


def test_a_table_without_quasi_identifiers_is_refused() -> None:
    with pytest.raises(InvalidValue, match="must have a quasi-identifier"):
        Roles.of(COLUMNS, quasi=[])


def test_names_are_text() -> None:
    with pytest.raises(InvalidType, match="the name of a column must be text, got 1"):
        Roles.of(COLUMNS, quasi=[1])  # type: ignore[list-item]
