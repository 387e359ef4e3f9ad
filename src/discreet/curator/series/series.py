"""A standing series, as its readers see it: every figure that was released, with its error bar, and what comes next.

Reading is free: everything is computed from what the ledger keeps, and no row is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.catalog.period import Period
from discreet.curator.answers.answer import Answer
from discreet.curator.answers.cell import Interval, with_ends
from discreet.curator.answers.formats import extra
from discreet.curator.certificates.certificate import issue
from discreet.curator.ledger.units import amount, as_json
from discreet.curator.notes import write_notes
from discreet.curator.series.book import BegunSeries, Outcome, SeriesStep, list_steps, record_stop
from discreet.curator.series.certify import state_step
from discreet.curator.series.plan import SeriesPlan
from discreet.curator.series.release import read_at_limit, read_released
from discreet.curator.series.steps import find_plan
from discreet.errors import InvalidValue
from discreet.privacy.loss import Loss
from discreet.query.answer.answer import compute_answer
from discreet.query.divide import join_measured
from discreet.query.question import PlannedQuestion

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = ["Series", "check_reader"]


@dataclass(frozen=True)
class Series:
    """A question that is answered for every period when it closes. What it shows is what was released by now."""

    curator: Curator
    begun: BegunSeries
    confidence: float = 0.95
    """How often an error bar covers the truth, at least."""
