"""What a scoreboard says: as a document for people, and as plain data for programs.

Its charts show what the attacks do at scale: more releases, more noise, more published means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from discreet.reports import document as doc
from discreet.reports.format import counted
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.attacks.board import Cell, Scoreboard

__all__ = [
    "MARKS",
    "board_details",
    "board_document",
    "board_summary",
    "defence_words",
    "harm",
    "headline",
    "interval_words",
    "legend",
    "percent",
    "reading",
    "report_data",
    "source_words",
]


MARKS = {
    DefenceVerdict.GUESSING: "",
    DefenceVerdict.CROWD: "~",
    DefenceVerdict.BOUNDED: "≤",
    DefenceVerdict.LEAK: "✗",
    DefenceVerdict.BROKEN: "‼",
}
"""A sign for every verdict."""
_TONES: dict[DefenceVerdict, doc.Tone] = {
    DefenceVerdict.GUESSING: "good",
    DefenceVerdict.CROWD: "good",
    DefenceVerdict.BOUNDED: "fair",
    DefenceVerdict.LEAK: "bad",
    DefenceVerdict.BROKEN: "worst",
}
_HARMFUL = (DefenceVerdict.BOUNDED, DefenceVerdict.LEAK, DefenceVerdict.BROKEN)
"""The verdicts that say that a person's own record was used."""
_SLIGHT = 0.03
_FEWEST = 11
"""Of fewer fair coins all may fall right more often than one time in 2,000."""
_COLUMNS = ("defence", "", "right", "95 %", "claims", "outside", "ceiling", "questions")
_EXPLAINED = (
    "The bar is how often the attack is right, with its 95 % interval; the line across is guessing without the "
    "release. “Claims” are the true ones of those that the attack made; of other people it guessed. “Outside” is the "
    "same attack on people who are in no release, “ceiling” the most that the promise of a defence allows."
)


def board_document(board: Scoreboard) -> doc.Document:
    """The summary, what the attacks do at scale, and every attack by itself."""
    charts = _charts(board)
    blocks = [*_summary(board), *([doc.Section("The same at scale", charts)] if charts else []), *_details(board)]
    footer = f"Made by Discreet {__version__} with seed {board.seed}. It is for whoever holds the table."
    return doc.Document(f"{board.name}: attacks on every defence", blocks, f"Attacks on {board.name}", footer)


def board_summary(board: Scoreboard) -> doc.Document:
    """The scores, what their signs mean, and what came of every defence."""
    return doc.Document(f"Attacks on {board.name}", _summary(board))


def board_details(board: Scoreboard) -> doc.Document:
    """What every defence does, and every attack by itself: what it needs, what it claims, and every score."""
    return doc.Document("", _details(board))


def _summary(board: Scoreboard) -> list[doc.DocumentBlock]:
    defences = [(one.name, defence_words(board, one)) for one in board.defences]
    return [
        doc.Headline(headline(board)),
        doc.Quiet(source_words(board)),
        doc.Section("Every attack against every defence", [_heat(board), doc.TableBlock((), legend(board), "rl")]),
        doc.Section("What came of every defence", [doc.TableBlock((), defences)]),
    ]


def _heat(board: Scoreboard) -> doc.HeatTable:
    cells = [[_heat_cell(board.cell(attack, defence)) for attack in board.attacks] for defence in board.defences]
    guessing = [
        doc.HeatCell(None, _guessing(board, attack), "Guessing without the release.") for attack in board.attacks
    ]
    names = ["guessing", *(defence.name for defence in board.defences)]
    return doc.HeatTable(names, [attack.name for attack in board.attacks], [guessing, *cells], "right")


def _guessing(board: Scoreboard, attack: Attack) -> str:
    found = next((cell.score for cell in board.of(attack) if cell.score is not None), None)
    return "–" if found is None else percent(found.baseline.rate)


def _heat_cell(cell: Cell) -> doc.HeatCell:
    if cell.score is None or cell.verdict is None:
        return doc.HeatCell(None, "–", cell.reason)
    score = cell.score
    tip = (
        f"{cell.attack} against {cell.defence}: {score.right.hits} of {score.right.trials} right, guessing "
        f"{score.baseline.hits}; {cell.verdict.value}."
    )
    return doc.HeatCell(harm(cell), _right(score, cell.verdict), tip, _TONES[cell.verdict])


def _right(score: Score, verdict: DefenceVerdict) -> str:
    return f"{percent(score.right.rate)} {MARKS[verdict]}".rstrip()


def _details(board: Scoreboard) -> list[doc.DocumentBlock]:
    defences = [(one.name, one.says) for one in board.defences]
    attacks = [doc.Section(attack.name.capitalize(), list(_attack(board, attack))) for attack in board.attacks]
    return [doc.Section("What every defence does", [doc.TableBlock((), defences)]), *attacks]


