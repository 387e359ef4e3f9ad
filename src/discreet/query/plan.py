"""The plan of a block: which integers the engine adds up, how far one unit can move them, and the noise they get.

Each row carries a weight so that one unit's rows weigh at most B together: w = min(1, B/n) on a grid, rounded down.
Counts are sums of weights, sums are sums of weight times value, both on integer grids, so that one unit moves a
component by at most B times its bound, whatever the order of the rows and however the rows lie over the groups. The
price is divided between the components before any row is read, and every part of the plan follows from the text, the
policy and the price.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

from discreet.exact.ball import sqrt_down
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.inversion import SMALLEST_SCALE
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.loss import Loss, Pure, ZeroConcentrated
from discreet.privacy.neighbours import Neighbours
from discreet.query.block import Aggregate, AggregateKind, Block
from discreet.query.choice import Choice, choice_of
from discreet.query.component import Component, Fineness, components_of
from discreet.query.domains import Key, domains_of
from discreet.query.refusal import refuse
from discreet.query.relation import Privacy

__all__ = ["BlockPlan", "Noise", "plan_block"]

_WEIGHT_BITS = 16
_TOTAL_BITS = 20
_LEAST_WEIGHT_BITS = 4
_VALUE_BITS = 24
_LARGEST_SCALE = 2**41
"""Noise of a larger scale, added to a sum, could leave 64 bits."""
_CHOICES = (AggregateKind.QUANTILE, AggregateKind.MINIMUM, AggregateKind.MAXIMUM)

Noise = DiscreteLaplace | DiscreteGaussian
Price = Pure | ZeroConcentrated


@dataclass(frozen=True)
class BlockPlan:
    """All that is decided about a block before its rows are read."""

    block: Block
    domains: list[tuple[Key, ...]]
    """For every key, every value it can have."""
    groups: list[tuple[Key, ...]]
    """Every group: all combinations of keys; one without keys."""
    weight: int
    """The weight of a whole row, in integer units."""
    rows_per_unit: int
    """The total weight of a unit, in whole rows."""
    components: list[Component]
    moves: list[int]
    """How far one unit moves each component, over all groups together, in L1 and so in L2."""
    noises: list[Noise]
    """The noise on each component, in its integer units."""
    choices: list[Choice]
    loss: Loss
    """What the block costs."""

    def unit(self, component: Component) -> Fraction:
        """What one integer unit of a component's sum is worth."""
        return component.step**component.power / self.weight

    def parts_of(self, aggregate: Aggregate) -> list[int]:
        """The positions of an aggregate's components: count, sum and sum of squares, as far as it has them."""
        wanted = components_of(aggregate, _fineness(self.block, self.loss, self._parts()))
        return [self.components.index(component) for component in wanted]

    def choice_for(self, aggregate: Aggregate) -> int | None:
        """The position of the choice that answers an aggregate; None where sums do."""
        asked = [choice.aggregate for choice in self.choices]
        return asked.index(aggregate) if aggregate in asked else None

    def _parts(self) -> int:
        return len(self.components) + len(self.choices)


def plan_block(block: Block, price: Price) -> BlockPlan:
    """Divide ``price`` between the components and choices of a block."""
    domains = domains_of(block)
    privacy, (weight, rows) = _privacy(block), _weights(block)
    chosen = [aggregate for aggregate in block.aggregates if aggregate.kind in _CHOICES]
    parts = len(_components(block, lambda _: 1)) + len(chosen)
    share = _share(price, parts)
    components = _components(block, _fineness(block, price, parts))
    moves = [rows * weight * c.largest * _times(privacy, c, block) for c in components]
    noises = [_noise(each, share, price) for each in moves]
    epsilon = share if isinstance(price, Pure) else sqrt_down(8 * share)  # an exponential mechanism is ε²/8-zCDP
    reach = rows * weight * (2 if privacy.neighbours is Neighbours.REPLACE_ONE else 1)
    choices = [choice_of(aggregate, epsilon, reach) for aggregate in chosen]
    groups = list(itertools.product(*domains))
    return BlockPlan(block, domains, groups, weight, rows, components, moves, noises, choices, price)


def _privacy(block: Block) -> Privacy:
    if block.rows.privacy is None:
        raise AssertionError("public rows are not measured")
    return block.rows.privacy


def _weights(block: Block) -> tuple[int, int]:
    """The weight of a row and the rows of a unit. Many rows leave fewer bits for the weight of each."""
    privacy = _privacy(block)
    if privacy.one_row_each:
        return 1, 1
    bits = max(min(_WEIGHT_BITS, _TOTAL_BITS - privacy.rows.bit_length()), _LEAST_WEIGHT_BITS)
    return 2**bits, privacy.rows


def _components(block: Block, fineness: Fineness) -> list[Component]:
    """The components of all aggregates, each once."""
    asked = [aggregate for aggregate in block.aggregates if aggregate.kind not in _CHOICES]
    found = [component for aggregate in asked for component in components_of(aggregate, fineness)]
    return list(dict.fromkeys(found))


def _share(price: Loss, parts: int) -> Fraction:
    size = price.epsilon if isinstance(price, Pure) else price.rho if isinstance(price, ZeroConcentrated) else None
    if size is None:
        raise AssertionError("a block is priced in ε or ρ")
    return size / parts


def _fineness(block: Block, price: Loss, parts: int) -> Fineness:
    """How finely values are read: as fine as the largest noise allows."""
    weight, rows = _weights(block)
    share = _share(price, parts)
    most = _LARGEST_SCALE * (share if isinstance(price, Pure) else sqrt_down(2 * share)) // (2 * weight * rows)

    def bits(power: int) -> int:
        found = min((int(most).bit_length() - 1) // power - 1, _VALUE_BITS)
        if found < 1:
            rule = "the price is too small for this question"
            raise refuse(None, rule, "spend more, or ask for less at once")
        return found

    return bits


def _times(privacy: Privacy, component: Component, block: Block) -> int:
    """Replacing a unit removes its rows and adds others: twice the move, but for one count that stays above zero."""
    if privacy.neighbours is Neighbours.ADD_REMOVE_ONE or (component.is_count and not block.keys):
        return 1
    return 2


def _noise(moves: int, share: Fraction, price: Price) -> Noise:
    variance = Fraction(moves * moves) / (2 * share)
    if (moves > _LARGEST_SCALE * share) if isinstance(price, Pure) else (variance > _LARGEST_SCALE**2):
        raise refuse(None, "the price is too small for this question", "spend more, or ask for less at once")
    if isinstance(price, Pure):
        return DiscreteLaplace(max(moves / share, SMALLEST_SCALE))  # more noise than so high a price needs
    return DiscreteGaussian(variance_parameter=max(variance, SMALLEST_SCALE**2))
