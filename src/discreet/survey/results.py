"""What the reports of a survey say about those who answered: estimates with intervals, and how many more are needed.

The number of answers that makes an interval as short as it is wanted, whatever the answers are, is estimated. For
shares, and for means of single bits, it is (z/error)² times the largest variance of one report, z being the
normal quantile: the exact intervals are a little longer where answers are few. For means of numbers it is the bound
that their intervals are made of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import upper, working_precision
from discreet.exact.rational import Number, positive
from discreet.local.estimates import Estimates
from discreet.local.frequency import FrequencyOracle
from discreet.local.mean import MeanEstimate, ReportSpread
from discreet.local.mean_mechanisms import DuchiMean, HybridMean, PiecewiseMean
from discreet.local.randomizer import Randomizer
from discreet.local.reports import Reports
from discreet.local.terms import Bounds
from discreet.noise.law import open_probability
from discreet.privacy.format import shown as price
from discreet.reports import document as doc
from discreet.reports.report import Report
from discreet.survey.store import Records, SurveyStore
from discreet.survey.survey import Question, Survey

__all__ = ["Finding", "ResultRequest", "ResultRow", "Results", "answers_needed", "results_of"]


def answers_needed(randomizer: Randomizer[Any], within: Fraction, confidence: Fraction) -> int:
    """About how many answers leave an error of ``within``.

    For categories ``within`` is about a share; for numbers, about a share of the distance between the bounds.
    """
    if isinstance(randomizer, FrequencyOracle):
        return randomizer.estimator.sample_size(standard_deviation=_deviation(within, confidence))
    if isinstance(randomizer, DuchiMean):
        with working_precision():
            most = upper(1 / (4 * randomizer.honesty.rates()[2] ** 2))
        return math.ceil(most / _deviation(within, confidence) ** 2)
    if isinstance(randomizer, (HybridMean, PiecewiseMean)):
        return _by_spread(randomizer.spread, float(within), float(1 - confidence))
    raise InvalidType("this randomizer has no bound on its error", randomizer.kind)


def _deviation(within: Fraction, confidence: Fraction) -> Fraction:
    """The standard deviation that leaves this error."""
    return within / Fraction(-NormalDist().inv_cdf(float(1 - confidence) / 2))


def _by_spread(spread: ReportSpread, within: float, failure: float) -> int:
    """Doubling, then halving: more answers never make the bound worse."""
    high = 1
    while spread.within(high, failure) > within:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if spread.within(middle, failure) <= within else (middle, high)
    return high


_LEAST_SURE, _MOST_SURE = Fraction(1, 100), 1 - Fraction(1, 10**12)  # beyond, quantiles leave the range of floats


@dataclass(frozen=True)
class ResultRow:
    """One estimated number."""

    label: str
    """A category, or "mean"."""
    value: float
    """The estimate; unbiased, so a share may be below 0 or above 1."""
    low: float
    """The lower end of its interval."""
    high: float
    """The upper end."""

    def within(self, least: float, greatest: float) -> ResultRow:
        """The same as it is shown: the estimate is moved to what is possible, and its interval does not shrink by that.

        Both ends keep their distance from the estimate, or stay where they are if that is further out, and are then cut
        at the ends of the range. The truth is in the range, so it is in the shown interval if it was in the raw one.
        """
        value = min(max(self.value, least), greatest)
        low = min(self.low, value - (self.value - self.low))
        high = max(self.high, value + (self.high - self.value))
        return ResultRow(self.label, value, *(min(max(end, least), greatest) for end in (low, high)))


@dataclass(frozen=True)
class Finding:
    """What is known about one question."""

    question: Question
    """What was asked."""
    rows: tuple[ResultRow, ...]
    """A share for each category, or the mean of a number, unbiased; none as long as nobody has answered."""
    needed: int
    """About how many answers the wanted error needs."""

    @property
    def shown(self) -> tuple[ResultRow, ...]:
        """The rows as people read them: no share below 0 or above 1, no mean outside of its bounds."""
        domain = self.question.terms.domain
        ends = (float(domain.lower), float(domain.upper)) if isinstance(domain, Bounds) else (0.0, 1.0)
        return tuple(row.within(*ends) for row in self.rows)


@dataclass(frozen=True)
class ResultRequest:
    """What the reader of results wants."""

    confidence: Fraction
    """How sure the intervals shall be."""
    together: bool
    """Whether all intervals of the survey hold at once with that confidence; otherwise each of them does."""
    within: Fraction
    """The wanted error: of a share, or of a mean as a share of the distance between its bounds."""

    @classmethod
    def of(cls, confidence: Number = 0.95, *, together: bool = False, within: Number = "0.05") -> ResultRequest:
        """A checked request."""
        wanted = positive(within, "within")
        if wanted >= 1:
            raise InvalidValue("within must be below 1", float(wanted), "0.05 means five of a hundred")
        sure = open_probability(confidence, "confidence")
        if not _LEAST_SURE <= sure <= _MOST_SURE:
            raise InvalidValue("confidence must be from 0.01 to 0.999999999999", str(confidence)[:20], "0.95 is usual")
        return cls(sure, together, wanted)


@dataclass(frozen=True)
class Results(Report):
    """The results of a survey."""

    survey: Survey
    """What was asked."""
    invited: int
    """How many could answer."""
    answered: int
    """How many did."""
    ask_request: ResultRequest
    """What was wanted."""
    findings: tuple[Finding, ...]
    """In the order of the questions."""

    def document(self, *, raw: bool = False) -> doc.Document:
        """A table for each question; ``raw`` unfolds the unbiased estimates, which may be impossible values."""
        sections = [doc.Section(one.question.ask, list(_blocks(one, self, raw))) for one in self.findings]
        return doc.Document(self.survey.title, [doc.Headline(_summary(self)), *sections])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "survey": self.survey.fingerprint,
            "title": self.survey.title,
            "invited": self.invited,
            "answered": self.answered,
            "epsilon": float(self.survey.epsilon),
            "confidence": float(self.ask_request.confidence),
            "together": self.ask_request.together,
            "within": float(self.ask_request.within),
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


def _numbers(row: ResultRow) -> dict[str, float]:
    return {"value": row.value, "low": row.low, "high": row.high}


def results_of(store: SurveyStore, ask_request: ResultRequest) -> Results:
    """The results of what is in the store now."""
    reports = Records(store.survey).read(store.records())
    answered = len(next(iter(reports.values())))
    findings = tuple(
        _finding(question, reports[question.name], store.survey, ask_request) for question in store.survey.questions
    )
    return Results(store.survey, store.invited(), answered, ask_request, findings)


def _finding(question: Question, reports: Reports, survey: Survey, ask_request: ResultRequest) -> Finding:
    each = _each(question, survey, ask_request)
    rows = _rows(question.randomizer.estimate(reports), each) if len(reports) else ()
    return Finding(question, rows, answers_needed(question.randomizer, ask_request.within, each))


def _each(question: Question, survey: Survey, ask_request: ResultRequest) -> Fraction:
    """The confidence of one interval: where all shall hold at once, each takes its part of the failure."""
    if not ask_request.together:
        return ask_request.confidence
    domain = question.terms.domain
    intervals = 1 if isinstance(domain, Bounds) else len(domain)
    return 1 - (1 - ask_request.confidence) / (len(survey.questions) * intervals)


def _rows(found: Estimates | MeanEstimate, confidence: Fraction) -> tuple[ResultRow, ...]:
    if isinstance(found, MeanEstimate):
        return (ResultRow("mean", found.mean, *found.interval(confidence)),)
    ends = found.intervals(confidence).tolist()
    named = zip(found.categories, found.shares.tolist(), ends, strict=True)
    return tuple(ResultRow(str(name), share, low, high) for name, share, (low, high) in named)


def _blocks(finding: Finding, results: Results, raw: bool) -> Iterator[doc.DocumentBlock]:
    if finding.rows:
        names = ("" if finding.question.type == "number" else "answer", "", "estimate", "interval")
        yield doc.TableBlock(names, [_cells(row, finding) for row in finding.shown], "llrr")
        yield _raw(finding, raw)
    yield doc.Quiet(_needs(finding, results))


def _cells(row: ResultRow, finding: Finding) -> tuple[doc.TableCell, ...]:
    value, low, high = (_share(end, finding) for end in (row.value, row.low, row.high))
    return row.label, doc.IntervalBar(value, (low, high), value), _format(finding, row.value), _span(row, finding)


def _raw(finding: Finding, is_open: bool) -> doc.Details:
    """The unbiased estimates, behind a click: add or average these, and read the others."""
    rows = [(row.label, _format(finding, row.value), _span(row, finding)) for row in finding.rows]
    words = doc.Quiet("Right on average, so that they may be added up, and at times outside of what is possible.")
    listed = doc.TableBlock(("", "raw estimate", "raw interval"), rows, "lrr")
    return doc.Details("Raw estimates", [words, listed], is_open, f"raw-{finding.question.name}")


def _format(finding: Finding, value: float) -> str:
    """A share in percent, or a mean."""
    return f"{value:.4g}" if finding.question.type == "number" else f"{100 * value:.1f} %"


def _span(row: ResultRow, finding: Finding) -> str:
    return f"{_format(finding, row.low)} to {_format(finding, row.high)}"


def _summary(results: Results) -> str:
    """Who answered, and how sure the intervals are."""
    if not results.answered:
        return f"Nobody of {results.invited:,} invited has answered yet."
    held = "all intervals hold at once" if results.ask_request.together else "each interval holds"
    return (
        f"{results.answered:,} of {results.invited:,} invited have answered; {held} with confidence"
        f" {float(results.ask_request.confidence):g}, for those who answered."
    )


def _needs(finding: Finding, results: Results) -> str:
    """What the question cost each person, and how many more answers are needed."""
    loss = price(finding.question.randomizer.loss.epsilon, 3)
    more = max(finding.needed - results.answered, 0)
    within = f"{100 * float(results.ask_request.within):.3g}"
    error = f"± {within} % of the range" if finding.question.type == "number" else f"± {within} points"
    enough = f"about {more:,} more answers, whatever they are, make it" if more else "there are enough for"
    return f"ε {loss} for each person by {finding.question.randomizer.kind}; {enough} {error}."


def _share(value: float, finding: Finding) -> float:
    """Where a value lies between the ends of its bar."""
    domain = finding.question.terms.domain
    if not isinstance(domain, Bounds):
        return value
    return (value - float(domain.lower)) / float(domain.upper - domain.lower)
