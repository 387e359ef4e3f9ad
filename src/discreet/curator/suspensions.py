"""Suspensions as an owner sees them: whose question failed, on which tables, and who lifted it and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.catalog.names import check_text
from discreet.curator.ledger.ledger import Entry, Ledger
from discreet.errors import InvalidType, InvalidValue

__all__ = ["LONGEST_REASON", "Suspension", "ending_words", "lift", "suspensions_in"]


LONGEST_REASON = 1000
"""Characters."""


@dataclass(frozen=True)
class Suspension:
    """A question that failed, and what became of it."""

    record: int
    """Position of the failure in the ledger, by which it is lifted."""
    time: str
    """When it failed, in UTC."""
    analyst: str | None
    """Who is suspended; None for all who name no analyst, as owners."""
    tables: tuple[str, ...]
    """The protected tables that they cannot ask about."""
    sql: str
    """The question that failed."""
    lifted: int | None = None
    """Position of its lift in the ledger; None while it suspends."""
    by: str | None = None
    """Who lifted it; None where nobody was named."""
    because: str = ""
    """Why it was lifted."""

    @property
    def is_lifted(self) -> bool:
        """Whether the analyst may ask again."""
        return self.lifted is not None


def suspensions_in(ledger: Ledger, *, lifted: bool = False) -> list[Suspension]:
    """What suspends somebody now, from the first on; with ``lifted``, also what did before."""
    return [_suspension(ledger, *both) for both in ledger.failures() if lifted or both[1] is None]


def lift(ledger: Ledger, record: int, because: str, by: str | None) -> Suspension:
    """Let who is suspended by a failure ask again; a second lift changes nothing."""
    if type(record) is not int:
        raise InvalidType("a record of the ledger is a whole number", record)
    reason = check_text(because, "the reason of a lift").strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        rule = f"the reason of a lift must have 1 to {LONGEST_REASON:,} characters"
        raise InvalidValue(rule, because, "say what was found and done")
    if by is not None:
        check_text(by, "who lifts")
    ledger.lift(record, reason, by)
    return next(one for one in suspensions_in(ledger, lifted=True) if one.record == record)


def _suspension(ledger: Ledger, failure: Entry, end: Entry | None) -> Suspension:
    charge = ledger.entry(failure.body["charge"])
    sql = "" if charge is None else str(charge.body["note"].get("sql", ""))
    body = failure.body
    known: dict[str, Any] = {"analyst": body["analyst"], "tables": tuple(body["tables"]), "sql": sql}
    if end is not None:
        known |= {"lifted": end.position, "by": end.body["by"], "because": end.body["because"]}
    return Suspension(failure.position, body["time"], **known)


def ending_words(body: Mapping[str, Any]) -> str | None:
    """What a record says about how a question ended without an answer; None for records of other kinds."""
    match body["kind"]:
        case "failure":
            who = body["analyst"] or "whoever names no analyst"
            return f"the question of record {body['charge']} failed: {who} is suspended at {', '.join(body['tables'])}"
        case "lift":
            by = f", by {body['by']}" if body["by"] else ""
            return f"lifted the suspension of record {body['failure']}{by}: {body['because']}"
        case "return":
            return f"returned what record {body['charge']} was charged, because no row was read"
        case "rerun":
            return f"the question of record {body['charge']} was run again, because it had no answer"
        case "stop":
            return f"a run of the question of record {body['charge']} was stopped from outside, or could not be kept"
        case "replan":
            return f"the question of record {body['charge']} was planned anew, for what it had been charged"
    return None
