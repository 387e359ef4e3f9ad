"""The registry of mechanisms that can be audited by name, each with neighbouring inputs that put its claim to the test.

Audits, the command line, the console and the tests of bad input walk it, so a mechanism that stands here is checked by
all of them. People name their own mechanism as ``module:function`` or ``file.py:function``.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from discreet.audit.mechanism import Mechanism
from discreet.errors import InvalidValue
from discreet.exact.rational import Number, positive
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.k_randomized_response import CategoricalResponse
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.noisy_threshold import GaussianThreshold, LaplaceThreshold
from discreet.mechanisms.optimal_partition_selection import OptimalKeySelection
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.quantile import Maximum, Median, Minimum, Quantile
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse_vector import AboveThreshold
from discreet.mechanisms.top_k import TopK
from discreet.privacy.loss import Loss

__all__ = ["NAMES", "Case", "builtin_case", "builtin_mechanisms", "load"]


@dataclass(frozen=True)
class Case:
    """One line of a table of audits."""

    name: str
    """How people ask for it, such as ``laplace``."""
    mechanism: Mechanism
    """What is audited."""
    first: Any
    """One input."""
    second: Any
    """A neighbour of it."""
    claim: Loss
    """What the mechanism says it costs."""
    about: str = ""
    """One sentence: what it is, and what is wrong with it where something is."""
    draws: int = 1_000_000
    """How many answers are enough to see it."""
    keeps_its_claim: bool = True
    """Whether the claim is true; where it is not, an audit must say so."""
    outcomes: Sequence[Any] | None = None
    """The outcomes to compare exactly, for a measurement that does not list its own."""


_DELTA = Fraction(1, 1000)
_PEOPLE = [2, 4, 4, 5, 7]
_RANKED = [2, 1, 0, 0], [1, 2, 1, 1]
_FAR_COUNTS = 60


def builtin_mechanisms(epsilon: Number = 1, delta: Number = _DELTA) -> tuple[Case, ...]:
    """One case for every mechanism, all at the same price."""
    return tuple(builtin_case(name, epsilon, delta) for name in NAMES)


def builtin_case(name: str, epsilon: Number = 1, delta: Number = _DELTA) -> Case:
    """The case of this name."""
    about, build = _BUILDERS[name]
    mechanism, first, second, outcomes = build(positive(epsilon, "epsilon"), positive(delta, "delta"))
    return Case(name, mechanism, first, second, mechanism.loss, about, outcomes=outcomes)


Built = tuple[Measurement, Any, Any, Sequence[Any] | None]
Builder = Callable[[Fraction, Fraction], Built]


def _one(kind: Callable[[Fraction], Measurement], first: Any, second: Any) -> Builder:
    return lambda epsilon, delta: (kind(epsilon), first, second, None)


def _both(kind: Callable[[Fraction, Fraction], Measurement], first: Any, second: Any) -> Builder:
    return lambda epsilon, delta: (kind(epsilon, delta), first, second, None)


def _threshold(kind: type[LaplaceThreshold | GaussianThreshold], first: Any, second: Any) -> Builder:
    """A threshold's law has no end and lists nothing, so its case says which counts are compared."""

    def build(epsilon: Fraction, delta: Fraction) -> Built:
        mechanism = kind(epsilon, delta)
        counts = range(mechanism.threshold, mechanism.threshold + _FAR_COUNTS)
        return mechanism, first, second, [{}, *({"tea": count} for count in counts)]

    return build


def _keys(first: Any, second: Any) -> Builder:
    return lambda epsilon, delta: (OptimalKeySelection(epsilon, delta), first, second, [[], ["tea"]])


_BUILDERS: dict[str, tuple[str, Builder]] = {
    "laplace": ("a count with Laplace noise", _one(Laplace, 0, 1)),
    "laplace-vector": ("three counts, one of which moves", _one(Laplace, [0, 0, 0], [1, 0, 0])),
    "laplace-grid": ("a real number on a grid", _one(partial(Laplace, grid=0.25), 0.0, 1.0)),
    "gaussian": ("a count with Gaussian noise", _both(Gaussian, 0, 1)),
    "gaussian-rho": ("the same, priced by ρ = ε²/2", _one(lambda e: Gaussian(rho=e**2 / 2), 0, 1)),
    "randomized-response": ("one bit, told or turned", _one(RandomizedResponse, 0, 1)),
    "categorical-response": (
        "one of four categories, told or changed",
        _one(lambda e: CategoricalResponse(e, ("north", "east", "south", "west")), "north", "east"),
    ),
    "exponential": ("a choice by score", _one(Exponential, *_RANKED)),
    "permute-and-flip": ("a choice by score", _one(PermuteAndFlip, *_RANKED)),
    "noisy-max": ("the largest noisy score", _one(NoisyMax, *_RANKED)),
    "top-k": ("the two best of four", _one(lambda e: TopK(e, 2), *_RANKED)),
    "quantile": ("the upper quartile", _one(lambda e: Quantile(e, "3/4", 0, 10), _PEOPLE, _PEOPLE[:-1])),
    "median": ("the median", _one(lambda e: Median(e, 0, 10), _PEOPLE, _PEOPLE[:-1])),
    "minimum": ("the low end", _one(lambda e: Minimum(e, 0, 10), _PEOPLE, _PEOPLE[1:])),
    "maximum": ("the high end", _one(lambda e: Maximum(e, 0, 10), _PEOPLE, _PEOPLE[:-1])),
    "sparse-vector": (
        "which of three answers are large",
        _one(lambda e: AboveThreshold(e, threshold=1), [0, 1, 0], [1, 0, 1]),
    ),
    "laplace-threshold": ("a key past a noisy threshold", _threshold(LaplaceThreshold, {"tea": 5}, {"tea": 4})),
    "gaussian-threshold": ("a key past a noisy threshold", _threshold(GaussianThreshold, {"tea": 5}, {"tea": 4})),
    "optimal-keys": ("a key as often as may be", _keys({"tea": 2}, {"tea": 1})),
    "one-person-key": ("a key that one person alone holds", _keys({"tea": 1}, {})),
}
NAMES: tuple[str, ...] = tuple(_BUILDERS)
"""What people ask for, in the order of the table."""


def load(what: str) -> Any:
    """The function or mechanism that ``module:function`` or ``file.py:function`` names."""
    place, _, name = what.rpartition(":")
    if not place or not name:
        remedy = f"write module:function or file.py:function, or one of {', '.join(NAMES)}"
        raise InvalidValue("there must be a mechanism of this name", what, remedy)
    module = _from_file(Path(place)) if place.endswith(".py") else _from_module(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise InvalidValue(f"{place} must define what is audited", name)
        found = getattr(found, part)
    return found


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InvalidValue("there must be such a file", str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidValue("the file must be a Python module", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    _run(str(path), partial(spec.loader.exec_module, module))
    return module


def _from_module(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: ModuleType = _run(name, partial(importlib.import_module, name))
    finally:
        sys.path.remove(str(Path.cwd()))
    return found


def _run(place: str, work: Any) -> Any:
    """A module of others may fail in any way; what it says goes into one sentence."""
    try:
        return work()
    except (Exception, SystemExit) as error:  # a script that exits must not decide what an audit says
        raise InvalidValue("the module must load", f"<{place}: {type(error).__name__}: {error}>") from None
