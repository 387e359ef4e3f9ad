"""What the attacks of a scoreboard do at scale, as charts: more releases, more noise, more published means.

A scoreboard as plain data, as JSON can hold it.

What the terminal and the page both say about a scoreboard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.anonymize.report.format import counted
from discreet.attacks.attack import Attack, Defence, Goal
from discreet.attacks.defences.releases import KAnonymousTable, LDiverseTable, PublishedTable, TCloseTable
from discreet.attacks.linkage.composition import Composed, composition, composition_chart
from discreet.attacks.methods.reconstruction import Reconstruction, phase_change, phase_chart
from discreet.attacks.methods.releases import Intersection
from discreet.attacks.methods.tracing import Tracing, tracing_chart, tracing_curve
from discreet.attacks.people import People
from discreet.attacks.score import ALARM, DefenceVerdict, Score, average_ceiling
from discreet.errors import DiscreetError
from discreet.exact.binomial import Proportion
from discreet.privacy.loss import Pure
from discreet.reports.page import paragraph
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.attacks.board import Cell, Scoreboard

__all__ = [
    "HARMFUL",
    "MARKS",
    "asked_words",
    "charts_of",
    "claims_words",
    "defence_words",
    "harm",
    "headline",
    "interval_words",
    "legend",
    "percent",
    "reading",
    "report_data",
    "source_words",
    "targets_of",
]


_RELEASES = 8
_MOST_PEOPLE = 3000
_REBUILT = (100, 1000)
_TRACED = 100
_ATTRIBUTES = (10, 30, 100, 300, 1000, 3000)


def charts_of(board: Scoreboard) -> list[str]:
    """A drawing, with its words, for every attack on the scoreboard that has one."""
    drawn: Mapping[str, Callable[[Scoreboard], Iterator[str]]] = {
        Intersection.name: _composition,
        Reconstruction.name: _reconstruction,
        Tracing.name: _tracing,
    }
    return [part for attack in board.attacks if attack.name in drawn for part in drawn[attack.name](board)]


def _composition(board: Scoreboard) -> Iterator[str]:
    tables: tuple[PublishedTable, ...] = (KAnonymousTable(2), KAnonymousTable(), LDiverseTable(), TCloseTable())
    people = board.people.take(board.people.numbers[:_MOST_PEOPLE])
    curves = {table.name: found for table in tables if (found := _composed(people, table, board.seed))}
    if curves:
        yield paragraph(
            "Intersection. Every release of this table by itself keeps its rule. The more of them hold the same "
            "person, each time among others, the fewer secrets are in all of the person's classes."
        )
        yield composition_chart(curves)


def _composed(people: People, table: PublishedTable, seed: int) -> Sequence[Composed]:
    """One curve; empty where these people cannot be published so."""
    try:
        return composition(people, table, _RELEASES, seed)
    except DiscreetError:
        return ()


def _reconstruction(board: Scoreboard) -> Iterator[str]:
    yield paragraph(
        "Reconstruction, of made-up bits. Eight questions a person about random halves of the table, with noise on "
        "every answer. While the noise is small beside √n nearly everybody is rebuilt, however many people there are."
    )
    yield phase_chart({people: phase_change(people, seed=board.seed) for people in _REBUILT})


def _tracing(board: Scoreboard) -> Iterator[str]:
    yield paragraph(
        "Tracing, of made-up people. The means of many attributes are published. Once there are more attributes than "
        "people, whoever has a person's attributes can tell whether the person is among them."
    )
    yield tracing_chart({_TRACED: tracing_curve(_TRACED, _ATTRIBUTES, seed=board.seed)})


def report_data(board: Scoreboard) -> dict[str, Any]:
    """Everything a scoreboard says."""
    people = board.people
    return {
        "version": __version__,
        "name": board.name,
        "seed": board.seed,
        "people": people.size,
        "quasi": list(people.quasi),
        "secret": people.secret_name,
        "values": list(people.secret.values),
        "marked": [value for value, is_yes in zip(people.secret.values, people.marked, strict=True) if is_yes],
        "alarm": float(ALARM),
        "attacks": [
            {
                "name": one.name,
                "needs": one.needs,
                "claims": one.claims,
                "goal": one.goal.value,
                "releases": one.releases,
            }
            for one in board.attacks
        ],
        "defences": [
            {"name": one.name, "says": one.says, "promise": None if one.promise is None else str(one.promise)}
            for one in board.defences
        ],
        "cells": [_cell(cell) for cell in board.cells],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "attack": cell.attack,
        "defence": cell.defence,
        "reason": cell.reason,
        "verdict": None if cell.verdict is None else cell.verdict.name.lower(),
        "reading": None if cell.verdict is None else cell.verdict.value,
        "score": None if cell.score is None else _score(cell.score),
        "ceiling": cell.ceiling,
        "seconds": round(cell.seconds, 3),
    }


def _score(score: Score) -> dict[str, Any]:
    return {
        "right": _proportion(score.right),
        "baseline": _proportion(score.baseline),
        "control": _proportion(score.control),
        "claims": _proportion(score.claims),
        "advantage": None if not score.right.trials else score.advantage,
        "beats_guessing": score.beats,
        "asked": score.asked,
        "refused": score.refused,
        "note": score.note,
    }


def _proportion(found: Proportion | None) -> dict[str, Any] | None:
    if found is None or not found.trials:
        return None
    low, high = found.interval()
    return {"hits": found.hits, "of": found.trials, "rate": found.rate, "low": low, "high": high}


MARKS = {
    DefenceVerdict.GUESSING: "",
    DefenceVerdict.CROWD: "~",
    DefenceVerdict.BOUNDED: "≤",
    DefenceVerdict.LEAK: "✗",
    DefenceVerdict.BROKEN: "‼",
}
"""A sign for every verdict."""
HARMFUL = (DefenceVerdict.BOUNDED, DefenceVerdict.LEAK, DefenceVerdict.BROKEN)
"""The verdicts that say that a person's own record was used."""
_SLIGHT = 0.03
_FEWEST = 11
"""Of fewer fair coins all may fall right more often than one time in 2,000."""


