"""A request: a question with the price or the error that is wanted for it, exact and comparable.

>>> AskRequest("SELECT COUNT(*) FROM visits", epsilon=0.1) == AskRequest("SELECT COUNT(*) FROM visits", epsilon="1/10")
True
>>> AskRequest.read(AskRequest("SELECT 1", within="10").written()).within
Fraction(10, 1)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.catalog.names import check_text
from discreet.curator.question_terms import QuestionTerms
from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import Number, positive, rational
from discreet.noise.law import open_probability
from discreet.query.parse.clock import AsOf

__all__ = ["LONGEST_QUESTION", "AskRequest"]


LONGEST_QUESTION = 100_000
"""Characters of a question, at most."""
_FIELDS = {"sql": "sql", "epsilon": "epsilon", "within": "within", "confidence": "confidence", "raw": "raw"}
"""What a written request calls its parts, and the fields that hold them: a field may be renamed, a name may not."""


@dataclass(frozen=True)
class AskRequest:
    """What somebody asks for. Numbers are exact: 0.1, "0.1" and "1/10" are one request."""

    sql: str
    """The question."""
    epsilon: Number | None = None
    """The price, kept as a rational; None where the error is named."""
    within: Number | None = None
    """The wanted error, kept as a rational; None where the price is named."""
    part: Number | None = None
    """The part of the budget to pay, kept as a rational; None where a price or an error is named."""
    as_of: str | None = None
    """The day or moment that CURRENT_DATE means."""
    confidence: Number = Fraction(95, 100)
    """How often an interval covers the truth, at least."""
    raw: bool = False
    """Whether values are shown as they were drawn, also where they make no sense."""

    def __post_init__(self) -> None:
        """Refuse what no curator could price, and make numbers exact."""
        if len(check_text(self.sql, "a question")) > LONGEST_QUESTION:
            raise InvalidValue(f"a question must have at most {LONGEST_QUESTION:,} characters", f"<{len(self.sql):,}>")
        QuestionTerms(self.epsilon, self.within, self.part)
        if self.as_of is not None:
            object.__setattr__(self, "as_of", str(AsOf.of(check_text(self.as_of, "as_of"))))
        if not isinstance(self.raw, bool):
            raise InvalidType("raw must be true or false", self.raw)
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        if self.within is not None:
            object.__setattr__(self, "within", positive(self.within, "the wanted error"))
        if self.part is not None:
            object.__setattr__(self, "part", rational(self.part, "part"))
        object.__setattr__(self, "confidence", open_probability(self.confidence, "confidence"))

    def told(self) -> dict[str, Any]:
        """The request as the curator's door takes it."""
        assert not isinstance(self.within, str)  # noqa: S101  it was made a rational
        return {
            "sql": self.sql,
            "epsilon": self.epsilon,
            "within": None if self.within is None else float(self.within),
            "part": self.part,
            "as_of": self.as_of,
            "confidence": float(self.confidence),
        }

    def written(self) -> str:
        """The request as text; equal requests are written alike."""
        found = {name: getattr(self, field) for name, field in _FIELDS.items()}
        later = {"part": self.part, "as_of": self.as_of}  # written where they are named, as before they could be
        found |= {name: value for name, value in later.items() if value is not None}
        exact = {name: str(value) if isinstance(value, Fraction) else value for name, value in found.items()}
        return json.dumps(exact, ensure_ascii=False, sort_keys=True)

    @staticmethod
    def read(text: str) -> AskRequest:
        """The request that was written."""
        return AskRequest(**{_FIELDS.get(name, name): value for name, value in json.loads(text).items()})
