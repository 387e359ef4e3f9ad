"""What a publication that is prepared consists of so far, who is told when it changes, and how its steps look."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

import pyarrow as pa
from nicegui import ui

from discreet.anonymize.roles import Role, Roles
from discreet.console.layout import PageVisit
from discreet.console.publish.attempts import ReleaseCandidate, ReleaseCandidates, ReleaseGoals, spread_rows
from discreet.console.publish.plan import ColumnPlan, LaidOut
from discreet.console.theme import table_of

__all__ = [
    "ROLE_ICONS",
    "ROLE_NAMES",
    "ROLE_WORDS",
    "STYLE",
    "PublicationState",
    "bar",
    "role_chip",
    "role_class",
    "some_rows",
]


@dataclass(eq=False)
class PublicationState:
    """The table, the plan and the candidates of one open page."""

    visit: PageVisit
    """Whose page it is."""
    table: LaidOut | None = None
    """The table."""
    plans: dict[str, ColumnPlan] = field(default_factory=dict)
    """What is to happen to its columns."""
    asked: ReleaseGoals = field(default_factory=ReleaseGoals)
    """Models, limits and methods."""
    found: ReleaseCandidates | None = None
    """What the attempts gave."""
    chosen: ReleaseCandidate | None = None
    """The candidate that is looked at."""
    is_outdated: bool = False
    """Whether the plan changed since the candidates were made."""
    limit: float = 0.2
    """The risk that is allowed."""
    _listeners: dict[str, list[Callable[[], object]]] = field(default_factory=lambda: defaultdict(list))

    def when(self, what: str, listener: Callable[[], object]) -> None:
        """Call ``tell`` whenever ``what`` changes: the table, roles, the plan, what was found, what is chosen."""
        self._listeners[what].append(listener)

    def bring(self, table: LaidOut) -> None:
        """Begin anew with a table."""
        self.table, self.plans = table, dict(table.plans)
        self.found = self.chosen = None
        self._tell("table")

    def plan(self, name: str, plan: ColumnPlan) -> None:
        """Change what is to happen to a column."""
        before, self.plans[name] = self.plans[name], plan
        self.is_outdated = self.found is not None
        if before.role is not plan.role:
            self._tell("roles")
        self._tell("plan")

    def ask(self, asked: ReleaseGoals) -> None:
        """Change models, limits or methods."""
        self.asked = asked
        self.is_outdated = self.found is not None
        self._tell("plan")

    def find(self, found: ReleaseCandidates) -> None:
        """Lay out what the attempts gave, with the best of them chosen."""
        self.found, self.chosen, self.is_outdated = found, found.best, False
        self._tell("found")
        self._tell("chosen")

    def choose(self, candidate: ReleaseCandidate) -> None:
        """Look at another candidate."""
        self.chosen = candidate
        self._tell("found")
        self._tell("chosen")

    def _tell(self, what: str) -> None:
        for listener in self._listeners[what]:
            listener()


ROLE_NAMES = {
    Role.IDENTIFYING: "identifying",
    Role.QUASI_IDENTIFYING: "known to others",
    Role.SENSITIVE: "sensitive",
    Role.INSENSITIVE: "harmless",
}
"""A short name for each role."""
ROLE_WORDS = {
    Role.IDENTIFYING: "names a person alone; left out",
    Role.QUASI_IDENTIFYING: "several together single people out; made coarser",
    Role.SENSITIVE: "nobody should learn it; kept, the models are about it",
    Role.INSENSITIVE: "neither known nor worth hiding; released as it is",
}
"""What each role means and what happens to such a column."""
ROLE_ICONS = {
    Role.IDENTIFYING: "badge",
    Role.QUASI_IDENTIFYING: "visibility",
    Role.SENSITIVE: "lock",
    Role.INSENSITIVE: "check_circle",
}
"""A sign for each role, so that colour is never alone."""


def role_class(role: Role) -> str:
    """The class that sets a role's colour."""
    return f"role-{role.value}"


STYLE = """
.role-identifying{--role:var(--d-bad)}.role-quasi-identifying{--role:var(--d-series-2)}
.role-sensitive{--role:var(--d-series-4)}.role-insensitive{--role:var(--d-good)}
.role-chip{display:inline-flex;align-items:center;gap:.3rem;color:var(--role);border:1px solid var(--role);
background:color-mix(in srgb,var(--role) 9%,transparent);border-radius:1rem;padding:.02rem .6rem;font-size:.82rem;
font-weight:600;white-space:nowrap}
.role-card{border-left:5px solid var(--role)!important;padding:12px 14px;width:100%;
display:flex;flex-direction:column;gap:10px}
table.d-table th.role-head{color:var(--role);border-bottom:3px solid var(--role)}
table.d-table tr.chosen td{background:var(--d-tint)}
table.candidates td{vertical-align:middle}
.question code,.question pre{white-space:pre-wrap!important;overflow-wrap:anywhere}
.model-grid{display:grid;gap:12px;width:100%;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr))}
.side-by-side{display:grid;gap:20px;width:100%;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr))}
.risk-gauge{width:100%;max-width:20rem;height:auto;color:var(--d-text)}
.risk-gauge path{fill:none;stroke-width:16}
.risk-gauge .allowed{stroke:var(--d-good)}.risk-gauge .too-high{stroke:var(--d-bad);stroke-opacity:.5}
.risk-gauge .needle{stroke:currentColor;stroke-width:3;stroke-linecap:round}.risk-gauge .hub{fill:currentColor}
.risk-gauge .limit{stroke:currentColor;stroke-width:2;stroke-dasharray:3 2}
.risk-gauge text{font-size:10px;fill:currentColor;text-anchor:middle}
.risk-gauge .value{font-size:15px;font-weight:700}
.risk-bar{position:relative;height:10px;border-radius:5px;background:var(--d-raised);overflow:hidden}
.risk-bar>span{position:absolute;inset:0 auto 0 0;border-radius:5px}
.risk-bar>.within{background:var(--d-good)}.risk-bar>.above{background:var(--d-bad)}
.risk-bar>.at{width:2px;background:var(--d-text);border-radius:0;inset:0 auto 0 auto}
"""
"""The sheet of the page."""


_ROWS = 8


def role_chip(role: Role) -> None:
    """A role with its colour, its sign and its name."""
    with ui.element("span").classes(f"role-chip {role_class(role)}"):
        ui.icon(ROLE_ICONS[role]).props('aria-hidden="true"')
        ui.label(ROLE_NAMES[role])


def some_rows(table: pa.Table, roles: Roles) -> None:
    """Some rows of a table, whose heads have the colours of their roles."""
    heads = [_head(name, roles.role_of(name)) for name in table.column_names]
    table_of(heads, spread_rows(table, _ROWS))


def _head(name: str, role: Role) -> str:
    said = f'<span class="d-hidden-name">, {ROLE_NAMES[role]}</span>'
    return f'<th class="role-head {role_class(role)}" title="{ROLE_NAMES[role]}">{escape(name)}{said}</th>'


def bar(value: float, kind: str, limit: float | None = None) -> None:
    """A bar for a share that is said beside it, ``within`` or ``above`` a limit, with a mark where the limit is."""
    mark = "" if limit is None else f'<span class="at" style="left:{100 * limit:.2f}%"></span>'
    filled = f'<span class="{kind}" style="width:{100 * value:.2f}%"></span>'
    ui.html(f'<div class="risk-bar" aria-hidden="true">{filled}{mark}</div>', sanitize=False).classes("w-full")
