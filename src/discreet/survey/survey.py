"""A survey: its words, its questions, and what answering all of them costs a person."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.errors import InvalidType, InvalidValue
from discreet.survey.question import Question

__all__ = ["MOST_QUESTIONS", "Survey"]

MOST_QUESTIONS = 100
"""More would make a page that nobody fills in."""

_VERSION = 1
_LONGEST = 5000


@dataclass(frozen=True)
class Survey:
    """What is asked of everybody."""

    title: str
    """The headline of the page."""
    questions: tuple[Question, ...]
    """In the order in which they are asked. All of them must be answered: leaving one out would tell something."""
    intro: str = ""
    """A few words above the questions."""

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise InvalidValue("a survey must have a title", self.title)
        if max(len(self.title), len(self.intro)) > _LONGEST:
            raise InvalidValue(f"title and intro must be at most {_LONGEST} characters", f"<{len(self.intro)}>")
        if not 1 <= len(self.questions) <= MOST_QUESTIONS:
            raise InvalidValue(f"a survey must have 1 to {MOST_QUESTIONS} questions", len(self.questions))
        if len({question.name for question in self.questions}) < len(self.questions):
            raise InvalidValue("every question must have a name of its own", [one.name for one in self.questions])

    @property
    def epsilon(self) -> Fraction:
        """What one person loses by answering everything once: the losses of all reports, added."""
        return sum((question.randomizer.loss.epsilon for question in self.questions), Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        """The survey without its fingerprint."""
        questions = [question.to_dict() for question in self.questions]
        return {"version": _VERSION, "title": self.title, "intro": self.intro, "questions": questions}

    def to_json(self) -> str:
        """The one way to write this survey."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @cached_property
    def fingerprint(self) -> str:
        """The first 64 bits of the SHA-256 of `to_json`; every submission carries it."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    @classmethod
    def from_json(cls, text: str) -> Survey:
        """What `to_json` wrote."""
        found = json.loads(text)
        if not isinstance(found, dict) or set(found) != {"version", "title", "intro", "questions"}:
            raise InvalidType("a survey must have a version, a title, an intro and questions", "<others>")
        if type(found["version"]) is not int or found["version"] != _VERSION:
            remedy = "use the release of discreet that made it"
            raise InvalidValue(f"a survey must be of version {_VERSION}", found["version"], remedy)
        if not isinstance(found["title"], str) or not isinstance(found["intro"], str):
            raise InvalidType("the title and the intro of a survey must be texts", "<others>")
        if not isinstance(found["questions"], list):
            raise InvalidType("the questions of a survey must be a list", "<another>")
        return cls(found["title"], tuple(map(Question.from_dict, found["questions"])), found["intro"])
