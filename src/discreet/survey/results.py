"""What the reports of a survey say about those who answered: estimates with intervals, and how many more are needed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidValue
from discreet.exact.rational import Number, positive
from discreet.local.estimates import Estimates
from discreet.local.mean import MeanEstimate
from discreet.local.reports import Reports
from discreet.local.terms import Bounds
from discreet.noise.law import open_probability
from discreet.survey.needed import answers_needed
from discreet.survey.question import Question
from discreet.survey.records import Records
from discreet.survey.store import Store
from discreet.survey.survey import Survey

__all__ = ["Finding", "Results", "Row", "Wish", "results_of"]

_LEAST_SURE, _MOST_SURE = Fraction(1, 100), 1 - Fraction(1, 10**12)  # beyond, quantiles leave the range of floats


@dataclass(frozen=True)
class Row:
    """One estimated number."""

    label: str
    """A category, or "mean"."""
    value: float
    """The estimate; unbiased, so a share may be below 0 or above 1."""
    low: float
    """The lower end of its interval."""
    high: float
    """The upper end."""

    def within(self, least: float, greatest: float) -> Row:
        """The same as it is shown: the estimate is moved to what is possible, and its interval does not shrink by that.

        Both ends keep their distance from the estimate, or stay where they are if that is further out, and are then cut
        at the ends of the range. The truth is in the range, so it is in the shown interval if it was in the raw one.
        """
        value = min(max(self.value, least), greatest)
        low = min(self.low, value - (self.value - self.low))
        high = max(self.high, value + (self.high - self.value))
        return Row(self.label, value, *(min(max(end, least), greatest) for end in (low, high)))


@dataclass(frozen=True)
class Finding:
    """What is known about one question."""

    question: Question
    """What was asked."""
    rows: tuple[Row, ...]
    """A share for each category, or the mean of a number, unbiased; none as long as nobody has answered."""
    needed: int
    """About how many answers the wanted error needs."""

    @property
    def shown(self) -> tuple[Row, ...]:
        """The rows as people read them: no share below 0 or above 1, no mean outside of its bounds."""
        domain = self.question.terms.domain
        ends = (float(domain.lower), float(domain.upper)) if isinstance(domain, Bounds) else (0.0, 1.0)
        return tuple(row.within(*ends) for row in self.rows)


@dataclass(frozen=True)
class Wish:
    """What the reader of results wants."""

    confidence: Fraction
    """How sure the intervals shall be."""
    together: bool
    """Whether all intervals of the survey hold at once with that confidence; otherwise each of them does."""
    within: Fraction
    """The wanted error: of a share, or of a mean as a share of the distance between its bounds."""

    @classmethod
    def of(cls, confidence: Number = 0.95, *, together: bool = False, within: Number = "0.05") -> Wish:
        """A checked wish."""
        wanted = positive(within, "within")
        if wanted >= 1:
            raise InvalidValue("within must be below 1", float(wanted), "0.05 means five of a hundred")
        sure = open_probability(confidence, "confidence")
        if not _LEAST_SURE <= sure <= _MOST_SURE:
            raise InvalidValue("confidence must be from 0.01 to 0.999999999999", str(confidence)[:20], "0.95 is usual")
        return cls(sure, together, wanted)


@dataclass(frozen=True)
class Results:
    """The results of a survey."""

    survey: Survey
    """What was asked."""
    invited: int
    """How many could answer."""
    answered: int
    """How many did."""
    wish: Wish
    """What was wanted."""
    findings: tuple[Finding, ...]
    """In the order of the questions."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "survey": self.survey.fingerprint,
            "title": self.survey.title,
            "invited": self.invited,
            "answered": self.answered,
            "epsilon": float(self.survey.epsilon),
            "confidence": float(self.wish.confidence),
            "together": self.wish.together,
            "within": float(self.wish.within),
            "questions": {one.question.name: self._finding(one) for one in self.findings},
        }

    def _finding(self, one: Finding) -> dict[str, Any]:
        return {
            "ask": one.question.ask,
            "type": one.question.type,
            "randomizer": one.question.randomizer.kind,
            "epsilon": float(one.question.randomizer.loss.epsilon),
            "estimates": [
                {"of": row.label, **_numbers(row), "raw": _numbers(raw)}
                for row, raw in zip(one.shown, one.rows, strict=True)
            ],
            "needed": one.needed,
            "more": max(one.needed - self.answered, 0),
        }


def _numbers(row: Row) -> dict[str, float]:
    return {"value": row.value, "low": row.low, "high": row.high}


def results_of(store: Store, wish: Wish) -> Results:
    """The results of what is in the store now."""
    reports = Records(store.survey).read(store.records())
    answered = len(next(iter(reports.values())))
    findings = tuple(
        _finding(question, reports[question.name], store.survey, wish) for question in store.survey.questions
    )
    return Results(store.survey, store.invited(), answered, wish, findings)


def _finding(question: Question, reports: Reports, survey: Survey, wish: Wish) -> Finding:
    each = _each(question, survey, wish)
    rows = _rows(question.randomizer.estimate(reports), each) if len(reports) else ()
    return Finding(question, rows, answers_needed(question.randomizer, wish.within, each))


def _each(question: Question, survey: Survey, wish: Wish) -> Fraction:
    """The confidence of one interval: where all shall hold at once, each takes its part of the failure."""
    if not wish.together:
        return wish.confidence
    domain = question.terms.domain
    intervals = 1 if isinstance(domain, Bounds) else len(domain)
    return 1 - (1 - wish.confidence) / (len(survey.questions) * intervals)


def _rows(found: Estimates | MeanEstimate, confidence: Fraction) -> tuple[Row, ...]:
    if isinstance(found, MeanEstimate):
        return (Row("mean", found.mean, *found.interval(confidence)),)
    ends = found.intervals(confidence).tolist()
    named = zip(found.categories, found.shares.tolist(), ends, strict=True)
    return tuple(Row(str(name), share, low, high) for name, share, (low, high) in named)