def _attack(board: Scoreboard, attack: Attack) -> Iterator[doc.DocumentBlock]:
    cells = board.of(attack)
    targets = max((cell.score.right.trials for cell in cells if cell.score is not None), default=0)
    yield doc.Paragraph(f"Needs: {attack.needs}")
    yield doc.Paragraph(f"Claims: {attack.claims} Guessed: {attack.goal.value}, of {targets:,} people.")
    rows = [_row(cell, cell.score, cell.verdict) for cell in cells if cell.score and cell.verdict]
    if rows:
        yield doc.TableBlock(_COLUMNS, rows)
    reasons = {cell.reason: cell.defence for cell in cells if cell.reason}
    yield from (doc.Quiet(f"{defence}: {reason}") for reason, defence in reasons.items())
    words = [
        (cell.defence, _describe_verdict(cell.verdict, cell.score)) for cell in cells if cell.score and cell.verdict
    ]
    if words:
        yield doc.Details("In words", [doc.Quiet(_EXPLAINED), doc.TableBlock((), words)])


def _describe_verdict(verdict: DefenceVerdict, score: Score) -> str:
    return f"{verdict.value[:1].upper()}{verdict.value[1:]}. {score.note}".strip()


def _row(cell: Cell, score: Score, verdict: DefenceVerdict) -> tuple[doc.TableCell, ...]:
    return (
        cell.defence,
        doc.IntervalBar(
            score.right.rate,
            score.right.interval(),
            score.baseline.rate,
            "danger" if verdict in _HARMFUL else "after",
        ),
        doc.Toned(_right(score, verdict), _TONES[verdict]),
        interval_words(score.right),
        _claims_words(score),
        "" if score.control is None else percent(score.control.rate),
        "" if cell.ceiling is None else percent(cell.ceiling),
        _asked_words(score),
    )


_RELEASES = 8
_MOST_PEOPLE = 3000
_REBUILT = (100, 1000)
_TRACED = 100
_ATTRIBUTES = (10, 30, 100, 300, 1000, 3000)


def _charts(board: Scoreboard) -> list[doc.DocumentBlock]:
    """A chart, with its words, for every attack on the scoreboard that has one."""
    drawn: Mapping[str, Callable[[Scoreboard], Iterator[doc.DocumentBlock]]] = {
        Intersection.name: _composition,
        Reconstruction.name: _reconstruction,
        Tracing.name: _tracing,
    }
    return [part for attack in board.attacks if attack.name in drawn for part in drawn[attack.name](board)]


def _composition(board: Scoreboard) -> Iterator[doc.DocumentBlock]:
    tables: tuple[PublishedTable, ...] = (KAnonymousTable(2), KAnonymousTable(), LDiverseTable(), TCloseTable())
    people = board.people.take(board.people.numbers[:_MOST_PEOPLE])
    curves = {table.name: found for table in tables if (found := _compose(people, table, board.seed))}
    if curves:
        yield doc.Paragraph(
            "Intersection. Every release of this table by itself keeps its rule. The more of them hold the same "
            "person, each time among others, the fewer secrets are in all of the person's classes."
        )
        yield composition_chart(curves)


def _compose(people: People, table: PublishedTable, seed: int) -> Sequence[Composed]:
    """One curve; empty where these people cannot be published so."""
    try:
        return composition(people, table, _RELEASES, seed)
    except DiscreetError:
        return ()


def _reconstruction(board: Scoreboard) -> Iterator[doc.DocumentBlock]:
    yield doc.Paragraph(
        "Reconstruction, of made-up bits. Eight questions a person about random halves of the table, with noise on "
        "every answer. While the noise is small beside √n nearly everybody is rebuilt, however many people there are."
    )
    yield phase_chart({people: phase_change(people, seed=board.seed) for people in _REBUILT})


def _tracing(board: Scoreboard) -> Iterator[doc.DocumentBlock]:
    yield doc.Paragraph(
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
    if cell.score is None or cell.verdict not in _HARMFUL:
        return 0.0
    missed = 1 - cell.score.baseline.rate
    return min(max(cell.score.advantage / missed, 0.0), 1.0) if missed else 0.0


def headline(board: Scoreboard) -> str:
    """The scoreboard in a sentence or two."""
    tried = [cell for cell in board.cells if cell.score is not None]
    leaking = sum(cell.verdict in _HARMFUL for cell in tried)
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
    leaking = [cell for cell in tried if cell.verdict in _HARMFUL]
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


def _claims_words(score: Score) -> str:
    """How many claims the attack made, and how many of them are true."""
    return f"{score.claims.hits:,} of {score.claims.trials:,}" if score.claims.trials else "none"


def _asked_words(score: Score) -> str:
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
    return cell.verdict in _HARMFUL and cell.score is not None and harm(cell) < _SLIGHT


def source_words(board: Scoreboard) -> str:
    """What was attacked, and how to do it again."""
    people = board.people
    yes = ", ".join(value for value, is_yes in zip(people.secret.values, people.marked, strict=True) if is_yes)
    return (
        f"Others know {', '.join(people.quasi)}; the secret is {people.secret_name} with {len(people.secret.values)} "
        f"values. Attacks on one bit ask whether it is {yes}. Seed {board.seed}; the curator's noise is drawn anew in "
        "every run."
    )
