"""Every check of the contract turns red where its bug is planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.exact.ball import Ball, ball
from discreet.exact.grid import Integers
from discreet.local.hadamard import HadamardResponse
from discreet.local.local_hashing import LocalHashing
from discreet.local.randomized_response import GeneralizedResponse
from discreet.local.reports import Columns
from discreet.local.subset_selection import SubsetSelection
from discreet.local.unary import OptimalUnary, SymmetricUnary
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import Debias, Honesty
from discreet.noise.source import Stream
from tests.local.contract import OracleContract

ABC = ("a", "b", "c")
SMALL = {"buckets": 2, "prime": 5}


def contract(made: Any) -> OracleContract:
    class Planted(OracleContract):
        trials = 100

        def randomizer(self) -> Any:
            return made

        def other_randomizers(self) -> list[Any]:
            return [type(made)(7, ABC)]

        def bad_values(self) -> list[Any]:
            return ["z"]

        def impossible(self) -> list[Any]:
            return [200]

    return Planted()


class HalfPriceBits(OptimalUnary):
    """Optimal encoding with the lies of the symmetric one: the true bit gives too much away."""

    @property
    def _price_of_a_bit(self) -> Any:
        return 2 * self.epsilon


class FirstColumn(HadamardResponse):
    """Column x in place of x + 1: the first column of the matrix says nothing."""

    def _codes(self, values: Any) -> Integers:
        return super()._codes(values) - 1


class IdealCollisions(LocalHashing):
    """q = 1/g, as if the hash were ideal; off by the sizes of the buckets."""

    def rates(self) -> tuple[Ball, Ball, Ball]:
        truth = self.honesty.rates()[0]
        q = ball(1) / self.buckets
        return truth, q, truth - q


class NoSwap(SubsetSelection):
    """The set is drawn as if the answer were always the first category."""

    def _sets(self, codes: Integers, stream: Stream) -> Any:
        return super()._sets(np.zeros_like(codes), stream)


class ShortSets(SubsetSelection):
    """Who leaves the answer out gets one category too few."""

    def _sets(self, codes: Integers, stream: Stream) -> Any:
        rows = super()._sets(codes, stream)
        held = rows[:, 0] >> codes & 1 == 1
        rows[~held, 0] &= rows[~held, 0] - 1
        return rows


class OneCoinForAll(SymmetricUnary):
    """The same bits for everybody in a batch."""

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        one = super()._draw(codes[:1], stream)["bits"]
        flips = (one[:1] ^ (1 << codes[0])) if len(codes) else one
        return {"bits": (flips ^ (1 << codes)).astype(np.uint8)}


class StatedLawIsAnother(GeneralizedResponse):
    """The law on paper is that of a higher ε than the one that is drawn."""

    def law(self, value: Any) -> FiniteLaw:
        return GeneralizedResponse(self.epsilon * 2, self.categories).law(value)


class AnythingGoes(GeneralizedResponse):
    """Forged positions are counted."""

    def _are_possible(self, columns: Columns) -> bool:
        return True


class DrawsFirst(GeneralizedResponse):
    """Opens the source before the value is checked."""

    def privatize(self, values: Any, *, source: Any = None) -> Any:
        (source.open if source else list)()
        return super().privatize(values)


class NormalIntervals(GeneralizedResponse):
    """One deviation on either side, sold as 90 %."""

    @property
    def debias(self) -> Debias:
        class Narrow(Debias):
            def interval(self, reported: int, n: int, confidence: Any) -> tuple[int, int]:
                middle, reach = self.estimate(reported, n), self.deviation(n)
                return int(middle - reach), int(middle + reach)

        with_rates = super().debias
        return Narrow(with_rates.yes, with_rates.no, with_rates.gap)


class Shifted(GeneralizedResponse):
    """Counts one report too many for the first category."""

    def supports(self, columns: Columns) -> Integers:
        return super().supports(columns) + np.array([1, 0, 0])


class Understated(GeneralizedResponse):
    """Says ε = 1 and is as honest as ε = 2."""

    def __init__(self, epsilon: Any, categories: Any) -> None:
        super().__init__(epsilon, categories)
        self.response.honesty = Honesty.priced(2 * self.epsilon, 3)


class Overstated(GeneralizedResponse):
    """Says ε = 1 and needs half of it."""

    def __init__(self, epsilon: Any, categories: Any) -> None:
        super().__init__(epsilon, categories)
        self.response.honesty = Honesty.priced(self.epsilon / 2, 3)


PLANTED = [
    (HalfPriceBits(1, ABC), "test_keeps_its_promise_at_every_report"),
    (Understated(1, ABC), "test_keeps_its_promise_at_every_report"),
    (Overstated(1, ABC), "test_claims_no_more_than_it_needs"),
    (FirstColumn(1, ABC), "test_reports_follow_the_stated_law"),
    (NoSwap("1/2", ABC), "test_reports_follow_the_stated_law"),
    (ShortSets("1/10", tuple("abcde")), "test_reports_follow_the_stated_law"),
    (StatedLawIsAnother(1, ABC), "test_reports_follow_the_stated_law"),
    (OneCoinForAll(1, ABC), "test_reports_of_different_people_are_independent"),
    (IdealCollisions(1, ABC, **SMALL), "test_estimates_are_unbiased"),
    (
        IdealCollisions(1, ABC, **SMALL),
        "test_a_report_supports_its_own_category_with_p_and_each_other_with_q",
    ),
    (Shifted(1, ABC), "test_estimates_are_unbiased"),
    (IdealCollisions(1, ABC, **SMALL), "test_variances_are_those_stated"),
    (NormalIntervals(1, ABC), "test_intervals_cover_in_larger_crowds"),
    (AnythingGoes(1, ABC), "test_refuses_reports_that_are_never_sent"),
    (DrawsFirst(1, ABC), "test_refuses_values_outside_the_domain_before_drawing"),
]


@pytest.mark.parametrize(("made", "check"), PLANTED, ids=[f"{type(made).__name__}-{check}" for made, check in PLANTED])
def test_a_planted_bug_is_seen(made: Any, check: str) -> None:
    with pytest.raises((AssertionError, KeyError, pytest.fail.Exception)):
        getattr(contract(made), check)()
