"""Binary randomized response keeps the promise of its file."""

from __future__ import annotations

import math
from typing import Any

import pytest

from discreet.errors import InvalidValue
from discreet.local.randomized_response import BinaryResponse
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.source import ReplayableSource
from tests.local.contract import OracleContract


class TestAnyPrice(OracleContract):
    crowd = 4

    def randomizer(self) -> BinaryResponse:
        return BinaryResponse("0.7")

    def other_randomizers(self) -> list[Any]:
        return [BinaryResponse(2), BinaryResponse("0.7", ("no", "yes")), BinaryResponse.coins()]

    def bad_values(self) -> list[Any]:
        return ["yes", None, 2, -1, math.nan, [0, 2]]

    def impossible(self) -> list[Any]:
        return [2, 255]


class TestTwoCoins(TestAnyPrice):
    def randomizer(self) -> BinaryResponse:
        return BinaryResponse.coins(("no", "yes"))

    def bad_values(self) -> list[Any]:
        return ["maybe", True, 0, None]


class TestADie(TestAnyPrice):
    def randomizer(self) -> BinaryResponse:
        return BinaryResponse.die()


def test_a_report_is_that_of_the_mechanism() -> None:
    answers = [True, False, True, True]
    reports = BinaryResponse.coins().privatize(answers, source=ReplayableSource(5))
    assert (
        BinaryResponse.coins().outcomes(reports)
        == RandomizedResponse.coins().release(answers, source=ReplayableSource(5)).tolist()
    )


def test_refuses_three_answers() -> None:
    with pytest.raises(InvalidValue, match="two answers"):
        BinaryResponse(1, "abc".__iter__())
