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

if TYPE_CHECKING:
    from discreet.accounting.calibration import epsilon_each as epsilon_each
    from discreet.accounting.calibration import most_releases as most_releases
    from discreet.accounting.composition import advanced as advanced
    from discreet.accounting.composition import optimal as optimal
    from discreet.accounting.composition import parallel as parallel
    from discreet.accounting.composition import sequential as sequential
    from discreet.accounting.filter import ConcentratedFilter as ConcentratedFilter
    from discreet.accounting.filter import PureFilter as PureFilter
    from discreet.accounting.numeric import Batch as Batch
    from discreet.accounting.odometer import ConcentratedOdometer as ConcentratedOdometer
    from discreet.accounting.odometer import PureOdometer as PureOdometer
    from discreet.mechanisms.laplace import Laplace as Laplace

__version__ = "0.1.0"

_HOMES = {
    "mechanisms.laplace": "Laplace",
    "accounting.calibration": "epsilon_each most_releases",
    "accounting.composition": "advanced optimal parallel sequential",
    "accounting.filter": "ConcentratedFilter PureFilter",
    "accounting.numeric": "Batch",
    "accounting.odometer": "ConcentratedOdometer PureOdometer",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(f"discreet.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
