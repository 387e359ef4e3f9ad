"""A survey: its words, its questions, and what answering all of them costs a person.

A question has what is asked, what can be answered, and how the answer is made noisy, by one of the randomizers that the
page can run. The script of the page holds a second copy of each; the tests hold both against the same random words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import Number
from discreet.local.choose import best_randomizer
from discreet.local.frequency import FrequencyOracle
from discreet.local.hadamard import HadamardResponse
from discreet.local.mean import MeanRandomizer
from discreet.local.mean_mechanisms import DuchiMean, HybridMean, PiecewiseMean
from discreet.local.randomized_response import BinaryResponse, GeneralizedResponse
from discreet.local.randomizer import Randomizer
from discreet.local.subset_selection import SubsetSelection
from discreet.local.terms import Categories, Terms
from discreet.local.unary import OptimalUnary, SymmetricUnary

__all__ = [
    "MEANS",
    "MOST_QUESTIONS",
    "NO_AND_YES",
    "ORACLES",
    "TYPES",
    "Question",
    "Survey",
    "best_oracle",
    "from_terms",
    "mean",
    "oracle",
]


ORACLES: dict[str, type[FrequencyOracle]] = {
    one.kind: one
    for one in (BinaryResponse, GeneralizedResponse, SubsetSelection, OptimalUnary, SymmetricUnary, HadamardResponse)
}
"""The randomizers of categories."""

MEANS: dict[str, type[MeanRandomizer]] = {one.kind: one for one in (HybridMean, DuchiMean, PiecewiseMean)}
"""The randomizers of numbers; the first is the best for any ε."""

_REMEDY = "leave it out to get the best one"


def oracle(kind: str, epsilon: Number, categories: Sequence[str]) -> FrequencyOracle:
    """The randomizer of categories of this kind."""
    if kind not in ORACLES:
        raise InvalidValue(f"the randomizer of a choice must be one of {', '.join(ORACLES)}", kind, _REMEDY)
    return ORACLES[kind](epsilon, categories)


def mean(kind: str, epsilon: Number, lower: Number, upper: Number) -> MeanRandomizer:
    """The randomizer of numbers of this kind."""
    if kind not in MEANS:
        raise InvalidValue(f"the randomizer of a number must be one of {', '.join(MEANS)}", kind, _REMEDY)
    return MEANS[kind](epsilon, lower, upper)


def best_oracle(epsilon: Number, categories: Sequence[str]) -> FrequencyOracle:
    """The one that `best_randomizer` ranks highest; for two answers that is randomized response by another name."""
    named = Categories.named(categories)
    if len(named) == 2:
        return BinaryResponse(epsilon, named.names)
    ranked = best_randomizer(epsilon, len(named)).candidates
    return next(one.oracle for one in ranked if one.kind in ORACLES)(epsilon, named.names)


def from_terms(terms: Terms) -> Randomizer[Any]:
    """The randomizer that has these terms."""
    known: dict[str, type[Randomizer[Any]]] = {**ORACLES, **MEANS}
    if terms.kind not in known:
        raise InvalidValue("the terms must be of a randomizer that the page runs", terms.kind)
    return known[terms.kind].from_terms(terms)


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


MOST_QUESTIONS = 100
"""More would make a page that nobody fills in."""

_VERSION = 1
_LONGEST_TITLE = 5000


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
        if max(len(self.title), len(self.intro)) > _LONGEST_TITLE:
            raise InvalidValue(f"title and intro must be at most {_LONGEST_TITLE} characters", f"<{len(self.intro)}>")
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
