"""Reading questions about tables that grow: which periods they read, and how they are divided by them.

A text is first read with all closed periods in view. Its conditions say which of them it can need; then it is read
again for these alone, and where it groups by the period, for each of them by itself. All of that looks at the text, the
policies and the list of closed periods, and at no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.catalog.period import Period
from discreet.catalog.table import Table
from discreet.errors import QueryRefused
from discreet.query.bind.periods import find_read_periods, narrow_table
from discreet.query.bind.split import SplitQuery
from discreet.query.divide import can_be_divided
from discreet.query.parse.clock import AsOf, asks_clock
from discreet.query.parse.parser import parse
from discreet.query.question import list_tables

__all__ = ["Reading", "ReadingPlan", "Reads", "see_periods"]


Reads = tuple[tuple[str, tuple[Period, ...]], ...]
"""Per table that grows, the periods that are read."""
Split = Callable[[str, Catalog, AsOf | None], SplitQuery]
_KNOWN = 256
_KNOWN_PIECES = 4096
_KNOWN_CATALOGS = 1024


def see_periods(stated: Catalog, closed: Callable[[Table], Sequence[Period]]) -> Catalog:
    """The policies, in which tables that grow have the periods that are closed, and dates in these alone."""
    for table in list(stated):
        if table.time is not None:
            stated = stated.with_table(narrow_table(table, closed(table)))
    return stated


@dataclass(frozen=True, eq=False)
class ReadingPlan:
    """A text as it is asked: whole, or once for each of several periods."""

    whole: SplitQuery | None
    """The question; None where it is divided."""
    pieces: tuple[SplitQuery, ...] = ()
    """Where it is divided, the question of each period, in order."""

    @property
    def queries(self) -> tuple[SplitQuery, ...]:
        """What is planned."""
        return self.pieces if self.whole is None else (self.whole,)


class Reading:
    """Reads texts with the policies of one moment; the same text is read for many prices, and kept."""

    def __init__(self, catalog: Catalog, split: Split, is_current: Callable[[SplitQuery], bool]) -> None:
        """``split`` reads a text in a catalog; ``is_current`` is whether public rows are still those it was read with.

        The catalog has the periods that are closed.
        """
        self._catalog = catalog
        self._is_current = is_current
        narrowed = lru_cache(maxsize=_KNOWN_CATALOGS)(lambda reads: _narrowed(catalog, reads))

        def anew(text: str, as_of: AsOf | None, reads: Reads) -> SplitQuery:
            return split(text, narrowed(reads) if reads else catalog, as_of)

        self._anew = anew
        self._known = lru_cache(maxsize=_KNOWN)(lambda text, as_of: [anew(text, as_of, ())])
        self._known_pieces = lru_cache(maxsize=_KNOWN_PIECES)(lambda text, as_of, reads: [anew(text, as_of, reads)])
        self._growing = [table for table in catalog if table.time is not None]

    def read(self, text: str, as_of: AsOf | None, *, is_divided: bool = True) -> ReadingPlan:
        """A text as it is asked; ``is_divided`` where it may be asked once for each period."""
        clock = self._clock(text) if as_of is None else None
        as_of = as_of or clock
        found = self._split(text, as_of, ())
        tables = [table for table in self._growing if table.name in list_tables(found)]
        if not tables:
            return ReadingPlan(found)
        plan = self._narrowed(text, as_of, found, tables, is_divided=is_divided)
        for query in plan.queries if clock else ():
            query.clock = str(clock)
        return plan

    def _narrowed(
        self, text: str, as_of: AsOf | None, found: SplitQuery, tables: list[Table], *, is_divided: bool
    ) -> ReadingPlan:
        reads = tuple((table.name, tuple(_read_periods(found, table))) for table in tables)
        if is_divided and len(tables) == 1 and can_be_divided(found, tables[0]):
            name, periods = reads[0]
            return ReadingPlan(None, tuple(self._split(text, as_of, ((name, (one,)),)) for one in periods))
        whole = self._split(text, as_of, reads)
        for refusal in whole.refused_together:
            raise refusal
        return ReadingPlan(whole)

    def _split(self, text: str, as_of: AsOf | None, reads: Reads) -> SplitQuery:
        """The query as it was read before, unless public rows that it was built on are others by now."""
        kept = self._known_pieces(text, as_of, reads) if reads else self._known(text, as_of)
        if not self._is_current(kept[0]):
            kept[0] = self._anew(text, as_of, reads)
        return kept[0]

    def _clock(self, text: str) -> AsOf | None:
        """What CURRENT_DATE means where nobody named a moment: the end of the last closed period of the one table."""
        if not self._growing:
            return None
        tree = parse(text, "duckdb")
        if not asks_clock(tree):
            return None
        named = {id(table): table for table in self._named(tree)}
        closed = [table.closed for table in named.values() if table.closed]
        return AsOf(closed[0][-1].end) if len(named) == len(closed) == 1 else None

    def _named(self, tree: exp.Query) -> Iterator[Table]:
        for node in tree.find_all(exp.Table):
            table = self._catalog.named(".".join(part.name for part in node.parts))
            if table is not None and table.time is not None:
                yield table


def _narrowed(catalog: Catalog, reads: Reads) -> Catalog:
    for name, periods in reads:
        catalog = catalog.with_table(narrow_table(catalog.table(name), periods))
    return catalog


def _read_periods(query: SplitQuery, table: Table) -> list[Period]:
    """The periods that a question reads; one that reads none has nothing to ask."""
    if table.time is not None and not table.closed:
        first = table.time.after(None)
        rule = f"{table.name}: a question reads periods that are closed, and none is"
        due = first.end + timedelta(days=table.time.grace)
        raise QueryRefused(rule, "", f"the first is {first.name}; it is due on {due:%Y-%m-%d}")
    found = find_read_periods(query.blocks, table)
    if not found:
        rule = f"{table.name}: a question must read a period that is closed, and this one reads none"
        closed = f"{table.closed[0].name} to {table.closed[-1].name} are closed"
        raise QueryRefused(rule, "", f"{closed}; look at the conditions on {table.time and table.time.column}")
    return found
