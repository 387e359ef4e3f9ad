"""Members and tokens in words."""

from __future__ import annotations

from datetime import UTC, datetime

from discreet.service.members import Member, Token
from discreet.service.role import Role

__all__ = ["ROLE_WORDS", "day", "is_good", "member_words", "token_state"]

ROLE_WORDS = {
    Role.OWNER: "protects tables, looks after people, reads the whole ledger, approves publications",
    Role.ANALYST: "asks, within the caps of each table, and sees their own questions",
    Role.AUDITOR: "reads the ledger and the certificates, and cannot ask",
}
"""What each role may do."""


def day(seconds: float) -> str:
    """A day in UTC.

    >>> day(0)
    '1970-01-01'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def is_good(token: Token, now: float) -> bool:
    """Whether a token can be used."""
    return token.revoked is None and token.expires > now


def token_state(token: Token, now: float) -> str:
    """Whether a token can be used, and until when, or since when it cannot."""
    if token.revoked is not None:
        return f"{'used up' if token.once else 'taken back'} on {day(token.revoked)}"
    if token.expires <= now:
        return f"expired on {day(token.expires)}"
    return f"good until {day(token.expires)}" + (", for one sign-in" if token.once else "")


def member_words(member: Member, tokens: list[Token], now: float) -> str:
    """Since when somebody is here, and how many of their tokens are good."""
    if member.removed is not None:
        return f"{member.role}, left on {day(member.removed)}"
    good = sum(is_good(token, now) for token in tokens)
    counted = {0: "no good token", 1: "1 good token"}.get(good, f"{good} good tokens")
    return f"{member.role} since {day(member.since)}, {counted}"
