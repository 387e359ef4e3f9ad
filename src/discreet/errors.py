"""Every refusal Discreet can utter, in one grammar: the rule, the value, what would work.

::

    DiscreetError
    ├── InvalidInput
    │   ├── InvalidValue      (also a ValueError)  the type is right, the value is not
    │   ├── InvalidType       (also a TypeError)   the value is of a kind that has no meaning here
    │   └── PolicyError       (also a ValueError)  a policy breaks rules: all of them, each with its place
    ├── NoProvedPath          (also a TypeError)   two losses have no proved conversion between them
    ├── QueryRefused                               a question that cannot be answered privately as it stands
    ├── BudgetExceeded                             a question costs more than what is left
    ├── RequestConflict                            one request id, two different questions
    ├── LedgerError                                the ledger cannot be read, written or believed
    ├── StoreError                                 the store of rows cannot be read or written; told to the owner
    │   └── UnreadableSource                       a file of rows is not what it is taken to be
    ├── EngineFailure                              a run over the rows failed; the same words whatever the reason
    ├── EngineUnavailable                          the rows cannot be reached; none was read and nobody is suspended
    ├── Suspended                                  a question failed before; the owner must look at it first
    ├── MissingExtra          (also an ImportError) a library that not everybody needs is not installed
    ├── OutOfReach            (also a ValueError)  no setting can meet the target that was asked for
    ├── NotSignedIn                                a service was shown no token that it knows
    ├── NotAllowed                                 who is signed in may not do this
    ├── NotFound                                   there is no such thing, or not for who asks
    ├── TooManyRequests                            more requests than a service takes from one principal
    └── Unreachable                                a service cannot be reached; what was asked can be asked again

>>> raise InvalidValue("epsilon must be positive", -1, "0.1 to 5 is usual")
Traceback (most recent call last):
    ...
discreet.errors.InvalidValue: epsilon must be positive, got -1; 0.1 to 5 is usual
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "BudgetExceeded",
    "DiscreetError",
    "EngineFailure",
    "EngineUnavailable",
    "InvalidInput",
    "InvalidType",
    "InvalidValue",
    "LedgerError",
    "MissingExtra",
    "NoProvedPath",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "OutOfReach",
    "PolicyError",
    "Problem",
    "QueryRefused",
    "RequestConflict",
    "StoreError",
    "Suspended",
    "TooManyRequests",
    "Unreachable",
    "UnreadableSource",
]


_LONGEST_VALUE = 80


class DiscreetError(Exception):
    """The root: catch this to catch every refusal of Discreet and nothing else."""

    def __init__(self, rule: str, value: object = None, remedy: str = "") -> None:
        self.rule = rule
        self.value = value
        self.remedy = remedy
        super().__init__(rule, value, remedy)

    def __str__(self) -> str:
        got = "" if self.value is None else f", got {_format(self.value)}"
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.rule}{got}{remedy}"


class InvalidInput(DiscreetError):
    """Something the caller passed breaks a rule. Nothing was drawn and nothing was charged."""


class InvalidValue(InvalidInput, ValueError):
    """The value lies outside what the rule allows."""


class InvalidType(InvalidInput, TypeError):
    """The value is of a type that has no meaning here."""


@dataclass(frozen=True)
class Problem:
    """One rule that a policy breaks, and where."""

    rule: str
    """What must hold."""
    value: object = None
    """What was found instead."""
    remedy: str = ""
    """What would work."""
    path: tuple[str | int, ...] = ()
    """The names of the fields that lead there, such as ``("columns", "age", "lower")``."""
    file: str = ""
    """The policy file, where there is one."""
    line: int | None = None
    """The line in the file, from 1."""
    column: int | None = None
    """The character in the line, from 1."""

    def __str__(self) -> str:
        spot = "" if self.line is None else f"line {self.line}, column {self.column}"
        place = ", ".join(part for part in (self.file, spot) if part)
        said = str(DiscreetError(self.rule, self.value, self.remedy))
        return f"{place}: {said}" if place else said


class PolicyError(InvalidInput, ValueError):
    """A policy breaks one rule or several. All of them are listed, so that one reading is enough to mend it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(first.rule, first.value, first.remedy)
        self.args = (self.problems,)  # so that a copy, or another process, gets the whole list

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        return "\n".join([f"{len(self.problems)} problems:", *(f"- {problem}" for problem in self.problems)])


