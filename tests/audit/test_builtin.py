"""Every built-in mechanism keeps its claim, exactly and in draws, and its draws follow its law."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from discreet.audit import Case, audit_case, builtin_case, builtin_mechanisms, survey
from discreet.audit.builtin import NAMES
from discreet.audit.canonical import canonical, key_of
from discreet.audit.draws import batch_piece
from discreet.audit.outcomes import tally
from discreet.exact.ball import working_precision
from discreet.exact.binomial import lower_bounds, upper_bounds
from discreet.privacy.loss import Approximate, Pure

DRAWS = 20_000


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_keeps_its_claim(name):
    """False alarms: 1e-6 for each."""
    report = audit_case(builtin_case(name), draws=40_000)
    assert report.verdict == "consistent"
    assert report.exact is not None or name == "laplace-vector"


@pytest.mark.parametrize("name", NAMES)
def test_many_releases_at_once_follow_the_law_of_one(name):
    """Each outcome's share lies within its bounds, all together but with probability 1e-6."""
    case = builtin_case(name)
    for value in (case.first, case.second):
        law = case.mechanism.distribution(value)
        listed = law.likely() if case.outcomes is None and name != "laplace-vector" else case.outcomes
        if listed is None:
            listed = [(k, 0, 0) for k in range(-3, 4)]
        found = tally([[batch_piece(case.mechanism.releases(value, DRAWS), DRAWS)]])
        seen = {key_of(canonical(found.outcomes[k])): int(count) for k, count in enumerate(found.counts[0])}
        hits = np.array([seen.get(key_of(canonical(outcome)), 0) for outcome in listed])
        with working_precision():
            masses = np.array([float(law.mass(outcome)) for outcome in listed])
        alpha = 1e-6 / (4 * len(listed))
        assert (lower_bounds(hits, DRAWS, alpha) <= masses + 1e-12).all()
        assert (upper_bounds(hits, DRAWS, alpha) >= masses - 1e-12).all()
        assert hits.sum() > 0


def test_a_claim_that_is_too_low_is_found_out_for_every_mechanism():
    """Planted: each mechanism is said to cost a tenth less than it does on these very inputs."""
    for case in builtin_mechanisms():
        true = audit_case(case, draws=200).exact
        if true is None:
            continue
        low = Pure(math.floor(true.epsilon * 900) / 1000) if isinstance(case.claim, Pure) else None
        if isinstance(case.claim, Approximate) and true.delta > 1e-6:
            low = Approximate(case.claim.epsilon, math.floor(true.delta * 9e8) / 1e9)
        if low is not None:
            said = Case(case.name, case.mechanism, case.first, case.second, low, outcomes=case.outcomes)
            assert audit_case(said, draws=200).violated, case.name


def test_a_survey_is_one_table():
    told = []
    found = survey(builtin_mechanisms()[:3], "Three", draws=2000, announce=lambda *said: told.append(said))
    assert told == [("laplace", 0, 3), ("laplace-vector", 1, 3), ("laplace-grid", 2, 3)]
    assert found.is_as_expected
    assert "3 of 3 mechanisms show nothing against their claim." in str(found)
    assert [one["name"] for one in json.loads(found.to_json())["audits"]] == [
        "laplace",
        "laplace-vector",
        "laplace-grid",
    ]
    assert "<table" in found.to_html()
