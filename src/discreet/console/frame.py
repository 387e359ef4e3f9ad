"""The frame around every page: name, navigation by role, light and dark, sign out, and words for whatever fails."""

from __future__ import annotations

import logging
from html import escape

from nicegui import ui

from discreet.console.look import LOOK_COOKIE, apply_look, button, notice
from discreet.console.room import ROOMS, Room
from discreet.console.visit import Visit
from discreet.errors import DiscreetError

__all__ = ["failure_words", "framed"]

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


async def framed(room: Room, visit: Visit) -> None:
    """Draw a room's page for a visit."""
    shade = apply_look()
    ui.add_head_html(_LOST)
    ui.context.client.on_exception(_say)
    drawer = _navigation(room, visit)
    _header(visit, drawer, shade)
    with ui.element("div").classes("d-page") as page:
        await _filled(room, visit)
    ui.skip_link("Skip to the page", target=page)


async def _filled(room: Room, visit: Visit) -> None:
    try:
        filling = room.build()(visit)
        if filling is not None:
            await filling
    except DiscreetError as fault:
        notice(str(fault), "error")
    except Exception as fault:  # whatever it is, its words may hold what is not for this reader
        notice(failure_words(fault), "error")


def _navigation(room: Room, visit: Visit) -> ui.left_drawer:
    drawer = ui.left_drawer(value=False).props("width=232 show-if-above").classes("d-drawer")
    ways = [_way(one, one is room) for one in ROOMS if visit.visitor.role in one.roles]
    with drawer:  # one element: each that the server knows takes some kilobytes for as long as the page lives
        ui.html("".join(ways), sanitize=False, tag="nav").classes("d-nav").props('aria-label="Pages"')
    return drawer


def _way(room: Room, is_here: bool) -> str:
    here = ' aria-current="page"' if is_here else ""
    icon = f'<i class="q-icon notranslate material-icons" aria-hidden="true">{escape(room.icon)}</i>'
    return f'<a class="d-nav-link" href="{escape(room.path)}"{here}>{icon}<div>{escape(room.title)}</div></a>'


def _header(visit: Visit, drawer: ui.left_drawer, shade: ui.dark_mode) -> None:
    with ui.header().classes("d-header items-center"):
        button("Pages", drawer.toggle, icon="menu", kind="icon")
        ui.label("Discreet").classes("d-brand")
        ui.space()
        with ui.element("div").classes("d-person"):
            ui.label("Signed in as").classes("d-hidden-name")
            ui.label(f"{visit.visitor.name} · {visit.visitor.role}")
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
