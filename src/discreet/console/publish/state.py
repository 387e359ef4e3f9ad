"""What lies on the owner's bench while a publication is prepared, and who is told when it changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from discreet.console.layout import PageVisit
from discreet.console.publish.attempts import ReleaseCandidate, ReleaseCandidates, ReleaseGoals
from discreet.console.publish.plan import ColumnPlan, LaidOut

__all__ = ["Bench"]


@dataclass(eq=False)
class Bench:
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
    _told: dict[str, list[Callable[[], object]]] = field(default_factory=lambda: defaultdict(list))

    def when(self, what: str, tell: Callable[[], object]) -> None:
        """Call ``tell`` whenever ``what`` changes: the table, roles, the plan, what was found, what is chosen."""
        self._told[what].append(tell)

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
        for tell in self._told[what]:
            tell()
