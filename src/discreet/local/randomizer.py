"""What a device runs: one answer goes in, one private report comes out, with exactly the stated law.

Promise. For every two possible answers and every report r, P(r | first) ≤ e^ε P(r | second), where ε is `loss`. So
nobody who sees a report, the server included, learns much about the answer behind it, and no curator is trusted.

To add one: fill in the abstract methods as the files beside this one do, and subclass ``tests/local/contract.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, working_precision
from discreet.exact.grid import Integers
from discreet.local.reports import Columns, Reports
from discreet.local.terms import ReportField, Terms
from discreet.mechanisms.distribution import FiniteLaw
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["Estimator", "Randomizer"]


Estimated = TypeVar("Estimated")


class Estimator(ABC, Generic[Estimated]):
    """What a server runs: reports go in, an unbiased estimate with its error comes out."""

    def __init__(self, randomizer: Randomizer[Estimated]) -> None:
        """The estimator for reports of this randomizer."""
        self.randomizer = randomizer

    def estimate(self, reports: Reports) -> Estimated:
        """What the reports say about the crowd. No reports, impossible ones and other terms are refused."""
        self.randomizer.check(reports)
        if len(reports) == 0:
            raise InvalidValue("an estimate needs at least one report", "<none>", "wait until somebody has answered")
        return self._estimate(reports.columns, len(reports))

    @abstractmethod
    def _estimate(self, columns: Columns, n: int) -> Estimated:
        """The same for ``n`` ≥ 1 checked reports."""


class Randomizer(ABC, Generic[Estimated]):
    """A way to answer so that any answer can be denied."""

    kind: ClassVar[str]
    """Its name in every report; never reused for something else."""

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """What device and server must agree on."""

    @property
    def loss(self) -> Pure:
        """What one report costs its sender: pure ε, whatever the answer and whoever else answers."""
        return Pure(self.terms.epsilon, Neighbours.REPLACE_ONE)

    @classmethod
    @abstractmethod
    def from_terms(cls, terms: Terms) -> Randomizer[Estimated]:
        """The randomizer that has these terms."""

    def privatize(self, values: Any, *, source: Source = SYSTEM) -> Reports:
        """One report for each answer: ``values`` is one answer, or a list or an array of them.

        Every value is checked before anything is drawn. A value outside the domain is refused and not repeated in the
        message, because the message may be logged.
        """
        return Reports(self.terms, self._draw(self._codes(values), source.open()))

    @abstractmethod
    def _codes(self, values: Any) -> Integers:
        """The answers as whole numbers, checked; one answer counts as a list of one."""

    @abstractmethod
    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        """A report for each answer."""

    @abstractmethod
    def law(self, value: Any) -> FiniteLaw:
        """The exact law of one report for the answer ``value``, each outcome as in `outcomes`; for small domains."""

    @property
    @abstractmethod
    def estimator(self) -> Estimator[Estimated]:
        """What reads the reports."""

    def estimate(self, reports: Reports) -> Estimated:
        """What the reports say about the crowd."""
        return self.estimator.estimate(reports)

    def check(self, reports: Reports) -> None:
        """Refuse reports under other terms, and reports that this randomizer never sends."""
        if not isinstance(reports, Reports):
            raise InvalidType("these must be reports", f"<a {type(reports).__name__}>", "privatize makes them")
        self.terms.check_same(reports.terms)
        if not self._are_possible(reports.columns):
            rule = "every report must be one that the randomizer can send"
            raise InvalidValue(rule, "<a forged or damaged one>", "check each upload as it comes")

    @abstractmethod
    def _are_possible(self, columns: Columns) -> bool:
        """Whether the randomizer can send each of these reports."""

    def between(self, first: Any, second: Any) -> Pair:
        """The laws of a report for two answers side by side, for small domains."""
        laws = self.law(first), self.law(second)
        outcomes = dict.fromkeys(outcome for law in laws for outcome in law.outcomes)
        with working_precision(2 * BITS):
            here, there = ([law.mass(outcome) for outcome in outcomes] for law in laws)
            return Pair(here, there)

    def outcomes(self, reports: Reports) -> list[Hashable]:
        """Each report as a number or, for bits, as bytes; a tuple of them where it has several fields."""
        listed = [_plain(one, reports.columns[one.name]) for one in self.terms.layout]
        return list(zip(*listed, strict=True)) if len(listed) > 1 else listed[0]

    def reports_of(self, outcomes: Sequence[Any]) -> Reports:
        """The reports that `outcomes` lists: what a device sent, written by hand."""
        layout = self.terms.layout
        rows = list(outcomes) if len(layout) > 1 else [(outcome,) for outcome in outcomes]
        columns = {one.name: _column(one, [row[place] for row in rows]) for place, one in enumerate(layout)}
        return Reports(self.terms, columns)


def _plain(field: ReportField, column: npt.NDArray[Any]) -> list[Hashable]:
    return column.tolist() if field.width == 1 else [row.tobytes() for row in column]


def _column(field: ReportField, entries: list[Any]) -> npt.NDArray[Any]:
    if field.width == 1:
        return np.asarray(entries, field.dtype)
    return np.frombuffer(b"".join(entries), field.dtype).reshape(field.shape(len(entries)))
