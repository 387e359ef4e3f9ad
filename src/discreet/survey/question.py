"""One question of a survey: what is asked, what can be answered, and how the answer is made noisy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.errors import InvalidType, InvalidValue
from discreet.local.randomizer import Randomizer
from discreet.local.terms import Terms
from discreet.survey.kinds import from_terms

__all__ = ["NO_AND_YES", "TYPES", "Question"]

TYPES = ("yes-no", "choice", "number")
"""What a question can be."""

NO_AND_YES = ("no", "yes")
"""The answers to a question of type yes-no, in the order of its reports."""

_LONGEST = 2000
_NAMES = {"name", "ask", "type", "hint", "terms", "fingerprint"}


@dataclass(frozen=True)
class Question:
    """A question and its randomizer."""

    name: str
    """What results call it; part of every report."""
    ask: str
    """The words that people read."""
    type: str
    """One of `TYPES`."""
    randomizer: Randomizer[Any]
    """What runs in the browser."""
    hint: str = ""
    """Smaller words below the question."""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise InvalidValue("the name of a question must be a word", self.name, "letters, digits and _")
        for words in (self.ask, self.hint):
            if len(words) > _LONGEST:
                raise InvalidValue(f"words must be at most {_LONGEST} characters", len(words))
        if not self.ask.strip():
            raise InvalidValue("a question must ask something", self.ask)
        if self.type not in TYPES:
            raise InvalidValue(f"a question is one of {', '.join(TYPES)}", self.type)

    @property
    def terms(self) -> Terms:
        """What the page and the server agree on."""
        return self.randomizer.terms

    def to_dict(self) -> dict[str, Any]:
        """The question as the page gets it and as the store keeps it."""
        return {
            "name": self.name,
            "ask": self.ask,
            "type": self.type,
            "hint": self.hint,
            "terms": self.terms.to_dict(),
            "fingerprint": self.terms.fingerprint,
        }

    @classmethod
    def from_dict(cls, found: Any) -> Question:
        """What `to_dict` wrote."""
        if not isinstance(found, dict) or set(found) != _NAMES:
            raise InvalidType(f"a question must have {', '.join(sorted(_NAMES))}", "<others>")
        if not all(isinstance(found[name], str) for name in _NAMES - {"terms"}):
            raise InvalidType("the words of a question must be texts", "<others>")
        randomizer = from_terms(Terms.from_dict(found["terms"]))
        if randomizer.terms.fingerprint != found["fingerprint"]:
            rule = "the terms of a question must have the fingerprint that was stored"
            raise InvalidValue(rule, found["fingerprint"], "use the release of discreet that made the survey")
        return cls(found["name"], found["ask"], found["type"], randomizer, found["hint"])
