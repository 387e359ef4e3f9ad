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
        bound = float(value) if isinstance(value, Fraction) else value
        self.parameters.append(bound)
        return f"CAST(${len(self.parameters)} AS {DUCKDB_TYPES[kind]})"
