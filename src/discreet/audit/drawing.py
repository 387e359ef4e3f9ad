"""Drawing answers for both inputs, side by side in random order, so that what changes with time changes for both.

A function of one value is called for both inputs in turn, and a coin decides each time which comes first. What raises
has an outcome too: the exception. A batched function is called for both inputs in turn with the same size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from discreet.audit.canonical import Raised
from discreet.audit.chunk import Chunk
from discreet.audit.mechanism import Batched, Mechanism
from discreet.audit.pieces import batch_piece, piece
from discreet.audit.stopping import lengths, reached
from discreet.audit.time_limit import Deadline, TimeUp
from discreet.errors import DiscreetError, InvalidValue
from discreet.mechanisms.measurement import Measurement
from discreet.noise.experiment import Chance

__all__ = ["Drawn", "Progress", "draw"]

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
