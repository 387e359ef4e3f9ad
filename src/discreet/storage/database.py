"""A database: transactions that are durable when they return, and readers that see one moment.

Group commit: the thread that gets the write lock commits the queued transactions of all waiting threads in one durable
transaction, so that many writers share one wait for the disk. Each writer's part stands or falls by itself: a part that
raises is undone to its beginning, and the others stay. Parts are first written in one go, as if nothing could fail;
where something does, all of it is undone and written again, one part after the other, each behind a savepoint.

A database can be copied into another one that is empty, or that holds the same already after a copy that was cut off.
What a newer release has made is refused in a plain sentence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from threading import Condition
from time import sleep
from typing import Any, ClassVar, Protocol, TypeVar, cast

from discreet.errors import DiscreetError, StoreError
from discreet.storage.presence import Presence
from discreet.time_limits import INTERRUPT_LOOK

__all__ = [
    "Database",
    "GroupCommitDatabase",
    "Part",
    "Row",
    "Rows",
    "Shape",
    "check_version",
    "copy_database",
]


def check_version(what: str, found: int, known: int) -> None:
    """Refuse what a newer release has made: this one cannot know what it means."""
    if found > known:
        rule = f"{what} was made by a newer release of Discreet, and this one reads its format up to version {known}"
        raise StoreError(rule, f"<version {found}>", "install that release again; nothing was changed")


_MOMENT = 0.001
"""Seconds in which those who were served together may come back, so that they share one wait for the disk again."""

Result = TypeVar("Result")
Item = TypeVar("Item")


class Rows(Protocol):
    """What a statement found."""

    def __iter__(self) -> Iterator[Any]:
        """One tuple after the other."""

    def fetchone(self) -> Any:
        """The next tuple; None where there is none."""

    def fetchall(self) -> list[Any]:
        """All tuples that are left."""


class Database(Protocol):
    """What a transaction works on. Values stand for question marks, whatever the database calls them."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows:
        """Run one statement."""


Shape = Mapping[str, str]
"""What a database consists of: by name, how the database describes it."""
Part = Callable[[Database], Result]
"""One writer's part of a transaction."""
Work = Callable[[Database, Sequence[Item]], Sequence[Result | DiscreetError]]
"""The parts of several writers, done together: for each a result, or the refusal of one for whom nothing changed."""


class _Ticket:
    """A part that waits to be written, and what became of it."""

    def __init__(self, work: Work[Any, Any], item: Any, *, sealed: bool) -> None:
        self.work, self.item = work, item
        self.sealed = sealed
        self.done = False
        self.result: Any = None
        self.fault: BaseException | None = None
        self.is_uncertain = False


