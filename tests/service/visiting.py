"""Principals of the hospital, as operations see them."""

from __future__ import annotations

from discreet.service.auth.roles import MemberRole, Principal

OWNER = Principal("owner", MemberRole.OWNER, "token")
ANA = Principal("ana", MemberRole.ANALYST, "token")
BEN = Principal("ben", MemberRole.ANALYST, "token")
STRANGER = Principal("eve", MemberRole.ANALYST, "token")
"""An analyst whom no policy names."""
AUDITOR = Principal("auditor", MemberRole.AUDITOR, "token")
EACH = (OWNER, ANA, BEN, STRANGER, AUDITOR)
