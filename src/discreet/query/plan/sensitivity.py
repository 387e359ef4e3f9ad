"""The plan of a block: which integers the engine adds up, how far one unit can move them, and the noise they get.

Each row carries a weight so that one unit's rows weigh at most B together: w = min(1, B/n) on a grid, rounded down.
Counts are sums of weights, sums are sums of weight times value, both on integer grids, so that one unit moves a part
by at most B times what a row of weight one moves it, whatever the order of the rows and however they lie over the
groups. The price is divided before any row is read, and every part of the plan follows from the text, the policy, the
price and public tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from discreet.engines.duckdb.manifest import Stored
from discreet.engines.value_grid import VALUE_BITS
from discreet.exact.ball import sqrt_down, sqrt_up
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_threshold import KeyThreshold
from discreet.noise.inversion import SMALLEST_SCALE
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours
from discreet.query.aggregates.aggregate import Aggregate, ChosenAggregate, PlannedSelection, SummedAggregate
from discreet.query.aggregates.counts import CountAggregate, UnitCountAggregate
from discreet.query.aggregates.noise_tails import LinearForm, Noise
from discreet.query.aggregates.statistics import DistinctUnits, NoisyStatistic, UnitBounds, WeightBound
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.bind.relation import Privacy
from discreet.query.expressions.expression import get_rows_per_key
from discreet.query.expressions.public_values import Key, ListRows
from discreet.query.parse.places import refuse
from discreet.query.plan.budget_split import Price, get_magnitude, split_price, with_magnitude
from discreet.query.plan.disjoint import find_disjoint_families
from discreet.query.plan.layout import StatisticGroup, share_statistics
from discreet.query.plan.list_groups import Listing
from discreet.query.plan.top_groups import TopSelection, read_top_groups, selection_is_better

__all__ = ["AggregationPlan", "KeyRule", "PricedStatistic", "UnpricedPlan", "calibrate_noise", "lay_out", "plan_block"]


_WEIGHT_BITS = 16
_TOTAL_BITS = 20
_LEAST_WEIGHT_BITS = 4
_LARGEST_SCALE = 2**41
"""Noise of a larger scale, added to a sum, could leave 64 bits."""
_FINEST = int(1 / SMALLEST_SCALE)
"""Noise of a smaller scale than one over this is not drawn."""
_ROW_BITS = 62
"""What one row adds to a sum has no more: a product that left 64 bits would fail by that row."""
_HELD = UnitCountAggregate()
"""How many people hold a key: decides whether a key that is not public is shown."""
_NOT_PUBLIC = (
    "the owner lists keys or bounds for the columns of GROUP BY in the policy; "
    "a table whose budget had delta_for_keys from the start needs none"
)


@dataclass(frozen=True)
class PricedStatistic(NoisyStatistic):
    """A part with its share of the price and the mechanism that releases it."""

    aggregates: tuple[SummedAggregate, ...]
    """What is read from it."""
    share: Fraction
    """Its ε or ρ."""
    max_contribution: int
    """The contribution bound: the total weight of a unit, in whole rows, groups or values."""
    l1_sensitivity: int
    """How far one unit moves its integers, all groups together, in L1."""
    l2_sensitivity_squared: int
    """The square of the L2 sensitivity."""


@dataclass(frozen=True)
class KeyRule:
    """Which of the keys that are not public are shown."""

    unit_count: int
    """The position of the part that counts the units that hold a key."""
    mechanism: KeyThreshold
    """What shows keys, with the noise of that part."""

    @property
    def per_unit(self) -> int:
        """The keys that one unit can hold."""
        return self.mechanism.keys_per_unit

    @property
    def threshold(self) -> int:
        """The least noisy number of people at which a key is shown."""
        return self.mechanism.threshold

    @property
    def delta(self) -> Fraction:
        """The probability that a key of one person alone is shown."""
        return self.mechanism.delta


@dataclass(frozen=True)
class AggregationPlan:
    """All that is decided about a block before its rows are read."""

    block: PrivateAggregation
    listing: Listing | None
    """Every group, one without keys; None when the keys are not public."""
    weight: int
    """The weight of a whole row, in integer units."""
    rows_per_unit: int
    """The total weight of a unit, in whole rows."""
    parts: list[PricedStatistic]
    choices: list[PlannedSelection]
    rule: KeyRule | None
    """Which keys are shown, when they are not public."""
    top: TopSelection | None
    """How the largest groups are chosen, when nothing else is measured."""
    loss: Price
    """What the block costs."""
    families: tuple[tuple[int, ...], ...] = ()
    """Parts by their places, put together where a row counts in one of them at most: they share one share."""
    rows_per_group: int | None = None
    """The total weight of a unit in one group, in whole rows, where that is less."""
    counted: bool = False
    """Whether the engine keeps, as ``_n``, how many rows a unit has in its table; the answer is the same."""
    stored: Mapping[str, Stored] = field(default_factory=dict)
    """What else the engine keeps of the tables, by their folded names; the answer is the same."""
    secret: str = field(default="", repr=False)
    """What units' own orders are hashed with, where the rows are; it is part of no price, record or certificate."""
    earlier: Mapping[str, Stored] | None = None
    """For one period of a series about people, the tables restricted to its earlier periods, by their folded names:
    rows there count first. None for a question, whose rows all count alike."""

    @cached_property
    def groups(self) -> list[tuple[Key, ...]]:
        """The keys of every group; none yet when keys are not public."""
        return [] if self.listing is None else self.listing.tuples()

    @cached_property
    def written(self) -> dict[tuple[object, ...], tuple[str, list[object]]]:
        """The statements that were written for it: each is written once, since a plan never changes."""
        return {}

    @property
    def tables(self) -> frozenset[str]:
        """The tables that are read, protected and public."""
        privacy = self.block.rows.privacy
        return self.block.rows.public | (frozenset() if privacy is None else privacy.tables)

    @property
    def periods(self) -> frozenset[str]:
        """The names of the periods that are read, where a table grows."""
        privacy = self.block.rows.privacy
        return frozenset() if privacy is None else frozenset(name for _, name in privacy.periods)

    @property
    def noises(self) -> list[Noise]:
        """The noise of every part."""
        return [priced.noise for priced in self.parts]

    @property
    def shares(self) -> list[tuple[tuple[Aggregate, ...], Fraction]]:
        """What each share of the price answers, and the share."""
        if self.top is not None:
            return [((self.top.aggregate,), get_magnitude(self.loss))]
        families = [[self.parts[k] for k in family] for family in self.families]
        added = [(sum((one.aggregates for one in family), ()), family[0].share) for family in families]
        return added + [((choice.aggregate,), self._share(choice.epsilon)) for choice in self.choices]

    def _share(self, epsilon: Fraction) -> Fraction:
        return epsilon if isinstance(self.loss, Pure) else epsilon**2 / 8

    @property
    def releases_keys(self) -> bool:
        """Whether noise decides which groups are shown."""
        return self.rule is not None or self.top is not None

    @property
    def delta(self) -> Fraction:
        """The probability of showing the key of one person alone."""
        return Fraction(0) if self.rule is None else self.rule.delta

    def part_of(self, aggregate: Aggregate) -> int | None:
        """The position of the part that an aggregate is read from; None where a choice answers it."""
        return self._parts_of.get(aggregate)

    def choice_of(self, aggregate: Aggregate) -> int | None:
        """The position of the choice that answers an aggregate; None where sums do."""
        return self._choices_of.get(aggregate)

    def form_of(self, aggregate: Aggregate) -> tuple[int, LinearForm] | None:
        """The part and the form of its integers that a count or a sum is; None for what is neither."""
        position = self.part_of(aggregate)
        if position is None or not isinstance(aggregate, SummedAggregate):
            return None
        form = aggregate.form(self.parts[position])
        return None if form is None else (position, form)

    @cached_property
    def _parts_of(self) -> dict[Aggregate, int]:
        return {aggregate: k for k, priced in enumerate(self.parts) for aggregate in priced.aggregates}

    @cached_property
    def _choices_of(self) -> dict[Aggregate, int]:
        return {choice.aggregate: k for k, choice in enumerate(self.choices)}


