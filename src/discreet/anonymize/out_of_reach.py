"""Why no recoding meets what was asked: what fails even at the coarsest one."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.inspection import Inspector
from discreet.errors import OutOfReach

__all__ = ["out_of_reach"]


def out_of_reach(inspector: Inspector, hierarchies: Mapping[str, Hierarchy]) -> OutOfReach:
    """The refusal, with every model that fails at the top of the lattice and the hierarchies that end too early."""
    limit = f"with at most {inspector.limit} of {inspector.patterns.total} rows suppressed"
    rule = f"no recoding will do {limit}: at the coarsest one {_failures(inspector)}"
    return OutOfReach(rule, None, _remedy(hierarchies))


def _failures(inspector: Inspector) -> str:
    patterns = inspector.patterns
    classes = patterns.classes(patterns.lattice.top)
    histograms = patterns.histograms(classes)
    told = []
    for model in inspector.models:
        rows = int(classes.sizes[model.violating(classes, histograms)].sum())
        if rows:
            reached = f"{model.parameter} = {model.strictest(classes, histograms):.4g} is reached"
            told.append(f"{model.name} fails for {rows} rows ({reached})")
    return "; ".join(told)


def _remedy(hierarchies: Mapping[str, Hierarchy]) -> str:
    open_ended = [name for name, hierarchy in hierarchies.items() if hierarchy.groups(hierarchy.height) > 1]
    if open_ended:
        return f"let the hierarchies end in one group ({', '.join(open_ended)}), ask for less, or suppress more"
    return "ask for less, or suppress more"
