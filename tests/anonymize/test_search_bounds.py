"""What an inspection claims about nodes it did not look at is true of them: a wrong bound would prune the optimum."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.equivalence_classes import Patterns
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.loss.search_loss import LOSSES, AdditiveLoss, LossBound, SearchLoss, named_loss, precision_lost
from discreet.anonymize.models.k_anonymity import KAnonymity
from discreet.anonymize.models.l_diversity import EntropyDiversity
from discreet.anonymize.models.model import Model
from discreet.anonymize.recode.lattice import Node
from discreet.anonymize.recode.lattice_node import Inspection, Inspector
from discreet.anonymize.recode.lattice_search import Frontier, SparseFrontier, least_total
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedTable
from tests.anonymize.publishing import Request, loss_of, models_of, requests
from tests.thoroughness import many

TREE = Hierarchy.of([1, 2, 3, 4], [["low", "low", "high", "high"], ["*"] * 4])


def inspector_of(request: Request) -> Inspector:
    coded = CodedTable.of(request.table)
    return Inspector(Patterns.of(coded, request.hierarchies, ("s",)), request.models, request.limit)


def losses_of(request: Request, loss: str) -> dict[Node, float]:
    """The loss of every feasible node, by definition."""
    suppressed = {node: request.suppressed(node) for node in request.nodes()}
    return {node: loss_of(request, node, lost, loss) for node, lost in suppressed.items() if request.is_feasible(lost)}


def assert_sound(request: Request, loss: SearchLoss, truth: dict[Node, float], inspector: Inspector) -> None:
    """Inspect every node alone, and hold all bounds that it raises against the truth."""
    lattice = inspector.patterns.lattice
    for node in request.nodes():
        found = inspector.inspect(node)
        assert found.is_feasible == (node in truth)
        if found.is_feasible:
            assert loss.of(found) == pytest.approx(truth[node], rel=1e-9, abs=1e-9)
        bound = loss.bound(found)
        if found.is_hopeless_below:
            bound = LossBound(math.inf, bound.least_below, bound.least_above)
        frontier, sparse = Frontier(lattice, loss), SparseFrontier(lattice, loss, lambda: False)
        frontier.settle(node, bound)
        sparse.settle(node, bound)
        for other, lost in truth.items():
            if other != node:
                assert frontier.least(other) <= lost + 1e-9 * max(lost, 1), (node, other)
                assert sparse.least(other) == pytest.approx(frontier.least(other), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=many(15, 40), deadline=None)
@given(asked=requests())
@pytest.mark.some(3)
def test_no_bound_exceeds_the_loss(loss: str, asked: Request) -> None:
    inspector = inspector_of(asked)
    named = named_loss(loss, inspector.patterns, asked.hierarchies, None, inspector.least_size)
    assert_sound(asked, named, losses_of(asked, loss), inspector)


@settings(max_examples=many(40, 100), deadline=None)
@given(requests(), st.sampled_from(LOSSES), st.integers(1, 30))
def test_a_bound_by_parts_holds_for_the_whole(request: Request, loss: str, nodes: int) -> None:
    inspector = inspector_of(request)
    named = named_loss(loss, inspector.patterns, request.hierarchies, None, inspector.least_size)
    best = min(losses_of(request, loss).values(), default=math.inf)
    bound = float(named.floor_of(np.array(least_total(inspector, named.terms, lambda: False, nodes))))
    assert bound <= best + 1e-9 * max(best, 1)
    assert named.floor_of(np.array(least_total(inspector, named.terms, lambda: True, nodes))) <= bound


def test_a_bound_by_parts_adds_up() -> None:
    """Two columns that must each be hidden: half of the loss is proved by either alone."""
    tree = Hierarchy.of(list("wxyz"), [["*"] * 4])
    table = pa.table({"a": list("wxyz"), "b": list("zxyw"), "s": [1, 2, 3, 4]})
    request = Request(table, Roles(("a", "b"), ("s",)), {"a": tree, "b": tree}, (KAnonymity(2),), 0)
    inspector = inspector_of(request)
    named = named_loss("normalised", inspector.patterns, request.hierarchies, None, 2)
    assert least_total(inspector, named.terms, lambda: False, nodes=2) == pytest.approx(1.0)


def test_a_part_whose_nodes_are_infeasible_need_not_be_hopeless() -> None:
    """With the other column at the top nothing can be released; at its own values, the second half can."""
    tree = Hierarchy.of(["x", "y"], [["*"] * 2])
    table = pa.table({"a": list("xyy"), "b": list("xxx"), "s": [1, 1, 2]})
    request = Request(table, Roles(("a", "b"), ("s",)), {"a": tree, "b": tree}, (EntropyDiversity("s", 2.0),), 0.7)
    inspector = inspector_of(request)
    named = named_loss("precision", inspector.patterns, request.hierarchies, None, 2)
    assert not inspector.inspect((1, 0)).is_feasible
    assert least_total(inspector, named.terms, lambda: False, nodes=1) == 0
    assert min(losses_of(request, "precision").values()) == pytest.approx(1 / 3)


def assert_lost_below(request: Request, model: Model) -> None:
    """The rows that a class loses at every finer node are no more than those it does lose there."""
    inspector = Inspector(inspector_of(request).patterns, [model], request.limit)
    suppressed = {node: np.array(request.suppressed(node, [model])) for node in request.nodes()}
    for node in request.nodes():
        found = inspector.inspect(node)
        assert found.suppressed == suppressed[node].sum()
        number = _class_of_every_row(request, found)
        for finer in itertools.product(*(range(level + 1) for level in node)):
            lost = np.bincount(number[suppressed[finer]], minlength=len(found.sizes))
            assert np.all(found.lost_below <= lost), (node, finer)


def _class_of_every_row(request: Request, found: Inspection) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    tuples = list(zip(*(groups.tolist() for groups in found.groups), strict=True))
    place = {one: number for number, one in enumerate(tuples)}
    columns = [
        [int(one.levels[level][one.values.index(value)]) for value in request.table[name].to_pylist()]
        for (name, one), level in zip(request.hierarchies.items(), found.node, strict=True)
    ]
    return np.array([place[one] for one in zip(*columns, strict=True)], dtype=np.intp)


@settings(max_examples=many(60, 150), deadline=None)
@given(requests(), models_of("s", TREE))
def test_rows_that_a_model_calls_lost_are_lost_at_every_finer_node(request: Request, model: Model) -> None:
    assert_lost_below(request, model)


@settings(max_examples=many(20, 60), deadline=None)
@given(requests(), models_of("s", TREE))
def test_no_class_below_the_least_size_meets_the_model(request: Request, model: Model) -> None:
    for node in request.nodes():
        cells, lost = request.cells(node), request.suppressed(node, [model])
        assert all(cells.count(cell) >= model.least_size for cell, gone in zip(cells, lost, strict=True) if not gone)


# Planted bugs: the checks above must see them ---------------------------------------------------------------------


@dataclass(frozen=True)
class EntropyCalledMonotone(EntropyDiversity):
    """Claims that a part of a class with too little entropy has too little, which is false."""

    is_monotone_with_suppression: ClassVar[bool] = True
    lost_below = Model.lost_below


class MarginOfAllSuppressed(AdditiveLoss):
    """Takes the rows that are suppressed here for rows that are suppressed at every finer node."""

    def bound(self, inspection: Inspection) -> LossBound:
        suppressed = np.where(inspection.violating, inspection.sizes, 0)
        return LossBound(added_below=float(suppressed @ self._margins(inspection)))


class BoundUpwards(AdditiveLoss):
    """Takes the loss of a node for a bound of the nodes above, though these may suppress less."""

    def bound(self, inspection: Inspection) -> LossBound:
        return LossBound(least_above=self.of(inspection))


def request_of(cells: str, sensitive: list[int], model: Model) -> Request:
    """One column of letters that are all one group at level 1, and nothing at level 2."""
    letters = sorted(set(cells))
    tree = Hierarchy.of(letters, [["some"] * len(letters), ["*"] * len(letters)])
    table = pa.table({"a": list(cells), "s": sensitive})
    return Request(table, Roles(("a",), ("s",)), {"a": tree}, (model,), 0.7)


ONE_HALF_IS_DIVERSE = request_of("xyy", [1, 1, 2], EntropyDiversity("s", 2.0))
COARSER_IS_BETTER = request_of("xxxxyyyzzz", [1] * 10, KAnonymity(4))


def test_the_check_sees_a_model_that_is_wrongly_called_monotone() -> None:
    assert_lost_below(ONE_HALF_IS_DIVERSE, EntropyDiversity("s", 2.0))
    with pytest.raises(AssertionError):
        assert_lost_below(ONE_HALF_IS_DIVERSE, EntropyCalledMonotone("s", 2.0))


@pytest.mark.parametrize(
    ("planted", "request_"), [(MarginOfAllSuppressed, ONE_HALF_IS_DIVERSE), (BoundUpwards, COARSER_IS_BETTER)]
)
def test_the_check_sees_a_wrong_bound(planted: type[AdditiveLoss], request_: Request) -> None:
    inspector, trees = inspector_of(request_), list(request_.hierarchies.values())
    truth = losses_of(request_, "precision")
    assert_sound(request_, AdditiveLoss(precision_lost, inspector.patterns, trees, [1.0]), truth, inspector)
    with pytest.raises(AssertionError):
        assert_sound(request_, planted(precision_lost, inspector.patterns, trees, [1.0]), truth, inspector)
