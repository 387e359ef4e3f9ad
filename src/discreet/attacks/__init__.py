"""The outsider's bench: attacks that see only what an outsider sees, run against every defence.

Names are loaded when they are first used, and no file has the name of a function, which it would hide.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.attacks.answered import Disclosure as Disclosure
    from discreet.attacks.answered import differences as differences
    from discreet.attacks.board import Cell as Cell
    from discreet.attacks.board import Scoreboard as Scoreboard
    from discreet.attacks.board import scoreboard as scoreboard
    from discreet.attacks.candidates import Candidates as Candidates
    from discreet.attacks.candidates import intersect as intersect
    from discreet.attacks.catalogue import every_attack as every_attack
    from discreet.attacks.catalogue import every_defence as every_defence
    from discreet.attacks.composed import Composed as Composed
    from discreet.attacks.composed import composition as composition
    from discreet.attacks.composed import composition_chart as composition_chart
    from discreet.attacks.defences.bounded_noise import BoundedNoise as BoundedNoise
    from discreet.attacks.defences.curator import CuratorDefence as CuratorDefence
    from discreet.attacks.defences.input_perturbation import InputPerturbation as InputPerturbation
    from discreet.attacks.defences.minimum_size import LargeGroups as LargeGroups
    from discreet.attacks.defences.minimum_size import MinimumSize as MinimumSize
    from discreet.attacks.defences.naive_laplace import NaiveLaplace as NaiveLaplace
    from discreet.attacks.defences.naive_laplace import StickyLaplace as StickyLaplace
    from discreet.attacks.defences.published_table import KAnonymousTable as KAnonymousTable
    from discreet.attacks.defences.published_table import LDiverseTable as LDiverseTable
    from discreet.attacks.defences.published_table import NamesRemoved as NamesRemoved
    from discreet.attacks.defences.published_table import TCloseTable as TCloseTable
    from discreet.attacks.defences.query_auditing import QueryAuditing as QueryAuditing
    from discreet.attacks.defences.raw import RawStatistics as RawStatistics
    from discreet.attacks.defences.subsampling import Subsampling as Subsampling
    from discreet.attacks.given_release import release_scoreboard as release_scoreboard
    from discreet.attacks.greatest_values import maxima as maxima
    from discreet.attacks.hospital import patients as patients
    from discreet.attacks.linking import Links as Links
    from discreet.attacks.linking import link as link
    from discreet.attacks.methods.all_subsets import all_subset_sums as all_subset_sums
    from discreet.attacks.methods.all_subsets import consistent_people as consistent_people
    from discreet.attacks.methods.averaging import Averaging as Averaging
    from discreet.attacks.methods.background import BackgroundKnowledge as BackgroundKnowledge
    from discreet.attacks.methods.curves import curves_page as curves_page
    from discreet.attacks.methods.differencing import Differencing as Differencing
    from discreet.attacks.methods.direct import DirectQuestion as DirectQuestion
    from discreet.attacks.methods.hadamard import rebuilt_from_signed_sums as rebuilt_from_signed_sums
    from discreet.attacks.methods.hadamard import signed_sums as signed_sums
    from discreet.attacks.methods.homogeneity import Homogeneity as Homogeneity
    from discreet.attacks.methods.intersection import Intersection as Intersection
    from discreet.attacks.methods.least_squares import expected_accuracy as expected_accuracy
    from discreet.attacks.methods.linkage import Linkage as Linkage
    from discreet.attacks.methods.reconstruction import Rebuilt as Rebuilt
    from discreet.attacks.methods.reconstruction import reconstruct as reconstruct
    from discreet.attacks.methods.reconstruction_attack import Reconstruction as Reconstruction
    from discreet.attacks.methods.reconstruction_curve import PhasePoint as PhasePoint
    from discreet.attacks.methods.reconstruction_curve import phase_change as phase_change
    from discreet.attacks.methods.reconstruction_curve import phase_chart as phase_chart
    from discreet.attacks.methods.refusals import Refusals as Refusals
    from discreet.attacks.methods.subset_queries import SubsetQueries as SubsetQueries
    from discreet.attacks.methods.subset_queries import random_subsets as random_subsets
    from discreet.attacks.methods.tabulations import Block as Block
    from discreet.attacks.methods.tabulations import Tabulated as Tabulated
    from discreet.attacks.methods.tabulations import reconstruct_block as reconstruct_block
    from discreet.attacks.methods.tabulations_attack import TwoWayTables as TwoWayTables
    from discreet.attacks.methods.tracing import trace as trace
    from discreet.attacks.methods.tracing_attack import Tracing as Tracing
    from discreet.attacks.methods.tracing_power import TracingPoint as TracingPoint
    from discreet.attacks.methods.tracing_power import above_threshold as above_threshold
    from discreet.attacks.methods.tracing_power import area_under_curve as area_under_curve
    from discreet.attacks.methods.tracing_power import expected_area as expected_area
    from discreet.attacks.methods.tracing_power import expected_power as expected_power
    from discreet.attacks.methods.tracing_power import separation as separation
    from discreet.attacks.methods.tracing_power import tracing_chart as tracing_chart
    from discreet.attacks.methods.tracing_power import tracing_curve as tracing_curve
    from discreet.attacks.people import People as People
    from discreet.attacks.repeated_noise import Centre as Centre
    from discreet.attacks.repeated_noise import chance_of_truth as chance_of_truth
    from discreet.attacks.repeated_noise import repetitions_needed as repetitions_needed
    from discreet.attacks.scene import Scene as Scene
    from discreet.attacks.singled_out import Uniqueness as Uniqueness
    from discreet.attacks.singled_out import uniqueness as uniqueness
    from discreet.attacks.verdict import Verdict as Verdict

_HOMES = {
    "board": "Cell Scoreboard scoreboard",
    "given_release": "release_scoreboard",
    "catalogue": "every_attack every_defence",
    "verdict": "Verdict",
    "hospital": "patients",
    "people": "People",
    "scene": "Scene",
    "linking": "Links link",
    "singled_out": "Uniqueness uniqueness",
    "candidates": "Candidates intersect",
    "composed": "Composed composition composition_chart",
    "defences.curator": "CuratorDefence",
    "defences.published_table": "KAnonymousTable LDiverseTable NamesRemoved TCloseTable",
    "methods.linkage": "Linkage",
    "methods.homogeneity": "Homogeneity",
    "methods.background": "BackgroundKnowledge",
    "methods.intersection": "Intersection",
    "methods.reconstruction": "Rebuilt reconstruct",
    "methods.reconstruction_attack": "Reconstruction",
    "methods.curves": "curves_page",
    "methods.reconstruction_curve": "PhasePoint phase_change phase_chart",
    "methods.subset_queries": "SubsetQueries random_subsets",
    "methods.all_subsets": "all_subset_sums consistent_people",
    "methods.hadamard": "rebuilt_from_signed_sums signed_sums",
    "methods.least_squares": "expected_accuracy",
    "methods.tabulations": "Block Tabulated reconstruct_block",
    "methods.tabulations_attack": "TwoWayTables",
    "methods.tracing": "trace",
    "methods.tracing_attack": "Tracing",
    "methods.tracing_power": "TracingPoint above_threshold area_under_curve expected_area "
    "expected_power separation tracing_chart tracing_curve",
    "answered": "Disclosure differences",
    "greatest_values": "maxima",
    "repeated_noise": "Centre chance_of_truth repetitions_needed",
    "defences.raw": "RawStatistics",
    "defences.minimum_size": "LargeGroups MinimumSize",
    "defences.query_auditing": "QueryAuditing",
    "defences.subsampling": "Subsampling",
    "defences.input_perturbation": "InputPerturbation",
    "defences.bounded_noise": "BoundedNoise",
    "defences.naive_laplace": "NaiveLaplace StickyLaplace",
    "methods.direct": "DirectQuestion",
    "methods.differencing": "Differencing",
    "methods.refusals": "Refusals",
    "methods.averaging": "Averaging",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*_HOME_OF]  # noqa: PLE0604  the keys are strings


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'discreet.attacks' has no attribute {name!r}")
    return getattr(import_module(f"discreet.attacks.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
