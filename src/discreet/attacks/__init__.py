"""Attacks that see only what an outsider sees, run against every defence.

Names are loaded when they are first used, and no file has the name of a function, which it would hide.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.attacks.algebra.answers import Centre as Centre
    from discreet.attacks.algebra.answers import Disclosure as Disclosure
    from discreet.attacks.algebra.answers import chance_of_truth as chance_of_truth
    from discreet.attacks.algebra.answers import differences as differences
    from discreet.attacks.algebra.answers import repetitions_needed as repetitions_needed
    from discreet.attacks.algebra.maxima import maxima as maxima
    from discreet.attacks.board import Cell as Cell
    from discreet.attacks.board import Scene as Scene
    from discreet.attacks.board import Scoreboard as Scoreboard
    from discreet.attacks.board import scoreboard as scoreboard
    from discreet.attacks.catalogue import every_attack as every_attack
    from discreet.attacks.catalogue import every_defence as every_defence
    from discreet.attacks.defences.curator import CuratorDefence as CuratorDefence
    from discreet.attacks.defences.interactive import BoundedNoise as BoundedNoise
    from discreet.attacks.defences.interactive import InputPerturbation as InputPerturbation
    from discreet.attacks.defences.interactive import LargeGroups as LargeGroups
    from discreet.attacks.defences.interactive import MinimumSize as MinimumSize
    from discreet.attacks.defences.interactive import NaiveLaplace as NaiveLaplace
    from discreet.attacks.defences.interactive import RawStatistics as RawStatistics
    from discreet.attacks.defences.interactive import StickyLaplace as StickyLaplace
    from discreet.attacks.defences.interactive import Subsampling as Subsampling
    from discreet.attacks.defences.query_auditing import QueryAuditing as QueryAuditing
    from discreet.attacks.defences.releases import KAnonymousTable as KAnonymousTable
    from discreet.attacks.defences.releases import LDiverseTable as LDiverseTable
    from discreet.attacks.defences.releases import NamesRemoved as NamesRemoved
    from discreet.attacks.defences.releases import TCloseTable as TCloseTable
    from discreet.attacks.linkage.composition import Candidates as Candidates
    from discreet.attacks.linkage.composition import Composed as Composed
    from discreet.attacks.linkage.composition import composition as composition
    from discreet.attacks.linkage.composition import composition_chart as composition_chart
    from discreet.attacks.linkage.composition import intersect as intersect
    from discreet.attacks.linkage.link import Links as Links
    from discreet.attacks.linkage.link import Uniqueness as Uniqueness
    from discreet.attacks.linkage.link import link as link
    from discreet.attacks.linkage.link import uniqueness as uniqueness
    from discreet.attacks.methods.queries import Averaging as Averaging
    from discreet.attacks.methods.queries import Differencing as Differencing
    from discreet.attacks.methods.queries import DirectQuestion as DirectQuestion
    from discreet.attacks.methods.queries import Refusals as Refusals
    from discreet.attacks.methods.reconstruction import PhasePoint as PhasePoint
    from discreet.attacks.methods.reconstruction import Rebuilt as Rebuilt
    from discreet.attacks.methods.reconstruction import Reconstruction as Reconstruction
    from discreet.attacks.methods.reconstruction import curves_page as curves_page
    from discreet.attacks.methods.reconstruction import phase_change as phase_change
    from discreet.attacks.methods.reconstruction import phase_chart as phase_chart
    from discreet.attacks.methods.reconstruction import reconstruct as reconstruct
    from discreet.attacks.methods.releases import BackgroundKnowledge as BackgroundKnowledge
    from discreet.attacks.methods.releases import Homogeneity as Homogeneity
    from discreet.attacks.methods.releases import Intersection as Intersection
    from discreet.attacks.methods.releases import Linkage as Linkage
    from discreet.attacks.methods.solvers import SubsetQueries as SubsetQueries
    from discreet.attacks.methods.solvers import all_subset_sums as all_subset_sums
    from discreet.attacks.methods.solvers import consistent_people as consistent_people
    from discreet.attacks.methods.solvers import expected_accuracy as expected_accuracy
    from discreet.attacks.methods.solvers import random_subsets as random_subsets
    from discreet.attacks.methods.solvers import rebuilt_from_signed_sums as rebuilt_from_signed_sums
    from discreet.attacks.methods.solvers import signed_sums as signed_sums
    from discreet.attacks.methods.tabulations import Block as Block
    from discreet.attacks.methods.tabulations import Tabulated as Tabulated
    from discreet.attacks.methods.tabulations import TwoWayTables as TwoWayTables
    from discreet.attacks.methods.tabulations import reconstruct_block as reconstruct_block
    from discreet.attacks.methods.tracing import Tracing as Tracing
    from discreet.attacks.methods.tracing import TracingPoint as TracingPoint
    from discreet.attacks.methods.tracing import above_threshold as above_threshold
    from discreet.attacks.methods.tracing import area_under_curve as area_under_curve
    from discreet.attacks.methods.tracing import expected_area as expected_area
    from discreet.attacks.methods.tracing import expected_power as expected_power
    from discreet.attacks.methods.tracing import separation as separation
    from discreet.attacks.methods.tracing import trace as trace
    from discreet.attacks.methods.tracing import tracing_chart as tracing_chart
    from discreet.attacks.methods.tracing import tracing_curve as tracing_curve
    from discreet.attacks.people import People as People
    from discreet.attacks.people import patients as patients
    from discreet.attacks.release import release_scoreboard as release_scoreboard
    from discreet.attacks.score import DefenceVerdict as DefenceVerdict

_HOMES = {
    "board": "Cell Scoreboard scoreboard Scene",
    "release": "release_scoreboard",
    "catalogue": "every_attack every_defence",
    "score": "DefenceVerdict",
    "people": "patients People",
    "linkage.link": "Links link Uniqueness uniqueness",
    "linkage.composition": "Candidates intersect Composed composition composition_chart",
    "defences.curator": "CuratorDefence",
    "defences.releases": "KAnonymousTable LDiverseTable NamesRemoved TCloseTable",
    "methods.releases": "Linkage Homogeneity BackgroundKnowledge Intersection",
    "methods.reconstruction": "Rebuilt reconstruct Reconstruction curves_page PhasePoint phase_change phase_chart",
    "methods.solvers": "SubsetQueries random_subsets all_subset_sums consistent_people "
    "rebuilt_from_signed_sums signed_sums expected_accuracy",
    "methods.tabulations": "Block Tabulated reconstruct_block TwoWayTables",
    "methods.tracing": "trace Tracing TracingPoint above_threshold area_under_curve expected_area "
    "expected_power separation tracing_chart tracing_curve",
    "algebra.answers": "Disclosure differences Centre chance_of_truth repetitions_needed",
    "algebra.maxima": "maxima",
    "defences.interactive": "RawStatistics LargeGroups MinimumSize Subsampling InputPerturbation "
    "BoundedNoise NaiveLaplace StickyLaplace",
    "defences.query_auditing": "QueryAuditing",
    "methods.queries": "DirectQuestion Differencing Refusals Averaging",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME_OF]  # noqa: PLE0604  the keys are strings


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'discreet.attacks' has no attribute {name!r}")
    return getattr(import_module(f"discreet.attacks.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
