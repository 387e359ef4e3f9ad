"""``discreet ask --rehearse``: the answer on made-up rows, with a curator or with policy files alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.output import opened
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.curator.answer import Answer

__all__ = ["check_rehearsal", "rehearsed"]


def check_rehearsal(rehearse: bool, policies: Sequence[Path] | None, certificate: Path | None) -> None:
    """Refuse options that do not go together."""
    if rehearse and certificate is not None:
        raise InvalidValue("a rehearsal has no certificate", str(certificate), "leave --certificate out")
    if policies and not rehearse:
        raise InvalidValue("policy files alone can be rehearsed, not asked", str(policies[0]), "add --rehearse")


def rehearsed(
    folder: Path,
    policies: Sequence[Path],
    sql: str,
    epsilon: str | None,
    within: float | None,
    confidence: float,
    analyst: str | None,
) -> Answer:
    """The answer on rows made up from the policies that are named, or from those of the curator in ``folder``."""
    if not policies:
        curator = opened(folder)
        return curator.rehearse(sql, epsilon, within=within, confidence=confidence, analyst=analyst)
    if analyst is not None:
        raise InvalidValue("a rehearsal of policy files has no analysts", analyst, "leave --analyst or --policy out")
    from discreet.curator.rehearsal import rehearse

    return rehearse(policies, sql, epsilon, within=within, confidence=confidence)