def percent(rate: float) -> str:
    """A share without decimals; only all is 100 %.

    >>> percent(0.5), percent(0.9999), percent(1), percent(0.0001)
    ('50 %', '>99 %', '100 %', '<1 %')
    """
    whole = round(100 * rate)
    if rate < 1 and whole == 100:
        return ">99 %"
    return "<1 %" if rate > 0 and whole == 0 else f"{whole} %"


def interval_words(found: Proportion) -> str:
    """Where the true share lies, with confidence 95 %.

    >>> interval_words(Proportion(100, 200))
    '43–57 %'
    """
    low, high = found.interval()
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def harm(cell: Cell) -> float:
    """How much of what guessing leaves open is learned from people's own records; 0 where nothing surely is."""
    if cell.score is None or cell.verdict not in HARMFUL:
        return 0.0
    missed = 1 - cell.score.baseline.rate
    return min(max(cell.score.advantage / missed, 0.0), 1.0) if missed else 0.0


def headline(board: Scoreboard) -> str:
    """The scoreboard in a sentence or two."""
    tried = [cell for cell in board.cells if cell.score is not None]
    leaking = sum(cell.verdict in HARMFUL for cell in tried)
    attacks = counted(len(board.attacks), "attack", "attacks")
    defences = counted(len(board.defences), "defence", "defences")
    attempts = counted(len(tried), "attempt", "attempts")
    return (
        f"{attacks} on {defences} of {board.people.size:,} people. Of {attempts} that could be made, {leaking} learned "
        "something from people's own records."
    )


