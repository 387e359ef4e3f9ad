"""A scoreboard as plain data, as JSON can hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.attacks.score import ALARM, Score
from discreet.evidence.proportion import Proportion
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.attacks.board import Cell, Scoreboard

__all__ = ["report_data"]


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
