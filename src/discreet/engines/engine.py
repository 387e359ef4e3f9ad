"""The engine contract: whoever holds the rows describes them, runs one SELECT and says which version they are.

Promise. For every statement and every table: a run either returns the whole result or raises `EngineFailure`, which is
the same whatever went wrong. A database's own words can hold a value of a row (``could not convert 'Ann Smith'``), so
they reach neither the message nor the cause nor the context of what is raised. An owner may see them through the owner
log, which is off until the owner passes one.

One failure is told apart, because no row can decide it: an engine that knows that its statement was never sent, as
where a server refuses the connection, raises `Unsent` inside, and `EngineUnavailable` comes out. Only it may claim so.

The owner's log is a file in the curator's folder that says why a run failed, in the database's own words. They can hold
values of rows. So the file is for the owner alone, as the rows beside it are, and nothing of it reaches an analyst, the
log of a service or a metric. It is cut in two before it grows large: the older part is ``owner.log.1``.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import ColumnType
from discreet.catalog.period import Period
from discreet.catalog.policy.read import UnreadColumn
from discreet.catalog.table import Table
from discreet.engines.duckdb.growing import Appended, Growing, name_growing
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.duckdb.store import TableFiles
from discreet.engines.parameters import ParameterValue, bind_parameter
from discreet.errors import EngineFailure, EngineUnavailable, InvalidValue

__all__ = [
    "FILE",
    "Capabilities",
    "Engine",
    "OwnerFile",
    "OwnerLog",
    "Progress",
    "TableStore",
    "Unread",
    "Unsent",
    "refuse_growth",
    "shield_errors",
    "tell",
]


OwnerLog = Callable[[str], None]
"""Called with the database's own words about a failure. They can hold values of rows: for the owner's eyes alone."""

Progress = Callable[[float], None]
"""Called with the fraction that is done, from 0 to 1. It depends on the rows: for the owner's eyes alone."""
Unread = Callable[[Mapping[str, UnreadColumn]], None]
"""Called with what could not be read as its type, per column: exact, for the owner's eyes alone."""

T = TypeVar("T")


class Unsent(Exception):
    """Raised by an engine, from what went wrong, when its statement was not sent: no row can have been read."""


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do, said once; plans and tests read it."""

    language_of_plans: bool
    """Whether it runs statements as plans write them; others have them translated."""
    wide_integer_sums: bool
    """Whether SUM over 64-bit integers is exact past 2^63."""
    try_cast: bool
    """Whether TRY_CAST turns a value that cannot be cast into NULL."""
    try_expression: bool
    """Whether TRY(x) turns any error of a row's expression into NULL."""
    hash_function: str | None
    """A deterministic 64-bit hash of text, by name."""
    sorted_by_unit: bool
    """Whether the rows of a table, or of one period of it, lie sorted by ``_unit``."""
    statement_timeout: bool
    """Whether a run can be limited in time."""
    takes_rows: bool
    """Whether it keeps the rows that it is given; others read those of a server, where their owner changes them."""
    pinned_snapshots: bool
    """Whether a snapshot goes on answering from its own version after newer data was taken in."""


