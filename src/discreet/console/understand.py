"""Understand ε: choose one, and see what it means for Alice and for the answers.

Everything that one choice of numbers leads to is computed once, drawn by ECharts, and said in a sentence below each
chart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from nicegui import ui

from discreet.console import theme
from discreet.console.charts import Bars, Chart, ChartAxis, ChartLine, bar_chart, colour_of, line_chart
from discreet.console.layout import PageVisit
from discreet.console.widgets import Dial, counted, logarithmic, percentages
from discreet.errors import DiscreetError
from discreet.exact.rational import Number
from discreet.interpretation.answers import TwoLaws, Useful, Usefulness
from discreet.interpretation.given import Given, number, share, times
from discreet.interpretation.person import Belief, Believing, Exposure, Group, Guessing, groups
from discreet.interpretation.understanding import PromiseVerdict, verdict
from discreet.privacy.format import shown

__all__ = [
    "Figures",
    "beliefs_chart",
    "beliefs_words",
    "build",
    "errors_chart",
    "errors_words",
    "figures",
    "groups_chart",
    "groups_words",
    "laws_chart",
    "laws_words",
    "trade_off_chart",
    "trade_off_words",
]


_SIZES = tuple(10**power for power in range(1, 8))
_KNOWN = 512


@dataclass(frozen=True)
class Figures:
    """What the page shows for one choice."""

    given: Given
    """What was chosen."""
    verdict: PromiseVerdict
    """One word, and why."""
    laws: TwoLaws
    """A noisy count with and without Alice."""
    guessing: Guessing
    """How well anybody can tell the two apart."""
    believing: Believing
    """What anybody can believe afterwards."""
    belief: Belief
    """The same for the chosen prior."""
    groups: tuple[Group, ...]
    """The promise to several people together."""
    group: Group
    """The promise to the chosen number of them."""
    errors: tuple[Useful, ...]
    """The error of a count, a mean and a histogram for the chosen number of people."""
    by_people: tuple[tuple[int, tuple[Useful, ...]], ...]
    """The same for tables of many sizes."""
    exposure: Exposure | None
    """What δ allows; None where it is 0."""


@lru_cache(maxsize=_KNOWN)
def figures(epsilon: Number, delta: Number, group: int, prior: Number, n: int) -> Figures:
    """What these numbers mean; numbers that mean nothing are refused."""
    given = Given.of(epsilon, delta, group, prior, n)
    laws, guessing, believing = TwoLaws.of(given), Guessing.of(given), Believing.of(given)
    exposure = Exposure.of(given) if given.delta else None
    together = groups(given)
    return Figures(
        given=given,
        verdict=verdict(given, guessing, laws, exposure),
        laws=laws,
        guessing=guessing,
        believing=believing,
        belief=next(one for one in believing.beliefs if one.before == given.prior),
        groups=together,
        group=next(one for one in together if one.size == given.group),
        errors=Usefulness.of(given).central,
        by_people=tuple((people, Usefulness.of(replace(given, n=people)).central) for people in _SIZES),
        exposure=exposure,
    )


_WHOLE = 100
_NAMES = ("a count", "a mean", "a histogram")


def laws_chart(found: Figures) -> dict[str, Any]:
    """How likely each answer is, with and without Alice."""
    laws = found.laws
    both = (("without Alice", laws.chance_without, 1, "solid"), ("with Alice", laws.chance_with, 2, "dashed"))
    lines = [
        ChartLine(
            name,
            [(answer, _percent(chance)) for answer, chance in zip(laws.answers, chances, strict=True)],
            colour,
            dash,
            area=True,
            marks=len(laws.answers) < 20,
        )
        for name, chances, colour, dash in both
    ]
    ends = laws.answers[0], laws.answers[-1]
    return line_chart(lines, ChartAxis("the noisy count", *ends), ChartAxis("chance", 0, unit="%"))


def trade_off_chart(found: Figures) -> dict[str, Any]:
    """The least misses for every rate of false alarms."""
    corners = [(_percent(alarms), _percent(misses)) for alarms, misses in found.guessing.corners]
    limit = [(0.0, 100.0), *corners] if found.given.delta else corners
    lines = [
        ChartLine("nobody does better", limit, 1, area=True, marks=True),
        ChartLine("a coin", [(0, 100), (100, 0)], 6, "dotted"),
    ]
    return line_chart(lines, ChartAxis("false alarms", 0, 100, unit="%"), ChartAxis("misses", 0, 100, unit="%"))


def beliefs_chart(found: Figures) -> dict[str, Any]:
    """Where a belief can end up, for every belief before."""
    curve = found.believing.curve
    lines = [
        ChartLine("at most", [(_percent(one.before), _percent(one.high)) for one in curve], 2),
        ChartLine("nothing learned", [(0, 0), (100, 100)], 6, "dotted"),
        ChartLine("at least", [(_percent(one.before), _percent(one.low)) for one in curve], 1, "dashed"),
    ]
    at = _percent(found.belief.before)
    dots = [(at, _percent(found.belief.low)), (at, _percent(found.belief.high))]
    before, after = ChartAxis("belief before", 0, 100, unit="%"), ChartAxis("belief after", 0, 100, unit="%")
    return line_chart(lines, before, after, at=at, dots=dots)


def groups_chart(found: Figures) -> dict[str, Any]:
    """The best guess about groups of several sizes."""
    names = ["1 person" if one.size == 1 else f"{one.size:,} people" for one in found.groups]
    own = next(place for place, one in enumerate(found.groups) if one is found.group)
    bars = Bars("best guess", [_percent(one.accuracy) for one in found.groups], 6, {own: colour_of(1)})
    return bar_chart(names, [bars], ChartAxis("best guess is right", 0, 100, unit="%"), reference=50)


def errors_chart(found: Figures) -> dict[str, Any]:
    """Errors as a share of the whole, for tables of many sizes."""
    dashes = ("solid", "dashed", "dotted")
    lines = [
        ChartLine(
            name,
            [(people, max(min(_percent(errors[place].share), 100.0), 1e-6)) for people, errors in found.by_people],
            place + 1,
            dashes[place],
            marks=True,
        )
        for place, name in enumerate(_NAMES)
    ]
    sizes = found.by_people
    at = min(max(found.given.n, sizes[0][0]), sizes[-1][0])
    people = ChartAxis("people in the table", sizes[0][0], sizes[-1][0], is_log=True)
    return line_chart(lines, people, ChartAxis("error, of the whole", is_log=True, unit="%"), at=at)


def _percent(share: Any) -> float:
    return _WHOLE * float(share)


def laws_words(found: Figures) -> str:
    """About the two laws."""
    factor = times(found.laws.factor)
    return (
        f"Without Alice the true count is {found.laws.without}, with her one more; the noise hides which it was. No "
        f"answer is more than {factor} times likelier, or less likely, with her than without her."
    )


def trade_off_words(found: Figures) -> str:
    """About the trade-off of two errors."""
    at_five = next(one for one in found.guessing.detections if one.false_alarms * 20 == 1)
    return (
        f"Whoever accuses no more than 5 of 100 people wrongly finds at most {share(at_five.caught, up=True)} of those "
        f"who took part. At even odds the best guess is right at most {share(found.guessing.accuracy, up=True)} of the "
        "time; a coin is right 50 %."
    )


def beliefs_words(found: Figures) -> str:
    """About beliefs before and after."""
    belief = found.belief
    before = share(belief.before, up=True)
    if found.believing.factor is None:
        return f"With a δ this large an answer may prove anything, also to somebody who thought {before} before."
    rarely = f", but for answers with a probability of at most {shown(found.believing.exception, 2)}"
    return (
        f"Somebody who knows every other record and thinks it {before} likely that Alice is in the data thinks it "
        f"{share(belief.low, up=False)} to {share(belief.high, up=True)} likely after any answer"
        f"{rarely if found.believing.exception else ''}."
    )


def groups_words(found: Figures) -> str:
    """About several people together."""
    one = found.group
    if one.size == 1:
        return (
            f"The promise is made to one person. Of ten people together the best guess is right up to "
            f"{share(next(each.accuracy for each in found.groups if each.size == 10), up=True)} of the time."
        )
    delta = f" and δ = {shown(one.delta, 2)}" if one.delta else ""
    return (
        f"{one.size:,} people together are promised ε = {shown(one.epsilon)}{delta}: the best guess whether they took "
        f"part is right at most {share(one.accuracy, up=True)} of the time."
    )


def errors_words(found: Figures) -> str:
    """About the price in accuracy."""
    count, mean, cells = found.errors
    people = "1 person" if found.given.n == 1 else f"{found.given.n:,} people"
    drowned = " The noise is as large as the table." if count.share >= 1 else ""
    return (
        f"In a table of {people}, 95 of 100 answers are within ±{number(count.within)} of a count "
        f"({number(100 * count.share)} % of everybody), ±{number(mean.within)} of a mean of values from 0 to 1, and "
        f"±{number(cells.within)} in all ten cells of a histogram.{drowned}"
    )


_LEAD = (
    "ε limits how much any answer may depend on any one person: the smaller, the safer, and the noisier. Move it, and "
    "see what that means for Alice. Nothing here reads data or costs anything."
)
_PARTS: tuple[tuple[str, Callable[[Figures], dict[str, Any]], Callable[[Figures], str]], ...] = (
    ("With and without Alice", laws_chart, laws_words),
    ("Can anybody tell?", trade_off_chart, trade_off_words),
    ("Is Alice in the data?", beliefs_chart, beliefs_words),
    ("Alice and her family", groups_chart, groups_words),
    ("How good are the answers?", errors_chart, errors_words),
)


async def build(visit: PageVisit) -> None:
    """The page; it is the same for everybody."""
    theme.page_title("Understand ε", _LEAD)
    ui.add_css(_STYLE)
    _UnderstandPage().build()


class _UnderstandPage:
    """The dials and what they move."""

    def build(self) -> None:
        """Draw everything."""
        with ui.element("div").classes("d-understand"):
            with ui.element("div").classes("d-understand-dials"), theme.section("Choose"):
                self._build_dials()
            with ui.element("div").classes("d-understand-charts"):
                self._build_charts(figures(*self._chosen()))

    def _build_dials(self) -> None:
        scales = (logarithmic(0.01, 10), logarithmic(1e-12, 1e-2, zero=True), percentages(1, 99))
        changed = self._changed
        self._epsilon = Dial("ε", "The loss of one answer.", scales[0], "1", changed)
        self._delta = Dial("δ", "A probability that the promise leaves out; 0 is none.", scales[1], "0", changed)
        self._prior = Dial("Prior", "How likely somebody thinks it that Alice is there.", scales[2], "0.1", changed)
        self._group = Dial("Group", "How many people belong together.", counted(1, 50), "4", changed)
        sizes = logarithmic(10, 10_000_000, is_whole=True)
        self._people = Dial("People", "How many are in the table.", sizes, "1000", changed)
        self._refusal = ui.label().classes("d-bad d-small").props('role="alert"')

    def _chosen(self) -> tuple[str, str, int, str, int]:
        return (
            self._epsilon.text,
            self._delta.text,
            _whole(self._group.text),
            self._prior.text,
            _whole(self._people.text),
        )

    def _build_charts(self, found: Figures) -> None:
        with theme.section("In a word") as box:
            box.classes("d-understand-wide")
            self._verdict = ui.label().classes("d-verdict")
            self._why = ui.label().props('aria-live="polite"')
        self._charts: list[Chart] = []
        for title, chart, words in _PARTS:
            with theme.section(title) as box:
                box.classes("d-understand-wide" if chart is errors_chart else "")
                self._charts.append(Chart(chart(found), words(found)))
        self._show(found)

    def _changed(self) -> None:
        """Show what is chosen now; it takes a few milliseconds, and what was chosen before is known."""
        try:
            found = figures(*self._chosen())
        except DiscreetError as refusal:
            self._refusal.set_text(str(refusal))
            return
        self._refusal.set_text("")
        self._show(found)

    def _show(self, found: Figures) -> None:
        self._verdict.set_text(f"Protection: {found.verdict.name}")
        self._why.set_text(found.verdict.words)
        for drawn, (_, chart, words) in zip(self._charts, _PARTS, strict=True):
            drawn.redraw(chart(found), words(found))


_LONGEST = 1000
"""Digits of a number that is read; Python itself fails at some thousands."""


def _whole(text: str) -> Any:
    """A whole number where it is one; what is not is left to be refused in words."""
    plain = text.replace(",", "").replace(" ", "")
    return int(plain) if plain.isdecimal() and len(plain) <= _LONGEST else text


_STYLE = """
.d-understand{display:grid;grid-template-columns:minmax(15rem,18rem) minmax(0,1fr);gap:20px;align-items:start;
width:100%}
.d-understand-dials{position:sticky;top:76px}
.d-understand-charts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:20px}
.d-understand-wide{grid-column:1/-1}
.d-verdict{font-size:1.35rem;font-weight:600}
.d-dial{display:flex;flex-direction:column;gap:2px}
.d-dial-head{display:flex;justify-content:space-between;align-items:center;gap:10px}
.d-dial-head .q-field{width:8.5rem}
.d-chart-words{max-width:68ch}
@media (max-width:1100px){.d-understand-charts{grid-template-columns:minmax(0,1fr)}}
@media (max-width:800px){.d-understand{grid-template-columns:minmax(0,1fr)}
.d-understand-dials{position:static}}
"""
