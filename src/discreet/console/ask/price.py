"""The price of a question: a slider from cheap and rough to dear and fine, or the error that is wanted.

Price and error follow each other: whoever moves one sees the other. What it takes from the budgets is drawn before
anything is spent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from fractions import Fraction

from nicegui import ui
from nicegui.events import GenericEventArguments

from discreet.console.ask.answer import EPSILONS, error_words, least, nearest, part_words, rounded, share_of
from discreet.console.theme import bullets, chip, figure, figures
from discreet.console.widgets import shared
from discreet.curator.explanation import Explanation
from discreet.curator.ledger.account_names import find_period
from discreet.curator.ledger.chain import AccountKind
from discreet.curator.ledger.units import amount, balance
from discreet.errors import InvalidValue
from discreet.exact.rational import positive
from discreet.privacy.loss import Pure, ZeroConcentrated, shown
from discreet.service.jobs.jobs import AskRequest
from discreet.service.operations.tables import Balance, size_of

__all__ = ["PriceControls", "chips_of", "find_tightest", "left_words"]


Changed = Awaitable[None] | None
"""What follows a change of a control; nothing where the change was our own."""
_USUAL = Fraction(1, 10)


class PriceControls:
    """The controls of the price, and what it buys."""

    def __init__(self, on_change: Callable[[], Awaitable[None]]) -> None:
        """``on_change`` hears that another price or error is wanted."""
        self._on_change = on_change
        self._epsilon, self._within = str(float(_USUAL)), ""
        self._is_ours = False  # whether a change of a control is our own doing
        self._at = nearest(_USUAL)  # where the slider was when we last heard of it
        with ui.element("div").classes("d-price"):
            self._controls()
        with figures():
            self._price, self._share = figure("Price", "–")
            self._groups, _ = figure("Groups", "–")
            self._errors, self._more_errors = figure("Expected error", "–")
        self._chips = ui.element("div").classes("d-row empty:hidden")
        self._notes = ui.element("div").classes("w-full")
        self._bars = ui.element("div").classes("d-balances")

    def _controls(self) -> None:
        with ui.element("div").classes("d-slider"):
            ui.label("From rough and cheap to fine and expensive").classes("d-muted d-small").props("id=slider-name")
            # the browser's own slider: Quasar's cannot be found by a screen reader where it takes the focus
            self._slider = ui.element("input").props(f"type=range min=0 max={len(EPSILONS) - 1} step=1")
            self._slider.props('aria-labelledby="slider-name"')
            # an attribute, not a value: a value would be put back to the last one we heard of while somebody moves on
            self._slider.props["^value"] = self._at
            self._say_place(self._at)
            value = "(event) => emit(event.target.valueAsNumber)"
            self._slider.on("input", self._slid, js_handler=value, throttle=0.1, leading_events=False)
        fields = "outlined dense inputmode=decimal"
        self._epsilon_field = shared(ui.input("Price ε", value=self._epsilon, on_change=self._priced)).props(fields)
        self._within_field = shared(ui.input("or error ±", on_change=self._bounded)).props(fields)

    # What the reader wants.

    def ask_request(self, sql: str) -> AskRequest:
        """The question with the price or the error that is wanted; a number that cannot be read is refused."""
        if self._within:
            return AskRequest(sql, within=_read(self._within, "the wanted error"))
        return AskRequest(sql, epsilon=_read(self._epsilon, "the price ε"))

    def _place(self, place: int) -> None:
        if place != self._at:  # or somebody moves it right now
            ui.run_javascript(f"getHtmlElement({self._slider.id}).value = {place}")
            self._say_place(place)

    def _say_place(self, place: int) -> None:
        self._at = place
        self._slider.props["aria-valuetext"] = f"ε {shown(EPSILONS[place])}"

    def _slid(self, event: GenericEventArguments) -> Changed:
        place = min(max(int(event.args), 0), len(EPSILONS) - 1)
        self._say_place(place)
        return self._want(epsilon=shown(EPSILONS[place]))

    def _priced(self) -> Changed:
        return self._want(epsilon=str(self._epsilon_field.value or "").strip())

    def _bounded(self) -> Changed:
        return self._want(within=str(self._within_field.value or "").strip())

    def _want(self, epsilon: str | None = None, within: str = "") -> Changed:
        if self._is_ours:  # asked here and now: what is awaited runs after we let go of the controls
            return None
        self._epsilon = self._epsilon if epsilon is None else epsilon
        self._within = within
        return self._on_change()

    # What it buys.

    def show(self, found: Explanation | None, balances: Sequence[Balance]) -> None:
        """Show what a question would cost; None where there is no question that could be priced."""
        if found is None:
            for label in (self._price, self._groups, self._errors):
                label.set_text("–")
            self._share.set_text("")
            self._more_errors.set_text("")
        else:
            self._figures(found)
            self._follow(found)
        self._chips.clear()
        with self._chips:
            for words in () if found is None else chips_of(found):
                chip(words)
        self._notes.clear()
        with self._notes:
            bullets(() if found is None else found.notes)
        self._balances(found, balances)

    def _figures(self, found: Explanation) -> None:
        self._price.set_text("free" if found.due is None else amount(found.due))
        self._groups.set_text("as many as are large enough" if found.groups is None else f"{found.groups:,}")
        words = [f"{one.column} {error_words(one)}" for one in found.errors]
        self._errors.set_text(words[0] if words else "none: exact")
        self._more_errors.set_text("; ".join(words[1:]))

    def _follow(self, found: Explanation) -> None:
        """Let the controls that were not moved follow the one that was."""
        if found.epsilon is None:
            return
        errors = [one.within for one in found.errors if one.within is not None]
        self._is_ours = True
        self._place(nearest(found.epsilon))
        if self._within:
            self._epsilon_field.value = shown(found.epsilon)
        else:
            self._within_field.value = rounded(max(errors)).replace(",", "") if errors else ""
            if self._epsilon_field.value != self._epsilon:
                self._epsilon_field.value = self._epsilon
        self._is_ours = False

    def _balances(self, found: Explanation | None, balances: Sequence[Balance]) -> None:
        price = None if found is None else found.due
        left = [one.left for one in balances if price is not None and type(price) is type(one.left)]
        asked_before = "asked before: the same answer again" if found is not None and found.is_known else ""
        self._share.set_text(asked_before if price is None or not left else part_words(price, least(left)))
        self._bars.clear()
        with self._bars:
            for one in find_tightest(balances):
                _bar(one, found)


def chips_of(found: Explanation) -> list[str]:
    """What a question is asked about, where it reads tables that grow: as of when, and which periods pay.

    >>> from discreet.curator.explanation import Explanation
    >>> accounts = ("visits//2026-W06", "visits//2026-W07", "visits/ann/2026-W07", "/patients.id")
    >>> chips_of(Explanation(None, True, 1, (), (), (), accounts=accounts, as_of="2026-02-16"))
    ['as of 16 Feb 2026', '2 periods, 2026-W06 to 2026-W07']
    """
    moment = "" if found.as_of is None else f"{datetime.fromisoformat(found.as_of):%d %b %Y}".lstrip("0")
    periods = sorted({period for one in found.accounts if (period := find_period(one)) is not None})
    span = (
        periods[0] if len(periods) == 1 else f"{len(periods)} periods, {periods[0]} to {periods[-1]}" if periods else ""
    )
    return [words for words in (f"as of {moment}" if moment else "", span) if words]


def _read(text: str, name: str) -> Fraction:
    try:
        return positive(text, name)
    except InvalidValue:
        raise InvalidValue(f"{name} must be a positive number", text or "<nothing>", "such as 0.1") from None


def find_tightest(balances: Sequence[Balance]) -> list[Balance]:
    """The balances that are limits; of those that differ in the period alone, the one of which least is left."""
    found: dict[object, Balance] = {}
    for one in balances:
        whose = one.kind, one.table, one.analyst, one.period is None
        known = found.get(whose)
        is_tighter = known is None or known.left is None or (one.left is not None and _is_less(one.left, known.left))
        if one.left is not None and is_tighter:
            found[whose] = one
    return list(found.values())


def _is_less(left: Pure | ZeroConcentrated, other: Pure | ZeroConcentrated) -> bool:
    return size_of(left) < size_of(other)


def left_words(one: Balance) -> str:
    """What is left, of what."""
    return "counted without a cap" if one.left is None else f"{balance(one.left)} left of {balance(one.limit)}"


def _bar(one: Balance, found: Explanation | None) -> None:
    everybody = "Everything about the people" if one.kind is AccountKind.UNIT else "All together"
    whose = everybody if one.analyst is None else "You"
    price = None if found is None else found.due
    spent = share_of(one.spent, one.limit)
    takes = 0.0 if price is None or type(price) is not type(one.cap) else share_of(price, one.limit)
    is_too_much = spent + takes > 1.0
    about = one.table if one.period is None else f"{one.table} in {one.period}"
    words = f"{whose} on {about}: {left_words(one)}"
    with ui.element("div").classes("d-balance"):
        ui.label(words).classes("d-small d-muted")
        with ui.element("div").classes("d-bar").props("role=img") as bar:
            bar.props["aria-label"] = words
            ui.element("div").style(f"width:{spent:.2%};background:var(--d-muted);opacity:.55")
            colour = "var(--d-bad)" if is_too_much else "var(--d-primary)"
            ui.element("div").style(f"width:{min(takes, 1 - spent):.2%};background:{colour}")
