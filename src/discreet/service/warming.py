"""Before the door opens: whatever the first visitors would wait for is done once, on made-up rows.

The first question loads libraries and compiles statements. And what is in memory once all of it is there stays until
the end, so the garbage collector need not look through it every few seconds, while everybody waits.
"""

from __future__ import annotations

import atexit
import gc

from discreet.engines.identifier import quoted
from discreet.errors import DiscreetError
from discreet.service.house import House

__all__ = ["warm"]

_ROWS = 10


def warm(house: House) -> None:
    """Rehearse a question about one protected table, where there is one; nothing is read, charged or kept."""
    protected = next((table for table in house.curator.catalog if not table.public), None)
    if protected is not None:
        source = ".".join(map(quoted, protected.name.split(".")))
        sql = f"SELECT COUNT(*) AS n FROM {source}"  # noqa: S608
        analyst = next(iter(protected.analysts), None)
        try:
            house.curator.explain(sql, 1, analyst=analyst)
            house.curator.rehearse(sql, 1, analyst=analyst, rows=_ROWS)
        except DiscreetError:  # whatever is wrong is said to who asks
            pass
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # or what is left at the end would be reported as lost
