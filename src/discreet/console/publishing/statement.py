"""What an owner says about a release when approving it, beside what was checked: it stands in the ledger for good."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from discreet.console.publishing.candidates import Candidate
from discreet.errors import InvalidValue

__all__ = ["LONGEST_WORDS", "statement_of"]

LONGEST_WORDS = 2000
"""How many characters the owner's own words may have."""


def statement_of(candidate: Candidate, words: str, has_read: bool) -> dict[str, Any]:
    """The statement; refused without words of the owner's own, or where they did not read what it still tells.

    It holds figures of the released rows alone: those of rows that are not released would tell about them.
    """
    said = words.strip()
    if not has_read:
        rule = "who approves a release must have read what an attacker can still do"
        raise InvalidValue(rule, "<not confirmed>", "read that part, and confirm it")
    if not said or len(said) > LONGEST_WORDS:
        rule = f"who approves a release must say why, in at most {LONGEST_WORDS:,} characters"
        raise InvalidValue(rule, f"<{len(said):,}>", "say what it is for and who asked for it")
    checked = candidate.report.checked
    return {
        "why": said,
        "method": candidate.method,
        "models": [one.model.name for one in checked.verdicts],
        "roles": asdict(checked.roles),
        "rows": checked.rows,
        "classes": checked.classes.count,
        "smallest_class": checked.k,
        "highest_risk": candidate.highest_risk,
        "average_risk": candidate.average_risk,
    }
