"""Privacy before collection: what a device reports, and what a server may conclude from the reports.

Names are loaded when they are first used, and no file has the name of a function, which it would hide.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.local.choose import Candidate as Candidate
    from discreet.local.choose import Choice as Choice
    from discreet.local.choose import Comparison as Comparison
    from discreet.local.choose import best_randomizer as best_randomizer
    from discreet.local.choose import compare as compare
    from discreet.local.choose import randomizer_of as randomizer_of
    from discreet.local.domains import Bins as Bins
    from discreet.local.estimates import Estimates as Estimates
    from discreet.local.estimates import nearest_shares as nearest_shares
    from discreet.local.frequency import FrequencyEstimator as FrequencyEstimator
    from discreet.local.frequency import FrequencyOracle as FrequencyOracle
    from discreet.local.hadamard import HadamardResponse as HadamardResponse
    from discreet.local.heavy_hitters import Found as Found
    from discreet.local.heavy_hitters import HeavyHitters as HeavyHitters
    from discreet.local.histogram import BinnedNumbers as BinnedNumbers
    from discreet.local.histogram import Histogram as Histogram
    from discreet.local.histogram import QuantileEstimate as QuantileEstimate
    from discreet.local.local_hashing import LocalHashing as LocalHashing
    from discreet.local.longitudinal import Memory as Memory
    from discreet.local.longitudinal import PermanentResponse as PermanentResponse
    from discreet.local.longitudinal import Rounds as Rounds
    from discreet.local.longitudinal import Spent as Spent
    from discreet.local.mean import MeanEstimate as MeanEstimate
    from discreet.local.mean import MeanRandomizer as MeanRandomizer
    from discreet.local.mean_mechanisms import DuchiMean as DuchiMean
    from discreet.local.mean_mechanisms import HybridMean as HybridMean
    from discreet.local.mean_mechanisms import PiecewiseMean as PiecewiseMean
    from discreet.local.multiple_questions import Several as Several
    from discreet.local.randomized_response import BinaryResponse as BinaryResponse
    from discreet.local.randomized_response import GeneralizedResponse as GeneralizedResponse
    from discreet.local.randomizer import Estimator as Estimator
    from discreet.local.randomizer import Randomizer as Randomizer
    from discreet.local.reports import Reports as Reports
    from discreet.local.shuffling import Amplification as Amplification
    from discreet.local.shuffling import closed_form as closed_form
    from discreet.local.shuffling import delta_of_shuffle as delta_of_shuffle
    from discreet.local.shuffling import largest_local as largest_local
    from discreet.local.shuffling import shuffle as shuffle
    from discreet.local.subset_selection import SubsetSelection as SubsetSelection
    from discreet.local.terms import Bounds as Bounds
    from discreet.local.terms import Categories as Categories
    from discreet.local.terms import Terms as Terms
    from discreet.local.unary import OptimalUnary as OptimalUnary
    from discreet.local.unary import SymmetricUnary as SymmetricUnary

_HOMES = {
    "randomized_response": "BinaryResponse GeneralizedResponse",
    "unary": "OptimalUnary SymmetricUnary",
    "local_hashing": "LocalHashing",
    "hadamard": "HadamardResponse",
    "subset_selection": "SubsetSelection",
    "mean_mechanisms": "DuchiMean PiecewiseMean HybridMean",
    "mean": "MeanEstimate MeanRandomizer",
    "histogram": "BinnedNumbers Histogram QuantileEstimate",
    "domains": "Bins",
    "multiple_questions": "Several",
    "heavy_hitters": "Found HeavyHitters",
    "longitudinal": "Memory PermanentResponse Rounds Spent",
    "shuffling": "Amplification closed_form delta_of_shuffle largest_local shuffle",
    "choose": "Comparison compare Candidate Choice best_randomizer randomizer_of",
    "randomizer": "Estimator Randomizer",
    "frequency": "FrequencyEstimator FrequencyOracle",
    "terms": "Bounds Terms Categories",
    "reports": "Reports",
    "estimates": "Estimates nearest_shares",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME_OF]  # noqa: PLE0604  the keys are strings


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'discreet.local' has no attribute {name!r}")
    return getattr(import_module(f"discreet.local.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
