"""People: who may come in, in which role, and the tokens that they come in with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from typing import TypeVar

from nicegui import ui

from discreet.console.layout import PageVisit
from discreet.console.theme import button, confirm, empty, in_pages, notice, page_title, row, section, shown_once
from discreet.console.widgets import stay_on
from discreet.errors import DiscreetError
from discreet.service.auth.members import Member, Token
from discreet.service.auth.roles import MemberRole
from discreet.service.operations import members as members_ops

__all__ = ["ROLE_WORDS", "build", "day", "is_good", "member_words", "token_state"]


ROLE_WORDS = {
    MemberRole.OWNER: "protects tables, looks after people, reads the whole ledger, approves publications",
    MemberRole.ANALYST: "asks, within the caps of each table, and sees their own questions",
    MemberRole.AUDITOR: "reads the ledger and the certificates, and cannot ask",
    MemberRole.FEEDER: "is a program that appends rows to tables that grow, and may do nothing else",
}
"""What each role may do."""


def day(seconds: float) -> str:
    """A day in UTC.

    >>> day(0)
    '1970-01-01'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def is_good(token: Token, now: float) -> bool:
    """Whether a token can be used."""
    return token.revoked is None and token.expires > now


def token_state(token: Token, now: float) -> str:
    """Whether a token can be used, and until when, or since when it cannot."""
    if token.revoked is not None:
        return f"{'used up' if token.once else 'taken back'} on {day(token.revoked)}"
    if token.expires <= now:
        return f"expired on {day(token.expires)}"
    return f"good until {day(token.expires)}" + (", for one sign-in" if token.once else "")


def member_words(member: Member, tokens: list[Token], now: float) -> str:
    """Since when somebody is here, and how many of their tokens are good."""
    if member.removed is not None:
        return f"{member.role}, left on {day(member.removed)}"
    good = sum(is_good(token, now) for token in tokens)
    counted = {0: "no good token", 1: "1 good token"}.get(good, f"{good} good tokens")
    return f"{member.role} since {day(member.since)}, {counted}"


T = TypeVar("T")
_LEAD = "Who may come in, in which role, and with which tokens. A secret is shown once and kept nowhere."
_AT_ONCE = 50
_FOR_TOKENS = "It is shown now and never again: copy it and hand it over by a way that you trust."


async def build(visit: PageVisit) -> None:
    """The page for an owner."""
    page_title("People", _LEAD)
    await _PeoplePage(visit).draw()


