"""The full-domain recoding that loses least, with a proof that no other loses less.

The result is not differential privacy: who knows more about a person than the quasi-identifiers, or has another table
about the same people, may still learn what the table was to hide.

>>> import pyarrow as pa
>>> from discreet.anonymize.models.k_anonymity import KAnonymity
>>> table = pa.table({"zip": ["13053", "13068", "13053", "14850"], "disease": ["flu", "cold", "flu", "cold"]})
>>> zips = Hierarchy.of(["13053", "13068", "14850"], [["130**", "130**", "148**"], ["*", "*", "*"]])
>>> roles = Roles.of(table.column_names, quasi="zip", sensitive="disease")
>>> found = optimal(table, roles, {"zip": zips}, [KAnonymity(3)], suppression=0.25)
>>> found.table.to_pydict(), found.suppressed
({'zip': ['130**', '130**', '130**'], 'disease': ['cold', 'flu', 'flu']}, 1)
>>> print(found.certificate)
optimal: 3 of 3 recodings were inspected, the others are proved to be no better than 0.625000

Where no recoding meets what was asked, the refusal says what fails even at the coarsest one. Whether a lattice can be
searched is known from its size, before anything is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from discreet.anonymize.equivalence_classes import Patterns
from discreet.anonymize.hierarchies.hierarchy import Hierarchy, matched_hierarchies
from discreet.anonymize.loss.search_loss import named_loss
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import asked_models, sensitive_of
from discreet.anonymize.recode.full_domain import FullDomainRecoding
from discreet.anonymize.recode.lattice import GeneralizationLattice
from discreet.anonymize.recode.lattice_node import Inspector
from discreet.anonymize.recode.lattice_search import LARGEST_LATTICE, Certificate, LatticeSearch, Progress
from discreet.anonymize.recode.recoding import coded_for, suppression_limit
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import arrow_table
from discreet.errors import InvalidType, InvalidValue, OutOfReach

__all__ = ["OptimalResult", "optimal", "out_of_reach", "refuse_endless"]


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


def refuse_endless(hierarchies: Mapping[str, Hierarchy], seconds: float | None) -> None:
    """Refuse a search that nobody would wait for, before it begins."""
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float))):
        raise InvalidType("seconds must be a number", seconds)
    if seconds is not None and not seconds >= 0:
        raise InvalidValue("seconds must be at least 0", seconds)
    nodes = GeneralizationLattice(tuple(hierarchy.height for hierarchy in hierarchies.values())).nodes
    if seconds is None and nodes > LARGEST_LATTICE:
        rule = f"without a time limit there must be at most {LARGEST_LATTICE:,} recodings to search"
        remedy = "pass seconds=60 for the best that is found in a minute and its gap, or use taxonomy_mondrian"
        raise OutOfReach(rule, f"<{len(hierarchies)} columns with {nodes:,} recodings>", remedy)


@dataclass(frozen=True, eq=False)
class OptimalResult:
    """A recoding, what it makes of the table, and what is proved about it."""

    recoding: FullDomainRecoding
    """The level of every quasi-identifier; ``transform`` applies it to other rows."""
    certificate: Certificate
    """How the recoding was found and what bounds its loss."""
    table: pa.Table
    """The rows to publish, without those that are suppressed, in an order that says nothing."""
    loss: float
    """What was minimised, suppressed rows included."""
    suppressed: int
    """How many rows are left out."""


def optimal(
    source: Any,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy] | None,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.02,
    weights: Mapping[str, float] | None = None,
    loss: str = "normalised",
    seconds: float | None = None,
    progress: Progress | None = None,
) -> OptimalResult:
    """The full-domain recoding with the smallest ``loss`` whose classes meet all ``models``.

    At most the share ``suppression`` of the rows is left out: the rows of classes that break a model. Models that
    compare a class with the whole table compare it with all rows of ``source``, also those that are left out.
    ``weights`` say how much a column counts, 1 if it is not named. After ``seconds`` the best recoding so far is
    returned, and the certificate tells how much better another might be. ``progress`` is called with the certificate
    so far. It is not differential privacy.
    """
    table = arrow_table(source)
    asked = asked_models(models, roles)
    coded = coded_for(table, roles, asked)
    matched = matched_hierarchies(coded, roles.quasi, hierarchies)
    refuse_endless(matched, seconds)
    inspector = Inspector(
        Patterns.of(coded, matched, sensitive_of(asked)), asked, suppression_limit(suppression, coded.rows)
    )
    search = LatticeSearch(
        inspector, named_loss(loss, inspector.patterns, matched, weights, inspector.least_size), seconds
    )
    certificate = search.run(progress)
    if search.best is None:
        raise out_of_reach(inspector, matched)
    levels = dict(zip(matched, search.best.node, strict=True))
    recoding = FullDomainRecoding(roles, dict(hierarchies or {}), levels, asked, suppression)
    return OptimalResult(recoding, certificate, recoding.transform(table), certificate.loss, search.best.suppressed)
