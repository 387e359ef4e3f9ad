"""Public tables as anybody may see them: their rows, and what their columns hold."""

from __future__ import annotations

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.curator.promises import public_version
from discreet.engines.engine import Engine
from discreet.engines.identifier import quoted
from discreet.query.public_values import PublicValues

__all__ = ["PublicRows"]


class PublicRows:
    """Reads public tables and nothing else. It knows the engine and not the curator, which is let go when done with."""

    def __init__(self, catalog: Catalog, engine: Engine) -> None:
        self._catalog, self._engine = catalog, engine
        self.values = PublicValues(catalog, engine.run, self._version)

    def _version(self, name: str) -> str:
        return public_version(self._catalog.table(name), self._engine.snapshot())

    def __call__(self, name: str) -> pa.Table:
        """All rows of a public table."""
        table = self._catalog.table(name)
        if not table.public:
            raise AssertionError("only public rows are shown as they are")
        snapshot = self._engine.snapshot()
        public_version(table, snapshot)
        columns = ", ".join(quoted(column.name) for column in table.columns)
        return snapshot.run(f"SELECT {columns} FROM {quoted(name)}")  # noqa: S608
