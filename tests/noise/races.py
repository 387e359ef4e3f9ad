"""Races whose first two keys agree to the last bit of a word (R2), with the winner they must have.

Candidate 0 draws a word; candidate 1 gets the word at which its key would equal the other's, or one a few units off.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from discreet.noise.race import ExponentialChoice, GumbelChoice, _Race
from discreet.noise.source import ScriptedSource

TOP = 2**64 - 1
FIRST_WORDS = [2**63, 2**63 + 12345, 2**61, 2**50, 3 * 2**62, TOP - 2**45, TOP - 2**30, 2**30, 10**15]
GAPS = [Fraction(0), Fraction(1), Fraction(1, 3), Fraction(5)]


def _exponential(prefix: int, bits: int) -> Decimal:
    rest = (1 << bits) - prefix
    return -(Decimal(rest) / 2**bits).ln() if rest else Decimal("Infinity")


def _key(race: _Race, gap: Fraction, e: Decimal) -> Decimal:
    location = -Decimal(gap.numerator) / Decimal(gap.denominator)
    if isinstance(race, ExponentialChoice):
        return location + e
    return location - e.ln() if e.is_finite() else Decimal("-Infinity")


def _span(race: _Race, gap: Fraction, prefix: int, bits: int) -> tuple[Decimal, Decimal]:
    ends = [_key(race, gap, _exponential(p, bits)) for p in (prefix, prefix + 1)]
    return min(ends), max(ends)


def winner(race: _Race, gap: Fraction, words: list[int]) -> tuple[int, int]:
    """Who wins between gaps 0 and ``gap``, and how many words that takes; both runners read on together."""
    prefixes, bits, read = words[:2], 64, 2
    with localcontext(prec=150):
        while True:
            spans = [_span(race, g, p, bits) for g, p in zip((Fraction(0), gap), prefixes, strict=True)]
            for index in (0, 1):
                if spans[index][0] > spans[1 - index][1]:
                    return index, read
            prefixes = [p << 64 | words[read + place] for place, p in enumerate(prefixes)]
            bits, read = bits + 64, read + 2


def tie(race: _Race, gap: Fraction, word: int) -> int | None:
    """The word of candidate 1 at which both keys meet, if there is one."""
    with localcontext(prec=150):
        e = _exponential(word, 64)
        shift = Decimal(gap.numerator) / Decimal(gap.denominator)
        other = e + shift if isinstance(race, ExponentialChoice) else e * (-shift).exp()
        return int((1 - (-other).exp()) * 2**64)


def scripts(race: _Race, gap: Fraction) -> list[list[int]]:
    found = []
    for word in FIRST_WORDS:
        other = tie(race, gap, word)
        close = [other + shift for shift in (-2, -1, 0, 1, 2)] if other is not None else []
        found += [[word, w, a, b] for w in close if 0 < w < TOP for a, b in ((0, TOP), (TOP, 0), (5, 6), (6, 5))]
    return found


def wrong_winners(kind: type[GumbelChoice] | type[ExponentialChoice], gap: Fraction) -> list[list[int]]:
    """The scripts whose winner, or whose number of words read, is not the oracle's."""
    race, wrong = kind([0, -gap], factor=1), []
    for script in scripts(race, gap):
        words = [*script, 3**40, 5**27, 7**22, 11**18, 13**17, 17**15]
        expected, read = winner(race, gap, words)
        source = ScriptedSource(words)
        if race.draw(1, source).tolist() != [expected] or int(source.words(1)[0]) != words[read]:
            wrong.append(script)
    return wrong
