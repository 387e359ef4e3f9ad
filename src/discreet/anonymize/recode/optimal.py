"""Full-domain recoding, and the one that loses least, with a proof that no other loses less.

Every cell of a column is released at the same level of its hierarchy.

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.equivalence_classes import Patterns
from discreet.anonymize.hierarchies.hierarchy import Hierarchy, matched_hierarchies
from discreet.anonymize.loss.search_loss import named_loss
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import asked_models, sensitive_of
from discreet.anonymize.recode.lattice import GeneralizationLattice
from discreet.anonymize.recode.lattice_node import Inspector
from discreet.anonymize.recode.lattice_search import LARGEST_LATTICE, Certificate, LatticeSearch, Progress
from discreet.anonymize.recode.recoding import Recoding, coded_for, releasable, release, suppression_limit
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedColumn, CodedTable, arrow_table
from discreet.errors import InvalidType, InvalidValue, OutOfReach

__all__ = [
    "FullDomainRecoding",
    "OptimalResult",
    "generalised",
    "generalised_column",
    "optimal",
    "out_of_reach",
    "refuse_endless",
]


def generalised(table: CodedTable, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> CodedTable:
    """The table in which the columns of ``levels`` are replaced by their groups at that level; others stay."""
    found = {name: generalised_column(table[name], hierarchies[name], level) for name, level in levels.items()}
    return CodedTable({**table.columns, **found}, table.rows)


def generalised_column(column: CodedColumn, hierarchy: Hierarchy, level: int) -> CodedColumn:
    """The column of groups at one level, of which all are values, also those that no row has."""
    if not 0 <= level <= hierarchy.height:
        raise InvalidValue(f"the level of '{column.name}' must be from 0 to {hierarchy.height}", level)
    groups = hierarchy.levels[level][hierarchy.places(column)]
    return CodedColumn(column.name, groups[column.codes], hierarchy.labels[level])


_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class FullDomainRecoding(Recoding):
    """A level for every quasi-identifier, and what must hold afterwards. It is not differential privacy."""

    roles: Roles
    """The role of every column."""
    hierarchies: Mapping[str, Hierarchy]
    """The hierarchies that were given; a column without one is released as it is or not at all."""
    levels: Mapping[str, int]
    """For every quasi-identifier its level; 0 leaves it as it is."""
    models: tuple[Model, ...]
    """What every released class meets."""
    suppression: float
    """The largest share of rows that may be left out."""

    def transform(self, source: Any) -> pa.Table:
        """The rows of ``source`` at the same levels. Rows of classes that break a model are left out.

        Models that compare a class with the whole table compare it with all rows of ``source``. Refuses when more rows
        than the limit would have to be left out: then these rows need a recoding of their own.
        """
        table = arrow_table(source)
        coded = coded_for(table, self.roles, self.models)
        hierarchies = matched_hierarchies(coded, self.roles.quasi, self.hierarchies)
        columns = {name: generalised_column(coded[name], one, self.levels[name]) for name, one in hierarchies.items()}
        kept = self._kept(coded, [column.codes.astype(np.int64) for column in columns.values()])
        return release(table, self.roles, {name: _text(columns[name]) for name in columns if self.levels[name]}, kept)

    def described(self) -> dict[str, str]:
        """For every quasi-identifier its level in words, with some of the labels.

        >>> roles = Roles.of(["zip"], quasi="zip")
        >>> zips = Hierarchy.of(["13053", "14850"], [["130**", "148**"], ["*", "*"]])
        >>> FullDomainRecoding(roles, {"zip": zips}, {"zip": 1}, (), 0).described()
        {'zip': 'level 1 of 2: 130**, 148**'}
        """
        return {name: self._level_in_words(name, level) for name, level in self.levels.items()}

    def _level_in_words(self, name: str, level: int) -> str:
        if name not in self.hierarchies:
            return "not released" if level else "as it is"
        hierarchy = self.hierarchies[name]
        labels = hierarchy.labels[level]
        more = ", …" if len(labels) > _EXAMPLES else ""
        words = "as it is" if level == 0 else ", ".join(labels[:_EXAMPLES]) + more
        return f"level {level} of {hierarchy.height}: {words}"

    def _kept(self, coded: CodedTable, cells: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.bool_]:
        """For every row whether its class meets every model; refuses when too many do not."""
        kept = releasable(cells, np.ones(coded.rows, dtype=np.bool_), coded, self.models)
        lost, limit = int(np.count_nonzero(~kept)), suppression_limit(self.suppression, coded.rows)
        if lost > limit or not kept.any():
            rule = f"at most {limit} of {coded.rows} rows may be left out by this recoding, and not all"
            raise OutOfReach(rule, lost, "find a recoding for these rows, or add more of them")
        return kept


def _text(column: CodedColumn) -> pa.DictionaryArray:
    """The labels of a column, each written once."""
    return pa.DictionaryArray.from_arrays(column.codes, pa.array(column.values, pa.string()))


def out_of_reach(inspector: Inspector, hierarchies: Mapping[str, Hierarchy]) -> OutOfReach:
    """The refusal, with every model that fails at the top of the lattice and the hierarchies that end too early."""
    limit = f"with at most {inspector.limit} of {inspector.patterns.total} rows suppressed"
    rule = f"no recoding will do {limit}: at the coarsest one {_failures(inspector)}"
    return OutOfReach(rule, None, _remedy(hierarchies))


def _failures(inspector: Inspector) -> str:
    patterns = inspector.patterns
    classes = patterns.classes(patterns.lattice.top)
    histograms = patterns.histograms(classes)
    failures = []
    for model in inspector.models:
        rows = int(classes.sizes[model.violating(classes, histograms)].sum())
        if rows:
            reached = f"{model.parameter} = {model.strictest(classes, histograms):.4g} is reached"
            failures.append(f"{model.name} fails for {rows} rows ({reached})")
    return "; ".join(failures)


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
