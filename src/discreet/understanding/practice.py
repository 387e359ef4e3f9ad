"""The chapters about using a promise: families, many questions, and how good the answers are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.privacy.shown import shown
from discreet.understanding.chapter import Bar, Cell, Chapter
from discreet.understanding.rounding import number, share, times

if TYPE_CHECKING:
    from discreet.understanding.groups import Group
    from discreet.understanding.understanding import Understanding

__all__ = ["about_groups", "about_repeated", "about_usefulness"]


def about_groups(found: Understanding) -> Chapter:
    """The promise to several people."""
    with_delta = bool(found.given.delta)
    words = (
        "ε is promised to one person. Several people together are promised less: the losses add up. So it is with one "
        "person who has several records, where the promise is made to each record."
    )
    return Chapter(
        "groups",
        "My family and I",
        (words,),
        ("people", "ε", *(("δ",) if with_delta else ()), "likelier, at most", "best guess, at most", ""),
        tuple(_group_row(one, found.given.group, with_delta) for one in found.groups),
    )


def _group_row(one: Group, own: int, with_delta: bool) -> tuple[Cell, ...]:
    mine = " (yours)" if one.size == own and own > 1 else ""
    return (
        f"{one.size:,}{mine}",
        shown(one.epsilon),
        *((shown(one.delta, 3),) if with_delta else ()),
        f"{times(one.factor)} times",
        share(one.accuracy, up=True),
        Bar(one.accuracy),
    )


def about_repeated(found: Understanding) -> Chapter:
    """Many answers."""
    rows = tuple(
        (share(one.accuracy, up=True), Bar(one.accuracy), f"{one.by_adding:,}", f"{one.at_worst:,}")
        for one in found.repeated.repetitions
    )
    words = (
        "Every answer about me costs again. How many answers of this ε does it take until the best guess whether my "
        "record was used may be this good?"
    )
    note = (
        "Adding up is how a budget counts: it stops earlier than it must, never later. The last column is the worst "
        "that any mechanism with this ε can do: with fewer answers nobody gets there."
    )
    return Chapter(
        "repeated",
        "Many questions",
        (words,),
        ("right", "", "answers, adding ε up", "answers, at worst"),
        rows,
        (note,),
    )


def about_usefulness(found: Understanding) -> Chapter:
    """Errors of answers."""
    useful, n = found.usefulness, found.given.n
    rows = tuple(
        (one.question, f"± {number(one.within)}", _part(one.share), Bar(min(one.share, 1.0))) for one in useful.central
    )
    count = useful.central[0]
    local = (
        "If there is nobody to trust with the rows, and everybody adds noise before they answer, a count is typically "
        f"off by {number(useful.local)} instead of {number(count.typical)} people."
    )
    drowned = "The noise is as large as the table: this ε is too small for so few people."
    return Chapter(
        "usefulness",
        f"And how good are the answers, with {n:,} {'person' if n == 1 else 'people'}?",
        ("The noise does not grow with the table. So the more people there are, the less it matters:",),
        ("question", "95 % within", "of the whole", ""),
        rows,
        (local, drowned) if count.share >= 1 else (local,),
    )


def _part(value: float) -> str:
    return f"{number(100 * value)} %"
