"""Exact answers, except where a history of all answers says that one more would disclose something.

*Counts.* What decides is linear algebra over everybody's secret. The unknowns are x(i, s), 1 where person i has secret
s and 0 elsewhere, for all secrets but one, whose x is one minus the others. A count is a known number plus a sum of
unknowns with weights 1, 0 or −1. The counts that were told are a system of equations; what it determines, over the
rationals, are the combinations of its rows. So a count is refused where with it some combination has weights on one
person only.

Claim. Let R be the reduced row echelon form of all rows. Some combination of rows has weights on person i only, and not
all zero, if and only if the rows of R with pivots among the unknowns of i are linearly dependent outside of them.

Proof. A combination of rows of R has at every pivot the coefficient of that row. If it is zero outside of i, only rows
with pivots in i take part, and outside of i they add up to zero. The other way round, rows that are independent never
add up to zero as a whole, so that what is left is on i. ∎

What this does not see. It decides from questions alone, so refusals tell nothing, and it takes the unknowns for any
numbers: a count that happens to be zero, or the whole group, discloses everybody in it and passes. To see that for yes
and no is to solve whether a system of equations has one solution in zeros and ones for somebody, which is hard for
coNP (Kleinberg, Papadimitriou and Raghavan 2000). And the work grows with the square of what was told, so there is a
limit after which everything new is refused.

The arithmetic is modulo the prime 2^31 − 1. It says the same as the rationals unless the prime divides a minor of the
rows by accident. People who were treated alike by everything that was told share their unknowns, and so do secrets.

*Greatest values.* Whether the greatest value of a group may be answered follows from the answers before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.attacks.algebra.maxima import Maxima
from discreet.attacks.attack import Counts, Defence, View
from discreet.attacks.defences.interactive import ExactView
from discreet.attacks.people import Codes, People
from discreet.attacks.queries import Part, TableQuery
from discreet.noise.experiment import Chance

__all__ = ["AuditedView", "CountAuditor", "MaxAuditor", "QueryAuditing"]


_PRIME = 2**31 - 1
_MOST_ENTRIES = 2**18


@dataclass
class CountAuditor:
    """Refuses what would determine something about one person."""

    people: int
    """How many people there are."""
    secrets: int
    """How many secrets there are."""
    most_entries: int = _MOST_ENTRIES
    """How many coefficients the equations may have before everything new is refused."""
    kind_of: Codes = field(init=False)
    """For every person the number of those who were treated alike."""
    first: Codes = field(init=False)
    """For every kind of people one of it."""
    class_of: Codes = field(init=False)
    """For every secret the number of those that were treated alike; 0 are those whose x is one minus the others."""
    rows: Codes = field(init=False)
    """What was told, in reduced row echelon form: equations down, kinds of people and classes of secrets across."""
    pivots: Codes = field(init=False)
    """For every equation the column of its pivot."""

    def __post_init__(self) -> None:
        self.kind_of, self.first = np.zeros(self.people, np.int64), np.zeros(1, np.int64)
        self.class_of = np.zeros(self.secrets, np.int64)
        self.rows, self.pivots = np.zeros((0, 0), np.int64), np.zeros(0, np.int64)

    def allows(self, counted: npt.NDArray[np.bool_], group_of: Codes) -> bool:
        """Whether a count may be told; if so, it is remembered.

        ``counted`` says whether each person would be counted with each group of secrets, people down and groups across;
        ``group_of`` says the group of every secret.
        """
        class_of, example = _classes(self.class_of, _alike(counted)[group_of])
        by_class = counted[:, group_of[example]].astype(np.int64)
        weights = by_class[:, 1:] - by_class[:, :1]
        if self._follows(weights):
            return True
        if self._is_too_long(len(self.first), len(example)):
            return False
        kind_of, first = _kinds(self.kind_of, weights)
        if self._is_too_long(len(first), len(example)):
            return False
        rows, pivots = self._spread(self.kind_of[first], self.class_of[example])
        rows, pivots = _join(rows, pivots, _reduce(weights[first].ravel() % _PRIME, rows, pivots))
        if _discloses(rows, pivots, np.bincount(kind_of)):
            return False
        self.kind_of, self.first, self.class_of, self.rows, self.pivots = kind_of, first, class_of, rows, pivots
        return True

    def _follows(self, weights: Codes) -> bool:
        """Whether it is a combination of what was told, or of nothing; so it tells nobody apart who was not before."""
        of_kinds = weights[self.first]
        if of_kinds.size != self.rows.shape[1] or not np.array_equal(of_kinds[self.kind_of], weights):
            return False
        return not _reduce(of_kinds.ravel() % _PRIME, self.rows, self.pivots).any()

    def _is_too_long(self, kinds: int, classes: int) -> bool:
        return (len(self.rows) + 1) * kinds * (classes - 1) > self.most_entries

    def _spread(self, kinds: Codes, classes: Codes) -> tuple[Codes, Codes]:
        """The rows and their pivots over finer kinds and classes, which were these.

        It is a reduced row echelon form again: the first column that was a pivot's is the pivot's, and there only its
        row is not zero, as before. What was of class 0 has no weight.
        """
        before = int(self.class_of.max())
        old = kinds[:, None] * before + classes[1:] - 1
        is_weighted = np.broadcast_to(classes[1:] > 0, old.shape).ravel()
        rows = np.zeros((len(self.rows), old.size), np.int64)
        rows[:, is_weighted] = self.rows[:, old.ravel()[is_weighted]]
        place = np.full(self.rows.shape[1], old.size)
        np.minimum.at(place, old.ravel()[is_weighted], np.flatnonzero(is_weighted))
        return rows, place[self.pivots]


def _discloses(rows: Codes, pivots: Codes, sizes: Codes) -> bool:
    """Whether a combination of rows is about one person. People who are treated alike protect each other."""
    owner_of = np.arange(rows.shape[1]) // (rows.shape[1] // len(sizes))
    owner = owner_of[pivots]
    outside = np.where(owner_of == owner[:, None], 0, rows)
    is_alone = sizes[owner] == 1
    if (is_alone & ~outside.any(axis=1)).any():
        return True
    several = np.flatnonzero(np.bincount(owner[is_alone], minlength=len(sizes)) > 1)
    return any(_are_dependent(outside[owner == kind]) for kind in several)


def _alike(counted: npt.NDArray[np.bool_]) -> Codes:
    """For every column a number, the same for equal ones."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(column.tobytes(), len(numbers)) for column in np.packbits(counted, axis=0).T])


