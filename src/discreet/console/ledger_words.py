"""What the page of the ledger says about records and about a check of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from discreet.console.budget_story import OWNER
from discreet.errors import InvalidValue
from discreet.service.books import Checked, Sought
from discreet.service.records import QUESTION, Record

__all__ = ["checked_words", "day", "record_head", "record_numbers", "sought"]

_HEAD = 16


def record_head(record: Record, prices: Sequence[str]) -> str:
    """When, who and for how much, in a line."""
    when = record.time[:19].replace("T", " ") + " UTC"
    if record.kind != QUESTION:
        return f"{when} · {record.kind}"
    cost = " and ".join(prices) or "free"
    return f"{when} · {record.analyst or OWNER} · {cost}"


def record_numbers(record: Record) -> str:
    """The number of a record, and that of its answer, which the receipt and the certificate name."""
    answered = "" if record.answered is None else f", answer № {record.answered}"
    return f"№ {record.position}{answered}"


def checked_words(found: Checked) -> str:
    """The result of a check."""
    if not found.is_sound:
        return "The ledger cannot be believed: " + "; ".join(found.problems) + "."
    return (
        f"Sound: {found.entries:,} records, each of which follows from the one before it; the balances are what they "
        f"say, and nothing was cut off. The last one has the hash {found.head[:_HEAD]}…"
    )


def sought(text: str, analyst: str | None, table: str | None, kind: str | None, since: str, until: str) -> Sought:
    """What the filters ask for."""
    who = "" if analyst == OWNER else analyst
    return Sought(who, table, kind, text.strip(), day(since, "the first day"), day(until, "the last day"))


def day(text: str, name: str) -> date | None:
    """A day as a date field writes it; None where nothing is written."""
    if not text.strip():
        return None
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise InvalidValue(f"{name} must be a date", text, "2026-01-31, for example") from None