@dataclass(frozen=True)
class UnpricedPlan:
    """A block before it has a price."""

    block: PrivateAggregation
    listing: Listing | None
    laid: list[StatisticGroup]
    chosen: list[ChosenAggregate]
    public_values: ListRows | None = None
    """What public tables hold."""
    picks: int = 0
    """How many groups are chosen instead, by what the block counts."""

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Parts that share one share of the price, by their places."""
        return tuple(map(tuple, find_disjoint_families([each.part for each in self.laid])))

    @property
    def importances(self) -> list[Fraction]:
        """What `shares` divides a price by: one number per family of parts, then one per choice."""
        if self.picks:
            return [Fraction(1)]
        parts = [max(each.importance, Fraction(1)) for each in self.laid]
        families = [sum((parts[k] for k in family), Fraction(0)) for family in self.families]
        return families + [aggregate.importance for aggregate in self.chosen]


def lay_out(
    block: PrivateAggregation, listing: Listing | None, price: Price, public_values: ListRows | None
) -> UnpricedPlan:
    """The parts and choices that answer a block, given its groups where they are public."""
    if listing is not None and block.top is not None and selection_is_better(block.top, len(listing), price):
        return UnpricedPlan(block, listing, [], [], public_values, block.top)
    chosen = [aggregate for aggregate in block.aggregates if isinstance(aggregate, ChosenAggregate)]
    if listing is not None:
        return UnpricedPlan(block, listing, share_statistics(block.aggregates), chosen, public_values)
    rows = CountAggregate()
    if not _counts_as_one(_privacy(block)) or rows not in block.aggregates:
        asked = [*block.aggregates, *([] if _HELD in block.aggregates else [_HELD])]
        return UnpricedPlan(block, None, share_statistics(asked), chosen, public_values)
    # Where everybody counts as one row, the number of rows is the number of people.
    laid = share_statistics([aggregate for aggregate in block.aggregates if aggregate not in (rows, _HELD)])
    return UnpricedPlan(block, None, [*laid, StatisticGroup(DistinctUnits(None), (_HELD, rows))], chosen, public_values)


def _counts_as_one(privacy: Privacy) -> bool:
    """Whether a person weighs one row in one unlisted group, and so counts there once as a row and as a person."""
    return privacy.one_row_each or privacy.counted_rows == privacy.counted_groups == 1


def plan_block(draft: UnpricedPlan, price: Price, delta: Fraction = Fraction(0)) -> AggregationPlan:
    """Divide ``price`` between the parts and choices of a block; ``delta`` pays for keys that are not public."""
    if draft.picks:
        return _plan_top(draft, price)
    block, privacy = draft.block, _privacy(draft.block)
    if draft.listing is None and not delta:
        raise refuse(block.places[0], "the groups are not public", _NOT_PUBLIC)
    shares = split_price(price, draft.importances)
    parts = _priced_parts(draft, shares, price)
    weight, rows = _weights(privacy)
    in_group = _rows_per_group(block, price)
    reach = (Fraction(rows) if in_group is None else sqrt_up(_squared_rows(draft, price))) * weight * _times(privacy)
    pairs = zip(draft.chosen, shares[len(draft.families) :], strict=True)
    read = draft.public_values
    choices = [_choice(aggregate, with_magnitude(price, share), reach, read, privacy) for aggregate, share in pairs]
    rule = _key_rule(parts, delta) if draft.listing is None else None
    families = draft.families
    return AggregationPlan(block, draft.listing, weight, rows, parts, choices, rule, None, price, families, in_group)


def _priced_parts(draft: UnpricedPlan, shares: list[Fraction], price: Price) -> list[PricedStatistic]:
    """The parts with their shares: those of a family have the same one."""
    found: dict[int, PricedStatistic] = {}
    for family, share in zip(draft.families, shares, strict=False):
        for k in family:
            found[k] = _priced(draft.laid[k], draft, with_magnitude(price, share), is_alone=len(family) == 1)
    return [found[k] for k in range(len(draft.laid))]


def _plan_top(draft: UnpricedPlan, price: Price) -> AggregationPlan:
    """Choose the largest groups, for ``price``; k picks of ε each are kε-private, and k·ε²/8 in ρ."""
    privacy, (weight, rows) = _privacy(draft.block), _weights(_privacy(draft.block))
    share = get_magnitude(price) / draft.picks
    epsilon = share if isinstance(price, Pure) else sqrt_down(8 * share)
    moved, groups = Fraction(rows * weight * _times(privacy)), (draft.picks, len(draft.listing or ()))
    top = read_top_groups(draft.block.aggregates[0], epsilon, moved, groups, privacy.neighbours)
    return AggregationPlan(draft.block, draft.listing, weight, rows, [], [], None, top, price)


def _privacy(block: PrivateAggregation) -> Privacy:
    if block.rows.privacy is None:
        raise AssertionError("public rows are not measured")
    return block.rows.privacy


def _times(privacy: Privacy) -> int:
    """Replacing a unit removes its rows and adds others: twice the move."""
    return 2 if privacy.neighbours is Neighbours.REPLACE_ONE else 1


def _weights(privacy: Privacy) -> tuple[int, int]:
    """The weight of a row and the rows of a unit."""
    return (1, 1) if privacy.one_row_each else (_weight(privacy.counted_rows), privacy.counted_rows)


def _weight(most: int) -> int:
    """The integer units of a whole weight. Many rows leave fewer bits for the weight of each."""
    return int(2 ** max(min(_WEIGHT_BITS, _TOTAL_BITS - most.bit_length()), _LEAST_WEIGHT_BITS))


def _priced(laid: StatisticGroup, draft: UnpricedPlan, price: Price, *, is_alone: bool) -> PricedStatistic:
    privacy, part = _privacy(draft.block), laid.part
    bound = part.bound(_bounds(draft, price))
    scale = part.scale(lambda: _bits(part.degree, bound, price))
    whole = bound.weight * part.whole(scale)
    moves, squared = bound.total * whole, bound.squared * whole**2
    # A single number that only grows with more people stays on one side of what others make it. Of a family, who is
    # replaced leaves one number and may join another.
    is_one_count = is_alone and part.size == 1 and not draft.block.keys and part.degree == 0
    times = 1 if is_one_count else _times(privacy)
    moves, squared = moves * times, squared * times * times
    mechanism = calibrate_noise(moves, squared, price)
    share = get_magnitude(price)
    return PricedStatistic(part, scale, bound.weight, mechanism, laid.aggregates, share, bound.total, moves, squared)


def _bounds(draft: UnpricedPlan, price: Price) -> UnitBounds:
    """What a unit contributes at most. Of different values it shows as many as it has rows, each of them once."""
    privacy = _privacy(draft.block)
    weight, rows = _weights(privacy)
    return UnitBounds(
        rows=WeightBound(weight, rows, _squared_rows(draft, price)),
        groups=_bound_of_groups(privacy, draft),
        values=WeightBound(1, rows, rows * rows),
    )


def _rows_per_group(block: PrivateAggregation, price: Price) -> int | None:
    """The rows of a unit that count in one group, where the policy says fewer than count in all of them.

    Fewer make the squares smaller, and so Gaussian noise alone.
    """
    privacy = _privacy(block)
    stated = [most for key in block.keys if (most := get_rows_per_key(key)) is not None]
    if isinstance(price, Pure) or privacy.one_row_each or not stated:
        return None
    return min(stated) if min(stated) < privacy.counted_rows else None


def _squared_rows(draft: UnpricedPlan, price: Price) -> int:
    """The most that the squares of a unit's rows in each group can add up to.

    At most c in each group and r in all: r/c groups of c have the largest squares, and unlisted groups may be fewer.
    """
    privacy = _privacy(draft.block)
    rows, in_group = _weights(privacy)[1], _rows_per_group(draft.block, price)
    if in_group is None:
        return rows * rows
    return in_group * (rows if draft.listing is not None else min(rows, in_group * privacy.counted_groups))


def _bound_of_groups(privacy: Privacy, draft: UnpricedPlan) -> WeightBound:
    """The weight of a person in a group, and the groups of a person.

    Of keys that are not public a person holds few, by dropping rows: groups_per_unit. Of public groups they are in as
    many as they have rows, or as there are. A person in g groups weighs min(1, l/g) in each: l together, and the
    squares add up to l at most.
    """
    if privacy.one_row_each or not draft.block.keys:
        return WeightBound(1, 1, 1)
    if draft.listing is None:
        return WeightBound(1, privacy.counted_groups, privacy.counted_groups)
    most = max(min(len(draft.listing), privacy.counted_rows), 1)
    return WeightBound(_weight(most), most, most)


def _bits(power: int, bound: WeightBound, price: Price) -> int:
    """How finely values are read: as fine as the largest noise allows, and as a row's weight times its powers fits."""
    share = get_magnitude(price)
    most = (
        _LARGEST_SCALE
        * (share if isinstance(price, Pure) else sqrt_down(2 * share))
        // (4 * bound.weight * bound.total)
    )
    in_word = (_ROW_BITS - bound.weight.bit_length()) // max(power, 1) - 1
    found = min((int(most).bit_length() - 1) // max(power, 1) - 1, VALUE_BITS, in_word)
    if found < 1:
        raise refuse(None, "the price is too small for this question", "spend more, or ask for less at once")
    return found


def calibrate_noise(moves: int, squared: int, price: Price) -> Laplace | Gaussian:
    """What hides a move of so much in L1, and of so much squared in L2, for a share of the price.

    So high a price that its noise would be finer than what is drawn exactly is not spent in full: there is more noise.
    """
    share, is_pure = get_magnitude(price), isinstance(price, Pure)
    if moves > _LARGEST_SCALE * share if is_pure else squared > 2 * _LARGEST_SCALE**2 * share:
        raise refuse(None, "the price is too small for this question", "spend more, or ask for less at once")
    if is_pure:
        return Laplace(min(share, Fraction(moves * _FINEST)), moves)
    rho = min(share, Fraction(squared * _FINEST**2 // 2))
    return Gaussian(rho=rho, squared_sensitivity=squared, integers=True)


def _choice(
    aggregate: ChosenAggregate, price: Price, reach: Fraction, read: ListRows | None, privacy: Privacy
) -> PlannedSelection:
    share = get_magnitude(price)
    epsilon = share if isinstance(price, Pure) else sqrt_down(8 * share)  # an exponential mechanism is ε²/8-zCDP
    return aggregate.select(epsilon, reach, privacy.neighbours, read)


def _key_rule(parts: list[PricedStatistic], delta: Fraction) -> KeyRule:
    held = next(k for k, priced in enumerate(parts) if _HELD in priced.aggregates)
    return KeyRule(held, KeyThreshold(parts[held].mechanism, delta, parts[held].max_contribution))
