"""Drawing answers for both inputs, side by side in random order, so that what changes with time changes for both.

A function of one value is called for both inputs in turn, and a coin decides each time which comes first. What raises
has an outcome too: the exception. A batched function is called for both inputs in turn with the same size.

Answers come in chunks drawn at about the same time, each with its role in the audit: an array where they are all
numbers of one kind, else a list of canonical outcomes. There is a limit on the time, also where a call never returns.

A clock may stop an audit early, and when it does can depend on the answers: a mechanism may be slow for some of them.
Then the draws that were made in time are no fair sample. But the first n draws are one for every n that is fixed in
advance. So a list of lengths is fixed, the longest one that was reached is used, and the false-alarm rate is divided by
the number of lengths. Whatever stops the audit, some length raises a false alarm with at most the sum of the parts.

>>> lengths(100)
(16, 20, 25, 32, 40, 50, 63, 79, 99, 100)
>>> reached(lengths(100), 60)
50
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress
from types import FrameType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.audit.canonical import Raised, canonical
from discreet.audit.mechanism import Batched, Mechanism
from discreet.errors import DiscreetError, InvalidType, InvalidValue
from discreet.mechanisms.distribution import Many
from discreet.mechanisms.measurement import Measurement
from discreet.noise.experiment import Chance

__all__ = [
    "Chunk",
    "Deadline",
    "DrawRoles",
    "Drawn",
    "Piece",
    "Progress",
    "TimeUp",
    "as_objects",
    "batch_piece",
    "draw",
    "joined",
    "lengths",
    "piece",
    "reached",
]


Piece: TypeAlias = npt.NDArray[Any] | list[Any] | Many
"""One answer per entry, or per row of an array of two dimensions; `Many` where few outcomes are different."""

_NUMBERS: dict[type, type] = {
    int: np.int64,
    float: np.float64,
    bool: np.bool_,
    np.int64: np.int64,
    np.float64: np.float64,
    np.bool_: np.bool_,
}
_AS_THEY_ARE = (str, bytes, type(None))
_HASHED_AS_THEY_ARE = {bool, int, str, bytes, type(None)}


def batch_piece(answers: Any, size: int) -> Piece:
    """What a batched function returned, checked: as many answers as it was asked for."""
    if isinstance(answers, Many) and len(answers) == size:
        return _many(answers)
    if not _is_sequence(answers):
        rule = "a batched function must return a sequence of answers"
        raise InvalidType(rule, f"<a {type(answers).__name__}>", "without Batched, it is called once for each answer")
    if len(answers) != size:
        raise InvalidValue(f"a batched function must return as many answers as it is asked for, {size}", len(answers))
    if isinstance(answers, np.ndarray) and answers.ndim <= 2 and answers.dtype.kind in "biuf":
        return _plain(answers)
    return piece(answers.tolist() if isinstance(answers, np.ndarray) else list(answers))


def _is_sequence(answers: Any) -> bool:
    is_one = isinstance(answers, (str, bytes, Mapping)) or getattr(answers, "shape", None) == ()
    return not is_one and hasattr(answers, "__len__") and hasattr(answers, "__getitem__")


def _many(answers: Many) -> Piece:
    """Numbers as an array; other answers as canonical outcomes."""
    different = piece(list(answers.different))
    if isinstance(different, np.ndarray) and different.ndim == 1:
        return np.asarray(different[answers.places])
    return Many(as_objects(different), answers.places)


def piece(answers: list[Any]) -> Piece:
    """Answers as they came, in the form that is fastest to count."""
    types = set(map(type, answers))
    kind = types.pop() if len(types) == 1 else None
    if kind in _NUMBERS:
        return _numbers(answers, kind)
    if kind in _AS_THEY_ARE:
        return answers
    if kind in (tuple, list, np.ndarray):
        return _rows(answers)
    return [canonical(answer) for answer in answers]


def _numbers(answers: list[Any], kind: type) -> Piece:
    """Answers of one kind of number; the type is said, because NumPy takes some large integers for floats."""
    try:
        return np.asarray(answers, _NUMBERS[kind])
    except OverflowError:
        return [canonical(answer) for answer in answers]


def _plain(array: npt.NDArray[Any]) -> Piece:
    """Whole numbers as int64 and real ones as float64; integers that do not fit stay Python's own."""
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "iu" and (array.dtype != np.uint64 or not array.size or array.max() < 2**63):
        return array.astype(np.int64)
    return [canonical(answer) for answer in array.tolist()]


