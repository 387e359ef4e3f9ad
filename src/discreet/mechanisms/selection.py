"""What all choosing mechanisms share: a public list of candidates, a private score for each, one winner.

Scores come as a flat sequence, one per candidate, or as a mapping from candidate to score. The list of candidates is
public and the same for all neighbours; what they score is private.

Orders in which names are listed say nothing about the data.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, Ball, working_precision
from discreet.exact.rational import Number, integer, positive
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.random_privacy import RandomDP, SampledBound
from discreet.noise.law import is_at_least, open_probability
from discreet.noise.race import ScoreLike, Scores
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.loss import Loss, Pure
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["ScoresByName", "Selection", "canonical", "moved_by", "named_once"]


def named_once(things: Iterable[Hashable], name: str, least: int = 1) -> tuple[Hashable, ...]:
    """``things`` as a tuple of at least ``least`` different names."""
    if isinstance(things, (str, bytes)) or not isinstance(things, Iterable):
        raise InvalidType(f"{name} must be a list of names", things, "['yes', 'no'], for example")
    listed = tuple(things)
    try:
        different = len(set(listed))
    except TypeError:
        raise InvalidType(f"{name} must be hashable", "<an unhashable one>", "use tuples for lists") from None
    if len(listed) < least:
        raise InvalidValue(f"{name} must be at least {least}", len(listed))
    if different != len(listed):
        raise InvalidValue(f"{name} must differ from each other", f"<{len(listed) - different} repeated>")
    if any(thing != thing for thing in listed):
        raise InvalidValue(f"{name} must be equal to themselves", "<NaN>", "name missing values in words")
    return listed


def canonical(keys: Iterable[Hashable]) -> list[Any]:
    """The keys in an order that depends on the keys alone: numbers and texts by value, others by type and text."""
    listed = list(keys)
    kinds = {type(key) for key in listed}
    if kinds <= {str} or kinds <= {int}:
        return sorted(listed)
    return sorted(listed, key=lambda key: (type(key).__name__, repr(key)))


Priced = TypeVar("Priced", bound=Loss)

ScoresByName = ScoreLike | Mapping[Any, Number]
"""One score per candidate, in the order of the candidates or by name."""


class Selection(Measurement):
    """A private choice among candidates, where higher scores are likelier."""

    epsilon: Fraction
    """The price of one release."""
    candidates: tuple[Hashable, ...] | None
    """What can be chosen; None where the answer is a position in the list of scores."""
    sensitivity: Fraction
    """How far neighbours can move the score of any one candidate."""
    neighbours: Neighbours | None
    """The relation the sensitivity was proved under, where the caller said it; add-remove-one for monotone scores."""
    monotone: bool
    """Whether neighbours move all scores in the same direction."""
    sampled: SampledBound | None
    """The estimate that stands for a sensitivity; its γ stays in every loss."""
    picks: int = 1
    """How many winners share the price."""

    def __init__(
        self,
        epsilon: Number,
        candidates: Iterable[Hashable] | None = None,
        *,
        sensitivity: Number | Sensitivity | SampledBound = 1,
        monotone: bool = False,
    ) -> None:
        """Choose the price ``epsilon``; without ``candidates`` the answer is a position in the list of scores.

        ``monotone`` is a claim about the data: all scores rise together or fall together between neighbours, as
        counts do when one unit is added or removed. It is false for counts when one unit is replaced, and refused
        with a sensitivity that was proved under replace-one.
        """
        self.epsilon = positive(epsilon, "epsilon")
        self.candidates = None if candidates is None else named_once(candidates, "candidates")
        self.sensitivity, self.neighbours = moved_by(sensitivity, monotone=monotone)
        self.sampled = sensitivity if isinstance(sensitivity, SampledBound) else None
        self.monotone = monotone
        self._check_factor()

    def __repr__(self) -> str:
        shared = f"epsilon={self.epsilon}, sensitivity={self.sensitivity}, monotone={self.monotone}"
        return f"{type(self).__name__}({shared})"

    @property
    def loss(self) -> Pure | RandomDP:
        """Pure ε, whatever the number of candidates; random privacy where the sensitivity was sampled."""
        return self._priced(Pure(self.epsilon, self.neighbours))

    def _priced(self, loss: Priced) -> Priced | RandomDP:
        return loss if self.sampled is None else RandomDP(loss, self.sampled.gamma)

    @cached_property
    def factor(self) -> Fraction:
        """What a score is multiplied by: ε/2Δ for each pick, or ε/Δ for monotone scores."""
        return self.epsilon / (self.picks * self.sensitivity * (1 if self.monotone else 2))

    def _check_factor(self) -> None:
        positive(self.factor, "epsilon / sensitivity")

    @abstractmethod
    def distribution(self, value: ScoresByName) -> FiniteLaw:
        """The exact law of the choice for these scores."""

    def choose(self, data: Any, score: Callable[[Any, Any], Number], *, source: Source = SYSTEM) -> Any:
        """The private choice for ``data``, where ``score(data, candidate)`` says how good a candidate is."""
        if self.candidates is None:
            raise InvalidValue("choose needs candidates", None, "pass candidates= when the mechanism is made")
        return self.release([score(data, candidate) for candidate in self.candidates], source=source)

    def exact_shortfall(self, scores: ScoresByName, confidence: Number = 0.95) -> Fraction:
        """How far the choice may fall behind the best score, with this confidence, exactly, for these very scores.

        It depends on the private scores, so it is for study and must not be released.
        """
        wanted = open_probability(confidence, "confidence")
        names, exact = self._named(scores)
        law = self.distribution(scores)
        ranked = sorted((exact.gap(k), law.mass(name)) for k, name in enumerate(names))
        within = Ball(0)
        for gap, mass in ranked:
            with working_precision(2 * BITS):
                within += mass
            if is_at_least(lambda total=within: total, wanted):  # type: ignore[misc]
                return gap
        return ranked[-1][0]

    def _named(self, scores: ScoresByName) -> tuple[Sequence[Hashable], Scores]:
        """The candidates and their scores, checked, in the order of the candidates."""
        if isinstance(scores, Mapping):
            return self._by_name(scores)
        exact = Scores(scores)
        names = range(len(exact)) if self.candidates is None else self.candidates
        if len(names) != len(exact):
            raise InvalidValue(f"scores must hold one number for each of {len(names)} candidates", len(exact))
        self._check_sampled(len(exact))
        return names, exact

    def _check_sampled(self, scores: int) -> None:
        if self.sampled is not None and scores != self.sampled.dimension:
            raise InvalidValue(f"the scores must be {self.sampled.dimension} numbers, as sampled", scores)

    def _by_name(self, scores: Mapping[Any, Number]) -> tuple[Sequence[Hashable], Scores]:
        # The order of a mapping can be that of the rows it was counted from, and ties go to the first.
        names = tuple(canonical(scores)) if self.candidates is None else self.candidates
        if set(names) != scores.keys():
            rule = "scores must name the declared candidates, all of them and no others"
            raise InvalidValue(rule, f"<{len(scores)} names>", "the list of candidates is public: fix it beforehand")
        self._check_sampled(len(names))
        return names, Scores([scores[name] for name in names])

    def _count(self, candidates_count: int | None) -> int:
        """How many candidates a bound is for: the declared ones, unless the caller says."""
        if candidates_count is not None:
            return integer(candidates_count, "candidates_count", least=self.picks)
        if self.candidates is None:
            rule = "the bound depends on the number of candidates, which was not declared"
            raise InvalidValue(rule, None, "pass candidates_count=")
        return len(self.candidates)


def moved_by(sensitivity: Number | Sensitivity | SampledBound, *, monotone: bool) -> tuple[Fraction, Neighbours | None]:
    """How far one score moves, and under which relation; replacing one unit moves scores both ways.

    The move of one score is at most the move of all of them in any norm, so every norm will do.
    """
    if not isinstance(monotone, bool):
        raise InvalidType("monotone must be True or False", monotone)
    relation = None
    if isinstance(sensitivity, (Sensitivity, SampledBound)):
        relation, sensitivity = sensitivity.neighbours, sensitivity.value
    if monotone and relation is Neighbours.REPLACE_ONE:
        rule = "monotone needs neighbours that move all scores in one direction, as when one unit joins or leaves"
        raise InvalidValue(rule, str(relation), "leave monotone out, or prove the sensitivity under add-remove-one")
    return positive(sensitivity, "sensitivity"), Neighbours.ADD_REMOVE_ONE if monotone else relation
