"""The reports of one person as a record of fixed size, so that the records of a crowd are a few arrays."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.local.reports import Reports
from discreet.survey.question import Question
from discreet.survey.survey import Survey

__all__ = ["Records"]


class Records:
    """How the records of a survey are written and read."""

    def __init__(self, survey: Survey) -> None:
        """For this survey."""
        self.survey = survey
        self.dtype = np.dtype([(question.name, _dtype(question)) for question in survey.questions])

    @property
    def size(self) -> int:
        """Bytes of one record."""
        return self.dtype.itemsize

    def written(self, reports: Any) -> bytes:
        """The record of one person, from a report in JSON for each question by name.

        A report under other terms, one that the randomizer never sends, a missing one and one too many are refused.
        """
        names = {question.name for question in self.survey.questions}
        if not isinstance(reports, dict) or set(reports) != names:
            raise InvalidType("there must be one report for each question", "<others>", f"{', '.join(sorted(names))}")
        record = np.zeros(1, self.dtype)
        for question in self.survey.questions:
            for field, column in _one(question, reports[question.name]).columns.items():
                record[question.name][field] = column
        return record.tobytes()

    def read(self, records: bytes) -> dict[str, Reports]:
        """The reports of a crowd for each question, from records one after the other."""
        table = np.frombuffer(records, self.dtype)
        return {question.name: _reports(question, table[question.name]) for question in self.survey.questions}


def _dtype(question: Question) -> np.dtype[Any]:
    return np.dtype([(one.name, one.dtype, one.shape(1)[1:]) for one in question.terms.layout])


def _one(question: Question, report: Any) -> Reports:
    reports = Reports.from_json(json.dumps(report), question.terms)
    if len(reports) != 1:
        raise InvalidValue(f"{question.name} must have one report", len(reports))
    question.randomizer.check(reports)
    return reports


def _reports(question: Question, table: np.ndarray[Any, Any]) -> Reports:
    columns = {one.name: np.ascontiguousarray(table[one.name]) for one in question.terms.layout}
    return Reports(question.terms, columns)
