"""What the manifest says of a table that grows by periods: which are closed, and what waits to be closed.

Rows come by appends, one file each, which nobody reads; see `append`. A close makes the file of one period of them; see
`close_period`. Until its record is in the ledger the period is *closing*: it takes no more rows, and nobody reads it.

The root is a commitment to all closed periods. It is salted, so that nobody can test a guess of the rows against it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

from discreet.catalog.names import suggestion
from discreet.catalog.period import Every, Period, TimeColumn
from discreet.engines.duckdb.stored_table import Stored, StoredPeriod, read_stored, write_stored
from discreet.errors import InvalidValue

__all__ = [
    "Appended",
    "Closing",
    "Growing",
    "OpenFile",
    "StoredPeriod",
    "name_growing",
    "read_growing",
    "root_of",
    "write_growing",
]


@dataclass(frozen=True)
class Appended:
    """What became of the rows of one append: for the owner alone."""

    id: str
    """As the owner calls it."""
    rows: int
    """How many were taken."""
    set_aside: Mapping[str, int]
    """How many were not, for each reason."""
    is_repeated: bool = False
    """Whether the same rows had been appended under this id before, so that nothing was done."""

    def to_dict(self) -> dict[str, object]:
        """The same for programs."""
        facts = {"id": self.id, "rows": self.rows, "set_aside": dict(self.set_aside)}
        return {**facts, "repeated": self.is_repeated}

    def words(self) -> str:
        """The same in a sentence.

        >>> Appended("2026-02-16", 1200, {"late": 3, "no date": 1}).words()
        '1,200 rows taken in; set aside: 3 late, 1 without a date.'
        """
        said = f"{self.rows:,} {'row' if self.rows == 1 else 'rows'} taken in"
        if self.set_aside:
            counts = [f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in sorted(self.set_aside.items())]
            said += f"; set aside: {', '.join(counts)}"
        return f"{said}. That was done before; nothing changed." if self.is_repeated else f"{said}."


_REASONS = {
    "no date": "without a date",
    "no person": "without a person",
    "before": "before the first period",
    "after": "after the last period that there can be",
    "missing": "without a value that must be there",
}


@dataclass(frozen=True)
class OpenFile:
    """The rows of one append that are not in a closed period."""

    file: str
    """Where they are."""
    first: str
    """The first day on which there is one that waits for its period."""


@dataclass(frozen=True)
class Closing:
    """A close that is prepared: everything that it changes once the ledger has it."""

    period: StoredPeriod
    """The one that closes."""
    root: str
    """The commitment to all periods, this one among them."""
    erased: Mapping[str, StoredPeriod] = field(default_factory=dict)
    """The periods that are stored anew, without who was to be forgotten; by name."""
    opened: Mapping[str, OpenFile | None] = field(default_factory=dict)
    """What is left of the files of appends, by their names; None where nothing is."""
    forgotten: int = 0
    """How many of those who are to be forgotten are gone by it."""


@dataclass(frozen=True)
class Growing:
    """A table that grows."""

    name: str
    """As its policy spells it."""
    columns: Mapping[str, str]
    """The declared columns and their types, in order."""
    domain: str
    """What kind of unit its ids number."""
    unit: str | None
    """The column that names the person; None where every row is a unit."""
    per: str | None
    """How long a period is, where the unit is a person in one of them."""
    time: str
    """The column that says which period a row belongs to."""
    every: str
    """How long a period is."""
    since: str
    """The day on which the first one begins."""
    salt: str = field(repr=False)
    """What the root is hashed with, 32 bytes in hexadecimal digits; as secret as the rows."""
    periods: Sequence[StoredPeriod] = ()
    """The closed ones, in order."""
    closing: Closing | None = None
    """The next one, while it closes."""
    open: Sequence[OpenFile] = ()
    """The files of rows that wait."""
    appends: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per id of an append, what its rows come to, how many were taken, and how many were set aside."""
    forget: Sequence[str] = ()
    """Who is to be forgotten at the next close."""
    gone: Sequence[str] = ()
    """Who is in no row any more, and perhaps still in the map of people."""
    file: str = ""
    """For a table that stays on a server: its name there."""
    native: Mapping[str, str] = field(default_factory=dict)
    """For a table that stays on a server: its columns there and their types, as they were when it was protected."""

    @property
    def closed_until(self) -> date | None:
        """The day from which on periods take rows; None where all do."""
        periods = [*self.periods, *([] if self.closing is None else [self.closing.period])]
        return datetime.fromisoformat(periods[-1].end).date() if periods else None

    def next_period(self) -> Period:
        """The period that closes next, or is closing."""
        return self.calendar.after(_as_period(self.periods[-1]) if self.periods else None)

    @property
    def calendar(self) -> TimeColumn:
        """Which periods there are."""
        return TimeColumn(self.time, Every(self.every), date.fromisoformat(self.since))

    def root(self) -> str | None:
        """The commitment to the closed periods; None where there is none."""
        return root_of(self.salt, self.periods) if self.periods else None

    def stored(self) -> Stored:
        """What holds in all closed periods."""
        return self._stored

    @cached_property
    def _stored(self) -> Stored:
        whole = Stored(self.name, version="", file="", columns=self.columns, domain=self.domain, periods=self.periods)
        if self.native:
            whole = replace(whole, unit=self.unit, native=self.native)
        return whole.over([one.name for one in self.periods])

    def read(self, folded: str) -> Stored | None:
        """What follows @ in the name of what a statement reads: a period, or on a server several, by folded names."""
        names = [one.name.casefold() for one in self.periods]
        if not self.native:
            return self.periods[names.index(folded)].rows if folded in names else None
        found: list[str] = []
        for run in folded.split(","):
            first, _, last = run.partition("..")
            if first not in names or (last or first) not in names:
                return None
            found += [one.name for one in self.periods[names.index(first) : names.index(last or first) + 1]]
        return self.stored().over(found)

    def files(self) -> set[str]:
        """The names of all files that are needed."""
        found = {one.file for one in self.periods} | {one.file for one in self.open}
        if self.closing is not None:
            found |= {one.file for one in (self.closing.period, *self.closing.erased.values())}
            found |= {one.file for one in self.closing.opened.values() if one is not None}
        return found

    def closed(self) -> Growing:
        """The table after the close that was prepared."""
        done = self.closing
        if done is None:
            return self
        left = [done.opened.get(one.file, one) for one in self.open]
        return replace(
            self,
            periods=(*(done.erased.get(one.name, one) for one in self.periods), done.period),
            closing=None,
            open=tuple(one for one in left if one is not None),
            forget=self.forget[done.forgotten :],
            gone=(*self.gone, *self.forget[: done.forgotten]),
        )

    def check_same(self, other: Growing) -> None:
        """Refuse a policy under which rows would be of other people, types or periods than those that are there."""
        for what in ("columns", "domain", "unit", "per", "time", "every", "since"):
            was, got = getattr(self, what), getattr(other, what)
            if (list(was.items()) if isinstance(was, Mapping) else was) != (
                list(got.items()) if isinstance(got, Mapping) else got
            ):
                words = {"since": "the first period", "every": "the length of periods", "time": "the time column"}
                rule = f"{self.name}: {words.get(what, what)} must stay as it was when the table began"
                raise InvalidValue(rule, f"<{_spell(got)} and {_spell(was)}>", "keep it, or use another table name")


