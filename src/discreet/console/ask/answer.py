"""An answer on the page: figures or a table, a chart with error bars, what it cost, and files to take away.

A certificate opens in a dialog: what it says in a few lines, whether its signature is genuine, and all of it below.
What was asked before stands beside it, newest first: see an answer again, or put its question back into the editor.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from html import escape
from typing import Any

from nicegui import run, ui
from nicegui.element import Element

from discreet.console.charts import Bars, Chart, ChartAxis, ChartLine, Options, bar_chart, line_chart
from discreet.console.layout import PageVisit
from discreet.console.theme import Kind, bullets, button, download_button, empty, figure, figures, heading, notice, row
from discreet.curator.answers.answer import Answer
from discreet.curator.certificates.certificate import is_genuine
from discreet.curator.ledger.units import amount
from discreet.errors import QueryRefused
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.question import ExpectedError
from discreet.service.jobs.jobs import Job, State
from discreet.service.operations import ask as ask_ops
from discreet.service.operations.formats import for_sheets
from discreet.service.operations.ledger import Paper
from discreet.service.operations.tables import Balance

__all__ = [
    "EPSILONS",
    "AnswerBox",
    "History",
    "error_words",
    "least",
    "nearest",
    "part_words",
    "refused_words",
    "rounded",
    "share_of",
    "show_certificate",
    "too_dear",
    "when",
]


_LOOKED_UP: dict[bool, tuple[str, Kind]] = {
    True: ("The ledger has this answer at the place that the certificate states.", "good"),
    False: ("The ledger does not have this answer at the place that the certificate states.", "error"),
}


def show_certificate(certificate: Mapping[str, Any], checked: Paper | None = None) -> None:
    """Open the dialog; ``checked`` is what the databases say about it, where they were asked."""
    with ui.dialog(value=True) as dialog, ui.card().classes("d-section d-certificate"):
        name = heading("Certificate")
        if is_genuine(certificate) if checked is None else checked.is_genuine:
            notice("The signature is genuine: this curator signed it, and nothing was changed since.", "good")
        else:
            notice("The signature is not genuine: somebody changed this, or another key signed it.", "error")
        if checked is not None:
            notice(*_LOOKED_UP[checked.is_in_ledger])
        ui.label(str(certificate.get("question", ""))).classes("d-code d-question")
        with figures():
            for label, value in _list_facts(certificate):
                figure(label, value)
        with ui.expansion("All of it, as it is signed").classes("w-full"):
            ui.label(json.dumps(certificate, indent=2, ensure_ascii=False)).classes("d-code d-whole").props(
                "tabindex=0"
            )
        with row():
            text = json.dumps(certificate, indent=2, ensure_ascii=False)
            download_button("Download", "certificate.json", "application/json", text.encode)
            button("Close", dialog.close, kind="plain").props("autofocus")
    dialog.props(f'aria-labelledby="{name.html_id}"')
    dialog.on("hide", dialog.delete)


def _list_facts(certificate: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    price, ledger = certificate.get("price", {}), certificate.get("ledger", {})
    yield "Price", f"{price.get('unit', '')} {price.get('amount', '')}"
    yield "Ledger record", str(ledger.get("position", "none"))
    yield "A person is", str(certificate.get("unit") or "one row")
    noise = {one["noise"].partition("(")[0] for block in _blocks(certificate) for one in block.get("mechanisms", [])}
    yield "Noise", ", ".join(sorted(noise)) or "none"


def _blocks(certificate: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = certificate.get("plan", {}).get("blocks", [])
    return found


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
    chart = Chart(*_draw(answer, measured[0]), height=_height(answer))
    if len(measured) > 1:
        picked = ui.toggle(list(measured), value=measured[0]).classes("d-picked")
        picked.props('no-caps role=group aria-label="Column of the chart"')
        picked.on_value_change(lambda event: chart.redraw(*_draw(answer, str(event.value))))


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


def _draw(answer: Answer, name: str) -> tuple[Options, str]:
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
    return bar_chart(labels, [bars], ChartAxis(name)), f"{words}{rest}."


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
    lines = [ChartLine(said, points, dash="solid" if many else "dotted", thin=many) for said, points in ends_of.items()]
    return line_chart(
        [ChartLine(name, middle, marks=not many), *lines], ChartAxis(over, is_time=is_time), ChartAxis(name)
    )


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


_WORD = re.compile(r"\w+|\S")
_LARGE = 1000
_LITTLE = 0.01
_STEPS = (1, Fraction(3, 2), 2, 3, 4, 5, 6, 8)

EPSILONS = (*(Fraction(10) ** power * step for power in range(-3, 1) for step in _STEPS), Fraction(10))
"""The prices that the slider offers: round ones, each a little larger than the one before."""


def nearest(epsilon: Fraction) -> int:
    """The place on the slider that is nearest to a price."""
    return min(range(len(EPSILONS)), key=lambda place: abs(EPSILONS[place] / epsilon - 1))


def refused_words(text: str, refusal: QueryRefused) -> tuple[int, int] | None:
    """Where in a text the refused words stand: start and end; None where the refusal names no place.

    >>> refused_words("SELECT AVG(agee) FROM visits", QueryRefused("no such column", "agee", line=1, column=12))
    (11, 15)
    """
    if refusal.line is None or refusal.column is None:
        return None
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: refusal.line - 1]) + refusal.column - 1
    words = str(refusal.value or "<>")[1:-1].removesuffix("…").split()
    quoted = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE).match(text, start) if words else None
    if quoted is not None:
        return quoted.span()
    found = _WORD.search(text, start) or _WORD.search(text)
    return None if found is None else found.span()


def rounded(reach: float) -> str:
    """An error with as many digits as anybody needs."""
    return f"{reach:,.0f}" if reach >= _LARGE else f"{reach:.3g}"


def error_words(error: ExpectedError, confidence: float = 0.95) -> str:
    """How far a column may be off, in words."""
    if error.within is None:
        return "depends on the answer"
    return f"± {rounded(error.within)}, {confidence:.0%} of the time".replace("%", " %")


def share_of(part: Pure | ZeroConcentrated, whole: Pure | ZeroConcentrated) -> float:
    """Which part of a budget this is, both in the same unit; at most 1."""
    return min(float(_size(part) / _size(whole)), 1.0) if _size(whole) else 1.0


def least(left: Iterable[Pure | ZeroConcentrated]) -> Pure | ZeroConcentrated:
    """The balance that ends first."""
    return min(left, key=_size)


def part_words(price: Pure | ZeroConcentrated, left: Pure | ZeroConcentrated) -> str:
    """Which part of what is left a price takes, in words."""
    if _size(price) > _size(left):
        return "more than what is left"
    share = share_of(price, left)
    return f"{share:.0%} of what is left".replace("%", " %") if share >= _LITTLE else "less than 1 % of what is left"


def too_dear(balances: Iterable[Balance]) -> str:
    """What to do about a question that costs more than what is left."""
    is_over = any(one.left is not None and not _size(one.left) for one in balances)
    way = "Nothing is left: the owner decides about caps" if is_over else "Ask for a lower price, or a larger error"
    return f"This costs more than what is left. {way}."


def _size(loss: Pure | ZeroConcentrated) -> Fraction:
    return loss.epsilon if isinstance(loss, Pure) else loss.rho


def when(seconds: float) -> str:
    """A moment, to the minute, in universal time."""
    return f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y, %H:%M} UTC"


_PAGE = 20
_SOON = 2.0
_STATES = {State.ACCEPTED: "being answered", State.REFUSED: "not answered", State.ANSWERED: ""}


class History:
    """The principal's questions."""

    def __init__(self, visit: PageVisit, on_see: Callable[[Job], object], on_use: Callable[[Job], object]) -> None:
        """``on_see`` shows the answer of one, ``on_use`` puts its question into the editor."""
        self._visit = visit
        self._on_see, self._on_use = on_see, on_use
        self._most = _PAGE
        self._box = ui.element("div").classes("d-history")
        self._soon = ui.timer(_SOON, self.refresh, active=False)

    async def refresh(self) -> None:
        """Read the latest."""
        found = await run.io_bound(ask_ops.answers, self._visit.service, self._visit.principal, self._most + 1)
        self._soon.active = any(job.is_unfinished for job in found or [])
        self._box.clear()
        with self._box:
            self._list(found or [])

    def _list(self, jobs: list[Job]) -> None:
        if not jobs:
            empty("history", "Nothing asked yet", "What you ask is kept here, for you alone.")
            return
        with ui.element("ol"):
            for job in jobs[: self._most]:
                self._one(job)
        if len(jobs) > self._most:
            button("Show more", self._more, kind="plain")

    async def _more(self) -> None:
        self._most += _PAGE
        await self.refresh()

    def _one(self, job: Job) -> None:
        line = " ".join(job.ask_request.sql.split())
        facts = [when(job.made), _STATES[job.state], "" if job.state is State.REFUSED else _price(job)]
        with ui.element("li"):
            with ui.element("button").props('type="button"').classes("d-asked").on("click", lambda: self._on_see(job)):
                ui.label(line).classes("d-code d-clip")
                ui.label(" · ".join(filter(None, facts))).classes("d-muted d-small")
            button("Put this question into the editor", lambda: self._on_use(job), icon="edit", kind="icon")


def _price(job: Job) -> str:
    return "free" if job.price is None else amount(job.price)
