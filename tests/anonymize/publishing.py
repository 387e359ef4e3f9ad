"""Small tables to be published, with hierarchies and models drawn at random, and every recoding tried one by one.

The losses are computed here cell by cell in plain Python, from their definitions, and share no code with the search.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.models.disclosure import BetaLikeness, DeltaDisclosure
from discreet.anonymize.models.k_anonymity import AlphaK, KAnonymity
from discreet.anonymize.models.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import ABOUT_CLASSES, models_about
from discreet.anonymize.models.t_closeness import Closeness
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedTable
from tests.anonymize.plain_models import with_parameter

Labels = list[tuple[str, ...]]


@dataclass(frozen=True)
class Request:
    """A table and what is asked of it."""

    table: pa.Table
    roles: Roles
    hierarchies: dict[str, Hierarchy]
    models: tuple[Model, ...]
    suppression: float

    @property
    def rows(self) -> int:
        return self.table.num_rows

    @property
    def limit(self) -> int:
        return math.floor(Fraction(str(self.suppression)) * self.rows)

    def nodes(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*(range(one.height + 1) for one in self.hierarchies.values()))

    def cells(self, node: Sequence[int]) -> Labels:
        """The labels of every row at the levels of ``node``."""
        columns = [
            [
                one.label(level, int(one.levels[level][one.values.index(value)]))
                for value in self.table[name].to_pylist()
            ]
            for (name, one), level in zip(self.hierarchies.items(), node, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def suppressed(self, node: Sequence[int], models: Sequence[Model] | None = None) -> list[bool]:
        """For every row whether its class breaks a model."""
        cells = self.cells(node)
        numbers = {cell: number for number, cell in enumerate(sorted(set(cells)))}
        number = np.array([numbers[cell] for cell in cells], dtype=np.int64)
        classes = EquivalenceClasses(number, np.bincount(number, minlength=len(numbers)))
        table = CodedTable.of(self.table, self.roles.sensitive)
        histograms = {name: classes.histogram(table[name]) for name in self.roles.sensitive}
        broken = np.zeros(classes.count, dtype=bool)
        for model in self.models if models is None else models:
            broken |= model.violating(classes, histograms)
        return [bool(broken[one]) for one in number]

    def is_feasible(self, suppressed: Sequence[bool]) -> bool:
        return sum(suppressed) <= self.limit and sum(suppressed) < self.rows


def best_loss(request: Request, loss: str, weights: Mapping[str, float] | None = None) -> float:
    """The smallest loss of all recodings within the limit; infinite if there is none."""
    losses = [
        loss_of(request, node, suppressed, loss, weights)
        for node in request.nodes()
        if request.is_feasible(suppressed := request.suppressed(node))
    ]
    return min(losses, default=math.inf)


def loss_of(
    request: Request,
    node: Sequence[int],
    suppressed: Sequence[bool],
    loss: str,
    weights: Mapping[str, float] | None = None,
) -> float:
    """The loss of one recoding, by its definition."""
    match loss:
        case "discernibility":
            return float(sum(size**2 for size in _released(request, node, suppressed)) + request.rows * sum(suppressed))
        case "average class size":
            return request.rows / (len(_released(request, node, suppressed)) + any(suppressed))
        case "ambiguity":
            return math.fsum(_ambiguity(request, node, suppressed)) / request.rows
        case "non-uniform entropy":
            return _entropy_loss(request, node, suppressed, weights or {})
    total = sum((weights or {}).get(name, 1.0) for name in request.hierarchies)
    parts = [
        (weights or {}).get(name, 1.0) * math.fsum(_column(request, name, level, suppressed, loss)) / request.rows
        for name, level in zip(request.hierarchies, node, strict=True)
    ]
    return math.fsum(parts) / total


def _released(request: Request, node: Sequence[int], suppressed: Sequence[bool]) -> list[int]:
    pairs = zip(request.cells(node), suppressed, strict=True)
    return list(Counter(cell for cell, is_lost in pairs if not is_lost).values())


def _leaves(request: Request, name: str, level: int) -> list[int]:
    """For every row the leaves that its group in a column has."""
    one = request.hierarchies[name]
    groups = [one.levels[level][one.values.index(value)] for value in request.table[name].to_pylist()]
    return [sum(1 for other in one.levels[level] if other == group) for group in groups]


def _widths(request: Request, name: str, level: int) -> list[float]:
    """For every row the range of the numbers in its group, as a share of that of all; of text, nothing."""
    one = request.hierarchies[name]
    if not isinstance(one.values[0], int):
        return []
    members: dict[int, list[int]] = {}
    for value, group in zip(one.values, one.levels[level].tolist(), strict=True):
        members.setdefault(group, []).append(value)
    whole = (max(one.values) - min(one.values)) or 1
    groups = [int(one.levels[level][one.values.index(value)]) for value in request.table[name].to_pylist()]
    return [(max(members[group]) - min(members[group])) / whole for group in groups]


def _column(request: Request, name: str, level: int, suppressed: Sequence[bool], loss: str) -> Iterator[float]:
    one = request.hierarchies[name]
    domain = len(one.values)
    widths = _widths(request, name, level)
    for row, (leaves, is_lost) in enumerate(zip(_leaves(request, name, level), suppressed, strict=True)):
        if is_lost:
            yield 1.0
        elif loss == "precision":
            yield level / one.height if one.height else 0.0
        elif loss == "ncp" and isinstance(one.values[0], int):
            yield widths[row]
        elif loss == "ncp":
            yield leaves / domain if leaves > 1 else 0.0
        else:
            yield (leaves - 1) / (domain - 1) if domain > 1 else 0.0


def _ambiguity(request: Request, node: Sequence[int], suppressed: Sequence[bool]) -> Iterator[float]:
    shares = [
        [leaves / len(one.values) for leaves in _leaves(request, name, level)]
        for (name, one), level in zip(request.hierarchies.items(), node, strict=True)
    ]
    for row, is_lost in enumerate(suppressed):
        yield 1.0 if is_lost else math.prod(share[row] for share in shares)


def _entropy_loss(
    request: Request, node: Sequence[int], suppressed: Sequence[bool], weights: Mapping[str, float]
) -> float:
    raw, recoded = request.cells([0] * len(node)), request.cells(node)
    lost = most = 0.0
    for column, name in enumerate(request.hierarchies):
        values, groups = [cell[column] for cell in raw], [cell[column] for cell in recoded]
        often, oftener, weight = Counter(values), Counter(groups), weights.get(name, 1.0)
        for value, group, is_lost in zip(values, groups, suppressed, strict=True):
            whole = -math.log2(often[value] / request.rows)
            most += weight * whole
            lost += weight * (whole if is_lost else -math.log2(often[value] / oftener[group]))
    return lost / most if most else 0.0


# Drawing ----------------------------------------------------------------------------------------------------------


@st.composite
def hierarchies_of(draw: st.DrawFn, values: Sequence[str | int]) -> Hierarchy:
    """Values that are joined at random, level after level; not always to one group."""
    numbers, levels = list(range(len(values))), []
    for level in range(draw(st.integers(0, 3))):
        joined = {number: draw(st.integers(0, 2)) for number in sorted(set(numbers))}
        numbers = [joined[number] for number in numbers]
        levels.append([f"{level}-{number}" for number in numbers])
    if draw(st.booleans()):
        levels.append(["*"] * len(values))
    return Hierarchy.of(values, levels)


def models_of(column: str, tree: Hierarchy) -> st.SearchStrategy[Model]:
    """A model with a parameter that small tables can meet, or not."""
    registered = [*ABOUT_CLASSES, *models_about(column, numeric=True)]
    small, shares = st.integers(1, 4), st.floats(0.05, 1.0)
    distances = st.sampled_from(["equal", "ordered", "numeric", tree])
    return st.one_of(
        st.builds(with_parameter, st.sampled_from(registered), st.floats(0.25, 8)),
        st.builds(KAnonymity, small),
        st.builds(DistinctDiversity, st.just(column), st.integers(1, 3)),
        st.builds(EntropyDiversity, st.just(column), st.floats(1.0, 2.5)),
        st.builds(RecursiveDiversity, st.just(column), st.floats(0.5, 4.0), st.integers(1, 3)),
        st.builds(Closeness, st.just(column), st.floats(0.0, 0.6), distances),
        st.builds(AlphaK, st.just(column), shares, small),
        st.builds(DeltaDisclosure, st.just(column), st.floats(0.1, 2.0)),
        st.builds(BetaLikeness, st.just(column), st.floats(0.05, 2.0), st.booleans()),
    )


@st.composite
def requests(draw: st.DrawFn, most_models: int = 3) -> Request:
    """A table with up to three quasi-identifiers and one sensitive column of numbers."""
    rows = draw(st.integers(1, 30))
    columns: dict[str, list[str | int]] = {}
    hierarchies = {}
    for name in ("a", "b", "c")[: draw(st.integers(1, 3))]:
        count = draw(st.integers(1, 5))
        values = (
            [f"{name}{number}" for number in range(count)] if name != "b" else [number**2 for number in range(count)]
        )
        columns[name] = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
        hierarchies[name] = draw(hierarchies_of(values))
    columns["s"] = draw(st.lists(st.integers(1, draw(st.integers(1, 4))), min_size=rows, max_size=rows))
    tree = Hierarchy.of([1, 2, 3, 4], [["low", "low", "high", "high"], ["*"] * 4])
    models = draw(st.lists(models_of("s", tree), min_size=1, max_size=most_models))
    roles = Roles(tuple(hierarchies), ("s",))
    suppression = draw(st.sampled_from([0, 0.02, 0.1, 0.3, 0.5, 1]))
    return Request(pa.table(columns), roles, hierarchies, tuple(models), suppression)