def _rows(answers: list[Any]) -> Piece:
    plain = [answer.tolist() if isinstance(answer, np.ndarray) else answer for answer in answers]
    is_even = all(isinstance(row, (tuple, list)) for row in plain) and len(set(map(len, plain))) == 1 and plain[0]
    kinds = set(map(type, chain.from_iterable(plain))) if is_even else set()
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        return _numbers(plain, kinds.pop())
    if set(map(type, plain)) <= {tuple, list} and set(map(type, chain.from_iterable(plain))) <= _HASHED_AS_THEY_ARE:
        return list(map(tuple, plain))
    return [canonical(answer) for answer in plain]


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The same pieces in one form: all arrays of one kind and width, all of few outcomes, or all lists."""
    arrays = [one for one in pieces if isinstance(one, np.ndarray)]
    forms = {(one.dtype.kind, one.shape[1:]) for one in arrays if len(one)}
    if len(arrays) == len(pieces) and len(forms) == 1:
        return [one for one in arrays if len(one)]
    if all(isinstance(one, Many) for one in pieces):
        return [one for one in pieces if len(one)]
    return [as_objects(one) for one in pieces if len(one)]


def as_objects(one: Piece) -> list[Any]:
    """A piece as a list of canonical outcomes."""
    if isinstance(one, np.ndarray):
        return [canonical(answer) for answer in one.tolist()]
    return list(one) if isinstance(one, Many) else one


_PATTERN = 4 * 1021


@dataclass(frozen=True)
class Chunk:
    """As many answers for the first input as for the second."""

    first: Piece
    """Answers for the first input, in the order they came."""
    second: Piece
    """Answers for the second input, in the order they came."""

    def __len__(self) -> int:
        return len(self.first)


class DrawRoles:
    """Which draws teach, which choose and which prove: a quarter, a quarter and a half, in a fixed random pattern.

    A pattern without a rhythm: a mechanism that does something at every other call must not do it to one role alone.
    """

    def __init__(self, chance: Chance) -> None:
        """Shuffle the pattern once."""
        self._pattern = chance.permutation(np.arange(_PATTERN) % 4)

    def of(self, count: int, before: int = 0) -> npt.NDArray[np.int64]:
        """The role of each of ``count`` draws after so many ``before``: 0 teaches, 1 chooses, 2 and 3 prove."""
        return np.resize(np.roll(self._pattern, -before), count)

    def split(self, pieces: Iterable[Piece]) -> tuple[list[Piece], list[Piece], list[Piece]]:
        """The parts of these pieces that teach, that choose and that prove."""
        teaching: list[Piece] = []
        choosing: list[Piece] = []
        proving: list[Piece] = []
        before = 0
        for one in pieces:
            role = self.of(len(one), before)
            before += len(one)
            for part, chosen in ((teaching, role == 0), (choosing, role == 1), (proving, role >= 2)):
                part.append(list(compress(one, chosen.tolist())) if isinstance(one, list) else one[chosen])
        return teaching, choosing, proving


_LONGEST = 366 * 24 * 60 * 60
_AGAIN = 0.1
"""Seconds from one interruption to the next."""


class TimeUp(BaseException):
    """The time is up, in the middle of a call. No Exception, so that an audited function does not catch it."""


class Deadline:
    """A point in time; without a number of seconds it never comes."""

    def __init__(self, seconds: float | None) -> None:
        """Start the clock."""
        given: Any = seconds
        if given is not None and not (isinstance(given, (int, float)) and 0 < given <= _LONGEST):
            raise InvalidValue("seconds must be a positive number, at most a year", given, "leave it out for no limit")
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._end is not None and time.monotonic() >= self._end

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Raise `TimeUp` inside the block at the deadline, where the host can do that: in the main thread, on Unix.

        It is raised again and again until the block ends, for a function that catches even this.
        """
        is_able = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if self._end is None or not is_able:
            yield
            return
        before = signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, max(self._end - time.monotonic(), 1e-3), _AGAIN)
        try:
            yield
        finally:
            _stop(before)


