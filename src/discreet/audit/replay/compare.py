"""Two recorded sessions side by side: all but what noise hides must be the same, and that must be near enough.

How much one person changed what noise hides is the exact loss between two measurements of one plan. Noise is drawn from
a known law, so nothing is estimated. A discrete Laplace law of scale s tells integers that lie d apart, in the sum of
absolute differences, with a loss of d/s exactly; a discrete Gaussian one of variance parameter σ² with d²/2σ² in ρ for
the squared Euclidean distance d². A choice in proportion to e^(factor · score) is compared at every value that it can
give; its groups add up in ε, or as ε²/8 in ρ. Several picks cost at most the number of picks times factor times the
spread of the scores' changes, because what is left to pick from is any part of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.replay.session import Session
from discreet.audit.replay.watch import RecordedQuestion, Watched
from discreet.exact.grid import Integers
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.loss import Pure
from discreet.query.aggregates.aggregate import PlannedSelection
from discreet.query.aggregates.quantile import QuantileSelection
from discreet.query.plan.budget_split import get_magnitude
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.plan.top_groups import TopSelection
from discreet.query.run.measure import Measured, NoiseObservation, SelectionObservation

__all__ = [
    "Difference",
    "choice_loss",
    "compared",
    "measured_losses",
    "noise_loss",
    "observed_loss",
    "too_far",
    "wrong_within",
]


Floats = npt.NDArray[np.float64]


def noise_loss(plan: AggregationPlan, first: list[NoiseObservation], second: list[NoiseObservation]) -> Fraction:
    """The loss between the integers of one part: ε under Laplace noise, ρ under Gaussian noise."""
    changes = [_changes(plan, one, other) for one, other in zip(first, second, strict=True)]
    law = first[0].law
    if isinstance(law, DiscreteLaplace):
        return sum(abs(change) for each in changes for change in each) / law.scale
    return sum(change * change for each in changes for change in each) / (2 * law.squared)


def _changes(plan: AggregationPlan, first: NoiseObservation, second: NoiseObservation) -> list[int]:
    """By how much the integer of every group differs."""
    if plan.rule is None:
        return [int(change) for change in (first.exact - second.exact) if change]
    one, other = _by_key(first), _by_key(second)
    # How many people hold a key is known for every key; other integers only for keys that both happened to show.
    keys = one.keys() | other.keys() if first.part == plan.rule.unit_count else one.keys() & other.keys()
    return [one.get(key, 0) - other.get(key, 0) for key in keys]


def _by_key(hidden: NoiseObservation) -> dict[str, int]:
    return dict(zip(map(repr, hidden.groups.tuples()), hidden.exact.tolist(), strict=True))


def choice_loss(first: SelectionObservation, second: SelectionObservation, *, is_pure: bool) -> float:
    """The largest loss over all that a choice can give, added over its groups: in ε, or in ρ.

    An exponential mechanism of ε is ε²/8-zCDP; several picks are as many mechanisms of a part of ε each.
    """
    choice = first.choice
    pairs = _align(first, second)
    if isinstance(choice, TopSelection):
        picks, epsilons = choice.picks, [_picks_loss(choice, one[1], other[1]) for one, other in pairs]
    else:
        picks, epsilons = 1, [_value_loss(choice, one, other) for one, other in pairs]
    return sum(epsilons) if is_pure else sum(picks * (epsilon / picks) ** 2 / 8 for epsilon in epsilons)


Weights = tuple[Integers, Integers]


def _align(first: SelectionObservation, second: SelectionObservation) -> list[tuple[Weights, Weights]]:
    """The weights of groups that are in both, where they differ."""
    if isinstance(first.choice, TopSelection):
        pairs = list(zip(first.weights, second.weights, strict=True))
    else:
        one, other = (dict(zip(map(repr, each.groups.tuples()), each.weights, strict=True)) for each in (first, second))
        pairs = [(one[key], other[key]) for key in one.keys() & other.keys()]
    return [pair for pair in pairs if not all(map(np.array_equal, *pair))]


def _picks_loss(choice: TopSelection, first: Integers, second: Integers) -> float:
    changes = second - first
    return float(choice.picks * choice.factor * int(changes.max() - changes.min()))


def _value_loss(choice: PlannedSelection, first: Weights, second: Weights) -> float:
    one, other = _log_probabilities(choice, first), _log_probabilities(choice, second)
    return float(np.max(np.abs(one - other)))


def _log_probabilities(choice: PlannedSelection, weights: Weights) -> Floats:
    if isinstance(choice, QuantileSelection):
        distances = choice.mechanism.measure_distances(*weights)
        each = [distances[point] for point in range(choice.ends[0], choice.ends[1] + 1)]
        scores = -float(choice.factor / choice.quantile.denominator) * np.asarray(each, np.float64)
    else:
        scores = float(choice.factor) * weights[1].astype(np.float64)
    top = scores.max()
    return np.asarray(scores - top - np.log(np.exp(scores - top).sum()), np.float64)


_ROUNDING = 1e-6
"""The part by which a loss that floats were used for may exceed its share."""
_WORDS = {
    "refusal": "what is refused depends on the rows",
    "plan": "the plan depends on the rows",
    "price": "the price depends on the rows",
    "columns": "the columns of the answer depend on the rows",
    "notes": "the notes on the answer depend on the rows",
    "statements": "the statements that are run depend on the rows",
    "noise": "the law of the noise depends on the rows",
    "choices": "how a value is chosen depends on the rows",
    "groups": "how many groups an answer has depends on the rows",
    "certificate": "what is certified depends on the rows",
    "balance": "what is left of the budget depends on the rows",
    "budget": "what is left of the budget depends on the rows",
    "ledger": "what the ledger holds depends on the rows",
}
_LONGEST = 240


@dataclass(frozen=True)
class Difference:
    """Something that tells two neighbouring tables apart, or does so by more than was declared."""

    question: str
    """The question, or nothing where it concerns the whole session."""
    words: str
    """What is wrong."""
    detail: str
    """What was seen on the two sides."""


def compared(first: Session, second: Session) -> list[Difference]:
    """All differences between two sessions of the same questions."""
    found = []
    for one, other in zip(first.asked, second.asked, strict=True):
        found += [*_fact_differences(one.sql, one.facts, other.facts), *wrong_within(one), *wrong_within(other)]
        found += too_far(one, other)
    return list(dict.fromkeys([*found, *_fact_differences("", first.accounts, second.accounts)]))


def observed_loss(first: RecordedQuestion, second: RecordedQuestion) -> tuple[Fraction, float]:
    """What a question was charged and what one person cost here, in ε, or in ρ where it was priced in ρ."""
    price, was_charged = first.facts["price"]
    observed = [_loss_of(one, other) for one, other in _pairs(first, second)]
    charged = get_magnitude(price) if was_charged else Fraction(0)
    return charged, float(sum(sum(parts.values()) for parts in observed))


# What must be the same.


def _fact_differences(sql: str, first: dict[str, Any], second: dict[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys([*first, *second]):
        one, other = first.get(name), second.get(name)
        if one != other:
            yield Difference(sql, _WORDS[name], f"{_format(name, one, other)} against {_format(name, other, one)}")


def _format(name: str, value: Any, other: Any) -> str:
    """The first thing that differs, where there is a list of things."""
    if value is None:
        return "an answer" if name == "refusal" else "nothing"
    if isinstance(value, list):
        rest = other if isinstance(other, list) else []
        here = [each for k, each in enumerate(value) if k >= len(rest) or each != rest[k]]
        value = here[0] if here else f"{len(value)} of them"
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# What each side must keep on its own.


def wrong_within(asked: RecordedQuestion) -> Iterator[Difference]:
    """What is wrong with a recorded question, whatever its neighbour shows."""
    for statement in asked.read_too_early:
        yield Difference(asked.sql, "rows are read when only a price is asked for", _format("", statement, None))
    if asked.failed:
        yield Difference(asked.sql, "a run over the rows failed, and others might not", str(asked.refusal))
    for watched in asked.measured:
        for released in watched.released:
            yield from _unhidden(asked.sql, watched, released)
        yield from _other_laws(asked.sql, watched)


def _unhidden(sql: str, watched: Watched, released: Measured) -> Iterator[Difference]:
    """Every released integer must be the exact one plus a draw of the noise."""
    for part, sums in enumerate(released.sums):
        for hidden in watched.sums(part):
            noisy = hidden.exact + hidden.noise
            if released.plan.rule is not None:
                by_key = dict(zip(map(repr, hidden.groups.tuples()), noisy.tolist(), strict=True))
                noisy = np.array([by_key.get(key) for key in map(repr, released.groups.tuples())], object)
            if not np.array_equal(noisy, sums[hidden.place]):
                yield Difference(sql, "something is released that is not the exact value plus noise", f"part {part}")
    for chosen in watched.chosen if released.plan.top is None else []:
        if not np.array_equal(chosen.picked, released.chosen[chosen.place]):
            yield Difference(sql, "something is released that was not chosen with noise", f"choice {chosen.place}")


def _other_laws(sql: str, watched: Watched) -> Iterator[Difference]:
    for hidden in watched.hidden:
        planned = watched.plan.parts[hidden.part].noise
        if repr(planned) != repr(hidden.law):
            yield Difference(sql, "the noise is not the planned one", f"{hidden.law!r} instead of {planned!r}")


# How far one person may move what noise hides.


def too_far(first: RecordedQuestion, second: RecordedQuestion) -> Iterator[Difference]:
    """Where one unit moves what noise hides by more than was declared, or costs more than was charged."""
    for one, other in _pairs(first, second):
        shares = _shares(one)
        for name, observed in _loss_of(one, other).items():
            if observed > float(shares[name]) * (1 + _ROUNDING):
                unit = "ε" if isinstance(one.plan.loss, Pure) else "ρ"
                details = f"{name}: {unit} = {observed:.6g}, and {float(shares[name]):.6g} was declared"
                yield Difference(first.sql, "one person moves what noise hides by more than was declared", details)
    if first.refusal is None and second.refusal is None and first.facts["plan"].price is not None:
        claimed, observed = observed_loss(first, second)
        if observed > float(claimed) * (1 + _ROUNDING):
            details = f"{observed:.6g} together, and {float(claimed):.6g} was charged"
            yield Difference(first.sql, "one person costs more than was charged", details)


def measured_losses(first: RecordedQuestion, second: RecordedQuestion) -> list[tuple[Watched, dict[str, float]]]:
    """Per measurement, what the change of one person costs in each of its sums and choices."""
    return [(one, _loss_of(one, other)) for one, other in _pairs(first, second)]


def _pairs(first: RecordedQuestion, second: RecordedQuestion) -> list[tuple[Watched, Watched]]:
    """Measurements of the same shape; where shapes differ, a fact differs as well and says so."""
    pairs = zip(first.measured, second.measured, strict=False)
    return [(one, other) for one, other in pairs if _shape(one) == _shape(other)]


def _shape(watched: Watched) -> tuple[Any, ...]:
    sizes = [(one.part, one.place, watched.plan.rule is not None or len(one.exact)) for one in watched.hidden]
    return watched.plan.rule is None, sizes, [(one.place, type(one.choice)) for one in watched.chosen]


def _shares(watched: Watched) -> dict[str, Fraction]:
    plan = watched.plan
    found = {f"sum {k + 1}": priced.share for k, priced in enumerate(plan.parts)}
    if plan.top is not None:
        return {"choice 1": get_magnitude(plan.loss)}
    return found | {f"choice {k + 1}": share for k, (_, share) in enumerate(plan.shares[len(plan.families) :])}


def _loss_of(first: Watched, second: Watched) -> dict[str, float]:
    """Per sum and choice, what the change of one person costs under the noise that was drawn."""
    plan, found = first.plan, dict[str, float]()
    for k in range(len(plan.parts)):
        sums = first.sums(k), second.sums(k)
        if all(sums):
            found[f"sum {k + 1}"] = float(noise_loss(plan, *sums))
    for one, other in zip(first.chosen, second.chosen, strict=True):
        found[f"choice {one.place + 1}"] = choice_loss(one, other, is_pure=isinstance(plan.loss, Pure))
    return found