def _spell(fact: object) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in fact.items()) if isinstance(fact, Mapping) else str(fact)


def _as_period(stored: StoredPeriod) -> Period:
    return Period(stored.name, datetime.fromisoformat(stored.start), datetime.fromisoformat(stored.end))


def root_of(salt: str, periods: Iterable[StoredPeriod]) -> str:
    """The SHA-256 of the salt and of the names, intervals, versions and files of these periods."""
    listed = [[one.name, one.start, one.end, one.version, one.digest] for one in periods]
    return hashlib.sha256(bytes.fromhex(salt) + json.dumps(listed).encode()).hexdigest()


def name_growing(tables: Mapping[str, Growing], name: str) -> Growing:
    """The table that grows of this name, or a refusal that suggests one."""
    found = tables.get(name.casefold())
    if found is None:
        remedy = suggestion(name, (one.name for one in tables.values()))
        raise InvalidValue("the store must hold the table, and it must grow by periods", name, remedy)
    return found


_PLAIN = ("name", "domain", "unit", "per", "time", "every", "since", "salt")


def write_growing(growing: Growing) -> dict[str, Any]:
    """The row of the manifest that tells of a table that grows."""
    row: dict[str, Any] = {name: getattr(growing, name) for name in _PLAIN}
    row["columns"] = dict(growing.columns)
    row["periods"] = [_write_period(one) for one in growing.periods]
    row["closing"] = None if growing.closing is None else _write_closing(growing.closing)
    row["open"] = [asdict(one) for one in growing.open]
    row["appends"] = {name: dict(one) for name, one in growing.appends.items()}
    row |= {"forget": list(growing.forget), "gone": list(growing.gone)}
    return row | ({"file": growing.file, "native": dict(growing.native)} if growing.native else {})


def read_growing(row: Mapping[str, Any]) -> Growing:
    """The table that grows that a row of the manifest tells of."""
    read = {
        "periods": tuple(_read_period(one) for one in row["periods"]),
        "closing": None if row["closing"] is None else _read_closing(row["closing"]),
        "open": tuple(OpenFile(**one) for one in row["open"]),
        "forget": tuple(row["forget"]),
        "gone": tuple(row["gone"]),
    }
    growing = Growing(**{**row, **read})
    growing.stored().types()  # unknown types and lengths are refused here
    Every(growing.every)
    return growing


def _write_period(period: StoredPeriod) -> dict[str, Any]:
    facts = {name: getattr(period, name) for name in ("name", "start", "end", "digest", "set_aside")}
    return facts | {"rows": write_stored(period.rows)}


def _read_period(row: Mapping[str, Any]) -> StoredPeriod:
    return StoredPeriod(**{**row, "rows": read_stored(row["rows"])})


def _write_closing(closing: Closing) -> dict[str, Any]:
    return {
        "period": _write_period(closing.period),
        "root": closing.root,
        "erased": [_write_period(one) for one in closing.erased.values()],
        "opened": {file: None if one is None else asdict(one) for file, one in closing.opened.items()},
        "forgotten": closing.forgotten,
    }


def _read_closing(row: Mapping[str, Any]) -> Closing:
    erased = [_read_period(one) for one in row["erased"]]
    opened = {file: None if one is None else OpenFile(**one) for file, one in row["opened"].items()}
    return Closing(
        _read_period(row["period"]), row["root"], {one.name: one for one in erased}, opened, row["forgotten"]
    )
