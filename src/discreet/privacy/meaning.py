"""What a loss means to a person who wonders what an attacker could conclude.

Every name is a theorem of the course texts made callable: how far a probability can move (`OddsRatio`), how well
any test can do (`ErrorRegion`), and how far any belief about a person can shift (`Beliefs`).

No promise can keep beliefs from changing: a study that shows what smoking does tells something about every smoker.
What a pure loss does promise holds for every prior: beliefs end up almost the same whether or not my record was used.

>>> prior = Beliefs({"smoker": "1/2", "nonsmoker": "1/2"})
>>> told_truth = prior.after({"smoker": Fraction(3, 4), "nonsmoker": Fraction(1, 4)})
>>> float(told_truth["smoker"])
0.75
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Generic, TypeVar

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import Ball, ball, working_precision
from discreet.exact.rational import Number, positive, probability
from discreet.privacy.hypothesis_tests import (
    ErrorRegion,
    OddsRatio,
    Pair,
    Range,
    pinsker_bound,
    possible_probabilities,
    pure_factor,
)
from discreet.privacy.loss import Loss, Pure

__all__ = [
    "Beliefs",
    "ErrorRegion",
    "OddsRatio",
    "Range",
    "pinsker_bound",
    "possible_probabilities",
    "posterior_odds",
    "posterior_range",
    "with_or_without_me",
]


World = TypeVar("World", bound=Hashable)


def posterior_range(prior: Number, loss: Loss | OddsRatio) -> Range:
    """What an attacker who thought "x" with probability ``prior``, and else "x'", can believe after any outcome.

    Pure losses alone: with δ > 0 some outcomes may prove one of the two worlds.
    """
    before = probability(prior, "prior")
    factor = pure_factor(loss)
    return before / (before + factor * (1 - before)), factor * before / (factor * before + 1 - before)


def posterior_odds(prior_odds: Number, loss: Loss | OddsRatio) -> Range:
    """The odds after any outcome: between e^-ε and e^ε times the odds before."""
    before = positive(prior_odds, "prior_odds")
    factor = pure_factor(loss)
    return before / factor, factor * before


def with_or_without_me(loss: Loss | OddsRatio) -> Pure | OddsRatio:
    """For every prior and every outcome, beliefs with my record used and without it are within this loss: 2ε."""
    factor = pure_factor(loss)
    if isinstance(loss, OddsRatio):
        return OddsRatio(factor**2)
    return 2 * (loss if isinstance(loss, Pure) else Pure(loss.epsilon_at(0)))


class Beliefs(Generic[World]):
    """How likely an attacker thinks each possible dataset is, and what an outcome does to that (Bayes' rule)."""

    def __init__(self, prior: Mapping[World, Number]) -> None:
        if not isinstance(prior, Mapping):
            raise InvalidType("a prior must map worlds to probabilities", prior, "{'ill': '1/2', 'healthy': '1/2'}")
        weights = {world: probability(weight, "prior") for world, weight in prior.items()}
        if sum(weights.values()) != 1:
            raise InvalidValue("the prior must sum to 1", str(sum(weights.values())))
        with working_precision():
            self._belief = {world: ball(weight) for world, weight in weights.items()}

    def __getitem__(self, world: World) -> Ball:
        return self._belief[world]

    def __iter__(self) -> Iterator[World]:
        return iter(self._belief)

    def that(self, statement: Callable[[World], bool]) -> Ball:
        """How likely it is that ``statement`` is true, such as "Alice smokes"."""
        with working_precision():
            return sum((belief for world, belief in self._belief.items() if statement(world)), Ball(0))

    def after(self, likelihood: Mapping[World, Ball | Fraction]) -> Beliefs[World]:
        """Beliefs after an outcome, given how likely it is in each world."""
        if not self._belief.keys() <= likelihood.keys():
            raise InvalidValue("the likelihood must be given in every world of the prior", "<fewer worlds>")
        with working_precision():
            weights = {world: belief * ball(likelihood[world]) for world, belief in self._belief.items()}
            total = sum(weights.values(), Ball(0))
            if not total > 0:
                raise InvalidValue("the outcome must be possible in some world of the prior", "<probability 0>")
            updated = Beliefs.__new__(type(self))
            updated._belief = {world: weight / total for world, weight in weights.items()}
            return updated

    def distance(self, other: Beliefs[World]) -> Ball:
        """The least ε with p(E) ≤ e^ε q(E) and q(E) ≤ e^ε p(E) for all statements E.

        Infinite where one of the two excludes a world that the other does not.
        """
        if self._belief.keys() != other._belief.keys():
            raise InvalidValue("two beliefs must be about the same worlds", "<others>")
        return Pair(list(self._belief.values()), [other[world] for world in self._belief]).epsilon()
