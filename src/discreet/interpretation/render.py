"""What an ε means, as a page that stands alone.

What an ε means, in the terminal.

What an ε means, as plain data that JSON can hold.

Names and nesting are stable: a change of meaning changes ``version``. Probabilities are floats rounded to the side of
more danger. A factor too large for a float is null; its words are there all the same.

The charts of the chapters.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from discreet.interpretation.chapters import (
    HOW_ROUNDED,
    INTRODUCTION,
    WORST_CASE,
    Bar,
    Cell,
    Chapter,
    chapters,
    title,
    verdict_words,
)
from discreet.interpretation.given import float_down, float_up, times
from discreet.reports.charts import meter
from discreet.reports.line_chart import Series, line_chart
from discreet.reports.page import footer, headline, page, paragraph, quiet, section, table, warning

if TYPE_CHECKING:
    from discreet.interpretation.answers import Insurance
    from discreet.interpretation.understanding import Understanding

__all__ = ["picture_of", "understanding_data", "understanding_html", "understanding_text"]


_WIDTH = 100

_BLOCKS = 12
_SEEN = 0.01
"""A bar that would round to nothing is one block from here on."""
_COLOURS = {"strong": "green", "moderate": "yellow", "limited": "yellow", "weak": "red", "next to none": "red"}


def understanding_text(found: Understanding) -> RenderableType:
    """Everything, one chapter below the other."""
    colour = _COLOURS[found.verdict.name]
    verdict = Panel(
        Text(f"{found.verdict.words} {WORST_CASE}"),
        title=Text(verdict_words(found), style=f"bold {colour}"),
        title_align="left",
        border_style=colour,
    )
    parts: list[RenderableType] = [Text(title(found.given), style="bold"), Text(INTRODUCTION), verdict]
    for chapter in chapters(found):
        parts.extend(_chapter(chapter))
    return Constrain(Group(*parts, Padding(Text(HOW_ROUNDED, style="dim"), (1, 0, 0, 0))), _WIDTH)


def _chapter(chapter: Chapter) -> list[RenderableType]:
    words = "\n".join(chapter.words)
    return [
        Padding(Text(chapter.title, style="bold"), (1, 0, 0, 0)),
        Text(words),
        *([_table(chapter)] if chapter.rows else []),
        *(Text(note, style="dim") for note in chapter.notes),
    ]


def _table(chapter: Chapter) -> RenderableType:
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    for place, name in enumerate(chapter.header):
        is_bar = isinstance(chapter.rows[0][place], Bar)
        grid.add_column(name, justify="left" if is_bar or place == 0 else "right", no_wrap=is_bar)
    for row in chapter.rows:
        grid.add_row(_text_cell(row[0]), *(_text_cell(_unbroken(cell)) for cell in row[1:]))
    return Padding(grid, (0, 0, 0, 2))


def _unbroken(cell: Cell) -> Cell:
    return cell.replace(" ", "\N{NO-BREAK SPACE}") if isinstance(cell, str) else cell


def _text_cell(cell: Cell) -> Text:
    if isinstance(cell, str):
        return Text(cell)
    start, until = round(_BLOCKS * cell.start), round(_BLOCKS * cell.until)
    if until == start and (cell.start > 0 or cell.until >= _SEEN):
        start, until = (start, until + 1) if until < _BLOCKS else (start - 1, until)
    return Text("░" * start + "█" * (until - start) + "░" * (_BLOCKS - until))


_VERSION = 1


def understanding_data(found: Understanding) -> dict[str, Any]:
    """Everything that the other views show."""
    given = found.given
    return {
        "version": _VERSION,
        "given": {
            "epsilon": float(given.epsilon),
            "delta": float_up(given.delta),
            "group": given.group,
            "prior": float(given.prior),
            "n": given.n,
        },
        "verdict": {"protection": found.verdict.name, "words": found.verdict.words},
        "with_and_without": {
            "largest_ratio": _factor(found.laws.factor),
            "count_without_me": found.laws.without,
            "answers": list(found.laws.answers),
            "chance_without_me": list(found.laws.chance_without),
            "chance_with_me": list(found.laws.chance_with),
        },
        "telling": {
            "best_accuracy": float_up(found.guessing.accuracy),
            "detection": [
                {"false_alarms": float(one.false_alarms), "caught_at_most": float_up(one.caught)}
                for one in found.guessing.detections
            ],
            "least_errors": [[float_down(alarms), float_down(misses)] for alarms, misses in found.guessing.corners],
        },
        "believing": {
            "odds_move_at_most": None if found.believing.factor is None else _factor(found.believing.factor),
            "but_for_answers_with_probability": float_up(found.believing.exception),
            "beliefs": [
                {
                    "before": float(one.before),
                    "after_at_least": float_down(one.low),
                    "after_at_most": float_up(one.high),
                }
                for one in found.believing.beliefs
            ],
        },
        "insurance": _insurance(found.insurance),
        "costs": {
            "stake": found.costs.stake,
            "events": [
                {
                    "without_me": float(one.without_me),
                    "with_me_at_least": float_down(one.low),
                    "with_me_at_most": float_up(one.high),
                }
                for one in found.costs.events
            ],
        },
        "groups": [
            {
                "people": one.size,
                "epsilon": float_up(one.epsilon),
                "delta": float_up(one.delta),
                "largest_ratio": _factor(one.factor),
                "best_accuracy": float_up(one.accuracy),
            }
            for one in found.groups
        ],
        "many_answers": [
            {"accuracy": float(one.accuracy), "adding_up": one.by_adding, "at_worst": one.at_worst}
            for one in found.repeated.repetitions
        ],
        "errors": {
            "questions": [
                {
                    "question": one.question,
                    "within_95_percent": one.within,
                    "standard_deviation": one.typical,
                    "share_of_the_whole": one.share,
                }
                for one in found.usefulness.central
            ],
            "count_without_curator_standard_deviation": found.usefulness.local,
        },
        "delta": None
        if found.exposure is None
        else {
            "records_published_at_worst": float_up(found.exposure.expected),
            "any_record_published_at_worst": float_up(found.exposure.any),
        },
    }


def _factor(factor: Fraction) -> dict[str, Any]:
    return {"value": float_up(factor), "words": times(factor)}


def _insurance(one: Insurance) -> dict[str, Any]:
    return {
        "smokers": one.smokers,
        "ill_if_harmless": float(one.harmless),
        "ill_if_harmful": float(one.harmful),
        "published_count": one.published,
        "cost_of_illness": one.cost,
        "before": float(one.before),
        "after_without_her_record": float_up(one.without_her),
        "after_with_her_record": float_up(one.with_her),
        "apart_at_most": _factor(one.bound),
        "apart_here": _factor(one.apart),
        "knowing_all_others": {
            "without_her_record": float_up(one.informed),
            "with_her_record_at_least": float_down(one.informed_low),
            "with_her_record_at_most": float_up(one.informed_high),
        },
    }


def picture_of(found: Understanding, chapter: str) -> str:
    """The chart of a chapter; empty where it has none."""
    match chapter:
        case "laws":
            return _laws(found)
        case "guessing":
            return _guessing(found)
        case "believing":
            return _believing(found)
        case "repeated":
            return _repeated(found)
        case "usefulness":
            return _usefulness(found)
    return ""


def _laws(found: Understanding) -> str:
    laws = found.laws
    series = [
        Series(name, [(answer, 100 * chance) for answer, chance in zip(laws.answers, chances, strict=True)])
        for name, chances in (("without my record", laws.chance_without), ("with my record", laws.chance_with))
    ]
    return line_chart(
        series, title="How likely each answer is", x_label="the answer", y_label="chance in %", y_holds=(0,)
    )


def _guessing(found: Understanding) -> str:
    corners = [(100 * float(alarms), 100 * float(misses)) for alarms, misses in found.guessing.corners]
    return line_chart(
        [Series("nobody does better than this", corners, marks=True), Series("a coin", [(0, 100), (100, 0)])],
        title="The two errors of an attacker",
        x_label="unused records called used, in %",
        y_label="used records missed, in %",
        y_holds=(0, 100),
    )


def _believing(found: Understanding) -> str:
    curve = found.believing.curve
    ends = {
        "at most after the answer": [(100 * float(one.before), 100 * float(one.high)) for one in curve],
        "at least after the answer": [(100 * float(one.before), 100 * float(one.low)) for one in curve],
        "nothing learned": [(0.0, 0.0), (100.0, 100.0)],
    }
    return line_chart(
        [Series(name, points) for name, points in ends.items()],
        title="What can be believed about me",
        x_label="before the answer, in %",
        y_label="after the answer, in %",
        y_holds=(0, 100),
    )


def _repeated(found: Understanding) -> str:
    curve = found.repeated.curve
    return line_chart(
        [
            Series("what adding ε up allows", [(count, 100 * float(allowed)) for count, allowed, _ in curve]),
            Series("the worst mechanism", [(count, 100 * worst) for count, _, worst in curve]),
        ],
        title="How often the best guess is right",
        x_label="answers about me",
        y_label="right, in %",
        log_x=True,
        reference=50,
        reference_label="a coin",
        y_holds=(50, 100),
    )


def _usefulness(found: Understanding) -> str:
    sizes = found.usefulness.by_people
    return line_chart(
        [
            Series("with a curator", [(people, 100 * min(central, 1.0)) for people, central, _ in sizes], marks=True),
            Series("without one", [(people, 100 * min(local, 1.0)) for people, _, local in sizes], marks=True),
        ],
        title="How far a count is typically off",
        x_label="people in the table",
        y_label="in % of the people, at most 100",
        log_x=True,
        y_holds=(0,),
    )


def understanding_html(found: Understanding) -> str:
    """The page."""
    name = title(found.given)
    parts = [
        paragraph(INTRODUCTION),
        headline(verdict_words(found)),
        warning(f"{found.verdict.words} {WORST_CASE}"),
        *(_section(found, chapter) for chapter in chapters(found)),
        footer(f"{HOW_ROUNDED} Made by Discreet."),
    ]
    return page(name, parts)


def _section(found: Understanding, chapter: Chapter) -> str:
    return section(
        chapter.title,
        *map(paragraph, chapter.words),
        picture_of(found, chapter.name),
        table(chapter.header, map(_row, chapter.rows)) if chapter.rows else "",
        *map(quiet, chapter.notes),
    )


def _row(row: tuple[Cell, ...]) -> list[str]:
    """The cells; all but the first stay on a line."""
    first, *others = map(_html_cell, row)
    return [first, *(cell if cell.startswith("<") else cell.replace(" ", "&nbsp;") for cell in others)]


def _html_cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    return meter(float(cell.until), "before" if cell.is_comparison else "after", float(cell.start))
