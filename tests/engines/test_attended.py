"""Work that somebody waits for: Ctrl-C ends it wherever it arrives, and time has an end."""

from __future__ import annotations

import threading

import pytest

from discreet.engines.interrupt import run_attended


class Statement:
    """Runs until it is interrupted, as a statement of a database does."""

    def __init__(self) -> None:
        self.begun, self.over = threading.Event(), threading.Event()
        self.interrupts = 0

    def run(self) -> None:
        self.begun.set()
        assert self.over.wait(60)
        raise RuntimeError("interrupted")

    def interrupt(self) -> None:
        self.interrupts += 1
        self.over.set()


@pytest.mark.parametrize("waits", [True, False])
def test_ctrl_c_while_a_thread_is_started_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch, waits: bool) -> None:
    """Else the connection would be closed under a statement that runs, which comes out as an error of the database."""
    statement, started = Statement(), threading.Thread.start
    threads: list[threading.Thread] = []

    def start(thread: threading.Thread) -> None:
        threads.append(thread)
        if waits:
            started(thread)
            assert statement.begun.wait(60)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        with pytest.raises(KeyboardInterrupt):
            run_attended(statement.run, statement.interrupt)
    assert statement.over.is_set() == waits
    if not waits:  # the system may start it later
        started(threads[0])
        threads[0].join(60)
        assert not statement.begun.is_set()


def test_what_takes_too_long_is_interrupted_and_says_what_it_says() -> None:
    statement = Statement()
    with pytest.raises(RuntimeError, match="interrupted"):
        run_attended(statement.run, statement.interrupt, timeout=0.05)
    assert statement.interrupts


def test_ctrl_c_while_somebody_waits_ends_the_work() -> None:
    statement = Statement()

    def tick() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_attended(statement.run, statement.interrupt, tick=tick)
    assert statement.over.is_set()