class _PeoplePage:
    """The page: members, newcomers, former members."""

    def __init__(self, visit: PageVisit) -> None:
        self._visit = visit
        self._opened = ""  # the member whose tokens are shown
        self._issuing: dict[str, ui.button] = {}  # per member, what issues a token

    async def draw(self) -> None:
        """All parts."""
        with section("Somebody new", "Names are taken for good: the ledger remembers who asked what."):
            self._newcomer()
        self._said = ui.element("div").classes("w-full empty:hidden")
        self._listed = ui.element("div").classes("w-full flex flex-col gap-5")
        await self._list()

    # Newcomers ----------------------------------------------------------------------------------------------------

    def _newcomer(self) -> None:
        with row():
            name = ui.input("Name").props("outlined dense").classes("w-56 max-w-full")
            role = ui.select({one: str(one) for one in MemberRole}, value=MemberRole.ANALYST, label="Role")
            role.props("outlined dense").classes("w-40")
            button("Add", lambda: self._add(name, role), icon="person_add")
            name.on("keydown.enter", lambda: self._add(name, role))
        words = ui.label().classes("d-muted d-small")
        words.bind_text_from(role, "value", lambda chosen: f"{chosen.capitalize()}: {ROLE_WORDS[chosen]}.")

    async def _add(self, name: ui.input, role: ui.select) -> None:
        added = await self._done(
            lambda: members_ops.add_member(
                self._visit.service, self._visit.principal, (name.value or "").strip(), role.value
            )
        )
        if added is not None:
            name.value = ""
            self._opened = added.name
            await self._list()

    # Members ------------------------------------------------------------------------------------------------------

    async def _list(self) -> None:
        everybody = await asyncio.to_thread(self._everybody)
        self._listed.clear()
        with self._listed:
            here = [one for one in everybody if one[0].removed is None]
            if len(here) > _AT_ONCE:  # whose tokens are shown comes first, wherever they were
                here.sort(key=lambda one: one[0].name != self._opened)
            with section("Members"):
                in_pages(here, lambda one: self._member(*one), "members", _AT_ONCE)
            former = [member for member, _ in everybody if member.removed is not None]
            if former:
                with section("Former members"):
                    in_pages(former, _former, "former members")

    def _everybody(self) -> list[tuple[Member, list[Token]]]:
        service, principal = self._visit.service, self._visit.principal
        return [
            (one, members_ops.tokens(service, principal, one.name)) for one in members_ops.members(service, principal)
        ]

    def _member(self, member: Member, tokens: list[Token]) -> None:
        words = member_words(member, tokens, time.time())
        is_open = member.name == self._opened
        with ui.expansion(member.name, caption=words, icon=_ICONS[member.role], value=is_open) as folded:
            folded.classes("w-full q-card").on_value_change(lambda event: self._open(member.name, bool(event.value)))
            with ui.column().classes("w-full gap-4"):
                self._tokens(tokens)
                self._issue(member.name)
                with row():
                    button(f"Let {member.name} go", lambda: self._remove(member), icon="person_remove", kind="plain")

    def _open(self, name: str, is_open: bool) -> None:
        self._opened = name if is_open else ""

    async def _remove(self, member: Member) -> None:
        words = f"All tokens of {member.name} end at once. The name stays taken, and so does what they spent."
        if not await confirm(f"Let {member.name} go?", words, "Let go", danger=True):
            return
        await self._done(lambda: members_ops.remove_member(self._visit.service, self._visit.principal, member.name))
        await self._list()

    # Tokens -------------------------------------------------------------------------------------------------------

    def _tokens(self, tokens: list[Token]) -> None:
        if not tokens:
            empty("key_off", "No tokens yet")
            return
        with ui.element("div").classes("d-table-box"), ui.element("table").classes("d-table"):
            with ui.element("thead"), ui.element("tr"):
                for head in _HEADS:
                    ui.html(escape(head), sanitize=False, tag="th")
            with ui.element("tbody"):
                for token in tokens:
                    self._token(token)

    def _token(self, token: Token) -> None:
        now = time.time()
        with ui.element("tr"):
            for words in (token.label or "without a label", token.id[:8], token_state(token, now)):
                ui.html(escape(words), sanitize=False, tag="td")
            with ui.element("td").classes("d-number"):
                if is_good(token, now):
                    called = token.label or token.id[:8]
                    button(f"Take back {called}", lambda: self._revoke(token), icon="key_off", kind="icon").props(
                        "dense"
                    )

    async def _revoke(self, token: Token) -> None:
        mine = " You are signed in with it: you will be signed out." if token.id == self._visit.principal.token else ""
        words = f"Whoever uses it is refused from now on.{mine}"
        if not await confirm(f"Take back “{token.label or token.id[:8]}”?", words, "Take back", danger=True):
            return
        await self._done(lambda: members_ops.revoke_token(self._visit.service, self._visit.principal, token.id))
        await self._list()
        if self._opened in self._issuing:
            stay_on(self._issuing[self._opened])

    def _issue(self, name: str) -> None:
        with row():
            label = ui.input("What it is for").props("outlined dense").classes("w-56 max-w-full")
            days = ui.number("Days", value=self._visit.service.settings.token_days, min=1, step=1)
            days.props("outlined dense").classes("w-24")
            once = ui.checkbox("for one sign-in")
            pressed = button(f"Issue a token for {name}", lambda: self._issued(name, label, days, once), icon="key")
        self._issuing[name] = pressed

    async def _issued(self, name: str, label: ui.input, days: ui.number, once: ui.checkbox) -> None:
        service, principal, words = self._visit.service, self._visit.principal, label.value or ""
        made = await self._done(
            lambda: members_ops.issue_token(service, principal, name, words, days.value, once=bool(once.value))
        )
        if made is not None:
            await shown_once(f"A token for {name}", made.secret, _FOR_TOKENS)
            self._opened = name
            await self._list()
            stay_on(self._issuing[name])

    async def _done(self, operation: Callable[[], T]) -> T | None:
        """Do something beside the event loop; a refusal is said on the page."""
        self._said.clear()
        try:
            return await asyncio.to_thread(operation)
        except DiscreetError as refusal:
            with self._said:
                notice(str(refusal), "error")
            ui.run_javascript(f"getHtmlElement({self._said.id}).scrollIntoView({{block: 'center'}})")
            return None


_ICONS = {
    MemberRole.OWNER: "admin_panel_settings",
    MemberRole.ANALYST: "query_stats",
    MemberRole.AUDITOR: "fact_check",
    MemberRole.FEEDER: "input",
}
_HEADS = ("for", "id", "state", "")


def _former(member: Member) -> None:
    ui.label(f"{member.name}: {member_words(member, [], time.time())}")
