"""Third step of a publication: what must hold, which methods to try, and trying them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from nicegui import events, ui

from discreet.anonymize.methods import METHODS
from discreet.anonymize.roles import Role
from discreet.console.publish.attempts import METHOD_WORDS, ReleaseCandidates, ReleaseGoals, attempts_of, tried
from discreet.console.publish.state import PublicationState
from discreet.console.theme import button, heading, notice, quiet, row, section
from discreet.console.worker import SeparateWork, Stopped, WorkFailed
from discreet.errors import DiscreetError

__all__ = ["ModelsStep"]


@dataclass(frozen=True)
class _Letter:
    """A model by its letter."""

    sign: str
    title: str
    words: str
    first: float
    step: float
    is_about_secrets: bool = True


_LETTERS = {
    "k": _Letter("k", "k-anonymity", "Every row looks like at least k − 1 others.", 5, 1, is_about_secrets=False),
    "l": _Letter("l", "l-diversity", "Rows that look alike have at least l sensitive values among them.", 2, 1),
    "t": _Letter("t", "t-closeness", "Rows that look alike have them in nearly the shares of the table.", 0.3, 0.05),
    "alpha": _Letter("α", "(α, k)-anonymity", "No value has more than the share α of rows that look alike.", 0.5, 0.05),
    "beta": _Letter("β", "β-likeness", "No value is over 1 + β times as frequent as in the table.", 2, 0.5),
    "delta": _Letter("δ", "δ-disclosure", "Shares differ from those of the table by less than e to the δ.", 2, 0.5),
}
_DIVERSITIES = {"distinct": "distinct values", "entropy": "entropy", "recursive": "recursive (c, l)"}
_DISTANCES = {"equal": "equally far", "ordered": "by order", "numeric": "by number"}


class ModelsStep:
    """Models, methods, and a button."""

    def __init__(self, state: PublicationState) -> None:
        self._state = state
        self._work: SeparateWork[ReleaseCandidates] | None = None
        self._problem = ""
        for what in ("table", "roles"):
            state.when(what, self.draw.refresh)

    @ui.refreshable_method
    def draw(self) -> None:
        """The step, once there is a table."""
        if self._state.table is None:
            return
        self._drop_what_needs_a_secret()
        with section("3. What must hold", "Each model bounds one way to find something out; none bounds all of them."):
            with ui.element("div").classes("model-grid"):
                for name in _LETTERS:
                    self._model(name)
            self._suppression()
            heading("Methods to try", 3)
            for method in METHODS:
                self._method(method)
            self._stricter()
            self._run()

    @property
    def _has_secret(self) -> bool:
        return any(plan.role is Role.SENSITIVE for plan in self._state.plans.values())

    def _drop_what_needs_a_secret(self) -> None:
        if not self._has_secret:
            wanted = replace(self._state.asked.wanted, l=None, t=None, alpha=None, beta=None, delta=None)
            self._state.asked = replace(self._state.asked, wanted=wanted)

    # Models and methods -------------------------------------------------------------------------------------------

    def _model(self, name: str) -> None:
        letter = _LETTERS[name]
        value = getattr(self._state.asked.wanted, name)
        can_be_asked = self._has_secret or not letter.is_about_secrets
        with ui.element("div").classes("q-card p-3 flex flex-col gap-1"):
            with ui.row().classes("w-full items-center no-wrap justify-between"):
                box = ui.checkbox(letter.title, value=value is not None)
                number = ui.number(letter.sign, value=letter.first if value is None else value, step=letter.step, min=0)
                number.props("outlined dense").classes("w-24").bind_enabled_from(box, "value")
            quiet(letter.words if can_be_asked else "Needs a sensitive column.")
            if can_be_asked:
                self._variant(name)
            box.set_enabled(can_be_asked)
            box.on_value_change(lambda: self._want(name, number.value if box.value else None))
            number.on_value_change(lambda: self._want(name, number.value if box.value else None))

    def _variant(self, name: str) -> None:
        """How values are counted for l, and how distances are measured for t."""
        wanted = self._state.asked.wanted
        if name == "l":
            with ui.row().classes("items-center gap-2 no-wrap"):
                counted = self._chosen("Counted as", "diversity", _DIVERSITIES, wanted.diversity)
                c = ui.number("c", value=wanted.c, step=0.5, min=0, on_change=lambda e: self._want("c", e.value or 0.0))
                c.props("outlined dense").classes("w-20")
                c.bind_visibility_from(counted, "value", value="recursive")
        if name == "t":
            self._chosen("Distance", "distance", _DISTANCES, wanted.distance)

    def _chosen(self, label: str, name: str, options: dict[str, str], value: str) -> ui.select:
        chosen = ui.select(options, value=value, label=label, on_change=lambda event: self._want(name, event.value))
        return chosen.props("outlined dense").classes("w-44")

    def _want(self, name: str, value: Any) -> None:
        whole = int(value) if name == "k" and isinstance(value, float) and value == int(value) else value
        changes: dict[str, Any] = {name: whole}
        self._state.ask(_with(self._state, wanted=replace(self._state.asked.wanted, **changes)))

    def _suppression(self) -> None:
        with row():
            words = ui.label().classes("w-80 max-w-full")
            slider = ui.slider(min=0, max=0.2, step=0.005, value=self._state.asked.suppression)
            slider.classes("w-64 max-w-full").props('aria-label="The share of rows that may be left out"')
            words.bind_text_from(slider, "value", lambda share: f"A search may leave out up to {share:.1%} of the rows")
            slider.on_value_change(lambda event: self._state.ask(_with(self._state, suppression=event.value)))

    def _method(self, method: str) -> None:
        def change(event: events.ValueChangeEventArguments[bool | None]) -> None:
            before = self._state.asked.methods
            kept = tuple(one for one in METHODS if (one in before and one != method) or (one == method and event.value))
            self._state.ask(_with(self._state, methods=kept))

        with ui.row().classes("w-full items-start gap-x-3 gap-y-0"):
            ui.checkbox(method, value=method in self._state.asked.methods, on_change=change).classes("w-40").props(
                "dense"
            )
            quiet(METHOD_WORDS[method]).style("flex:1 1 16rem")

    def _stricter(self) -> None:
        def change(event: events.ValueChangeEventArguments[bool | None]) -> None:
            self._state.ask(_with(self._state, also_stricter=event.value))

        ui.switch("Also try twice and four times the k", value=self._state.asked.also_stricter, on_change=change)

    # Trying -------------------------------------------------------------------------------------------------------

    @ui.refreshable_method
    def _run(self) -> None:
        """The button, or how far it is."""
        if self._problem:
            notice(self._problem, "error")
        if self._work is None:
            with row():
                button("Find candidates", self._start, icon="play_arrow")
            return
        work = self._work
        with row():
            button("Stop", work.stop, icon="stop", kind="plain")
            words = ui.label("Starting …").props('role="status"')
        bar = ui.linear_progress(value=0, show_value=False).props('aria-label="Progress"')

        def look() -> None:
            bar.value = work.share
            words.text = f"Trying {work.words} …" if work.words else "Starting …"

        ui.timer(0.2, look)

    async def _start(self) -> None:
        table = self._state.table
        if table is None or self._work is not None:
            return
        self._problem = ""
        try:
            attempts = attempts_of(table.brought, self._state.plans, self._state.asked)
            self._work = SeparateWork(partial(tried, attempts, table.brought.name))
            ui.context.client.on_delete(self._work.stop)
            self._run.refresh()
            self._state.find(await self._work.result())
        except Stopped:
            self._problem = "Stopped. Nothing changed."
        except WorkFailed as fault:
            self._problem = f"The work failed ({fault}). Nothing changed."
        except DiscreetError as refusal:
            self._problem = str(refusal)
        finally:
            self._work = None
            self._run.refresh()


def _with(state: PublicationState, **changes: Any) -> ReleaseGoals:
    return replace(state.asked, **changes)
