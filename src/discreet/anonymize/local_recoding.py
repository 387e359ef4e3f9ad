"""Local recoding by repeated search: rows that one full-domain recoding would suppress get another of their own.

Every round searches the optimal recoding for the rows that are left and releases the classes that meet the models; the
next round has the others. Classes of different rounds that read the same become one class, which meets the models
because classes that meet them do so when they are merged. The result is not differential privacy.

>>> import pyarrow as pa
>>> from discreet.anonymize.models.k_anonymity import KAnonymity
>>> table = pa.table({"zip": ["13053", "13053", "13068", "14850"]})
>>> zips = Hierarchy.of(["13053", "13068", "14850"], [["130**", "130**", "148**"], ["*", "*", "*"]])
>>> found = local_recoding(table, Roles.of(["zip"], quasi="zip"), {"zip": zips}, [KAnonymity(2)])
>>> found.table["zip"].to_pylist(), found.suppressed
(['*', '*', '13053', '13053'], 0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.asked_models import asked_models, sensitive_of
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.inspection import Inspector
from discreet.anonymize.lattice import Node
from discreet.anonymize.lattice_search import LatticeSearch
from discreet.anonymize.matched import matched_hierarchies
from discreet.anonymize.models.model import Model
from discreet.anonymize.named_loss import named_loss
from discreet.anonymize.out_of_reach import out_of_reach
from discreet.anonymize.patterns import Patterns
from discreet.anonymize.rechecking import coded_for
from discreet.anonymize.recoded import Recoded
from discreet.anonymize.roles import Roles
from discreet.anonymize.rounds import Round, RoundsRecoding
from discreet.anonymize.searchable import refuse_endless
from discreet.anonymize.source import arrow_table
from discreet.anonymize.suppression_limit import suppression_limit
from discreet.errors import InvalidValue

__all__ = ["local_recoding"]

Flags = npt.NDArray[np.bool_]
Progress = Callable[[int, int], None]
"""Is called with the rows that have been recoded and all rows."""


def local_recoding(
    source: Any,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy] | None,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.0,
    weights: Mapping[str, float] | None = None,
    loss: str = "normalised",
    step: float = 0.05,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Recoded:
    """Recode a table in rounds, each with the full-domain recoding that loses least on the rows that are left.

    A round must release at least the share ``step`` of its rows. When no round is left that does, the remaining rows
    are suppressed if they are within the share ``suppression`` of the table; else they join the rows of the last round,
    and of those before it, until all of them can be released. ``seconds`` is a limit for each search. Models that
    compare a class with the whole table compare it with all rows of ``source``. It is not differential privacy.
    """
    table = arrow_table(source)
    asked = asked_models(models, roles)
    coded = coded_for(table, roles, asked)
    matched = matched_hierarchies(coded, roles.quasi, hierarchies)
    refuse_endless(matched, seconds)
    _refuse_step(step)
    patterns = Patterns.of(coded, matched, sensitive_of(asked))
    task = _Task(patterns, matched, asked, loss, weights, seconds)
    rounds = task.rounds(1 - step, suppression_limit(suppression, coded.rows), progress)
    given = frozenset(hierarchies or {})
    return RoundsRecoding(roles, matched, given, tuple(rounds), asked).published(table)


@dataclass(frozen=True, eq=False)
class _Task:
    """The rows of a table and what is asked of them."""

    patterns: Patterns
    hierarchies: Mapping[str, Hierarchy]
    models: tuple[Model, ...]
    loss: str
    weights: Mapping[str, float] | None
    seconds: float | None

    def rounds(self, most_left: float, limit: int, progress: Progress | None) -> list[Round]:
        """The recodings one after the other, until at most ``limit`` rows are left."""
        found: list[Round] = []
        before: list[Flags] = []
        left: Flags = np.ones(len(self.patterns.rows), dtype=np.bool_)
        while left.any():
            rest = self.patterns.where(left)
            node = self._best(rest, suppression_limit(most_left, rest.total))
            if node is None:
                break
            before.append(left)
            one, left = self._released(node, left)
            found.append(one)
            if progress:
                progress(self.patterns.total - self._rows(left), self.patterns.total)
        return found if self._rows(left) <= limit and found else self._joined(found, before, left, limit)

    def _joined(self, found: list[Round], before: list[Flags], left: Flags, limit: int) -> list[Round]:
        """Put the rows that are left together with those of the last rounds, until one recoding releases them."""
        while found:
            found.pop()
            left = before.pop()
            node = self._best(self.patterns.where(left), limit)
            if node is not None:
                return [*found, self._released(node, left)[0]]
        raise out_of_reach(Inspector(self.patterns, self.models, limit), self.hierarchies)

    def _best(self, patterns: Patterns, limit: int) -> Node | None:
        """The node that loses least with at most ``limit`` rows suppressed, if there is one."""
        inspector = Inspector(patterns, self.models, limit)
        measured = named_loss(self.loss, patterns, self.hierarchies, self.weights, inspector.least_size)
        search = LatticeSearch(inspector, measured, self.seconds)
        search.run()
        return None if search.best is None else search.best.node

    def _released(self, node: Node, left: Flags) -> tuple[Round, Flags]:
        """The classes that a node releases of the rows that are left, and the rows that are left then."""
        inspector = Inspector(self.patterns.where(left), self.models, 0)
        found, violating = inspector.inspect(node), inspector.violating_patterns(node)
        still = left.copy()
        still[left] = violating
        return Round(node, tuple(groups[~found.violating] for groups in found.groups)), still

    def _rows(self, chosen: Flags) -> int:
        return int(self.patterns.rows[chosen].sum())


def _refuse_step(step: float) -> None:
    if not 0 < step <= 1:
        raise InvalidValue("step must be a share above 0 and at most 1", step, "0.05 lets a round release few rows")
