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
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from discreet.anonymize.asked_models import asked_models, sensitive_of
from discreet.anonymize.certificate import Certificate
from discreet.anonymize.full_domain_recoding import FullDomainRecoding
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.inspection import Inspector
from discreet.anonymize.lattice_search import LatticeSearch, Progress
from discreet.anonymize.matched import matched_hierarchies
from discreet.anonymize.models.model import Model
from discreet.anonymize.named_loss import named_loss
from discreet.anonymize.out_of_reach import out_of_reach
from discreet.anonymize.patterns import Patterns
from discreet.anonymize.rechecking import coded_for
from discreet.anonymize.roles import Roles
from discreet.anonymize.searchable import refuse_endless
from discreet.anonymize.source import arrow_table
from discreet.anonymize.suppression_limit import suppression_limit

__all__ = ["OptimalResult", "optimal"]


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
