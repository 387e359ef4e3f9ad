"""A book: transactions that are durable when they return, and readers that see one moment.

Many threads may write at once. Whoever finds the pen free writes for everybody who waits, in one durable transaction,
so that many writers share one wait for the disk. Each writer's part stands or falls by itself: a part that raises is
undone to its beginning, and the others stay.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from threading import Lock
from time import sleep
from typing import Any, ClassVar, Protocol, TypeVar, cast

__all__ = ["Book", "Database", "Part", "Rows"]

Result = TypeVar("Result")


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


Part = Callable[[Database], Result]
"""One writer's part of a transaction."""


class _Ticket:
    """A part that waits to be written, and what became of it."""

    def __init__(self, part: Part[Any], *, sealed: bool) -> None:
        self.part = part
        self.sealed = sealed
        self.done = False
        self.result: Any = None
        self.fault: BaseException | None = None
        self.is_uncertain = False


class Book(ABC):
    """A database with one pen. ``seal`` is called after a transaction that asks for it, before anybody hears of it."""

    pauses: ClassVar[tuple[float, ...]] = ()
    """Seconds to wait before a part is tried again that was perhaps done, perhaps not; none where that cannot be."""

    def __init__(self) -> None:
        """Without a seal."""
        self.seal: Callable[[Database], None] | None = None
        self._renew_locks()

    def _renew_locks(self) -> None:
        """Locks that nobody holds, for a new process too."""
        self._pen = Lock()
        self._at_the_queue = Lock()
        self._queue: list[_Ticket] = []

    # What callers use ---------------------------------------------------------------------------------------------

    def write(self, part: Part[Result], *, sealed: bool = False, repeatable: bool = False) -> Result:
        """Do ``part`` in a transaction, durably; where it raises, nothing of it was done.

        Where a connection breaks, nobody can tell whether the last transaction was done. A part that finds out by
        itself what it did before says that it is ``repeatable``, and is tried again until the server is back.
        """
        ticket = self._tried(part, sealed)
        for pause in self.pauses if repeatable else ():
            if not ticket.is_uncertain:
                break
            sleep(pause)
            ticket = self._tried(part, sealed)
        if ticket.fault is not None:
            raise ticket.fault
        return cast(Result, ticket.result)

    def _tried(self, part: Part[Any], sealed: bool) -> _Ticket:
        self.check_process()
        ticket = _Ticket(part, sealed=sealed)
        with self._at_the_queue:
            self._queue.append(ticket)
        with self._pen:
            if not ticket.done:
                self._write_all(self._waiting())
        return ticket

    @abstractmethod
    def reading(self) -> AbstractContextManager[Database]:
        """One moment of the book for the whole block; nothing can be written in it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the connections; the next use opens them again."""

    @abstractmethod
    def damage(self) -> str | None:
        """What the database says about itself where it is damaged; None where it is sound."""

    # What each kind of book does ----------------------------------------------------------------------------------

    @abstractmethod
    def check_process(self) -> None:
        """In a forked child, use nothing of the parent's."""

    @abstractmethod
    def begin(self) -> Database:
        """Start a transaction as the only writer."""

    @abstractmethod
    def commit(self) -> None:
        """Make it durable."""

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
        with self._at_the_queue:
            found, self._queue = self._queue, []
        return found

    def _write_all(self, tickets: list[_Ticket]) -> None:
        try:
            database = self.begin()
            for ticket in tickets:
                self._write_one(database, ticket)
            self.commit()
            self._seal(database, tickets)
        except BaseException as fault:
            with suppress(Exception):
                self.undo()
            if not isinstance(fault, Exception):  # Ctrl-C is for whoever holds the pen, not for those who wait
                self._fail(tickets, InterruptedError())
                raise
            self._fail(tickets, fault)
        for ticket in tickets:
            ticket.done = True

    def _write_one(self, database: Database, ticket: _Ticket) -> None:
        """A part of its own: what it did is undone where it raises, unless the whole transaction is gone."""
        database.execute("SAVEPOINT part")
        try:
            ticket.result = ticket.part(database)
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
