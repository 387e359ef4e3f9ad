"""What is told about a budget: who spent how much, when, and what is left, in figures and in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from discreet.console.charts import Axis, Line, line_chart
from discreet.curator.amount import amount, as_json, balance
from discreet.privacy.loss import Loss, Pure, ZeroConcentrated
from discreet.service.telling import Balance, Spent

__all__ = ["OWNER", "left_words", "questions_words", "shares", "spending_chart", "spending_words"]

OWNER = "the owner"
"""What the ledger calls nobody: questions without an analyst."""
_MOST_LINES = 5
_MOST_POINTS = 400


def shares(spent: Sequence[Spent]) -> list[tuple[str, Pure | ZeroConcentrated]]:
    """Who raised the loss of the worst-off person by how much, the largest first; together it is all of it."""
    found: dict[str, Any] = {}
    for one in spent:
        name = one.analyst or OWNER
        found[name] = found[name] + one.step if name in found else one.step
    return sorted(found.items(), key=lambda pair: -size_of(pair[1]))


def size_of(loss: Loss) -> float:
    """How much it is, in its own unit."""
    return float(as_json(loss)["amount"])


def spending_chart(spent: Sequence[Spent], cap: Loss, now: datetime | None = None) -> dict[str, Any]:
    """What was spent over time in steps, all together and by those who spent most, up to what was granted."""
    end = (now or datetime.now(UTC)).isoformat(timespec="seconds")
    names = [name for name, _ in shares(spent)]
    lines = [
        _line("all together" if len(names) > 1 else "spent", [(one.time, size_of(one.total)) for one in spent], end)
    ]
    if len(names) > 1:
        for place, name in enumerate(names[:_MOST_LINES], 2):
            lines.append(_line(name, _running(spent, name), end, place))
    unit = as_json(cap)["unit"]
    return line_chart(lines, Axis("", is_time=True), Axis(unit, 0, size_of(cap)), level=size_of(cap))


def _running(spent: Sequence[Spent], name: str) -> list[tuple[str, float]]:
    found, total = [], 0.0
    for one in spent:
        if (one.analyst or OWNER) == name:
            total += size_of(one.step)
            found.append((one.time, total))
    return found


def _line(name: str, points: list[tuple[str, float]], end: str, colour: int = 1) -> Line:
    """A line from nothing, one step for each question, to now."""
    start = [(points[0][0], 0.0)] if points else []
    rest = [(end, points[-1][1])] if points else []
    dash = "solid" if colour == 1 else ("dashed", "dotted")[colour % 2]
    return Line(name, [*start, *_thinned(points), *rest], colour, dash, area=colour == 1, step=True)


def _thinned(points: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """So many of the points as a chart can show, with the last of them."""
    apart = -(-len(points) // _MOST_POINTS) or 1
    return points[(len(points) - 1) % apart :: apart]


def spending_words(spent: Sequence[Spent], granted: Balance, *, is_own: bool) -> str:
    """How many questions took how much, and when the last one was."""
    if not spent:
        return f"No {'question of yours' if is_own else 'question'} has taken anything from {granted.table} yet."
    one, many = ("One of your questions", "of your questions") if is_own else ("One question", "questions")
    count = one if len(spent) == 1 else f"{len(spent):,} {many}"
    last = spent[-1].time[:16].replace("T", " ")
    return (
        f"{count} took {amount(spent[-1].total)} from the people in {granted.table}, of {balance(granted.cap)} that "
        f"may be taken. The last was on {last} UTC."
    )


def left_words(one: Balance) -> str:
    """What is left, in a few words."""
    return f"{balance(one.left)} of {balance(one.cap)}"


def questions_words(more: int | None) -> str:
    """What is left in questions."""
    if more is None:
        return ""
    return f"about {more:,} more like the last one" if more else "none like the last one"
