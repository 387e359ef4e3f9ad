"""The fuzzer by hand: ``python -m tests.fuzz.run --engine duckdb --seed 1 --count 3000``, or ``--seconds 3600``.

It says what was asked and what was found, each finding made short, with the policies and rows that show it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.finding import Broken
from tests.fuzz.fuzzer import Case, Tally, fuzz
from tests.fuzz.places import DuckDBPlaces, Places, PostgresPlaces, SparkPlaces
from tests.fuzz.shrinking import shrunk
from tests.servers.postgres import PostgresServer
from tests.servers.spark import opened_session, prepared_java

__all__ = ["ENGINES", "main", "opened_places", "told"]

ENGINES = ("duckdb", "postgres", "spark")


@contextmanager
def opened_places(engine: str) -> Iterator[Places]:
    """Where worlds are taken in, on an engine of this name."""
    if engine == "duckdb":
        yield DuckDBPlaces()
    elif engine == "postgres":
        server = PostgresServer()
        try:
            server.start()
            yield PostgresPlaces(server)
        finally:
            server.remove()
    else:
        prepared_java()
        with TemporaryDirectory() as folder, opened_session(Path(folder)) as session:
            yield SparkPlaces(session)


def told(case: Case) -> str:
    """Everything that is needed to see a finding again."""
    world = case.world
    lines = [f"{case.finding}", f"  ε = {case.epsilon}, world {world.seed}{', plain' if world.is_plain else ''}"]
    used = [table for table in world.catalog if f" {table.name} " in f"{case.finding.sql} ".replace(")", " ")]
    for table in used:
        shape = [f"unit={table.unit}", f"rows={table.rows_per_unit}", f"groups={table.most_groups}"]
        lines.append(f"  {table.name} ({'public' if table.public else ', '.join(shape)}, {table.neighbours})")
        for column in table.columns:
            stated = {name: getattr(column, name) for name in ("lower", "upper", "keys", "default", "rows_per_key")}
            facts = ", ".join(f"{name}={value}" for name, value in stated.items() if value is not None)
            never = (
                ""
                if column.nullable
                else " never missing" + (" (unchecked)" * ((table.name, column.name) in world.believed))
            )
            lines.append(f"    {column.name} {column.type.value}{never} {facts}")
        lines += [f"    here  {row}" for row in world.here[table.name]]
        if world.there[table.name] != world.here[table.name]:
            lines += [f"    there {row}" for row in world.there[table.name]]
    return "\n".join(lines)


def summary(tally: Tally) -> str:
    """One line about a run."""
    kinds = ", ".join(
        f"{kind.name} {count}" for kind, count in sorted(tally.kinds.items(), key=lambda one: one[0].name)
    )
    return f"{tally.asked:,} asked, {tally.answered:,} answered, {tally.seconds:.0f} s; {kinds or 'nothing found'}"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--show", type=int, default=3, help="findings of each kind that are shown")
    parser.add_argument("--skip", nargs="*", default=[], choices=[kind.name for kind in Broken])
    parser.add_argument("--whole", action="store_true", help="show findings as they are, not made short")
    parser.add_argument("--plain", action="store_true", help="worlds whose policies bound nothing")
    chosen = parser.parse_args(words)
    with opened_places(chosen.engine) as places:
        count = sys.maxsize if chosen.seconds else chosen.count
        tally = fuzz(places, chosen.seed, count, seconds=chosen.seconds, plain=chosen.plain)
        shown: dict[Broken, int] = {}
        for case in tally.cases:
            kind = case.finding.broken
            shown[kind] = shown.get(kind, 0) + 1
            if kind.name not in chosen.skip and shown[kind] <= chosen.show:
                print(told(case if chosen.whole or kind is Broken.MEANING else shrunk(case, places)))
        print(summary(tally))
    return bool(tally.cases)


if __name__ == "__main__":
    sys.exit(main())
