"""An answer on the page: figures or a table, a chart with error bars, what it cost, and files to take away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from html import escape
from typing import Any

from nicegui import ui
from nicegui.element import Element

from discreet.console.ask_certificate import show_certificate
from discreet.console.charts import Axis, Bars, Chart, Line, Options, bar_chart, line_chart
from discreet.console.look import bullets, button, download_button, figure, figures, heading, notice, row
from discreet.curator.answer import Answer
from discreet.service.formats import for_sheets

__all__ = ["AnswerBox"]

_MOST_ROWS = 200
_MOST_BARS = 30
_MOST_MARKS = 60


class AnswerBox:
    """The place on the page where answers appear."""

    def __init__(self) -> None:
        """Empty, until something is asked."""
        self._box = ui.element("section").classes("d-section d-answer")
        self._box.props('aria-label="The answer" aria-live="polite"')
        self._box.visible = False

    def wait(self) -> None:
        """Say that the question is being answered."""
        with self._cleared(), row().props('role="status"'):
            ui.spinner(size="1.4em").props('aria-hidden="true"')
            ui.label("Being answered. You may leave this page: the answer will be in your history.")

    def refuse(self, words: str) -> None:
        """Say why there is no answer."""
        with self._cleared():
            notice(words, "error")

    def show(self, answer: Answer, question: str) -> None:
        """Show an answer."""
        with self._cleared():
            heading("Answer")
            ui.label(question).classes("d-code d-muted d-question")
            _values(answer)
            ui.label(_sentence(answer.receipt())).classes("d-receipt")
            bullets(answer.notes)
            _files(answer)

    def reveal(self) -> None:
        """Bring it into sight of whoever is elsewhere on the page."""
        ui.run_javascript(f"getHtmlElement({self._box.id}).scrollIntoView({{block: 'start'}})")

    def _cleared(self) -> Element:
        self._box.clear()
        self._box.visible = True
        return self._box


def _values(answer: Answer) -> None:
    if not answer.table.num_rows:
        ui.label("No row is left to show.").classes("d-muted")
        return
    if answer.table.num_rows == 1:
        with figures():
            for name in answer.table.column_names:
                figure(name, answer.cell(name, 0))
        return
    measured = [name for name in answer.table.column_names if any(answer.error.get(name, ()))]
    if measured:
        _chart(answer, measured)
    _table(answer)


def _table(answer: Answer) -> None:
    names, count = answer.table.column_names, min(answer.table.num_rows, _MOST_ROWS)
    sides = ['class="d-number"' if name in answer.error else "" for name in names]
    head = "".join(f'<th scope="col" {side}>{escape(name)}</th>' for name, side in zip(names, sides, strict=True))
    lines = [
        "".join(f"<td {side}>{escape(answer.cell(name, place))}</td>" for name, side in zip(names, sides, strict=True))
        for place in range(count)
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    box = ui.element("div").classes("d-table-box d-answer-table")
    with box.props('tabindex="0" role="region" aria-label="Values"'):
        ui.html(f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>", sanitize=False, tag="table").classes("d-table")
    for words in answer.left_out(count):
        ui.label(f"{words}: all of them are in the files").classes("d-muted d-small")


# The chart.


def _chart(answer: Answer, measured: Sequence[str]) -> None:
    chart = Chart(*_drawn(answer, measured[0]), height=_height(answer))
    if len(measured) > 1:
        picked = ui.toggle(list(measured), value=measured[0]).classes("d-picked")
        picked.props('no-caps role=group aria-label="Column of the chart"')
        picked.on_value_change(lambda event: chart.redraw(*_drawn(answer, str(event.value))))


def _height(answer: Answer) -> str:
    return f"{min(max(answer.table.num_rows, 3), _MOST_BARS) * 26 + 70}px" if not _axis_of(answer) else "19rem"


def _axis_of(answer: Answer) -> str | None:
    """The column over which values are drawn as a line: dates, or numbers that are no aggregates."""
    plain = [name for name in answer.table.column_names if name not in answer.error]
    if len(plain) != 1:
        return None
    values = [one for one in answer.table[plain[0]].to_pylist() if one is not None]
    is_long = len(values) > _MOST_BARS
    dates = all(isinstance(value, date) for value in values)
    return plain[0] if values and (dates or (is_long and all(map(_is_number, values)))) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _drawn(answer: Answer, name: str) -> tuple[Options, str]:
    values = [float(one) if _is_number(one) else None for one in answer.table[name].to_pylist()]
    ranges = answer.error[name]
    over = _axis_of(answer)
    words = f"{name} with error bars that cover the truth {answer.confidence:.0%} of the time".replace("%", " %")
    if over is not None:
        rest = "; the group NULL is not drawn" if answer.table[over].null_count else ""
        return _line(answer, name, over, values), f"{words}, over {over}{rest}."
    shown = min(len(values), _MOST_BARS)
    labels = [_label(answer, name, place) for place in range(shown)]
    rest = f"; the first {shown} of {len(values):,}" if shown < len(values) else ""
    bars = Bars(name, values[:shown], ranges=list(ranges[:shown]))
    return bar_chart(labels, [bars], Axis(name)), f"{words}{rest}."


def _line(answer: Answer, name: str, over: str, values: Sequence[float | None]) -> Options:
    places = [one.isoformat() if isinstance(one, date) else one for one in answer.table[over].to_pylist()]
    is_time = any(isinstance(place, str) for place in places)
    rows = [row for row in zip(places, values, answer.error[name], strict=True) if row[0] is not None]
    middle = [(place, value) for place, value, _ in rows if value is not None]
    ends = [(place, ends) for place, _, ends in rows if ends is not None]
    low, high = ([(place, pair[side]) for place, pair in ends] for side in (0, 1))
    # Many points with marks, between lines of dots, are one blur where a page is as wide as a phone.
    many = len(rows) > _MOST_MARKS
    ends_of = {"at least": low, "at most": high}
    lines = [Line(said, points, dash="solid" if many else "dotted", thin=many) for said, points in ends_of.items()]
    return line_chart([Line(name, middle, marks=not many), *lines], Axis(over, is_time=is_time), Axis(name))


def _label(answer: Answer, measured: str, place: int) -> str:
    plain = [name for name in answer.table.column_names if name not in answer.error and name != measured]
    return ", ".join(answer.cell(name, place) for name in plain) or f"row {place + 1}"


# What comes with it.


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _files(answer: Answer) -> None:
    name = "answer" if answer.entry is None else f"answer-{answer.entry}"
    with row():
        download_button(
            "CSV", f"{name}.csv", "text/csv", lambda: str(for_sheets(answer).to_csv(intervals=True)).encode()
        )
        download_button("JSON", f"{name}.json", "application/json", lambda: answer.to_json().encode())
        if answer.certificate:
            paper = json.dumps(answer.certificate, indent=2, ensure_ascii=False).encode()
            download_button("Certificate", f"{name}-certificate.json", "application/json", lambda: paper)
            button("See the certificate", lambda: show_certificate(answer.certificate), icon="verified", kind="plain")
