"""From terms back to the randomizer that has them, by its kind.

>>> from discreet.local.grr import GeneralizedResponse
>>> randomizer_of(GeneralizedResponse(1, ["red", "green", "blue"]).terms)
GeneralizedResponse(Pure(ε=1, replace-one), 3 categories)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from discreet.errors import InvalidType, InvalidValue
from discreet.local.randomizer import Randomizer
from discreet.local.terms import Terms

__all__ = ["KINDS", "randomizer_of"]

KINDS = {
    "rr": "rr.BinaryResponse",
    "grr": "grr.GeneralizedResponse",
    "sue": "unary.SymmetricUnary",
    "oue": "unary.OptimalUnary",
    "olh": "local_hashing.LocalHashing",
    "hadamard": "hadamard.HadamardResponse",
    "subset": "subset.SubsetSelection",
    "permanent": "permanent.PermanentResponse",
    "duchi": "duchi.DuchiMean",
    "piecewise": "piecewise.PiecewiseMean",
    "hybrid": "hybrid.HybridMean",
    "binned": "binned.BinnedNumbers",
    "heavy_hitters": "heavy_hitters.HeavyHitters",
}
"""Where the class of each kind is."""


def randomizer_of(terms: Terms) -> Randomizer[Any]:
    """The randomizer with these terms: what a server needs to read the reports that carry them."""
    if not isinstance(terms, Terms):
        raise InvalidType("these must be terms", f"<a {type(terms).__name__}>", "every batch of reports has them")
    if terms.kind not in KINDS:
        raise InvalidValue(f"the kind of randomizer must be one of {', '.join(KINDS)}", terms.kind)
    file, name = KINDS[terms.kind].split(".")
    found: Randomizer[Any] = getattr(import_module(f"discreet.local.{file}"), name).from_terms(terms)
    return found