class _Watched:
    """A database that tells whether something but reading was asked of it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.is_changed = False

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows:
        self.is_changed = self.is_changed or not statement.startswith("SELECT ")
        return self.database.execute(statement, values)


class _OneByOne(Exception):
    """What was written in one go must be undone, and written again part by part."""


class GroupCommitDatabase(ABC):
    """A database with one writer at a time.

    ``seal`` is called after a transaction that asks for it, before anybody hears of it.
    """

    presence: Presence
    """Who works on what this database has records of, in whatever process."""
    pauses: ClassVar[tuple[float, ...]] = ()
    """Seconds to wait before a part is tried again that was perhaps done, perhaps not; none where that cannot be."""

    def __init__(self) -> None:
        """Without a seal."""
        self.seal: Callable[[Database], None] | None = None
        self._renew_locks()

    def _renew_locks(self) -> None:
        """Locks that nobody holds, for a new process too."""
        self._turn = Condition()
        self._queue: list[_Ticket] = []
        self._writing: _Ticket | None = None
        """Who writes now, for everybody whom they found in the queue."""
        self._served = 0
        """How many were written last time."""

    # What callers use ---------------------------------------------------------------------------------------------

    def write(self, part: Part[Result], *, sealed: bool = False, repeatable: bool = False) -> Result:
        """Do ``part`` in a transaction, durably; where it raises, nothing of it was done.

        It may be undone and begun again because of another one, so it must do nothing but ask the database.

        Where a connection breaks, nobody can tell whether the last transaction was done. A part that finds out by
        itself what it did before says that it is ``repeatable``, and is tried again until the server is back.
        """
        work: Work[Part[Result], Result] = _each_alone
        return self.write_together(work, part, sealed=sealed, repeatable=repeatable)

    def write_together(
        self, work: Work[Item, Result], item: Item, *, sealed: bool = False, repeatable: bool = False
    ) -> Result:
        """Do ``work`` for ``item``, and in the same breath for the items of all who wait with the same work.

        Who is among them is left to chance, and so is their order. ``sealed`` and ``repeatable`` are as in `write`.
        """
        ticket = self._tried(work, item, sealed)
        for pause in self.pauses if repeatable else ():
            if not ticket.is_uncertain:
                break
            sleep(pause)
            ticket = self._tried(work, item, sealed)
        if ticket.fault is not None:
            raise ticket.fault
        return cast(Result, ticket.result)

    def _tried(self, work: Work[Any, Any], item: Any, sealed: bool) -> _Ticket:
        self.check_process()
        ticket = _Ticket(work, item, sealed=sealed)
        try:
            if self._acquire_writer(ticket):
                self._write_all(self._waiting())
        finally:
            self._release_writer(ticket)
        if not ticket.done:  # whoever took it from the queue was interrupted at that very moment
            self._fail([ticket], InterruptedError())
        return ticket

    def _acquire_writer(self, ticket: _Ticket) -> bool:
        """Wait until this part was written by somebody else, or until it is the turn of its writer."""
        with self._turn:
            self._queue.append(ticket)
            while not self._turn.wait_for(lambda: ticket.done or self._writing is None, INTERRUPT_LOOK):
                pass
            if not ticket.done:
                self._writing = ticket
            return not ticket.done

    def _release_writer(self, ticket: _Ticket) -> None:
        """All who waited hear of it together: who was served does not stand in line again for that."""
        with self._turn:
            if ticket in self._queue:  # interrupted while it waited: nothing of it will be done
                self._queue.remove(ticket)
            if self._writing is ticket:
                self._writing = None
                self._turn.notify_all()

    @abstractmethod
    def reading(self) -> AbstractContextManager[Database]:
        """One moment of the database for the whole block; nothing can be written in it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the connections; the next use opens them again."""

    @abstractmethod
    def damage(self) -> str | None:
        """What the database says about itself where it is damaged; None where it is sound."""

    @abstractmethod
    def shape(self) -> Shape:
        """Its tables, columns, checks, indexes and triggers, as the database describes them."""

    @abstractmethod
    def shape_of(self, tables: str) -> Shape:
        """The shape that a database of this kind has which these statements made; nothing is changed by asking."""

    # What each kind of database does ----------------------------------------------------------------------------------

    @abstractmethod
    def check_process(self) -> None:
        """In a forked child, use nothing of the parent's."""

    @abstractmethod
    def begin(self, *, ahead: bool) -> Database:
        """Start a transaction as the only writer; ``ahead``: statements may be sent before the last one was taken."""

    @abstractmethod
    def commit(self) -> None:
        """Make it durable, with all that was sent ahead."""

    def is_refused(self) -> bool:
        """After a commit that raised: whether the database is known to have refused something that was sent ahead."""
        return False

    @abstractmethod
    def undo(self) -> None:
        """Give up the transaction, if there still is one."""

    @abstractmethod
    def is_open(self) -> bool:
        """Whether the transaction is still there: a full disk ends it without being asked."""

    def is_broken(self, fault: BaseException) -> bool:
        """Whether the connection broke, so that nobody knows what was done."""
        return False

    @abstractmethod
    def explained(self, fault: BaseException) -> BaseException:
        """A fault of the disk or the server in words; others as they are."""

    # How many write as one ----------------------------------------------------------------------------------------

    def _waiting(self) -> list[_Ticket]:
        """All who wait; where there were more a moment ago, they get a moment to come back."""
        if len(self._queue) < self._served:
            sleep(_MOMENT)
        with self._turn:
            found, self._queue = self._queue, []
            self._served = len(found)
        return found

    def _write_all(self, tickets: list[_Ticket]) -> None:
        try:
            self._seal(self._written(tickets), tickets)
        except BaseException as fault:
            with suppress(Exception):
                self.undo()
            if not isinstance(fault, Exception):  # Ctrl-C is for whoever holds the write lock, not for those who wait
                self._fail(tickets, InterruptedError())
                raise
            self._fail(tickets, fault)
        finally:
            for ticket in tickets:
                ticket.done = True

    def _written(self, tickets: list[_Ticket]) -> Database:
        try:
            database = self._written_in_one_go(tickets)
        except _OneByOne:
            self.undo()
            database = self.begin(ahead=False)
            for ticket in tickets:
                ticket.fault = None  # whoever was refused may be served now
                self._write_one(database, ticket)
            self.commit()
        return database

    def _written_in_one_go(self, tickets: list[_Ticket]) -> Database:
        database = self.begin(ahead=True)
        try:
            for work in dict.fromkeys(ticket.work for ticket in tickets):
                _work(database, [ticket for ticket in tickets if ticket.work is work])
        except Exception as fault:
            if len(tickets) == 1 or not self.is_open():
                raise  # it is the fault of this part, or the whole transaction is gone
            raise _OneByOne from fault
        try:
            self.commit()
        except Exception as fault:
            if self.is_refused():
                raise _OneByOne from fault
            raise
        return database

    def _write_one(self, database: Database, ticket: _Ticket) -> None:
        """A part of its own: what it did is undone where it raises, unless the whole transaction is gone."""
        database.execute("SAVEPOINT part")
        try:
            _work(database, [ticket])
        except Exception as fault:
            if not self.is_open():
                raise
            database.execute("ROLLBACK TO SAVEPOINT part")
            self._fail([ticket], fault)
        database.execute("RELEASE SAVEPOINT part")

    def _seal(self, database: Database, tickets: Iterable[_Ticket]) -> None:
        waiting = [ticket for ticket in tickets if ticket.sealed and ticket.fault is None]
        if self.seal is None or not waiting:
            return
        try:
            self.seal(database)
        except Exception as fault:
            self._fail(waiting, fault)

    def _fail(self, tickets: Iterable[_Ticket], fault: BaseException) -> None:
        for ticket in tickets:
            if ticket.fault is None:
                ticket.fault, ticket.is_uncertain = self.explained(fault), self.is_broken(fault)