def _stop(before: Any) -> None:
    """End the alarms; one that comes in between must not leave them on."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        except TimeUp:
            continue
        return


def _raise(number: int, frame: FrameType | None) -> None:
    raise TimeUp


_FIRST = 16


def lengths(pairs: int) -> tuple[int, ...]:
    """Lengths at which an audit of ``pairs`` may stop, each a quarter more than the one before; the last is all."""
    found, length = [], _FIRST
    while length < pairs:
        found.append(length)
        length += -(-length // 4)
    return (*found, pairs)


def reached(stops: tuple[int, ...], pairs: int) -> int:
    """The longest of the lengths that ``pairs`` draws reach; 0 where they reach none."""
    return max((length for length in stops if length <= pairs), default=0)


Progress = Callable[[int, int], None]
"""Told how many draws are done, of how many."""

_PILOT = 16
_ENOUGH = 500
_CHUNKS = 32
_LONGEST_CHUNK = 0.5
_MOST_AT_ONCE = 2**20


@dataclass
class Drawn:
    """What was drawn, in the order of time."""

    chunks: list[Chunk] = field(default_factory=list)
    """Each holds as many answers for one input as for the other."""
    stopped: bool = False
    """Whether the time was up before all draws were made."""

    @property
    def pairs(self) -> int:
        """How many answers there are for each input."""
        return sum(map(len, self.chunks))

    def shortened(self, pairs: int) -> Drawn:
        """The first ``pairs`` answers for each input."""
        kept, left = [], pairs
        for chunk in self.chunks:
            if left > 0:
                kept.append(Chunk(chunk.first[:left], chunk.second[:left]))
                left -= len(chunk)
        return Drawn(kept, self.stopped)


def draw(
    mechanism: Mechanism,
    inputs: tuple[Any, Any],
    pairs: int,
    chance: Chance,
    deadline: Deadline,
    progress: Progress | None = None,
) -> Drawn:
    """``pairs`` answers for each input, or the longest of some `lengths` for which there is time."""
    found = Drawn()
    chunk = _way_to_draw(mechanism, deadline)
    try:
        with deadline.interrupting():
            for size in _sizes(pairs, deadline):
                found.chunks.append(chunk(mechanism, inputs, size, chance))
                if found.pairs - size < _ENOUGH <= found.pairs:
                    _refuse_what_only_raises(found)
                if progress is not None:
                    progress(2 * found.pairs, 2 * pairs)
    except TimeUp:
        pass
    found.stopped = found.pairs < pairs
    if found.pairs < _ENOUGH:
        _refuse_what_only_raises(found)
    found = found.shortened(reached(lengths(pairs), found.pairs))
    if not found.pairs:
        rule = "the mechanism must answer in time"
        raise InvalidValue(
            rule, f"<none of the first {2 * _PILOT} answers in {deadline.seconds} s>", "allow more seconds"
        )
    return found


def _way_to_draw(mechanism: Mechanism, deadline: Deadline) -> Callable[[Any, tuple[Any, Any], int, Chance], Chunk]:
    if isinstance(mechanism, Measurement):
        return _measurement_chunk
    return _batched_chunk if isinstance(mechanism, Batched) else partial(_function_chunk, deadline)


def _sizes(pairs: int, deadline: Deadline) -> Iterator[int]:
    """Sizes of chunks: a small one first, then so many as keep each short."""
    done, rate = 0, float(_PILOT)
    while done < pairs and not deadline.is_over:
        most = min(-(-pairs // _CHUNKS), _MOST_AT_ONCE, max(int(rate * _LONGEST_CHUNK), 1))
        size = min(most if done else _PILOT, pairs - done)
        start = time.perf_counter()
        yield size
        rate = size / max(time.perf_counter() - start, 1e-9)
        done += size


def _function_chunk(deadline: Deadline, function: Any, inputs: tuple[Any, Any], size: int, chance: Chance) -> Chunk:
    answers: tuple[list[Any], list[Any]] = ([], [])
    for second_first in (chance.integers(0, 2, size) == 1).tolist():
        for side in (1, 0) if second_first else (0, 1):
            answers[side].append(_answer(function, inputs[side]))
        if deadline.is_over:  # also where a function catches whatever interrupts it
            raise TimeUp
    return Chunk(piece(answers[0]), piece(answers[1]))


def _answer(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        return function(value)
    except (Exception, SystemExit) as error:
        return Raised.of(error)


def _batched_chunk(function: Any, inputs: tuple[Any, Any], size: int, chance: Chance) -> Chunk:
    answers: dict[int, Any] = {}
    for side in (1, 0) if chance.integers(0, 2) else (0, 1):
        try:
            answers[side] = function(inputs[side], size)
        except DiscreetError:
            raise
        except Exception as error:
            rule = "a batched function must not raise"
            remedy = "pass a function of one value instead: then an exception is an outcome like any other"
            raise InvalidValue(rule, f"<{Raised.of(error)!r}>", remedy) from None
    return Chunk(batch_piece(answers[0], size), batch_piece(answers[1], size))


def _measurement_chunk(measurement: Any, inputs: tuple[Any, Any], size: int, chance: Chance) -> Chunk:
    return _batched_chunk(measurement.releases, inputs, size, chance)


def _refuse_what_only_raises(found: Drawn) -> None:
    """One exception whatever the input is a mistake of the caller; several are outcomes."""
    sides = (side for chunk in found.chunks for side in (chunk.first, chunk.second))
    # Exceptions make lists, so an array or a list of few outcomes has an answer in it.
    answers = {answer if isinstance(side, list) else None for side in sides for answer in side[:_ENOUGH]}
    if len(answers) == 1 and isinstance(only := answers.pop(), Raised):
        raise InvalidValue("the mechanism must answer, and every call raised", f"<{only!r}>", "try one call by hand")
