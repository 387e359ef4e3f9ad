"""What a check found: which rule was broken, where, and how to see it again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Broken", "Finding"]


class Broken(Enum):
    """The rule that does not hold."""

    RAISES = "a statement fails"
    PLANNING = "planning, or what is above, fails with no refusal"
    TOLD_APART = "plans, prices or refusals tell the neighbours apart"
    MOVES = "one unit moves integers further than is claimed"
    SCORES = "one unit moves the scores of a choice further than is claimed"
    POINTS = "a point of a choice lies outside its ends"
    KEYS = "one unit decides which keys there are, or how they are spelled"
    THRESHOLD = "a key of one unit alone is shown more often than δ"
    NOISE = "noise or shares do not fit what is claimed"
    INTERVAL = "a value lies outside its planned interval"
    MISSING = "a value is missing that was planned never to be"
    WORK = "one unit becomes more rows than are allowed"
    ORDER = "the order of rows or the number of threads changes integers"
    GROUPS = "a row whose keys are public is in no listed group"
    MEANING = "where nothing is bounded the answer is not that of a plain database"


@dataclass(frozen=True)
class Finding:
    """One rule that one question broke in one world."""

    broken: Broken
    sql: str
    detail: str

    def __str__(self) -> str:
        return f"{self.broken.name}: {self.broken.value}\n  {self.sql}\n  {self.detail}"