class NoProvedPath(DiscreetError, TypeError):
    """No theorem converts one of these losses into the other without more information."""


class QueryRefused(DiscreetError):
    """The question cannot be answered privately as it stands. No data was read and nothing was spent."""

    def __init__(
        self, rule: str, words: str = "", remedy: str = "", *, line: int | None = None, column: int | None = None
    ) -> None:
        self.line = line
        self.column = column
        super().__init__(rule, f"<{words}>" if words else None, remedy)

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}, column {self.column}: "
        words = "" if self.value is None else f", got {str(self.value)[1:-1]}"
        return f"{place}{self.rule}{words}" + (f"; {self.remedy}" if self.remedy else "")


class BudgetExceeded(DiscreetError):
    """The price is higher than what is left. Nothing was spent."""


class RequestConflict(DiscreetError):
    """A request id was used before for another question. Nothing was spent."""


class LedgerError(DiscreetError):
    """The ledger cannot be read, written or believed. Nothing was released."""


class StoreError(DiscreetError):
    """The store of rows cannot be read or written. What was stored before is as it was."""


class UnreadableSource(StoreError):
    """A file of rows is not what it is taken to be. What was stored before is as it was."""


class EngineFailure(DiscreetError):
    """A run over the rows failed. It says nothing more, because the reason can hold a value of a row.

    The charge stays, and who asked is suspended at these tables until the owner lifts it.
    """

    def __init__(self) -> None:
        super().__init__(
            "the engine could not finish the run",
            None,
            "the owner finds the reason in owner.log, in the curator's folder",
        )

    def __reduce__(self) -> tuple[type[EngineFailure], tuple[()]]:
        return EngineFailure, ()


class EngineUnavailable(DiscreetError):
    """The rows could not be reached, as where a server is down. It is certain that none was read.

    What was charged for the question is returned, or pays for the same question when it is asked again.
    """

    def __init__(self) -> None:
        super().__init__(
            "the engine must be reachable, and its tables as they were protected",
            None,
            "no row was read; ask again later, the owner finds the reason in owner.log, in the curator's folder",
        )

    def __reduce__(self) -> tuple[type[EngineUnavailable], tuple[()]]:
        return EngineUnavailable, ()


class Suspended(DiscreetError):
    """A question of the same analyst about the same table failed, and the owner has not lifted the suspension."""

    def __init__(self, rule: str, value: object = None, remedy: str = "", *, record: int = 0) -> None:
        self.record = record  # of the ledger, which says what failed
        super().__init__(rule, value, remedy)

    @classmethod
    def since(cls, record: int, table: str) -> Suspended:
        """The refusal of whoever is suspended since a record of the ledger."""
        rule = f"{table}: questions are suspended, because one failed (record {record} of the ledger)"
        return cls(rule, None, "the owner looks at it and lifts the suspension", record=record)


class MissingExtra(DiscreetError, ImportError):
    """A library that not everybody needs is not installed."""


class OutOfReach(DiscreetError, ValueError):
    """No amount of noise, or no number of questions, meets the target."""


class NotSignedIn(DiscreetError):
    """A service was shown no token, or none that is valid. It says nothing more, whatever the reason."""


class NotAllowed(DiscreetError):
    """Who is signed in may not do this."""


class NotFound(DiscreetError):
    """There is no such thing, or who asks may not know of it: both sound the same."""


class TooManyRequests(DiscreetError):
    """More requests than a service takes from one principal at a time. Nothing was done."""

    def __init__(self, rule: str, value: object = None, remedy: str = "", *, after: float = 1.0) -> None:
        self.after = after  # seconds until it can be tried again
        super().__init__(rule, value, remedy)


class Unreachable(DiscreetError):
    """A service cannot be reached or does not answer. The same request can be sent again, and costs once."""


def _format(value: object) -> str:
    try:
        text = value if isinstance(value, str) and value.startswith("<") else repr(value)
    except ValueError:  # Python refuses to spell integers of thousands of digits
        return f"<a {type(value).__name__} too long to print>"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
