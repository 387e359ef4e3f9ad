"""The curator audited from draws: what a question releases proves no more than its price, and does when noise is
missing.

False alarms: 1e-6 per audit of the curator as it is.
"""

from __future__ import annotations

import pytest

from discreet.audit.end_to_end import end_to_end
from discreet.audit.mechanism import Verdict
from discreet.catalog.budget import Budget
from discreet.errors import DiscreetError
from discreet.exact.grid import Integers
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import Stream
from discreet.privacy.loss import Approximate, Pure
from tests.audit.test_replay import BY_NOTE, QUESTIONS, REFUSED_ALWAYS, ROWS, policy

DRAWS = 6000


def test_a_count_proves_most_of_its_price_and_no_more() -> None:
    report = end_to_end(ROWS, policy(), QUESTIONS[0], epsilon=1, draws=DRAWS, neighbours=2)
    assert report.verdict is Verdict.CONSISTENT, str(report)
    assert report.claim == Pure(1)
    assert report.observed_epsilon > 0.3  # so that the audit is known to see something


def test_keys_that_are_not_public_cost_a_delta() -> None:
    report = end_to_end(ROWS, policy(budget=Budget(5, "1e-3", "5e-4")), BY_NOTE, epsilon=1, draws=500, neighbours=1)
    assert report.verdict is Verdict.CONSISTENT, str(report)
    assert isinstance(report.claim, Approximate)
    assert report.claim.delta > 0


def test_half_the_noise_proves_more_than_the_price(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = DiscreteLaplace.draw

    def less(law: DiscreteLaplace, count: int, stream: Stream) -> Integers:
        return draw(DiscreteLaplace(law.scale / 2), count, stream)

    monkeypatch.setattr(DiscreteLaplace, "draw", less)
    report = end_to_end(ROWS, policy(), QUESTIONS[0], epsilon=1, draws=DRAWS, neighbours=2)
    assert report.verdict is Verdict.VIOLATION, str(report)


@pytest.mark.parametrize("question", [REFUSED_ALWAYS, "SELECT 1 AS one"])
def test_what_is_not_answered_about_people_cannot_be_audited(question: str) -> None:
    with pytest.raises(DiscreetError, match="only an answer about protected rows"):
        end_to_end(ROWS, policy(), question, neighbours=1)


def test_a_price_must_be_positive() -> None:
    with pytest.raises(DiscreetError, match="epsilon"):
        end_to_end(ROWS, policy(), QUESTIONS[0], epsilon=0)
