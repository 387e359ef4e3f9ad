"""Whoever starts the tests, and however: no result depends on it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

IGNORED = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
"""As in the background of a shell without job control, and worse."""

STATE = """
import signal
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())))
"""


def test_signals_arrive_here_and_in_what_is_started_from_here() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
    done = subprocess.run([sys.executable, "-c", STATE], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True", "[]"]
    assert threading.current_thread() is threading.main_thread()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_signals_arrive_where_they_were_ignored_before() -> None:
    """Here, and in the processes of xdist."""
    one = f"{__file__}::{test_signals_arrive_here_and_in_what_is_started_from_here.__name__}"
    for more in ([], ["-n", "1"]):
        words = [sys.executable, "-c", IGNORED, "-q", "-p", "no:cacheprovider", *more, one]
        done = subprocess.run(words, check=False, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]


def test_a_test_that_waits_for_ever_ends_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import threading\ndef test_waiting():\n    threading.Event().wait()\n")
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    words = [sys.executable, "-m", "pytest", *settings, "--timeout", "2", str(tmp_path / "test_it.py")]
    done = subprocess.run(words, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "test_waiting" in done.stdout + done.stderr
    assert "Timeout" in done.stdout + done.stderr


def test_every_test_has_a_time_limit(pytestconfig: pytest.Config) -> None:
    assert float(str(pytestconfig.getini("timeout"))) > 0
    assert pytestconfig.getini("timeout_method") == "thread"
