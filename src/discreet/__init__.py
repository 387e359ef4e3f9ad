"""Discreet: differential privacy with exact noise and losses that are never understated.

>>> import discreet as dp
>>> count = dp.Laplace(epsilon=1, sensitivity=1)
>>> count.loss, count.error(confidence=0.95)
(Pure(ε=1), 3)

Names are loaded when they are first used, so ``import discreet`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.version import __version__

if TYPE_CHECKING:
    from discreet import anonymize as anonymize
    from discreet import attacks as attacks
    from discreet import audit as audit
    from discreet import local as local
    from discreet.accounting.calibration import epsilon_each as epsilon_each
    from discreet.accounting.calibration import most_releases as most_releases
    from discreet.accounting.composition import advanced as advanced
    from discreet.accounting.composition import optimal as optimal
    from discreet.accounting.composition import parallel as parallel
    from discreet.accounting.composition import sequential as sequential
    from discreet.accounting.filter import ConcentratedFilter as ConcentratedFilter
    from discreet.accounting.filter import EitherFilter as EitherFilter
    from discreet.accounting.filter import PureFilter as PureFilter
    from discreet.accounting.odometer import ConcentratedOdometer as ConcentratedOdometer
    from discreet.accounting.odometer import PureOdometer as PureOdometer
    from discreet.accounting.pld import Batch as Batch
    from discreet.catalog.budget import Budget as Budget
    from discreet.client.remote_curator import connect as connect
    from discreet.curator.curator import Curator as Curator
    from discreet.curator.rehearsal.rehearsal import rehearse as rehearse
    from discreet.errors import BudgetExceeded as BudgetExceeded
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.errors import InvalidInput as InvalidInput
    from discreet.errors import InvalidType as InvalidType
    from discreet.errors import InvalidValue as InvalidValue
    from discreet.errors import NoProvedPath as NoProvedPath
    from discreet.errors import OutOfReach as OutOfReach
    from discreet.interpretation.understanding import understand as understand
    from discreet.mechanisms.exponential import Exponential as Exponential
    from discreet.mechanisms.gaussian import Gaussian as Gaussian
    from discreet.mechanisms.k_randomized_response import CategoricalResponse as CategoricalResponse
    from discreet.mechanisms.laplace import Laplace as Laplace
    from discreet.mechanisms.noisy_max import NoisyMax as NoisyMax
    from discreet.mechanisms.noisy_threshold import GaussianThreshold as GaussianThreshold
    from discreet.mechanisms.noisy_threshold import LaplaceThreshold as LaplaceThreshold
    from discreet.mechanisms.optimal_partition_selection import OptimalKeySelection as OptimalKeySelection
    from discreet.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from discreet.mechanisms.quantile import Maximum as Maximum
    from discreet.mechanisms.quantile import Median as Median
    from discreet.mechanisms.quantile import Minimum as Minimum
    from discreet.mechanisms.quantile import Quantile as Quantile
    from discreet.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
    from discreet.mechanisms.sensitivity_sampler import SensitivitySampler as SensitivitySampler
    from discreet.mechanisms.sparse_vector import AboveThreshold as AboveThreshold
    from discreet.mechanisms.top_k import TopK as TopK
    from discreet.privacy.hypothesis_tests import ErrorRegion as ErrorRegion
    from discreet.privacy.hypothesis_tests import OddsRatio as OddsRatio
    from discreet.privacy.hypothesis_tests import Pair as Pair
    from discreet.privacy.hypothesis_tests import pinsker_bound as pinsker_bound
    from discreet.privacy.hypothesis_tests import possible_probabilities as possible_probabilities
    from discreet.privacy.loss import Approximate as Approximate
    from discreet.privacy.loss import GaussianDP as GaussianDP
    from discreet.privacy.loss import Pure as Pure
    from discreet.privacy.loss import Renyi as Renyi
    from discreet.privacy.loss import ZeroConcentrated as ZeroConcentrated
    from discreet.privacy.meaning import Beliefs as Beliefs
    from discreet.privacy.meaning import posterior_odds as posterior_odds
    from discreet.privacy.meaning import posterior_range as posterior_range
    from discreet.privacy.meaning import with_or_without_me as with_or_without_me
    from discreet.privacy.neighbours import Neighbours as Neighbours
    from discreet.privacy.neighbours import Unit as Unit
    from discreet.privacy.sensitivity import Norm as Norm
    from discreet.privacy.sensitivity import Sensitivity as Sensitivity

_MODULES = {
    "mechanisms.laplace": "Laplace",
    "mechanisms.gaussian": "Gaussian",
    "mechanisms.randomized_response": "RandomizedResponse",
    "mechanisms.k_randomized_response": "CategoricalResponse",
    "mechanisms.exponential": "Exponential",
    "mechanisms.permute_and_flip": "PermuteAndFlip",
    "mechanisms.noisy_max": "NoisyMax",
    "mechanisms.top_k": "TopK",
    "mechanisms.quantile": "Maximum Median Minimum Quantile",
    "mechanisms.sparse_vector": "AboveThreshold",
    "mechanisms.noisy_threshold": "GaussianThreshold LaplaceThreshold",
    "mechanisms.optimal_partition_selection": "OptimalKeySelection",
    "mechanisms.sensitivity_sampler": "SensitivitySampler",
    "privacy.loss": "Approximate GaussianDP Pure Renyi ZeroConcentrated",
    "privacy.neighbours": "Neighbours Unit",
    "privacy.sensitivity": "Norm Sensitivity",
    "privacy.hypothesis_tests": "Pair OddsRatio possible_probabilities ErrorRegion pinsker_bound",
    "privacy.meaning": "Beliefs posterior_odds posterior_range with_or_without_me",
    "accounting.calibration": "epsilon_each most_releases",
    "accounting.composition": "advanced optimal parallel sequential",
    "accounting.filter": "ConcentratedFilter EitherFilter PureFilter",
    "accounting.pld": "Batch",
    "accounting.odometer": "ConcentratedOdometer PureOdometer",
    "curator.curator": "Curator",
    "curator.rehearsal.rehearsal": "rehearse",
    "client.remote_curator": "connect",
    "interpretation.understanding": "understand",
    "catalog.budget": "Budget",
    "errors": "BudgetExceeded DiscreetError InvalidInput InvalidType InvalidValue NoProvedPath OutOfReach",
}
# Their names would crowd those of the curator: dp.anonymize.check, dp.attacks.link, dp.audit.audit, …
_PACKAGES = ("anonymize", "attacks", "audit", "local")
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = ["__version__", *_PACKAGES, *_MODULE_OF]  # noqa: PLE0604  the keys are strings


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"discreet.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(f"discreet.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
