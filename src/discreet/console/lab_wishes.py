"""What the lab is asked to do, and what it hands back: plain data that travels between processes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["AttackWish", "AuditWish", "Audited", "BoardDone", "ShownCell"]


@dataclass(frozen=True, eq=False)
class AttackWish:
    """Which attacks to run on which table."""

    folder: str
    """Where the process may write; it is emptied afterwards."""
    name: str
    """What the table is called."""
    table: pa.Table | None
    """A table of the visitor's own; None for the made-up hospital."""
    patients: int
    """How many patients the hospital has."""
    quasi: tuple[str, ...]
    """What others know; of no use for the hospital, which knows its own."""
    secret: str
    """What nobody should learn; likewise."""
    attacks: tuple[str, ...]
    """The names of attacks."""
    defences: tuple[str, ...]
    """The names of defences; the curator is one, whatever its ε."""
    epsilons: tuple[str, ...]
    """The budgets of the curator."""


@dataclass(frozen=True)
class ShownCell:
    """One attack against one defence, as people see it."""

    attack: str
    """The name of the attack."""
    defence: str
    """The name of the defence."""
    text: str
    """How often it was right, with a sign where that says something."""
    harm: float
    """How much of what guessing leaves open was learned from people's own records, from 0 to 1."""
    words: str
    """The same in a sentence."""
    right: float | None
    """The share of right guesses; None where there were none."""
    interval: tuple[float, float] | None
    """Where that share lies, with confidence 95 %."""
    guessing: float | None
    """The share that guessing without the release gets right."""


@dataclass(frozen=True)
class BoardDone:
    """A finished scoreboard."""

    headline: str
    """What came of it, in a sentence or two."""
    page: str
    """The scoreboard as a page that stands alone."""
    data: str
    """The same as JSON."""


@dataclass(frozen=True)
class AuditWish:
    """What to audit, and how."""

    kind: str
    """Broken, mended, or ours."""
    name: str
    """The mechanism."""
    epsilon: str
    """What ours is to claim; the others have claims of their own."""
    draws: int
    """How many answers to draw."""


@dataclass(frozen=True)
class Audited:
    """What an audit found."""

    verdict: str
    """One word."""
    headline: str
    """The same in a sentence."""
    claim: str
    """What was claimed."""
    claimed: float | None
    """The ε of the claim; None where it has none of its own."""
    observed: float
    """The ε that the draws prove to be lost."""
    observed_words: str
    """The same in words."""
    exact: float | None
    """The ε that the laws themselves lose; None where they are not known, or it has no end."""
    exact_words: str
    """The same in words; empty where the laws are not known."""
    event: str
    """The event that proves most, in words."""
    confidence: str
    """How sure the verdict is."""
    inputs: tuple[str, str]
    """The two neighbours."""
    laws: tuple[tuple[str, float, float], ...]
    """How often each outcome was seen for the two inputs."""
    page: str
    """The report as a page that stands alone."""
    data: str
    """The same as JSON."""
