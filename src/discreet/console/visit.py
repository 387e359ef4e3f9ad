"""A visit: one person in front of one page."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.service.house import House
from discreet.service.visitor import Visitor

__all__ = ["Visit"]


@dataclass(frozen=True)
class Visit:
    """What a page is built for."""

    house: House
    """The house whose pages these are."""
    visitor: Visitor
    """Who looks at the page."""