def _classes(class_of: Codes, pattern_of: Codes) -> tuple[Codes, Codes]:
    """Finer classes, which also keep other patterns apart, and for each a secret; 0 is a part of what 0 was."""
    joint_class = class_of * (int(pattern_of.max()) + 1) + pattern_of
    _, example, finer = np.unique(joint_class, return_index=True, return_inverse=True)
    return finer, example


def _kinds(kind_of: Codes, weights: Codes) -> tuple[Codes, Codes]:
    """Finer kinds, which also treat alike what the weights do; and for each the first person of it."""
    first = np.zeros(0, np.int64)
    for column in weights.T[weights.any(axis=0)]:
        _, first, kind_of = np.unique(kind_of * 3 + column + 1, return_index=True, return_inverse=True)
    return kind_of, first


def _reduce(row: Codes, rows: Codes, pivots: Codes) -> Codes:
    """The row without what the other rows say."""
    factors = row[pivots]
    used = np.flatnonzero(factors)
    taken = (factors[used, None] * rows[used] % _PRIME).sum(axis=0)
    return np.asarray((row - taken) % _PRIME)


def _join(rows: Codes, pivots: Codes, new: Codes) -> tuple[Codes, Codes]:
    """The reduced row echelon form with one row more, which is reduced and not zero."""
    pivot = int(np.flatnonzero(new)[0])
    new = new * pow(int(new[pivot]), -1, _PRIME) % _PRIME
    cleared = (rows - rows[:, pivot, None] * new % _PRIME) % _PRIME
    return np.vstack([cleared, new]), np.append(pivots, pivot)


