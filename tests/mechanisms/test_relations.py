"""A loss says which neighbours it was proved for, and no mechanism claims more than that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from discreet.errors import InvalidValue, NoProvedPath
from discreet.exact.ball import lower, working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.optimal_partition_selection import OptimalKeySelection
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.quantile import Median
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse_vector import AboveThreshold
from discreet.mechanisms.top_k import TopK
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Norm, Sensitivity
from tests.mechanisms.neighbouring_scores import replaced_one

REPLACED = Sensitivity.count("replace-one")
JOINED = Sensitivity.count("add-remove-one")

CHOICES: dict[str, Callable[..., Measurement]] = {
    "exponential": lambda **settings: Exponential(1, **settings),
    "permute and flip": lambda **settings: PermuteAndFlip(1, **settings),
    "noisy max": lambda **settings: NoisyMax(1, **settings),
    "top k": lambda **settings: TopK(1, 1, **settings),
    "above threshold": lambda **settings: AboveThreshold(1, 20, **settings),
}


@pytest.mark.parametrize("name", CHOICES)
def test_replacing_a_unit_moves_scores_both_ways_so_monotone_is_refused(name: str) -> None:
    with pytest.raises(InvalidValue, match=r"move all scores in one direction.*replace-one.*add-remove-one"):
        CHOICES[name](sensitivity=REPLACED, monotone=True)


@pytest.mark.parametrize("name", CHOICES)
def test_a_monotone_loss_says_that_it_is_about_joining_and_leaving(name: str) -> None:
    for sensitivity in (1, JOINED):
        assert CHOICES[name](sensitivity=sensitivity, monotone=True).loss.neighbours is Neighbours.ADD_REMOVE_ONE
    assert CHOICES[name](sensitivity=REPLACED).loss.neighbours is Neighbours.REPLACE_ONE
    assert CHOICES[name](sensitivity=1).loss.neighbours is None


@pytest.mark.parametrize("name", ["exponential", "permute and flip", "noisy max", "top k"])
def test_the_laws_show_what_was_wrong_with_the_claim(name: str) -> None:
    """Between (40, 0, 0) and (39, 1, 0) the monotone choice loses up to 2ε; the one that is not monotone keeps ε."""
    wrong = CHOICES[name](sensitivity=1, monotone=True)
    with working_precision():
        assert lower(wrong.between([40, 0, 0], [39, 1, 0]).epsilon()) > wrong.loss.epsilon + 0.9  # type: ignore[attr-defined]
        assert lower(wrong.between([40, 0, 0], [39, 1, 0]).epsilon()) <= wrong.loss.under("replace-one").epsilon  # type: ignore[attr-defined]
        right = CHOICES[name](sensitivity=REPLACED)
        for before, after in replaced_one([3, 1, 0]):
            assert lower(right.between(before, after).epsilon()) <= right.loss.epsilon  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        (Laplace(1, REPLACED), "replace-one"),
        (Gaussian(1, 1e-6, Sensitivity.histogram("replace-one", Norm.L2)), "replace-one"),
        (Gaussian(rho=1, sensitivity=Sensitivity.histogram("add-remove-one", Norm.L2)), "add-remove-one"),
        (Gaussian(sigma=2, sensitivity=Sensitivity.histogram("add-remove-one", Norm.L2)), "add-remove-one"),
        (Median(1, 0, 9, neighbours="replace-one"), "replace-one"),
        (Median(1, 0, 9), "add-remove-one"),
        (OptimalKeySelection(1, 1e-6), "add-remove-one"),
        (RandomizedResponse(1), "replace-one"),
        (Laplace(1), None),
    ],
)
def test_every_loss_carries_the_relation_it_was_proved_under(mechanism: Any, relation: str | None) -> None:
    assert mechanism.loss.neighbours == (None if relation is None else Neighbours.of(relation))
    for stated in ("concentrated_loss", "loss_distribution"):
        if hasattr(mechanism, stated):
            assert getattr(mechanism, stated)().neighbours is mechanism.loss.neighbours


def test_losses_under_two_relations_do_not_add_until_one_is_restated() -> None:
    count, keys = Laplace(1, REPLACED), OptimalKeySelection(1, 1e-6)
    with pytest.raises(NoProvedPath, match=r"two relations.*under\('replace-one'\)"):
        _ = count.loss + keys.loss
    assert (count.loss + keys.replace_one_loss).neighbours is Neighbours.REPLACE_ONE
