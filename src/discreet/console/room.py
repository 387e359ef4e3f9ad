"""Rooms of the console: each has a place in the navigation, and a page for those who may enter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module

from discreet.console.visit import Visit
from discreet.service.role import EVERYBODY, READERS, Role

__all__ = ["ROOMS", "Room"]

Build = Callable[[Visit], Awaitable[None] | None]


@dataclass(frozen=True)
class Room:
    """One page of the console."""

    path: str
    """Where it is."""
    title: str
    """What it is called."""
    icon: str
    """A Material icon beside the title."""
    module: str
    """The module of this package with its ``build``, loaded when somebody enters."""
    roles: frozenset[Role] = EVERYBODY
    """Who may enter."""

    def build(self) -> Build:
        """What fills the page."""
        found: Build = import_module(f"discreet.console.{self.module}").build
        return found


_OWNER = frozenset({Role.OWNER})
_ASKERS = frozenset({Role.OWNER, Role.ANALYST})

ROOMS = (
    Room("/", "Ask", "question_answer", "ask", _ASKERS),
    Room("/budget", "Budget", "account_balance_wallet", "budget"),
    Room("/ledger", "Ledger", "menu_book", "ledger"),
    Room("/trail", "Audit trail", "history", "trail", READERS),
    Room("/tables", "Tables", "table_chart", "tables", _OWNER),
    Room("/people", "People", "group", "people", _OWNER),
    Room("/publish", "Publish", "publish", "publish", _OWNER),
    Room("/understand", "Understand ε", "insights", "understand"),
    Room("/lab", "Lab", "science", "lab"),
)
"""In the order of the navigation."""
