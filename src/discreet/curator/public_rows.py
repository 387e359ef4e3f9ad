"""Public tables as anybody may see them: their rows, and what their columns hold."""

from __future__ import annotations

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.curator.promises import public_version
from discreet.engines.engine import Engine
from discreet.engines.identifier import quoted
from discreet.query.public_multiplicity import PublicMultiplicity
from discreet.query.public_values import PublicEnds, PublicValues

__all__ = ["PublicRows"]


class PublicRows:
    """Reads public tables and nothing else. It knows the rows of one moment and not the curator."""

    def __init__(self, catalog: Catalog, snapshot: Engine) -> None:
        self._catalog, self._snapshot = catalog, snapshot

        # Nothing of itself, or connections would be let go of in no order.
        def version(name: str) -> str:
            return public_version(catalog.table(name), snapshot)

        at_rest = snapshot.capabilities.pinned_snapshots
        self.values = PublicValues(catalog, snapshot.run, version)
        self.ends = PublicEnds(catalog, snapshot.run, version, at_rest=at_rest)
        self.count_alike = PublicMultiplicity(catalog, snapshot.run, version, at_rest=at_rest)

    def __call__(self, name: str) -> pa.Table:
        """All rows of a public table."""
        table = self._catalog.table(name)
        if not table.public:
            raise AssertionError("only public rows are shown as they are")
        public_version(table, self._snapshot)
        columns = ", ".join(quoted(column.name) for column in table.columns)
        return self._snapshot.run(f"SELECT {columns} FROM {quoted(name)}")  # noqa: S608
