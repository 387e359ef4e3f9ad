"""A process that takes in version after version until it is killed: ``python -m tests.soak.repeated_ingest FOLDER``.

Every version holds as many people as the last one, the first of them one later, so that a mixture would show.
"""

from __future__ import annotations

import itertools
import sys

from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.ingest import ingest
from tests.engines.people import PEOPLE, people

__all__ = ["CROWD"]

CROWD = 500

if __name__ == "__main__":
    engine = DuckDBEngine(sys.argv[1], threads=2)
    print("ready", flush=True)
    for first in itertools.count(1):
        ingest(engine, PEOPLE, people(range(first, first + CROWD)))
