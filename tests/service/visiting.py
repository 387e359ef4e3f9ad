"""Visitors of the hospital, as operations see them."""

from __future__ import annotations

from discreet.service.role import Role
from discreet.service.visitor import Visitor

OWNER = Visitor("owner", Role.OWNER, "token")
ANA = Visitor("ana", Role.ANALYST, "token")
BEN = Visitor("ben", Role.ANALYST, "token")
STRANGER = Visitor("eve", Role.ANALYST, "token")
"""An analyst whom no policy names."""
AUDITOR = Visitor("auditor", Role.AUDITOR, "token")
EACH = (OWNER, ANA, BEN, STRANGER, AUDITOR)
