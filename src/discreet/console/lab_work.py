"""What the lab's own process does: run attacks or an audit, and hand over what people see, cell by cell.

It gets tables that were uploaded or made up, and never opens a curator's folder.
"""

from __future__ import annotations

import tempfile
from typing import Any

from discreet.attacks.board import Cell, scoreboard
from discreet.attacks.catalogue import every_attack, every_defence
from discreet.attacks.hospital import QUASI, SECRET, patients
from discreet.attacks.report_words import MARKS, harm, percent, reading
from discreet.attacks.report_words import headline as headline_of_board
from discreet.audit.audit import audit_case
from discreet.audit.case import Case
from discreet.audit.gallery import BROKEN as EXHIBITS
from discreet.audit.house import house_case
from discreet.audit.report_words import (
    claim_figure,
    confidence_words,
    event_words,
    exact_figure,
    headline,
    observed_figure,
)
from discreet.console.lab_catalogue import BROKEN, CURATOR, MENDED
from discreet.console.lab_wishes import AttackWish, Audited, AuditWish, BoardDone, ShownCell
from discreet.console.separate_work import Said
from discreet.errors import InvalidValue

__all__ = ["run_attacks", "run_audit", "shown_cell"]

_MOST_SECONDS = 600.0


def run_attacks(wish: AttackWish, said: Said) -> BoardDone:
    """Run the attacks; every cell is shown as soon as it is there."""
    tempfile.tempdir = wish.folder  # so that nothing is left behind when this process is ended

    attacks = [one for one in every_attack() if one.name in wish.attacks]
    plain = len(every_defence(()))
    defences = [
        one
        for place, one in enumerate(every_defence(wish.epsilons))
        if (one.name if place < plain else CURATOR) in wish.defences
    ]
    board = scoreboard(
        **_source(wish),
        attacks=attacks,
        defences=defences,
        progress=said,
        seen=lambda cell: said.show(shown_cell(cell)),
    )
    said(1.0, "drawing the page")
    return BoardDone(headline_of_board(board), board.to_html(), board.to_json())


def _source(wish: AttackWish) -> dict[str, Any]:
    """The table, what others know, the secret, and a name."""
    if wish.table is None:
        return {"table": patients(wish.patients), "quasi": QUASI, "secret": SECRET, "name": wish.name}
    if not wish.quasi:
        raise InvalidValue("an attack needs columns that outsiders know", "<no column>", "choose one or more")
    return {"table": wish.table, "quasi": wish.quasi, "secret": wish.secret, "name": wish.name}


def shown_cell(cell: Cell) -> ShownCell:
    """A cell as people see it."""
    said = reading(cell).rstrip(".")
    if cell.score is None or cell.verdict is None:
        return ShownCell(cell.attack, cell.defence, "–", 0.0, f"{said}.", None, None, None)
    score = cell.score
    rates = f"{percent(score.right.rate)} right, where guessing is right {percent(score.baseline.rate)}"
    text = f"{percent(score.right.rate)} {MARKS[cell.verdict]}".rstrip()
    note = f" {score.note}" if score.note else ""
    words = f"{rates}: {said}.{note}"
    sizes = score.right.rate, score.right.interval(), score.baseline.rate
    return ShownCell(cell.attack, cell.defence, text, harm(cell), words, *sizes)


def run_audit(wish: AuditWish, said: Said) -> Audited:
    """Audit one mechanism."""

    def drawn(done: int, total: int) -> None:
        said(done / total, f"{done:,} of {total:,} answers drawn")

    report = audit_case(_case(wish), draws=wish.draws, seconds=_MOST_SECONDS, progress=drawn)
    exact = None if report.exact is None else report.exact.epsilon
    return Audited(
        verdict=str(report.verdict),
        headline=headline(report),
        claim=claim_figure(report.claim),
        claimed=_epsilon(report.claim),
        observed=report.observed_epsilon,
        observed_words=observed_figure(report),
        exact=exact if exact is not None and exact < _ENDLESS else None,
        exact_words=exact_figure(report),
        event="" if report.best is None else event_words(report.best),
        confidence=confidence_words(report),
        inputs=(report.first, report.second),
        laws=tuple((one.outcome, one.first, one.second) for one in report.seen),
        page=report.to_html(),
        data=report.to_json(),
    )


_ENDLESS = 1e6


def _epsilon(claim: Any) -> float | None:
    found = getattr(claim, "epsilon", None)
    return None if found is None else float(found)


def _case(wish: AuditWish) -> Case:

    if wish.kind == BROKEN:
        return next(one.case for one in EXHIBITS if one.name == wish.name)
    if wish.kind == MENDED:
        twins = (one.honest_case for one in EXHIBITS)
        return next(case for case in twins if case is not None and case.name == wish.name)
    return house_case(wish.name, wish.epsilon)