class Engine(ABC):
    """Holds rows and runs one SELECT at a time over them. Every protected table has a column ``_unit``."""

    dialect: ClassVar[str]
    """The name of the SQL that the database understands, as sqlglot spells it."""
    capabilities: ClassVar[Capabilities]
    """What the engine can do."""

    owner_log: OwnerLog | None = None
    """Where the database's own words about a failure go; nowhere by default."""

    @abstractmethod
    def describe(self, table: str) -> Mapping[str, ColumnType]:
        """The names and types of a table's declared columns, in order; nothing that depends on a row."""

    @abstractmethod
    def version(self, table: str) -> str:
        """The version of a table's data: a new one whenever data is taken in, equal or not."""

    @abstractmethod
    def stored(self, table: str) -> Stored:
        """A table as it was taken in: whose rows they are, and what was checked about them."""

    @property
    def secret(self) -> str:
        """What units' own orders are hashed with (see ``bounded_keys``); for statements, and shown nowhere."""
        return ""

    def check(self, statement: str, parameters: Sequence[object] = ()) -> None:
        """Refuse a statement that the engine cannot run, by its text alone; before anything is charged or read."""
        for value in parameters:
            bind_parameter(value)

    def rehearse(self, statement: str, parameters: Sequence[object] = ()) -> None:
        """Refuse a statement that the database would not run whatever the rows are; reads none of them."""
        self.check(statement, parameters)

    @abstractmethod
    def _run(self, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        """Run one SELECT; may raise anything."""

    def run(self, statement: str, parameters: Sequence[object] = ()) -> pa.Table:
        """The result of one SELECT in the language of plans, with parameters ``$1``, ``$2``, … bound beside it."""
        values = [bind_parameter(value) for value in parameters]
        return shield_errors(lambda: self._run(statement, values), self.owner_log)

    def reach(self) -> None:  # noqa: B027  rows in files are always there
        """Refuse by `EngineUnavailable` where a statement could not be sent now; before anything is charged or read."""

    def snapshot(self) -> Engine:
        """The engine as it is now: ``version`` and ``run`` of one snapshot speak of the same data.

        An engine that cannot pin its data returns itself and says so in its capabilities.
        """
        return self

    def kept(self, versions: Mapping[str, str]) -> Engine | None:
        """A snapshot in which tables have these versions, to be closed by the caller; None where they are not kept."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class TableStore(Engine):
    """An engine with a folder that remembers which tables are protected, and takes in more."""

    store: TableFiles
    """Where the folder says which tables there are."""

    @abstractmethod
    def take_in(
        self,
        table: Table,
        source: Any,
        *,
        catalog: Catalog | None = None,
        progress: Progress | None = None,
        unread: Unread | None = None,
    ) -> str:
        """Make ``source`` the new version of ``table``, and return the version's id.

        ``catalog`` holds the tables that foreign keys lead to; they are taken in first.
        """

    # Tables that grow by periods. Nothing that these return but a root is for anybody but the owner.

    @abstractmethod
    def begin(self, table: Table, source: Any = None, *, catalog: Catalog | None = None) -> None:
        """Make a table that grows, without a closed period; nothing where it is there already.

        Where rows stay on a server, ``source`` names them; elsewhere there are none yet.
        """

    def append(
        self,
        table: Table,
        source: Any,
        *,
        id: str,  # noqa: A002  as owners say it
        catalog: Catalog | None = None,
        progress: Progress | None = None,
        unread: Unread | None = None,
    ) -> Appended:
        """Take more rows, which nobody reads before their periods are closed; the same ``id`` takes them in once."""
        raise refuse_growth(table.name)

    @abstractmethod
    def prepare_close(self, table: Table, period: Period, *, catalog: Catalog | None = None) -> str:
        """Make the next period ready to be read, and return the root of all periods with it, in hexadecimal digits.

        Whoever was to be forgotten is then in none of them. Asked again, it returns the same root.
        """

    @abstractmethod
    def finish_close(self, table: str, period: Period) -> None:
        """Have questions read a period that was made ready."""

    def closing(self, table: str) -> tuple[str, str] | None:
        """The period that is made ready and not yet read, and the root with it; None where there is none."""
        found = self.growing(table).closing
        return None if found is None else (found.period.name, found.root)

    def root(self, table: str) -> str | None:
        """The commitment to the closed periods, as the manifest names them; None where no period is closed."""
        return self.growing(table).root()

    def growing(self, table: str) -> Growing:
        """What the folder knows of a table that grows."""
        return name_growing(self.store.manifest().growing, table)

    def verify_files(self, table: str) -> None:
        """Refuse a store in which the file of a closed period is missing or was changed."""
        raise refuse_growth(table)

    def forget(self, table: str, unit_value: object) -> None:
        """Have all rows of a person removed at the next close; nobody is told whether there are any."""
        raise refuse_growth(table)


def refuse_growth(table: str) -> InvalidValue:
    """What whoever wants to add or remove rows is told, where they stay on a server."""
    rule = f"{table}: rows that stay on a server are added, changed and removed there"
    return InvalidValue(rule, "<rows on a server>", "do that on the server; its periods are closed here")


def shield_errors(work: Callable[[], T], owner_log: OwnerLog | None) -> T:
    """The result of ``work``, or the one constant error; another one where nothing was sent."""
    raised: type[EngineFailure | EngineUnavailable] = EngineFailure
    try:
        return work()
    except Unsent as failure:
        tell(owner_log, failure.__cause__ or failure)
        raised = EngineUnavailable
    except Exception as failure:
        tell(owner_log, failure)
    # Raised outside the except block: inside, even `from None` would leave the original in __context__.
    raise raised


def tell(owner_log: OwnerLog | None, failure: BaseException) -> None:
    """Let the owner know, where the owner wants to."""
    if owner_log is not None:
        with suppress(Exception):  # a log that is full must not replace the constant error
            owner_log(f"{type(failure).__name__}: {failure}")


FILE = "owner.log"
_LARGEST = 2**20


class OwnerFile:
    """Writes each failure on one line, behind the time; several processes may."""

    def __init__(self, folder: Path) -> None:
        """Nothing is there before the first failure."""
        self._path = folder / FILE

    def __call__(self, words: str) -> None:
        """Write words down."""
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {' '.join(words.split())}\n"
        number = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(number, "ab") as file:
            file.write(line.encode("utf-8", "backslashreplace"))
            is_large = file.tell() > _LARGEST
        if is_large:
            self._path.replace(self._path.with_name(f"{FILE}.1"))
