"""The texts that many people hold, out of all texts there are: longer and longer prefixes of the frequent ones.

Every person picks a level at random and says one noisy bit about the prefix of that length: whether a random set of the
bits of the prefix has an odd number of ones. The server looks at the shortest prefixes first, keeps the most frequent,
and goes on with their extensions alone, so that it never lists all texts.

Promise. A report is a level and a set, both drawn without looking at the text, and the parity of that set, flipped with
probability 1/(1+e^ε): pure ε for every ε > 0 and all texts up to the given length. With the stated confidence, every
text that is found is held by somebody, and its share lies in its interval. Proof sheet: ``heavy_hitters.md``.

>>> HeavyHitters(2, length=12).terms.bytes_each
14
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, positive
from discreet.local.estimates import Estimates
from discreet.local.hadamard import walsh_hadamard
from discreet.local.mean import SumOfSigns
from discreet.local.randomizer import Estimator, Randomizer
from discreet.local.reports import Columns, Reports
from discreet.local.terms import ReportField, Terms, is_many
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import Debias, Honesty
from discreet.noise.bernoulli import coins
from discreet.noise.law import open_probability
from discreet.noise.source import Stream
from discreet.noise.uniform import UniformInteger

__all__ = ["Found", "HeavyHitters", "HeavyHittersEstimator"]


_WORD = 8
_LETTERS = 256
_LONGEST = 64
_TOGETHER = 1 << 16
_USUAL_KEPT = 64


@dataclass(frozen=True)
class Found:
    """A text that many hold."""

    text: str
    """The text; signs that are no letters stand for bytes that are no UTF-8."""
    share: float
    """Its estimated share."""
    low: float
    """Its share is at least this."""
    high: float
    """Its share is at most this. All intervals hold together with the confidence that was asked for."""


class HeavyHitters(Randomizer[list[Found]]):
    """A noisy parity of a random set of bits of a random prefix of a text."""

    kind = "heavy_hitters"

    def __init__(self, epsilon: Number, *, length: int) -> None:
        """Choose the price of a report and the longest text, in bytes of UTF-8."""
        self.epsilon = positive(epsilon, "epsilon")
        self.length = integer(length, "length", least=1, most=_LONGEST)
        self.honesty = Honesty.priced(self.epsilon)

    def __repr__(self) -> str:
        return f"HeavyHitters({self.loss!r}, texts of up to {self.length} bytes)"

    @classmethod
    def from_terms(cls, terms: Terms) -> HeavyHitters:
        """The randomizer that has these terms."""
        found = cls(terms.epsilon, length=integer(terms.parameter("length"), "length"))
        terms.check_same(found.terms)
        return found

    @cached_property
    def terms(self) -> Terms:
        """What device and server must agree on."""
        layout = (ReportField("level", "u1"), ReportField("bits", "u1", self.length), ReportField("odd", "u1"))
        return Terms(self.kind, self.epsilon, (), layout, (("length", self.length),))

    @property
    def prefixes(self) -> range:
        """The lengths of the prefixes in bytes, one for each level: 2, 3, …, length."""
        return range(min(2, self.length), self.length + 1)

    def _codes(self, values: Any) -> Integers:
        """Each text as whole words, filled up with zeros."""
        return _words(_pad(values if is_many(values) else [values], self.length), self.length)

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        parts = [
            self._some(codes[start : start + _TOGETHER], stream) for start in range(0, max(len(codes), 1), _TOGETHER)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _some(self, codes: Integers, stream: Stream) -> Columns:
        count = len(codes)
        levels = UniformInteger(len(self.prefixes)).draw(count, stream)
        sets = stream.words(codes.size).reshape(codes.shape).view(np.int64) & self._limits[levels]
        odd = _parity(sets, codes) ^ coins(count, self.honesty.lie, stream)
        bits = _bytes(sets)[:, : self.length]
        shaped = bits if self.length > 1 else bits[:, 0]
        return {"level": levels.astype(np.uint8), "bits": np.ascontiguousarray(shaped), "odd": odd.astype(np.uint8)}

    @cached_property
    def _limits(self) -> Integers:
        """For each level the words with ones where the prefix is."""
        return _words(
            b"".join(bytes([255] * prefix).ljust(self.length, b"\0") for prefix in self.prefixes), self.length
        )

    def law(self, value: Any) -> FiniteLaw:
        """Every level, set and parity with its probability, for texts of one byte."""
        if self.length > 1:
            raise InvalidValue(
                "the law is listed for texts of one byte", self.length, "it is the same for every prefix"
            )
        letter = int(self._codes([value]).view(np.uint8)[0, 0])
        truth, lie, _ = (rate / _LETTERS for rate in self.honesty.rates())
        outcomes = [(0, bits, odd) for bits in range(_LETTERS) for odd in (0, 1)]
        is_odd = [(bits & letter).bit_count() & 1 == odd for _, bits, odd in outcomes]
        return FiniteLaw(tuple(outcomes), tuple(truth if kept else lie for kept in is_odd))

    def _are_possible(self, columns: Columns) -> bool:
        levels = columns["level"].astype(np.int64)
        if int(levels.max(initial=0)) >= len(self.prefixes) or int(columns["odd"].max(initial=0)) > 1:
            return False
        sets = _words(np.ascontiguousarray(columns["bits"]).tobytes(), self.length)
        return not (sets & ~self._limits[levels]).any()

    @cached_property
    def rates(self) -> Debias:
        """How often a parity agrees with a text that its sender holds, and with any other: p and 1/2."""
        with working_precision():
            truth, _, gap = self.honesty.rates()
            return Debias(float(truth), 0.5, float(gap / 2))

    @cached_property
    def estimator(self) -> HeavyHittersEstimator:
        """What reads the reports."""
        return HeavyHittersEstimator(self)


class HeavyHittersEstimator(Estimator[list[Found]]):
    """Prefixes from short to long, the most frequent alone."""

    randomizer: HeavyHitters

    def _estimate(self, columns: Columns, n: int) -> list[Found]:
        return self._found(columns, _USUAL_KEPT, Fraction(19, 20))

    def find(self, reports: Reports, *, keep: int = _USUAL_KEPT, confidence: Number = 0.95) -> list[Found]:
        """The frequent texts, the most frequent first; ``keep`` prefixes are followed at each level.

        All intervals together cover the shares among those who reported about whole texts, with this confidence.
        """
        kept = integer(keep, "keep", least=1, most=2**16)
        sure = open_probability(confidence, "confidence")
        self.randomizer.check(reports)
        return self._found(reports.columns, kept, sure)

    def known(self, reports: Reports, texts: Sequence[str]) -> Estimates:
        """The shares of given texts, whether frequent or not, from the reports about whole texts."""
        self.randomizer.check(reports)
        sets, odd = self._at(reports.columns, len(self.randomizer.prefixes) - 1)
        codes = self.randomizer._codes(list(texts))
        agreeing = [int((_parity(sets, code) == odd).sum()) for code in codes]
        return Estimates(tuple(texts), np.asarray(agreeing, np.int64), len(odd), self.randomizer.rates)

    def _at(self, columns: Columns, level: int) -> tuple[Integers, npt.NDArray[np.bool_]]:
        """The sets and the parities that were reported at one level."""
        here = columns["level"] == level
        if not here.any():
            raise InvalidValue(
                "every level needs a report", f"<none about prefixes of level {level}>", "ask more people"
            )
        sets = _words(np.ascontiguousarray(columns["bits"][here]).tobytes(), self.randomizer.length)
        return sets, columns["odd"][here] == 1

    def _found(self, columns: Columns, keep: int, confidence: Fraction) -> list[Found]:
        kept = [b""]
        for level, prefix in enumerate(self.randomizer.prefixes):
            sets, odd = self._at(columns, level)
            considered, best = self._extended(sets, odd, kept, prefix, keep)
            kept = [candidate for _, candidate in best]
        return self._significant(best, len(odd), 1 - (1 - confidence) / considered)

    def _extended(
        self, sets: Integers, odd: npt.NDArray[np.bool_], kept: list[bytes], prefix: int, keep: int
    ) -> tuple[int, list[tuple[int, bytes]]]:
        """How many extensions of the kept prefixes there are, and the best with the number of parities that agree."""
        longer = prefix - len(kept[0])
        new = (_bytes(sets)[:, len(kept[0]) : prefix].astype(np.int64) << (8 * np.arange(longer))).sum(axis=1)
        considered, found = 0, []
        for start in kept:
            signs = 1 - 2 * (odd ^ _parity(sets, self._code(start)))
            sums = np.bincount(new, weights=signs, minlength=_LETTERS**longer).astype(np.int64)
            agreeing = (len(odd) + walsh_hadamard(sums)) // 2
            possible = _possible_endings(start, agreeing)
            considered += len(possible)
            best = np.argsort(-possible, kind="stable")[:keep].tolist()
            found += [(int(possible[ending]), start + ending.to_bytes(longer, "little")) for ending in best]
        return considered, sorted(found, key=lambda pair: -pair[0])[:keep]

    def _code(self, start: bytes) -> Integers:
        length = self.randomizer.length
        found: Integers = _words(start.ljust(length, b"\0"), length)[0]
        return found

    def _significant(self, listed: list[tuple[int, bytes]], n: int, confidence: Fraction) -> list[Found]:
        found = []
        for agreeing, text in listed:
            unit = SumOfSigns(agreeing, n, self.randomizer.rates)
            low, high = unit.interval(confidence)
            if low > 0:
                found.append(Found(text.rstrip(b"\0").decode("utf-8", "replace"), unit.value, low, high))
        return found


def _possible_endings(start: bytes, agreeing: Integers) -> Integers:
    """The agreement with what can follow a prefix: after the end of a text, nothing but zeros."""
    return agreeing[:1] if start.endswith(b"\0") else agreeing


def _pad(values: Any, length: int) -> bytes:
    """All texts one after the other, each filled up with zeros; anything else is refused and not shown."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    try:
        written = [text.encode() for text in listed]
    except (AttributeError, UnicodeEncodeError):
        raise InvalidType("each value must be a text", "<another thing>") from None
    if any(len(text) > length or 0 in text for text in written):
        rule = f"each text must have at most {length} bytes and no zero byte"
        raise InvalidValue(rule, "<another text>", "cut it, or allow longer texts before collecting")
    return b"".join(text.ljust(length, b"\0") for text in written)


def _words(padded: bytes, length: int) -> Integers:
    """Rows of ``length`` bytes as rows of 64-bit words; how a word orders its bytes makes no difference to parities."""
    rows = np.frombuffer(padded, np.uint8).reshape(-1, length)
    wide = np.zeros((len(rows), -(-length // _WORD) * _WORD), np.uint8)
    wide[:, :length] = rows
    return wide.view(np.int64)


def _bytes(words: Integers) -> npt.NDArray[np.uint8]:
    return words.view(np.uint8).reshape(len(words), _WORD * words.shape[1])


def _parity(sets: Integers, codes: Integers) -> npt.NDArray[np.bool_]:
    """Whether each set holds an odd number of the ones of a code."""
    both: Integers = np.bitwise_xor.reduce(sets & codes, axis=1)
    return np.asarray(np.bitwise_count(both.view(np.uint64)) & 1, np.bool_)