def _work(database: Database, tickets: list[_Ticket]) -> None:
    """Do the work that these tickets share."""
    outcomes = tickets[0].work(database, [ticket.item for ticket in tickets])
    for ticket, outcome in zip(tickets, outcomes, strict=True):
        if isinstance(outcome, DiscreetError):
            ticket.fault = outcome
        else:
            ticket.result = outcome


def _each_alone(database: Database, parts: Sequence[Part[Result]]) -> list[Result | DiscreetError]:
    """Parts that share nothing, one after the other; one that raises after a change leaves all to be done again."""
    found: list[Result | DiscreetError] = []
    for part in parts:
        watched = _Watched(database)
        try:
            found.append(part(watched))
        except DiscreetError as refusal:
            if watched.is_changed:
                raise
            found.append(refusal)
    return found


Row = tuple[Any, ...]
"""The values of one row."""


def copy_database(
    source: Database,
    target: Database,
    columns: Mapping[str, str],
    rewritten: Callable[[str, list[Row]], list[Row]] = lambda _, rows: rows,
) -> bool:
    """Copy the ``columns`` of all tables, in this order; False, and nothing is done, where the other differs.

    ``rewritten`` are the rows of a table as the other database takes them, in order.
    """
    rows = {table: rewritten(table, _rows(source, table, names)) for table, names in columns.items()}
    held = {table: _rows(target, table, names) for table, names in columns.items()}
    if not any(held.values()):
        for table, names in columns.items():
            marks = ", ".join("?" for _ in names.split(","))
            for row in rows[table]:
                target.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608  names of our own
        return True
    return held == rows


def _rows(database: Database, table: str, names: str) -> list[Row]:
    return [tuple(row) for row in database.execute(f"SELECT {names} FROM {table} ORDER BY {names}")]  # noqa: S608
