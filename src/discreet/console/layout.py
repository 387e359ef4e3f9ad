"""The frame around every page: name, navigation by role, light and dark, sign out, and words for whatever fails.

Each page has a place in the navigation of those who may see it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape
from importlib import import_module

from nicegui import ui

from discreet.console.theme import LOOK_COOKIE, apply_look, button, notice
from discreet.errors import DiscreetError
from discreet.service.auth.roles import PEOPLE, READERS, MemberRole, Principal
from discreet.service.state import ServiceState

__all__ = ["PAGES", "ConsolePage", "PageVisit", "failure_words", "framed"]


@dataclass(frozen=True)
class PageVisit:
    """What a page is built for."""

    service: ServiceState
    """The service whose pages these are."""
    principal: Principal
    """Who looks at the page."""


Build = Callable[[PageVisit], Awaitable[None] | None]


@dataclass(frozen=True)
class ConsolePage:
    """One page of the console."""

    path: str
    """Where it is."""
    title: str
    """What it is called."""
    icon: str
    """A Material icon beside the title."""
    module: str
    """The module of this package with its ``build``, loaded when somebody enters."""
    roles: frozenset[MemberRole] = PEOPLE
    """Who may enter."""

    def build(self) -> Build:
        """What fills the page."""
        found: Build = import_module(f"discreet.console.{self.module}").build
        return found


_OWNER = frozenset({MemberRole.OWNER})
_ASKERS = frozenset({MemberRole.OWNER, MemberRole.ANALYST})

PAGES = (
    ConsolePage("/", "Ask", "question_answer", "ask.page", _ASKERS),
    ConsolePage("/budget", "Budget", "account_balance_wallet", "budget"),
    ConsolePage("/ledger", "Ledger", "menu_book", "ledger"),
    ConsolePage("/trail", "Audit trail", "history", "audit_trail", READERS),
    ConsolePage("/tables", "Tables", "table_chart", "tables.page", _OWNER),
    ConsolePage("/people", "People", "group", "people", _OWNER),
    ConsolePage("/publish", "Publish", "publish", "publish.page", _OWNER),
    ConsolePage("/understand", "Understand ε", "insights", "understand"),
    ConsolePage("/lab", "Lab", "science", "lab.page"),
)
"""In the order of the navigation."""


_LOG = logging.getLogger(__name__)
_TURN = f"""() => {{
  const dark = !Quasar.Dark.isActive;
  mounted_app.elements[SHADE].props.value = dark;  // where later updates of the page find it again
  document.cookie = `{LOOK_COOKIE}=${{dark ? "dark" : "light"}}; path=/; max-age=31536000; SameSite=Strict`;
}}"""
_FORGET_DRAFTS = """() => {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith("discreet-draft")) sessionStorage.removeItem(key);
}"""
_LOST = """<script>
addEventListener("DOMContentLoaded", () => {
  const [first, second] = document.querySelectorAll("#popup > span");
  document.getElementById("popup").setAttribute("role", "status");
  first.textContent = "The connection is lost.";
  second.textContent = "Trying to reach the service again. What was asked is not lost, and costs once.";
});
</script>"""


async def framed(shown: ConsolePage, visit: PageVisit) -> None:
    """Draw a page for a visit."""
    shade = apply_look()
    ui.add_head_html(_LOST)
    ui.context.client.on_exception(_say)
    drawer = _navigation(shown, visit)
    _header(visit, drawer, shade)
    with ui.element("div").classes("d-page") as page:
        await _fill(shown, visit)
    ui.skip_link("Skip to the page", target=page)


async def _fill(page: ConsolePage, visit: PageVisit) -> None:
    try:
        filling = page.build()(visit)
        if filling is not None:
            await filling
    except DiscreetError as fault:
        notice(str(fault), "error")
    except Exception as fault:  # whatever it is, its words may hold what is not for this reader
        notice(failure_words(fault), "error")


def _navigation(page: ConsolePage, visit: PageVisit) -> ui.left_drawer:
    drawer = ui.left_drawer(value=False).props("width=232 show-if-above").classes("d-drawer")
    ways = [_way(one, one is page) for one in PAGES if visit.principal.role in one.roles]
    with drawer:  # one element: each that the server knows takes some kilobytes for as long as the page lives
        ui.html("".join(ways), sanitize=False, tag="nav").classes("d-nav").props('aria-label="Pages"')
    return drawer


def _way(page: ConsolePage, is_here: bool) -> str:
    here = ' aria-current="page"' if is_here else ""
    icon = f'<i class="q-icon notranslate material-icons" aria-hidden="true">{escape(page.icon)}</i>'
    return f'<a class="d-nav-link" href="{escape(page.path)}"{here}>{icon}<div>{escape(page.title)}</div></a>'


def _header(visit: PageVisit, drawer: ui.left_drawer, shade: ui.dark_mode) -> None:
    with ui.header().classes("d-header items-center"):
        button("Pages", drawer.toggle, icon="menu", kind="icon")
        ui.label("Discreet").classes("d-brand")
        ui.space()
        with ui.element("div").classes("d-person"):
            ui.label("Signed in as").classes("d-hidden-name")
            ui.label(f"{visit.principal.name} · {visit.principal.role}")
        button("Light or dark", icon="contrast", kind="icon").on(
            "click", js_handler=_TURN.replace("SHADE", str(shade.id))
        )
        with ui.element("form").props('method="post" action="/sign-out"').on("submit", js_handler=_FORGET_DRAFTS):
            button("Sign out", icon="logout", kind="icon").props('type="submit"')


def failure_words(fault: Exception) -> str:
    """What a page says about a failure: a refusal in its own words, anything else in words that hold nothing."""
    if isinstance(fault, DiscreetError):
        return str(fault)
    _LOG.error("a page of the console failed: %s", type(fault).__name__)
    return "The console failed at this. Nothing more was spent; the owner can find the place in the log."


def _say(fault: Exception) -> None:
    words = failure_words(fault)
    ui.notify(words, type="negative", position="bottom", close_button="Close", multi_line=True, timeout=12_000)
