"""Names of accounts: of tables, of analysts at them, of people, and of each for one period.

A slash stands before people, between a table and an analyst, and before a period. In the names of all of these it is
escaped, so that no two accounts share a name, whatever they are called.

>>> join_name("visits"), join_name("visits", "ann"), join_name("", "patients.id")
('visits', 'visits/ann', '/patients.id')
>>> [join_name("visits", None, "2026-W07"), join_name("visits", "ann", "2026-W07")]
['visits//2026-W07', 'visits/ann/2026-W07']
>>> split_name("/patients.id per month/2026-03")
('', 'patients.id per month', '2026-03')
>>> find_period("visits//2026-W07"), find_period("visits/ann")
('2026-W07', None)
"""

from __future__ import annotations

from enum import Enum

__all__ = ["AccountKind", "find_period", "join_name", "name_in_words", "split_name"]


_NOBODY = "%"
"""Stands for a name without letters, so that it is not taken for none. No escaped name is spelled so."""


class AccountKind(Enum):
    """Whose limit an account is."""

    UNIT = "unit"
    """That of people, over all tables that are about them."""
    TABLE = "table"
    """That of one table, within."""
    ANALYST = "analyst"
    """That of one analyst at a table, within."""

    @classmethod
    def of(cls, name: str) -> AccountKind:
        """As the name of an account says, whether it is for one period or for good.

        >>> [AccountKind.of(name).value for name in ("/patients.id", "visits", "visits/ann")]
        ['unit', 'table', 'analyst']
        >>> [AccountKind.of(f"{name}/2026-03").value for name in ("/patients.id", "visits/", "visits/ann")]
        ['unit', 'table', 'analyst']
        """
        table, whose, _ = split_name(name)
        return cls.UNIT if not table else cls.TABLE if whose is None else cls.ANALYST


def join_name(table: str, whose: str | None = None, period: str | None = None) -> str:
    """The name of an account: of a table, of an analyst at it, or, under no table, of people; for one period or all."""
    parts = [_escaped(table)] if whose is None else [_escaped(table), _escaped(whose) or _NOBODY]
    return "/".join(parts if period is None else [*parts, *[""] * (2 - len(parts)), _escaped(period) or _NOBODY])


def split_name(name: str) -> tuple[str, str | None, str | None]:
    """Of an account: its table, empty for that of people; the analyst, or the people; and the period."""
    table, whose, period = (*name.split("/"), "", "")[:3]
    return _plain(table), _plain(whose) if whose else None, _plain(period) if period else None


def find_period(account: str) -> str | None:
    """The period that an account is for; None for one that is for good."""
    return split_name(account)[2]


def name_in_words(account: str) -> str:
    """An account as refusals call it.

    >>> name_in_words("visits/ann"), name_in_words("visits//2026-W07")
    ('visits/ann', 'visits in 2026-W07')
    """
    table, whose, period = split_name(account)
    return account if period is None else f"{join_name(table, whose)} in {period}"


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def _plain(part: str) -> str:
    return "" if part == _NOBODY else part.replace("%2F", "/").replace("%25", "%")
