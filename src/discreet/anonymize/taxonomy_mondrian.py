"""Mondrian along hierarchies: start with everything told by ``*`` and tell more wherever every class stays large.

Every cell of the release is a group of its column's hierarchy, each class at levels of its own. Of all ways to recode
a table here this one loses least. It is not differential privacy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.anonymize.acceptance import Acceptance
from discreet.anonymize.asked_models import asked_models
from discreet.anonymize.axes import Axis
from discreet.anonymize.front import Front
from discreet.anonymize.group_levels import GroupLevels
from discreet.anonymize.group_tree import GroupTree
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.labelling import group_labels
from discreet.anonymize.leaf_labels import Whole
from discreet.anonymize.leaf_recoding import LeafRecoding, Positions
from discreet.anonymize.matched import matched_hierarchies
from discreet.anonymize.median_cuts import Progress
from discreet.anonymize.models.model import Model
from discreet.anonymize.rechecking import coded_for
from discreet.anonymize.recoded import Recoded
from discreet.anonymize.roles import Roles
from discreet.anonymize.source import arrow_table
from discreet.anonymize.specialising import grow_groups

__all__ = ["TaxonomyRecoding", "taxonomy_mondrian"]


def taxonomy_mondrian(
    source: Any,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy] | None,
    models: Model | Iterable[Model],
    *,
    progress: Progress | None = None,
) -> Recoded:
    """Recode a table by groups of its hierarchies so that every class meets all models, with no row suppressed.

    Columns without a hierarchy are released as they are or as ``*``, class by class. Raises ``OutOfReach`` where the
    whole table as one class breaks a model. It is not differential privacy.
    """
    table = arrow_table(source)
    asked = asked_models(models, roles)
    coded = coded_for(table, roles, asked)
    acceptance = Acceptance.of(coded, asked)
    matched = matched_hierarchies(coded, roles.quasi, hierarchies)
    axes = tuple(Axis.along(name, matched[name]) for name in roles.quasi)
    codes = np.stack([axis.codes(coded[axis.name]) for axis in axes])
    tree, leaf = grow_groups(codes, _levels(axes), acceptance, progress=progress)
    front = Front.grouped(codes, leaf)
    labels = tuple(group_labels(axis, *front.extremes(place)) for place, axis in enumerate(axes))
    return TaxonomyRecoding(roles, asked, axes, labels, tree).published(table, coded, leaf)


@dataclass(frozen=True, eq=False)
class TaxonomyRecoding(LeafRecoding):
    """The groups that were told apart, class by class."""

    tree: GroupTree
    """Which groups were told apart where."""

    def leaf_of(self, positions: Positions) -> Whole:
        """The class that a row falls into; -1 where it would need a group that the fit did not see there."""
        return self.tree.leaf_of(positions // 2, _levels(self.axes))


def _levels(axes: Sequence[Axis]) -> list[GroupLevels]:
    return [axis.levels for axis in axes if axis.levels is not None]
