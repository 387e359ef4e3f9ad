"""The values of a statement that is being written: text and values never mix."""

from __future__ import annotations

from fractions import Fraction

from discreet.catalog.column import ColumnType, Value
from discreet.engines.casts import DUCKDB_TYPES

__all__ = ["Bindings"]


class Bindings:
    """Values that travel beside a statement in the language of plans, in the order of their placeholders."""

    def __init__(self) -> None:
        self.parameters: list[object] = []

    def bind(self, value: Value | None, kind: ColumnType) -> str:
        """A placeholder for ``value``."""
        return self.bind_as(float(value) if isinstance(value, Fraction) else value, DUCKDB_TYPES[kind])

    def bind_as(self, value: object, name: str) -> str:
        """A placeholder for ``value``, which is of the type that the language of plans calls ``name``."""
        self.parameters.append(value)
        return f"CAST(${len(self.parameters)} AS {name})"
