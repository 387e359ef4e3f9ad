from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from discreet.noise import host
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.source import ReplayableSource


@pytest.fixture
def fresh_check() -> Iterator[None]:
    host.trusted.cache_clear()
    yield
    host.trusted.cache_clear()


def broken(function: np.ufunc, error: float) -> Callable[..., Any]:
    """The function with a relative error."""

    def wrong(x: Any, out: Any = None, where: Any = True) -> Any:
        return np.multiply(function(x, out=out, where=where), 1 + error, out=out)

    return wrong


@pytest.mark.usefixtures("fresh_check")
def test_this_host_is_trusted():
    assert host.trusted()


@pytest.mark.usefixtures("fresh_check")
@pytest.mark.parametrize("name", ["log", "log1p"])
@pytest.mark.parametrize("error", [1e-6, -1e-6, 1e-14, float("nan")])
def test_a_wrong_logarithm_is_noticed(name: str, error: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(np, name, broken(getattr(np, name), error))
    assert not host.trusted()


@pytest.mark.usefixtures("fresh_check")
def test_a_logarithm_wrong_at_one_power_of_two_is_noticed(monkeypatch: pytest.MonkeyPatch):
    log = np.log
    monkeypatch.setattr(np, "log", lambda x: np.where(x == 2.0**40, 27.0, log(x)))
    assert not host.trusted()


@pytest.mark.usefixtures("fresh_check")
def test_draws_stay_exact_on_a_host_with_a_wrong_logarithm(monkeypatch: pytest.MonkeyPatch):
    law = DiscreteLaplace(1000)
    expected = law.sample(300, ReplayableSource("host")).tolist()
    host.trusted.cache_clear()
    monkeypatch.setattr(np, "log", broken(np.log, 1e-6))
    assert law.sample(300, ReplayableSource("host")).tolist() == expected


def test_logarithms_stay_within_the_bound_on_random_words():
    """Deterministic words: red means the host, or NumPy's dispatch on it, breaks the assumption of the fast path."""
    words = ReplayableSource("host points").open().words(3000) >> np.uint64(1)
    assert host.worst_log_error(words.astype(np.float64)) <= host.ULPS / 2
    shares = np.ldexp(words.astype(np.float64), -64)
    assert host.worst_log1p_error(-shares) <= host.ULPS / 2
    assert host.worst_log_error(shares) <= host.ULPS / 2


def test_errors_are_measured_in_units_in_the_last_place(monkeypatch: pytest.MonkeyPatch):
    log = np.log
    monkeypatch.setattr(np, "log", lambda x: log(x) + 3 * np.spacing(log(x)))
    assert 2 <= host.worst_log_error(np.array([3.0, 10.0, 1e10])) <= 4
