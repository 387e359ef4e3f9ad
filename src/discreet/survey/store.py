"""The store of a survey: reports, one for each invitation, and nothing else about anybody.

A report is durable before the browser hears that it arrived. The same report again changes nothing, another one under
the same invitation is refused, and triggers refuse to change or delete what is there. Times and addresses are not kept.
Nor is the order of arrival, once `Store.forget_order` has written the file anew: until then the place of a row in its
page and the log of SQLite show it to whoever can read the folder. Invitations go in by their hashes, so that their
places say nothing about the order of the links. A record lies beside the hash of its invitation: whoever knows which
link went to whom can read that person's noisy report, and its promise is made for such readers.

The reports of one person are a record of fixed size, so that those of a crowd are a few arrays. Links hold secrets:
whoever has one may answer once, and whoever has the owner's may see the results. A token has 128 bits of the operating
system's randomness, so that nobody guesses one. The store keeps its hash alone, so that nobody who reads the store can
answer in another's name.

>>> len(fresh_token()), is_token(fresh_token()), is_token("no")
(32, True, False)
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import Any

import apsw
import numpy as np

from discreet.errors import InvalidType, InvalidValue, StoreError
from discreet.local.reports import Reports
from discreet.noise.source import fresh_id
from discreet.storage.database import check_version
from discreet.storage.files import keep_name
from discreet.survey.survey import Question, Survey
from discreet.time_limits import SQLITE_BUSY

__all__ = ["VERSION", "Outcome", "Records", "SurveyStore", "fresh_token", "hash_of", "is_token"]


class Records:
    """How the records of a survey are written and read."""

    def __init__(self, survey: Survey) -> None:
        """For this survey."""
        self.survey = survey
        self.dtype = np.dtype([(question.name, _dtype(question)) for question in survey.questions])

    @property
    def size(self) -> int:
        """Bytes of one record."""
        return self.dtype.itemsize

    def written(self, reports: Any) -> bytes:
        """The record of one person, from a report in JSON for each question by name.

        A report under other terms, one that the randomizer never sends, a missing one and one too many are refused.
        """
        names = {question.name for question in self.survey.questions}
        if not isinstance(reports, dict) or set(reports) != names:
            raise InvalidType("there must be one report for each question", "<others>", f"{', '.join(sorted(names))}")
        record = np.zeros(1, self.dtype)
        for question in self.survey.questions:
            for field, column in _one(question, reports[question.name]).columns.items():
                record[question.name][field] = column
        return record.tobytes()

    def read(self, records: bytes) -> dict[str, Reports]:
        """The reports of a crowd for each question, from records one after the other."""
        table = np.frombuffer(records, self.dtype)
        return {question.name: _reports(question, table[question.name]) for question in self.survey.questions}


def _dtype(question: Question) -> np.dtype[Any]:
    return np.dtype([(one.name, one.dtype, one.shape(1)[1:]) for one in question.terms.layout])


def _one(question: Question, report: Any) -> Reports:
    reports = Reports.from_json(json.dumps(report), question.terms)
    if len(reports) != 1:
        raise InvalidValue(f"{question.name} must have one report", len(reports))
    question.randomizer.check(reports)
    return reports


def _reports(question: Question, table: np.ndarray[Any, Any]) -> Reports:
    columns = {one.name: np.ascontiguousarray(table[one.name]) for one in question.terms.layout}
    return Reports(question.terms, columns)


_FORM = re.compile(r"[0-9a-f]{32}\Z")


def fresh_token() -> str:
    """A new token."""
    return fresh_id()


def is_token(found: Any) -> bool:
    """Whether this has the form of a token."""
    return isinstance(found, str) and _FORM.match(found) is not None


def hash_of(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(b"discreet survey " + token.encode()).digest()


VERSION = 1
"""Of the tables below."""
_SCHEMA = """
CREATE TABLE survey (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    text TEXT NOT NULL,
    owner BLOB NOT NULL CHECK (length(owner) = 32)
) STRICT;
CREATE TABLE invitation (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32)
) STRICT, WITHOUT ROWID;
CREATE TABLE answer (
    invitation BLOB PRIMARY KEY REFERENCES invitation (hash),
    record BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER surveys_stay BEFORE UPDATE ON survey BEGIN SELECT RAISE(ABORT, 'a survey is never changed'); END;
CREATE TRIGGER answers_stay BEFORE UPDATE ON answer BEGIN SELECT RAISE(ABORT, 'answers are never changed'); END;
CREATE TRIGGER answers_remain BEFORE DELETE ON answer BEGIN SELECT RAISE(ABORT, 'answers are never deleted'); END;
"""


class Outcome(Enum):
    """What became of a report."""

    STORED = "stored"
    """It is in the store now."""
    KNOWN = "known"
    """The same one was there already."""
    ANOTHER = "another"
    """Another one came by this invitation, and stays."""
    UNINVITED = "uninvited"
    """There is no such invitation."""


class SurveyStore:
    """The file ``survey.db`` in a folder."""

    def __init__(self, folder: Path) -> None:
        """Open the store in ``folder``; `Store.create` starts one."""
        path = folder / "survey.db"
        if not path.exists():
            remedy = "name the folder that discreet survey new made"
            raise InvalidValue("there must be a survey in the folder", str(folder), remedy)
        self._lock = Lock()  # one transaction at a time on one connection, whatever the threads do
        with _explain():
            self._database = _connect(path)
            version = self._database.pragma("user_version")
            check_version("the store of the survey", version, VERSION)
            text, self._owner = next(self._database.execute("SELECT text, owner FROM survey"))
        self.survey = Survey.from_json(text)

    @classmethod
    def create(cls, folder: Path, survey: Survey, owner: str, invitations: Iterable[str] = ()) -> SurveyStore:
        """Start the store of a survey; a folder that has one is refused, and it is there as a whole or not at all."""
        cls.refuse_existing(folder)
        path, draft = folder / "survey.db", folder / ".survey.db.new"
        for ending in ("-journal", ""):  # of one who was killed
            draft.with_name(draft.name + ending).unlink(missing_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with _explain():
            database = apsw.Connection(str(draft), flags=apsw.SQLITE_OPEN_READWRITE)
            with database:
                database.execute(_SCHEMA)
                database.execute(f"PRAGMA user_version = {VERSION}")
                database.execute("INSERT INTO survey VALUES (1, ?, ?)", (survey.to_json(), hash_of(owner)))
                database.executemany("INSERT INTO invitation VALUES (?)", _hashes(invitations))
            database.close()
        draft.rename(path)
        keep_name(path)
        return cls(folder)

    @staticmethod
    def refuse_existing(folder: Path) -> None:
        """Refuse a folder that has a survey already."""
        if (folder / "survey.db").exists():
            raise InvalidValue("the folder must not hold a survey yet", str(folder), "name another folder")

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def invite(self, tokens: Iterable[str]) -> None:
        """Let whoever holds one of these tokens answer once."""
        with self._writing():
            self._database.executemany("INSERT INTO invitation VALUES (?)", _hashes(tokens))

    def is_owner(self, token: object) -> bool:
        """Whether this is the owner's token."""
        return is_token(token) and hmac.compare_digest(hash_of(str(token)), self._owner)

    def take(self, token: str, record: bytes) -> Outcome:
        """Store the record that came by an invitation, durably, once."""
        key = hash_of(token)
        with self._writing():
            if not self._value("SELECT 1 FROM invitation WHERE hash = ?", key):
                return Outcome.UNINVITED
            known = self._value("SELECT record FROM answer WHERE invitation = ?", key)
            if known is not None:
                return Outcome.KNOWN if known == record else Outcome.ANOTHER
            self._database.execute("INSERT INTO answer VALUES (?, ?)", (key, record))
        return Outcome.STORED

    def is_used(self, token: str) -> bool:
        """Whether a record came by this invitation."""
        with self._lock, _explain():
            return self._value("SELECT 1 FROM answer WHERE invitation = ?", hash_of(token)) is not None

    def invited(self) -> int:
        """How many invitations there are."""
        return self._count("SELECT count(*) FROM invitation")

    def answered(self) -> int:
        """How many of them were used."""
        return self._count("SELECT count(*) FROM answer")

    def records(self) -> bytes:
        """All records, one after the other."""
        with self._lock, _explain():
            return b"".join(record for (record,) in self._database.execute("SELECT record FROM answer"))

    def forget_order(self) -> None:
        """Write the file anew in the order of hashes, so that it no longer shows who came first."""
        with self._lock, _explain():
            self._database.execute("VACUUM")
            self._database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _count(self, statement: str) -> int:
        with self._lock, _explain():
            return int(str(self._value(statement)))

    def _value(self, statement: str, *values: bytes) -> object:
        row = next(self._database.execute(statement, values), None)
        return None if row is None else row[0]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that is on the disk when the block ends, or leaves nothing behind."""
        with self._lock, _explain():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")


def _hashes(tokens: Iterable[str]) -> list[tuple[bytes]]:
    """In an order that says nothing about that of the tokens."""
    return [(one,) for one in sorted(map(hash_of, tokens))]


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(int(1000 * SQLITE_BUSY))
    for name, value in {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0}.items():
        connection.pragma(name, value)
        if connection.pragma(name) != value:
            raise StoreError(f"the store needs {name} = {value}", connection.pragma(name))
    return connection


@contextmanager
def _explain() -> Iterator[None]:
    """Faults of SQLite in words for whoever keeps the disk."""
    try:
        yield
    except apsw.Error as fault:
        rule, remedy = "the store of the survey must be readable and writable", "look at the disk; nothing was lost"
        raise StoreError(rule, f"<{type(fault).__name__}>", remedy) from None