def _are_dependent(rows: Codes) -> bool:
    found, pivots = np.zeros((0, rows.shape[1]), np.int64), np.zeros(0, np.int64)
    for row in rows:
        rest = _reduce(row, found, pivots)
        if not rest.any():
            return True
        found, pivots = _join(found, pivots, rest)
    return False


@dataclass
class MaxAuditor:
    """Refuses what would make somebody's value certain.

    The naive one computes the true answer and refuses where *it* would do so. Then the refusal says something about the
    truth. The simulatable one (Kenthapadi, Mishra and Nissim 2005) refuses where *some* answer that is possible would
    do so: anybody can work out beforehand what it will refuse, so its refusals say nothing. The price is what it
    refuses. Where values have a known least one, that is everything: any group might have it, all of them. Auditors in
    papers take values for real numbers, and then a first question about two people is answered.
    """

    people: int
    """How many people there are."""
    values: int
    """How many values there are: 0, 1, and so on."""
    is_simulatable: bool
    """Whether it decides without looking at the true answer."""
    lowest: int | None = 0
    """The least value; None for an auditor who takes values for real numbers without an end."""
    answered: Maxima = field(init=False)
    """What was answered so far."""

    def __post_init__(self) -> None:
        self.answered = Maxima(self.people)

    def allows(self, group: Codes, truth: int) -> bool:
        """Whether the true answer may be told; if so, it is remembered."""
        if not len(group):
            return True  # that nobody is in it is no secret
        if any(self._discloses(self.answered.with_answer(group, answer)) for answer in self._looked_at(truth)):
            return False
        self.answered = self.answered.with_answer(group, truth)
        return True

    def _looked_at(self, truth: int) -> Sequence[int]:
        """The answers that decide. Real numbers have one more on each side, which stands for all that lie there."""
        if not self.is_simulatable:
            return [truth]
        return range(self.values) if self.lowest is not None else range(-1, self.values + 1)

    def _discloses(self, answered: Maxima) -> bool:
        return answered.is_possible and bool(answered.certain(self.lowest).any())


class QueryAuditing(Defence):
    """An auditor keeps all answers, and refuses a question that would make something certain about one person.

    Counts and greatest values are audited apart from each other; to audit them together is harder still.
    """

    def __init__(self, *, is_simulatable: bool = False) -> None:
        """Say whether greatest values are refused without looking at them."""
        self.is_simulatable = is_simulatable
        self.name = "auditor that does not look" if is_simulatable else "query auditing"
        how = "without looking at the answer" if is_simulatable else "after looking at the answer"
        self.says = f"Answers are exact, and an auditor refuses what would disclose something, {how}."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact answers under audit."""
        return AuditedView(people, self.is_simulatable)


class AuditedView(ExactView):
    """Counts and greatest values as they are, where the auditors allow it."""

    def __init__(self, people: People, is_simulatable: bool) -> None:
        super().__init__(people)
        self.count_auditor = CountAuditor(people.size, len(people.secret.values))
        self.max_auditor = MaxAuditor(people.size, len(people.secret.values), is_simulatable)

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        return [self._count(question) for question in questions]

    def _count(self, question: TableQuery) -> Counts:
        supposed, kind_of = question.supposed(self.people)
        unsure = _unsure(supposed, question.cells)
        allowed = unsure == 0
        for cell in np.flatnonzero(unsure > 1):
            allowed[cell] = self.count_auditor.allows(supposed == cell, kind_of)
        return np.where(allowed, question.counts(self.people), np.nan)

    def _one_greatest(self, group: Part) -> float:
        greatest = super()._one_greatest(group)
        members = np.flatnonzero(group.codes(self.people) == 1)
        return greatest if self.max_auditor.allows(members, int(greatest)) else np.nan


def _unsure(supposed: Codes, cells: int) -> Codes:
    """For every cell how many people are in it with some secrets and not with others."""
    varied = np.sort(supposed[(supposed != supposed[:, :1]).any(axis=1)], axis=1)
    is_new = np.diff(varied, axis=1, prepend=-1) != 0
    return np.bincount(varied[is_new], minlength=cells)
