"""Local hashing: the answer is hashed to a few buckets by a function of the device's own, and the bucket is lied about.

Promise. A report is a random hash function, drawn independently of the answer, and a bucket: that of the answer with
probability e^ε/(e^ε + g - 1), each other bucket with probability 1/(e^ε + g - 1). Pure ε for every ε > 0, every list
of k ≥ 2 categories and every number g ≥ 2 of buckets. With g near e^ε + 1 (optimal local hashing) the variance for a
rare category is that of optimal unary encoding, from reports of nine bytes. Proof sheet: ``local_hashing.md``.

>>> LocalHashing(1, range(100)).buckets
4
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from functools import cached_property

import flint
import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball, ball, floor_of
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer
from discreet.local.frequency import FrequencyOracle
from discreet.local.reports import Columns
from discreet.local.terms import ReportField, Terms, smallest_unsigned
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import Honesty
from discreet.noise.bernoulli import coins
from discreet.noise.source import Stream
from discreet.noise.uniform import UniformInteger

__all__ = ["LocalHashing"]


_PRIME = 2**31 - 1
_MOST_BUCKETS = 2**16
_MOST_LISTED = 2**17
_TOGETHER = 1 << 14  # people at a time, so that their numbers stay in the cache

Residues = npt.NDArray[np.uint32]


class LocalHashing(FrequencyOracle):
    """h(x) = (factor·x + shift) mod P for the position x of the answer; bucket ⌊h·g/P⌋, the true one or another."""

    kind = "olh"

    def __init__(
        self,
        epsilon: Number,
        categories: Iterable[Hashable],
        *,
        buckets: int | None = None,
        prime: int = _PRIME,
    ) -> None:
        """Choose the price and name the categories; ``buckets`` is e^ε + 1, rounded, unless it is given."""
        super().__init__(epsilon, categories)
        self.prime = _prime(prime, len(self.categories))
        wanted = self._best_buckets() if buckets is None else buckets
        self.buckets = integer(wanted, "buckets", least=2, most=min(_MOST_BUCKETS, self.prime))
        self.honesty = Honesty.priced(self.epsilon, self.buckets)

    def _best_buckets(self) -> int:
        if self.epsilon > 11:  # e^11 + 1 is nearly 2^16
            return _MOST_BUCKETS
        return floor_of(lambda: ball(self.epsilon).exp() + ball(Fraction(3, 2)))

    @classmethod
    def _from_terms(cls, terms: Terms, categories: Iterable[Hashable]) -> LocalHashing:
        buckets, prime = (integer(terms.parameter(name), name) for name in ("buckets", "prime"))
        return cls(terms.epsilon, categories, buckets=buckets, prime=prime)

    @property
    def _layout(self) -> tuple[ReportField, ...]:
        return (
            ReportField("factor", "u4"),
            ReportField("shift", "u4"),
            ReportField("bucket", smallest_unsigned(self.buckets)),
        )

    @property
    def _parameters(self) -> dict[str, str | int]:
        return {"buckets": self.buckets, "prime": self.prime}

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """p, q = p·c + (1-p)(1-c)/(g-1), and (1-c)(p - 1/(e^ε+g-1)), where c is the chance of a collision."""
        truth, other, gap = self.honesty.rates()
        collision = ball(self.collision)
        return truth, other + collision * gap, (1 - collision) * gap

    @cached_property
    def collision(self) -> Fraction:
        """The probability that two given categories fall into one bucket: Σ s(s-1)/(P(P-1)) over the bucket sizes s."""
        size, larger = divmod(self.prime, self.buckets)
        ways = larger * (size + 1) * size + (self.buckets - larger) * size * (size - 1)
        return Fraction(ways, self.prime * (self.prime - 1))

    @cached_property
    def _starts(self) -> npt.NDArray[np.uint32]:
        """The first residue of each bucket, and P."""
        return np.asarray([-(-j * self.prime // self.buckets) for j in range(self.buckets + 1)], np.uint32)

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        columns = {field.name: np.empty(len(codes), field.dtype) for field in self._layout}
        for start in range(0, len(codes), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            for column, found in zip(columns.values(), self._hashed(codes[part], stream), strict=True):
                column[part] = found
        return columns

    def _hashed(self, codes: Integers, stream: Stream) -> tuple[Integers, Integers, Integers]:
        count = len(codes)
        factor = 1 + UniformInteger(self.prime - 1).draw(count, stream)
        shift = UniformInteger(self.prime).draw(count, stream)
        hashed = (factor * codes + shift) % self.prime
        bucket = hashed * self.buckets // self.prime
        lies = coins(count, self.honesty.lie, stream)
        # The other bucket is drawn for everybody, so that the time tells nothing about who lied.
        others = UniformInteger(self.buckets - 1).draw(count, stream)
        others += others >= bucket
        return factor, shift, np.where(lies, others, bucket)

    def law(self, value: Hashable) -> FiniteLaw:
        """Every function and bucket with its probability, for a small prime."""
        code, prime, buckets = self._code(value), self.prime, self.buckets
        reports = (prime - 1) * prime * buckets
        if reports > _MOST_LISTED:
            rule, remedy = f"the law is listed for at most {_MOST_LISTED} reports", "take a small prime"
            raise InvalidValue(rule, reports, remedy)
        functions = [(factor, shift) for factor in range(1, prime) for shift in range(prime)]
        truth, other, _ = (rate / len(functions) for rate in self.honesty.rates())
        masses = {
            (factor, shift, bucket): truth if (factor * code + shift) % prime * buckets // prime == bucket else other
            for factor, shift in functions
            for bucket in range(buckets)
        }
        return FiniteLaw(tuple(masses), tuple(masses.values()))

    def supports(self, columns: Columns) -> Integers:
        """How many reports name the bucket that each category has under their function."""
        counts = np.zeros(len(self.categories), np.int64)
        for start in range(0, len(columns["factor"]), _TOGETHER):
            counts += self._part_supports(*(columns[one.name][start : start + _TOGETHER] for one in self._layout))
        return counts

    def _part_supports(self, factor: Residues, shift: Residues, bucket: npt.NDArray[np.unsignedinteger]) -> Integers:
        """Along x = 0, 1, … the hash is an arithmetic progression mod P, so each step is one addition.

        It starts at the shift less the first residue of the bucket: x is then supported where it lies below the size
        of the bucket. Numbers below P wrap around 2^32 to something large when P is taken away, hence the minimum.
        """
        prime, starts = np.uint32(self.prime), self._starts
        first = starts[bucket]
        size = starts[bucket.astype(np.int64) + 1] - first
        at, wrapped, inside = shift + (prime - first), np.empty_like(shift), np.empty(len(shift), np.bool_)
        counts = np.empty(len(self.categories), np.int64)
        for place in range(len(counts)):
            np.subtract(at, prime, out=wrapped)
            np.minimum(at, wrapped, out=at)
            np.less(at, size, out=inside)
            counts[place] = np.count_nonzero(inside)
            at += factor
        return counts

    def _are_possible(self, columns: Columns) -> bool:
        factor, shift, bucket = (columns[one.name] for one in self._layout)
        if not len(factor):
            return True
        is_function = 1 <= int(factor.min()) <= int(factor.max()) < self.prime and int(shift.max()) < self.prime
        return is_function and int(bucket.max()) < self.buckets


def _prime(value: int, categories: int) -> int:
    number = integer(value, "prime", least=2, most=_PRIME)
    if not flint.fmpz(number).is_prime():
        raise InvalidValue("prime must be a prime number", value, "2147483647 unless the law is to be listed")
    if number < categories:
        raise InvalidValue("prime must be at least the number of categories", value)
    return number
