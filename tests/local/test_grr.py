"""Generalised randomized response keeps the promise of its file."""

from __future__ import annotations

import math
from typing import Any

from discreet.local.randomized_response import GeneralizedResponse
from tests.local.contract import OracleContract

COLOURS = ("red", "green", "blue")
BAD = ["pink", None, math.nan, 3, {}, b"red", ["red", "pink"]]


class TestThreeColours(OracleContract):
    def randomizer(self) -> GeneralizedResponse:
        return GeneralizedResponse(1, COLOURS)

    def other_randomizers(self) -> list[Any]:
        return [
            GeneralizedResponse(2, COLOURS),
            GeneralizedResponse(1, COLOURS[::-1]),
            GeneralizedResponse(1, (*COLOURS, "none")),
            GeneralizedResponse.truth("1/2", COLOURS),
        ]

    def bad_values(self) -> list[Any]:
        return BAD

    def impossible(self) -> list[Any]:
        return [3, 255]


class TestHonestFourTimesInFive(TestThreeColours):
    def randomizer(self) -> GeneralizedResponse:
        return GeneralizedResponse.truth("4/5", COLOURS)
