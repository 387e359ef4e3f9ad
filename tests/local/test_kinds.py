"""Every kind of randomizer is known by its name, and rebuilt from its terms."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.local.choose import KINDS, randomizer_of
from discreet.local.domains import Bins
from discreet.local.hadamard import HadamardResponse
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.histogram import BinnedNumbers
from discreet.local.local_hashing import LocalHashing
from discreet.local.longitudinal import PermanentResponse
from discreet.local.mean_mechanisms import DuchiMean, HybridMean, PiecewiseMean
from discreet.local.randomized_response import BinaryResponse, GeneralizedResponse
from discreet.local.randomizer import Randomizer
from discreet.local.subset_selection import SubsetSelection
from discreet.local.terms import Terms
from discreet.local.unary import OptimalUnary, SymmetricUnary

EVERY: list[Randomizer[Any]] = [
    BinaryResponse("1/2"),
    *(kind(1, range(5)) for kind in (GeneralizedResponse, SymmetricUnary, OptimalUnary, LocalHashing)),
    *(kind(1, range(5)) for kind in (HadamardResponse, SubsetSelection)),
    PermanentResponse(2, 1, range(5)),
    PermanentResponse(2, None, ["a", "b"]),
    *(kind("0.7", -1, "2.5") for kind in (DuchiMean, PiecewiseMean, HybridMean)),
    *(BinnedNumbers(1, Bins.at(["0.1", "1/3", 5]), kind) for kind in (OptimalUnary, SymmetricUnary)),
    BinnedNumbers(1, Bins.between(-1, 1, 7), GeneralizedResponse),
    HeavyHitters(3, length=9),
]


def test_no_kind_is_missing() -> None:
    assert {randomizer.kind for randomizer in EVERY} == set(KINDS)


@pytest.mark.parametrize("randomizer", EVERY, ids=repr)
def test_terms_alone_rebuild_the_randomizer(randomizer: Randomizer[Any]) -> None:
    again = randomizer_of(Terms.from_json(randomizer.terms.to_json()))
    assert type(again) is type(randomizer)
    assert again.terms == randomizer.terms
    assert again.loss == randomizer.loss
