"""What an ε means as a document: a chapter for each thing to understand, in the order in which they are read.

First what is promised: telling, believing, and what δ adds; then Alice, about whom a study tells without her; then
using a promise: costs, families, many questions, and how good the answers are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from discreet.interpretation.charts import (
    believing_chart,
    guessing_chart,
    laws_chart,
    repeated_chart,
    usefulness_chart,
)
from discreet.interpretation.given import number, share, times
from discreet.privacy.format import shown
from discreet.reports import document as doc

if TYPE_CHECKING:
    from discreet.interpretation.answers import Insurance
    from discreet.interpretation.given import Given
    from discreet.interpretation.person import Believing, Exposure, Group
    from discreet.interpretation.understanding import Understanding

__all__ = ["Chapter", "chapters", "understanding_document"]


@dataclass(frozen=True)
class Chapter:
    """One thing to understand."""

    name: str
    """What it is about, in a word."""
    title: str
    """The title."""
    words: tuple[str, ...]
    """What to read before the table."""
    header: tuple[str, ...]
    """The names of the columns; empty for a column of bars."""
    rows: tuple[tuple[doc.TableCell, ...], ...]
    """The table."""
    notes: tuple[str, ...] = ()
    """What to read after it, if at all."""
    chart: doc.LineChart | None = None
    """What to see before the table."""

    def section(self) -> doc.Section:
        """The chapter as a part of the document; all figures but the first of a row stand right."""
        charts = [] if self.chart is None else [self.chart]
        tables = [doc.TableBlock(self.header, self.rows, self._align())] if self.rows else []
        return doc.Section(self.title, [*map(doc.Paragraph, self.words), *charts, *tables, *map(doc.Quiet, self.notes)])

    def _align(self) -> str:
        return "".join("r" if place and isinstance(cell, str) else "l" for place, cell in enumerate(self.rows[0]))


_ROWS = 9
_LIKELY = 0.1
_SMALL = Fraction(1, 1000)
_TWO_STEPS = (
    "If the promise is about my record being there or not (add-remove-one, the default), this is what they believe "
    "about that. What my record says is then one record out and another one in: two steps, so it is promised what two "
    "people are promised together. If the promise is about my record exchanged for another (replace-one), it holds as "
    "it stands."
)


def _about_two_laws(found: Understanding) -> Chapter:
    """The two laws of a noisy count."""
    laws, count = found.laws, found.laws.without
    factor = times(laws.factor)
    highest = max(laws.chance_without)
    middle, apart = laws.answers.index(count), max(1, len(laws.answers) // _ROWS)
    rows = tuple(
        (
            f"{answer:,}",
            _chance(without_me),
            doc.Meter(without_me / highest, fill="before"),
            _chance(with_me),
            doc.Meter(with_me / highest),
            f"{'÷' if answer <= count else '×'} {factor}",
        )
        for place, (answer, without_me, with_me) in enumerate(
            zip(laws.answers, laws.chance_without, laws.chance_with, strict=True)
        )
        if (place - middle) % apart == 0
    )
    story = (
        f"Somebody asks how many people in the table are ill: {count} without my record, {count + 1} with it. The "
        "answer is that count plus noise, so either table may give any of these answers."
    )
    limit = f"None of them is more than {factor} times (e^ε) likelier or less likely with my record than without it."
    return Chapter(
        "laws",
        "With and without my record",
        (story, limit),
        ("answer", "without me", "", "with me", "", "ratio"),
        rows,
        ("This noise needs no δ.",) if found.given.delta else (),
        laws_chart(found),
    )


def _chance(chance: float) -> str:
    return f"{100 * chance:.0f} %" if chance == 0 or chance >= _LIKELY else f"{100 * chance:.2g} %"


def _about_guessing(found: Understanding) -> Chapter:
    """The best tests."""
    guessing = found.guessing
    rows = tuple(
        (f"{one.false_alarms * 100} of 100", share(one.caught, up=True), doc.Meter(one.caught))
        for one in guessing.detections
    )
    story = (
        "Let an attacker know every other record and compute for as long as they like. They see the answer and say "
        "whether my record was used; both are equally likely beforehand."
    )
    limit = f"A coin is right 50 % of the time. The best attacker is right at most {share(guessing.accuracy, up=True)}."
    return Chapter(
        "guessing",
        "Can anybody tell whether my record was used?",
        (story, limit, "An attacker who will not accuse many people wrongly finds no more than these:"),
        ("accused wrongly", "found, at most", ""),
        rows,
        chart=guessing_chart(found),
    )


def _about_believing(found: Understanding) -> Chapter:
    """Beliefs before and after."""
    believing = found.believing
    rows = tuple(
        (share(one.before, up=True), share(one.low, up=False), share(one.high, up=True), doc.Meter(one.high, one.low))
        for one in believing.beliefs
    )
    story = (
        "Somebody who knows every other record thinks something about me, with the probability on the left. "
        f"{_movement(believing)} This is where they can end up:"
    )
    is_limited = believing.factor is not None
    rare = ("The rare answers that are left out may prove anything about me.",) if believing.exception else ()
    return Chapter(
        "believing",
        "What can they believe about me afterwards?",
        (story,),
        ("before", "at least", "at most", ""),
        rows,
        (*rare, _TWO_STEPS) if is_limited else (),
        believing_chart(found),
    )


def _movement(believing: Believing) -> str:
    if believing.factor is None:
        return "With a δ as large as this one, an answer may prove anything about me."
    limit = f"the odds by at most {times(believing.factor)} times, up or down."
    if not believing.exception:
        return f"Whatever the answer is, it moves {limit}"
    return f"But for rare answers, with a probability of at most {_small(believing.exception)}, it moves {limit}"


def _about_costs(found: Understanding) -> Chapter:
    """What taking part may cost."""
    stake = found.costs.stake
    rows = tuple(
        (
            share(one.without_me, up=True),
            share(one.low, up=False),
            share(one.high, up=True),
            doc.Meter(one.high),
            f"{ceil(one.without_me * stake):,}",
            f"{ceil(one.high * stake):,}",
        )
        for one in found.costs.events
    )
    story = (
        "The answer may lead to something bad for me: a refused loan, a higher premium. Say that it has a certain "
        f"chance without my record, and costs {stake:,}. With my record the chance, and the cost on average, become:"
    )
    return Chapter(
        "costs",
        "What may taking part cost me?",
        (story,),
        ("chance without me", "with me, at least", "at most", "", "cost without me", "with me, at most"),
        rows,
    )


def _about_delta(found: Understanding, exposure: Exposure) -> Chapter:
    """What δ adds."""
    n, delta = found.given.n, shown(found.given.delta, 3)
    story = (
        f"ε says nothing about what happens with probability δ. A mechanism that publishes every record in the clear "
        f"with probability {delta} keeps this promise. In a table of {n:,} people it publishes "
        f"{shown(exposure.expected, 3)} records on average, and at least one with probability {_small(exposure.any)}."
    )
    advice = (
        "That is too much: choose a δ far below 1 divided by the number of people."
        if not exposure.is_rare
        else "A δ far below 1 divided by the number of people, as this one is, keeps that unlikely."
    )
    return Chapter("delta", f"What does δ = {delta} add?", (story, advice), (), ())


def _small(chance: Fraction) -> str:
    """A probability that may be too small for a percentage, rounded up."""
    return share(chance, up=True) if chance >= _SMALL else shown(chance, 2)


def _about_groups(found: Understanding) -> Chapter:
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


def _group_row(one: Group, own: int, with_delta: bool) -> tuple[doc.TableCell, ...]:
    mine = " (yours)" if one.size == own and own > 1 else ""
    return (
        f"{one.size:,}{mine}",
        shown(one.epsilon),
        *((shown(one.delta, 3),) if with_delta else ()),
        f"{times(one.factor)} times",
        share(one.accuracy, up=True),
        doc.Meter(one.accuracy),
    )


def _about_repeated(found: Understanding) -> Chapter:
    """Many answers."""
    rows = tuple(
        (share(one.accuracy, up=True), doc.Meter(one.accuracy), f"{one.by_adding:,}", f"{one.at_worst:,}")
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
        repeated_chart(found),
    )


def _about_usefulness(found: Understanding) -> Chapter:
    """Errors of answers."""
    useful, n = found.usefulness, found.given.n
    rows = tuple(
        (one.question, f"± {number(one.within)}", _part(one.share), doc.Meter(min(one.share, 1.0)))
        for one in useful.central
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
        usefulness_chart(found),
    )


def _part(value: float) -> str:
    return f"{number(100 * value)} %"


_TEACHES = Fraction(1, 100)
"""A belief that moved by less than one in a hundred has not moved, as people see it."""


def _about_insurance(found: Understanding) -> Chapter:
    """What is learned about Alice with and without Alice."""
    one = found.insurance
    story = (
        f"Alice smokes. Her insurer wonders whether smoking harms: if it does, {share(one.harmful, up=True)} of "
        f"smokers fall ill, otherwise {share(one.harmless, up=True)}; both seem equally likely. A study of "
        f"{one.smokers} smokers publishes its count of the ill with noise of this ε: {one.published}. How likely does "
        f"the insurer now think that Alice falls ill, and what is a fair premium if the illness costs {one.cost:,}?"
    )
    bound = (
        f"For every insurer and every answer, beliefs with and without her record are within {times(one.bound)} times "
        f"(e^2ε) of each other; here, within {times(one.apart)}."
    )
    informed = (
        "The last two rows are an insurer who knows every other record. What is left to learn is Alice's own record, "
        "and that is what ε limits."
    )
    notes = [_lesson(one), informed, bound]
    if found.given.delta:
        notes.append("That bound is for δ = 0, which this count keeps. With δ above 0 it can fail for rare answers.")
    return Chapter(
        "insurance",
        "Smoking and cancer: what is learned about Alice without Alice",
        (story,),
        ("what the insurer thinks", "Alice falls ill", "", "premium"),
        tuple(_rows(one)),
        tuple(notes),
    )


def _rows(one: Insurance) -> list[tuple[doc.TableCell, ...]]:
    return [
        _row("before the study", one.before, one.cost),
        _row("after it, without her record", one.without_her, one.cost),
        _row("after it, with her record", one.with_her, one.cost),
        _row("knowing all others: without hers", one.informed, one.cost),
        (
            "knowing all others: with hers",
            f"{share(one.informed_low, up=False)} to {share(one.informed_high, up=True)}",
            doc.Meter(one.informed_high, one.informed_low),
            _premium(one.informed_high, one.cost),
        ),
    ]


def _row(name: str, belief: Fraction, cost: int) -> tuple[doc.TableCell, ...]:
    return name, share(belief, up=True), doc.Meter(belief), _premium(belief, cost)


def _premium(belief: Fraction, cost: int) -> str:
    return f"{ceil(belief * cost):,}"


def _lesson(one: Insurance) -> str:
    if abs(one.without_her - one.before) < _TEACHES:
        return f"At this ε the noise hides what smoking does: {one.smokers} people are too few to learn it from."
    return (
        "The premium rises although Alice's record was not used: the study teaches what smoking does, which is what "
        "studies are for. No promise about her record could prevent that."
    )


_INTRODUCTION = (
    "A record is what a table holds about one person. Answers come with noise, and ε limits how much any answer may "
    "depend on any one record: the smaller, the safer, and the noisier."
)
_WORST_CASE = (
    "It holds for every attacker, whatever they know. It is about one answer: what counts for me is the sum of the ε "
    "of all answers about me."
)
_HOW_ROUNDED = (
    "Chances and factors are exact or rounded towards more danger; premiums and costs are rounded up; chances of "
    "single answers and errors are rounded to the nearest digit."
)


_TONES: dict[str, doc.Tone] = {
    "strong": "good",
    "moderate": "fair",
    "limited": "fair",
    "weak": "bad",
    "next to none": "bad",
}


def _title(given: Given) -> str:
    """The promise in a line."""
    loss = f"ε = {shown(given.epsilon)}"
    return (
        f"What {loss} and δ = {shown(given.delta)} mean for one person"
        if given.delta
        else f"What {loss} means for one person"
    )


def understanding_document(found: Understanding) -> doc.Document:
    """The verdict, and one chapter below the other."""
    name = found.verdict.name
    blocks: list[doc.DocumentBlock] = [
        doc.Paragraph(_INTRODUCTION),
        doc.Alert(f"{found.verdict.words} {_WORST_CASE}", f"Protection: {name}", _TONES[name]),
        *(chapter.section() for chapter in chapters(found)),
        doc.Quiet(_HOW_ROUNDED),
    ]
    return doc.Document(_title(found.given), blocks)


def chapters(found: Understanding) -> list[Chapter]:
    """The chapters; one about δ where there is one."""
    return [
        _about_two_laws(found),
        _about_guessing(found),
        _about_believing(found),
        *([] if found.exposure is None else [_about_delta(found, found.exposure)]),
        _about_insurance(found),
        _about_costs(found),
        _about_groups(found),
        _about_repeated(found),
        _about_usefulness(found),
    ]
