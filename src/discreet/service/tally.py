"""What visitors do without being let: the first of it stands in the audit trail at once, the rest as counts.

Whoever fails to sign in a million times, or asks a million questions that are refused, writes a few events and a
number. Where the trail cannot be written, nobody is let in or kept out because of it: what changes something writes its
event in its own transaction, and is not counted here.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from discreet.errors import DiscreetError
from discreet.service.logs import log_event
from discreet.service.trail import Trail

__all__ = ["Tally"]

_WINDOW = 600.0
"""Seconds after which what was only counted is written."""
_FEW_BY_ANYBODY, _FEW_BY_A_MEMBER = 5, 20
"""Events of a kind in that time that are written one by one: of all who are not signed in together, and of a member."""
_MOST_NAMES = 20
"""Addresses or rules that are counted by name; the others are counted together."""
_DAY = 86_400.0
_MOST_TOKENS = 10_000

Key = tuple[str, str | None]
"""What happened, and by whom."""


@dataclass
class _Window:
    """What was seen of one kind since some moment."""

    since: float
    written: int = 0
    counted: Counter[str] = field(default_factory=Counter)

    def add(self, detail: str) -> None:
        name = detail if detail in self.counted or len(self.counted) < _MOST_NAMES else "others"
        self.counted[name] += 1


class Tally:
    """Counts for one process."""

    def __init__(self, trail: Trail, clock: Callable[[], float] = time.monotonic) -> None:
        """Into ``trail``; ``clock`` tells seconds that never run backwards."""
        self._trail = trail
        self._clock = clock
        self._windows: dict[Key, _Window] = {}
        self._tokens: dict[str, float] = {}
        self._lock = Lock()

    def count(self, kind: str, by: str | None, detail: str, **facts: Any) -> None:
        """Write an event, or count it where there were many; ``detail`` is by what they are told apart, such as a rule.

        Whoever ``by`` is must be a member, or None: their number is the owner's.
        """
        with self._lock:
            window = self._windows.setdefault((kind, by), _Window(self._clock()))
            is_few = window.written < (_FEW_BY_ANYBODY if by is None else _FEW_BY_A_MEMBER)
            if is_few:
                window.written += 1
            else:
                window.add(detail)
        if is_few:
            self.write(kind, by, detail=detail, **facts)
        self.flush()

    def flush(self, *, everything: bool = False) -> None:
        """Write what was counted in windows that are over, or in all."""
        now = self._clock()
        with self._lock:
            over = [key for key, one in self._windows.items() if everything or now - one.since >= _WINDOW]
            ended = [(key, self._windows.pop(key)) for key in over]
        for (kind, by), window in ended:
            if window.counted:
                seconds = round(now - window.since)
                self.write(kind, by, count=window.counted.total(), details=dict(window.counted), seconds=seconds)

    def is_new(self, token: str) -> bool:
        """Whether a token was not used here for a day."""
        now = self._clock()
        with self._lock:
            if now - self._tokens.get(token, -_DAY) < _DAY:
                return False
            if len(self._tokens) >= _MOST_TOKENS:
                self._tokens.clear()
            self._tokens[token] = now
            return True

    def write(self, kind: str, by: str | None, **facts: Any) -> None:
        """Write an event; where that fails, the log says so."""
        try:
            self._trail.write(kind, by, **facts)
        except DiscreetError as fault:
            log_event("an event could not be written", logging.ERROR, error=type(fault).__name__)