def defence_words(board: Scoreboard, defence: Defence) -> str:
    """What came of one defence, in a sentence."""
    tried = [cell for attack in board.attacks if (cell := board.cell(attack, defence)).score is not None]
    leaking = [cell for cell in tried if cell.verdict in HARMFUL]
    bound = _bound(defence)
    if not leaking:
        return f"none of {len(tried)} attacks were significantly better than guessing and than on strangers{bound}"
    worst = max(leaking, key=harm)
    count = f"{len(leaking)} of {len(tried)} attacks learned from people's own records"
    return f"{count}; the most was {worst.attack}, {_beside(worst.score)}{bound}"


def _bound(defence: Defence) -> str:
    """The most that a promise allows, for a bit that is as likely as not."""
    if not isinstance(defence.promise, Pure):
        return ""
    most = average_ceiling(float(defence.promise.epsilon), 0.5)
    return f"; by proof, nobody can guess a fair coin more often than {100 * most:.5g} % of the time"


def _beside(score: Score | None) -> str:
    return (
        "" if score is None else f"{percent(score.right.rate)} right where guessing is {percent(score.baseline.rate)}"
    )


def reading(cell: Cell) -> str:
    """The verdict of a cell, or why there is none."""
    return cell.reason if cell.verdict is None else cell.verdict.value


def claims_words(score: Score) -> str:
    """How many claims the attack made, and how many of them are true."""
    return f"{score.claims.hits:,} of {score.claims.trials:,}" if score.claims.trials else "none"


def asked_words(score: Score) -> str:
    """How many questions were asked, and how many of them were refused."""
    if not score.asked:
        return "none"
    return f"{score.asked:,}" + (f", {score.refused:,} refused" if score.refused else "")


def legend(*boards: Scoreboard) -> list[tuple[str, str]]:
    """What every sign on these scoreboards means."""
    cells = [cell for board in boards for cell in board.cells]
    seen = {cell.verdict for cell in cells}
    signs = [(mark, f"{verdict.value}.") for verdict, mark in MARKS.items() if mark and verdict in seen]
    nothing = [("–", "the attack has nothing to work on, or could not be run.")] if None in seen else []
    few = "A sign beside a rate that is no better than guessing: the attack makes few claims, and these are right."
    sure = [("", few)] if any(_is_sure_of_few(cell) for cell in cells) else []
    alone = dict.fromkeys(one.name for board in boards for one in board.attacks if _is_beside_guessing_alone(one))
    words = f"Not tried on people who are not in the table, so that ✗ means better than guessing: {', '.join(alone)}."
    untried = [("", words)] if alone else []
    is_tiny = any(cell.score is not None and cell.score.right.trials < _FEWEST for cell in cells)
    tiny = f"Of fewer than {_FEWEST} people, all guesses may be right by chance: no sign says nothing there."
    few_people = [("", tiny)] if is_tiny else []
    luck = [("", f"A cell gets a sign by chance with a probability of at most 1 in {ALARM.denominator:,}.")]
    plain = [("62 %", "the share of right guesses; without a sign, not significantly better than guessing.")]
    return [*plain, *signs, *nothing, *sure, *untried, *few_people, *luck]


def _is_beside_guessing_alone(attack: Attack) -> bool:
    """Whether what is learned from the crowd is not told apart; who tells members from others learned it of them."""
    return attack.goal is not Goal.MEMBERSHIP and not attack.has_controls


def _is_sure_of_few(cell: Cell) -> bool:
    return cell.verdict in HARMFUL and cell.score is not None and harm(cell) < _SLIGHT


def source_words(board: Scoreboard) -> str:
    """What was attacked, and how to do it again."""
    people = board.people
    yes = ", ".join(value for value, is_yes in zip(people.secret.values, people.marked, strict=True) if is_yes)
    return (
        f"Others know {', '.join(people.quasi)}; the secret is {people.secret_name} with {len(people.secret.values)} "
        f"values. Attacks on one bit ask whether it is {yes}. Seed {board.seed}; the curator's noise is drawn anew in "
        "every run."
    )


def targets_of(board: Scoreboard, attack: Attack) -> int:
    """How many people an attack was about."""
    return max((cell.score.right.trials for cell in board.of(attack) if cell.score is not None), default=0)
