from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings

from discreet.noise import host

# A busy machine makes any example slow once in a while; the suites that time something do it on purpose.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of a contract that asks for ``law`` once per law that the class lists."""
    if "law" in metafunc.fixturenames and metafunc.cls is not None:
        laws = metafunc.cls.laws
        metafunc.parametrize("law", laws.values(), ids=laws.keys())


@pytest.fixture
def balls_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host whose logarithm nobody trusts: every draw is decided on integers."""
    monkeypatch.setattr(host, "trusted", lambda: False)


@pytest.fixture
def force_balls(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to stop trusting the host's logarithm from here on."""
    return lambda: monkeypatch.setattr(host, "trusted", lambda: False)
