"""Work: how long one row can keep an engine busy, known before any row is read.

Work on texts is counted in units of about five nanoseconds for each letter: one for a function that looks at every
letter of a text once, times the pieces that the text is joined from. A pattern is tried at every letter, so LIKE counts
its length, and a regular expression the states of its automaton, all of which can be busy at once. A text that a
question brings along counts by its length. What the expressions of a statement count together has a limit, which is
lower where joins make many rows of one.

So has what is written twice: a template may name an argument twice, and functions within functions would double at
every level, for the planner and for the engine.

>>> pattern_states("^[0-9]{4}-a+$")
45
>>> pattern_states("((ab){30}){30}") > 1800
True
"""

from __future__ import annotations

import re

from discreet.errors import QueryRefused

__all__ = ["LETTERS_IN_A_PIECE", "Work", "pattern_states"]


LETTERS_IN_A_PIECE = 1000
"""A text of the question counts as one text of a table for every so many letters."""
_MOST_WORK = 50_000
"""What one letter of a text can cause: a quarter of a millisecond."""
_MOST_IN_ROWS = 500_000
"""The same in all rows that joins make of one person's."""
_ALWAYS = 100
"""What may be done to every row, however many a person becomes."""
_MOST_REPEATED = 100_000
"""Letters that are written more than once."""
_REPEATED = re.compile(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]?", re.DOTALL)
_ESCAPED = re.compile(r"\\(?:[pP](?:\{[^}]*\}?|.)|x(?:\{[^}]*\}?|..)|.)", re.DOTALL)
_ANY, _LISTED, _NAMED = 8, 10, 400
"""The states of any letter, of a class, and of a class of Unicode: a letter has up to four bytes."""


class Work:
    """What the expressions of one statement count so far, where joins make at most so many ``rows`` of a person's."""

    def __init__(self, rows: int = 1) -> None:
        self._most = min(_MOST_WORK, max(_MOST_IN_ROWS // max(rows, 1), _ALWAYS))
        self._work = 0
        self._repeated = 0

    def add(self, work: int, repeated: int) -> None:
        """One more part of an expression, for which so many letters are written again; refused beyond the limits."""
        self._work += work
        self._repeated += repeated
        if self._work > self._most:
            rule = "one row may not be searched for so much at once"
            remedy = "use shorter patterns and repeat less in them, join fewer texts, or ask several questions"
            raise QueryRefused(rule, "", remedy, line=1, column=1)
        if self._repeated > _MOST_REPEATED:
            rule = "the question is too large when it is written out"
            remedy = "put fewer functions into each other, or ask in several questions"
            raise QueryRefused(rule, "", remedy, line=1, column=1)


def pattern_states(pattern: str) -> int:
    """At least about as many states as RE2's automaton of a regular expression has: counted repetitions are copies."""
    groups, last, place = [0], 0, 0  # per open group the states before its last part, and those of that part
    opened: list[int] = []
    while place < len(pattern):
        letter, repeated = pattern[place], _REPEATED.match(pattern, place)
        if repeated is not None:
            last *= max(int(repeated[1]), int(repeated[2] or 0), 1)
            place = repeated.end()
            continue
        if letter == ")" and opened:
            last += groups.pop() + 1
            opened.pop()
        elif letter == "(":
            groups[-1] += last
            groups.append(0)
            opened.append(place)
            last = 1
        else:
            groups[-1] += last
            last, place = _atom(pattern, place)
            continue
        place += 1
    return sum(groups) + last


def _atom(pattern: str, place: int) -> tuple[int, int]:
    """The states of one letter, class or sign, and where the next part begins."""
    listed, escaped = _CLASS.match(pattern, place), _ESCAPED.match(pattern, place)
    if listed is not None:
        is_named = "\\p" in listed[0].lower() or "[:" in listed[0]
        return (_NAMED if is_named else _LISTED), listed.end()
    if escaped is not None:
        return (_NAMED if escaped[0][1] in "pP" else _LISTED), escaped.end()
    return (_ANY if pattern[place] == "." else 1), place + 1
