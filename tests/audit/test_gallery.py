"""The gallery: every broken mechanism is found guilty, and every honest version passes.

False alarms: an audit of an honest version fails at most once in 10^8 runs, by the promise of `audit`. Missed bugs:
each exhibit's proof lies at least six of its own standard deviations above the claim, so a miss is rarer than 1e-6.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from discreet.audit.audit import audit, audit_case
from discreet.audit.gallery import BROKEN, Exhibit
from discreet.audit.gallery.exhibit import naive
from discreet.audit.gallery.learning import LogisticRegression
from discreet.audit.gallery.noise import whole_laplace
from discreet.audit.mechanism import Verdict
from discreet.noise.experiment import experiment
from discreet.noise.laplace import DiscreteLaplace

HONEST = [exhibit for exhibit in BROKEN if exhibit.honest is not None]
WANTED = {
    "numpy-laplace",
    "diffprivlib-laplace-inverse",
    "diffprivlib-laplace-four",
    "diffprivlib-logistic-regression",
    "r-diffpriv-exponential",
    "sparse-vector-roth",
    "sparse-vector-lee-clifton",
    "sparse-vector-stoddard",
    "sparse-vector-chen",
    "name-and-shame",
    "random-row",
    "additive-secrecy",
}


@pytest.mark.parametrize("exhibit", BROKEN, ids=lambda exhibit: exhibit.name)
@pytest.mark.some(8)
def test_a_broken_mechanism_is_found_guilty(exhibit: Exhibit) -> None:
    report = audit_case(exhibit.case)
    assert report.verdict is Verdict.VIOLATION, str(report)
    assert report.false_alarm <= 1e-6


@pytest.mark.parametrize("exhibit", HONEST, ids=lambda exhibit: exhibit.name)
@pytest.mark.some(5)
def test_its_honest_twin_passes(exhibit: Exhibit) -> None:
    """False alarm: 1e-8."""
    case = exhibit.honest_case
    assert case is not None
    report = audit_case(case, false_alarm=1e-8)
    assert report.verdict is Verdict.CONSISTENT, str(report)


def test_every_exhibit_has_its_label() -> None:
    names = [exhibit.name for exhibit in BROKEN]
    assert len(names) == len(set(names))
    assert set(names) >= WANTED
    for exhibit in BROKEN:
        assert exhibit.wrong.endswith(".")
        assert exhibit.source
        assert not exhibit.case.keeps_its_claim
        assert exhibit.honest is None or exhibit.honest.words


def test_the_page_about_the_gallery_lists_every_exhibit() -> None:
    page = (Path(__file__).parents[2] / "docs/explanation/what-the-auditor-catches.md").read_text(encoding="utf-8")
    table, _, _ = page.partition("<!-- the table ends here -->")
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == [exhibit.name for exhibit in BROKEN]


def test_the_textbook_noise_has_its_law() -> None:
    """The chance is seeded, so that this gives no false alarm at all."""
    drawn = whole_laplace(experiment(3), 2, 200_000)
    law = DiscreteLaplace(2)
    for value in range(-4, 5):
        assert np.mean(drawn == value) == pytest.approx(float(law.mass(value)), abs=5 * math.sqrt(0.25 / 200_000))


def test_a_regression_is_minimised_where_its_slope_is_zero() -> None:
    model = LogisticRegression(1.0, 2.0, power=2)
    found = model.answers([(1.0, 1.0), (2.0, -1.0), (9.0, 1.0)], 50, experiment(1))
    again = experiment(1).laplace(0, 2 * 2.0 / (1 / 2), 50)
    regularisation = 0.25 * 4 / math.expm1(0.25)
    slope = regularisation * found + again
    for signed in (1.0, -2.0, 2.0):
        slope -= signed / (1 + np.exp(signed * found))
    assert np.abs(slope).max() < 1e-9


def test_rows_within_norm_one_are_safe_with_either_constant() -> None:
    """For a norm of 1 the two powers agree, so the bug is in the norm alone. False alarm: 1e-8."""
    model = LogisticRegression(1.0, 1.0, power=1)
    report = audit(naive(model.answers), ((0.0, 1.0),), ((1.0, 1.0),), 1, draws=100_000, false_alarm=1e-8)
    assert report.verdict is Verdict.CONSISTENT
