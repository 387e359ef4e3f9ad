"""Record and replay: the same questions to two real curators whose tables differ by one person.

Whatever the two sessions show but noisy values must be the same to the letter: refusals, prices, statements, columns,
laws of noise, balances, ledgers. What noise hides may differ, by no more than was declared for that noise; the
difference is computed exactly, not estimated, so a finding here has no false alarms at all. What passes has passed for
these neighbours and these questions.

>>> import pyarrow as pa
>>> from discreet.catalog.budget import Budget
>>> from discreet.curator.policies import stated_policy
>>> people = pa.table({"person": list(range(40)), "smokes": [k % 4 == 0 for k in range(40)]})
>>> policy = stated_policy(people, table="survey", unit="person", budget=Budget(1))
>>> report = replay(people, policy, ["SELECT COUNT(*) FROM survey WHERE smokes"], epsilon="0.5", neighbours=2)
>>> report.is_sound, report.lines[0].claimed, report.lines[0].observed
(True, 0.5, 0.5)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.audit.replay.compare import compared, observed_loss
from discreet.audit.replay.session import Session, World, neighbours_of, recorded, rows_of
from discreet.catalog.policy.read import read as read_policy
from discreet.catalog.table import Table
from discreet.errors import DiscreetError, InvalidValue
from discreet.exact.rational import Number, integer, positive
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Pure
from discreet.query.plan.budget_split import get_magnitude
from discreet.reports import document as doc
from discreet.reports.report import Report

__all__ = ["ReplayFinding", "ReplayLine", "ReplayReport", "replay", "replay_worlds"]


_NEIGHBOURS = 8
_MOST_NEIGHBOURS = 1000
_HOW = (
    "The same questions were asked of curators whose tables differ by one person. All they show but noisy values must "
    "be the same. What noise hides may differ by no more than was declared: that is computed, and not estimated."
)


@dataclass(frozen=True)
class ReplayFinding:
    """Something that tells neighbours apart."""

    question: str
    """The question; empty where it concerns the whole session."""
    neighbour: str
    """How the other table differed."""
    words: str
    """What is wrong."""
    detail: str
    """What was seen on the two sides. It can hold what rows hold: for the owner's eyes alone."""

    def __str__(self) -> str:
        about = f"{self.question}: " if self.question else ""
        return f"{about}{self.words} ({self.neighbour}): {self.detail}"


@dataclass(frozen=True)
class ReplayLine:
    """One question: what was declared, and the most that one person changed."""

    question: str
    """In SQL."""
    unit: str
    """ε or ρ: what the two numbers are; empty where nothing was measured."""
    claimed: float | None
    """What the question was charged."""
    observed: float | None
    """The loss of the neighbour that changed most, exactly."""
    neighbour: str
    """Which one that was."""
    refusal: str | None
    """Why it was not answered."""

    def cells(self) -> tuple[doc.TableCell, ...]:
        """What was claimed and observed, and the question with what else there is to say about it."""
        claimed, observed, about = self._figures()
        return claimed, observed, doc.Stacked(doc.Code(self.question), about)

    def _figures(self) -> tuple[str, str, str]:
        if self.refusal is not None:
            return "refused", "", self.refusal
        if self.claimed is None or self.observed is None:
            return "public", "", ""
        if not self.claimed:
            return "free", "", "asked before"
        worst = f"most for {self.neighbour}" if self.neighbour else ""
        return f"{self.unit} {self.claimed:.4g}", f"{self.unit} {self.observed:.4g}", worst


@dataclass(frozen=True)
class ReplayReport(Report):
    """Claimed against observed for every question, and whatever tells neighbours apart."""

    table: str
    """The protected tables whose neighbours were tried."""
    relation: str
    """What neighbours of them are."""
    neighbours: tuple[str, ...]
    """How each differed."""
    lines: tuple[ReplayLine, ...]
    """One per question."""
    findings: tuple[ReplayFinding, ...]
    """What is wrong; nothing where all is well."""
    skipped: tuple[str, ...]
    """Neighbours that the policy does not allow, so that the curator did not take them in, and why."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing told the neighbours apart by more than was declared."""
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, for JSON."""
        return {
            "table": self.table,
            "relation": self.relation,
            "sound": self.is_sound,
            "neighbours": list(self.neighbours),
            "questions": [vars(line) for line in self.lines],
            "findings": [vars(finding) for finding in self.findings],
            "skipped": list(self.skipped),
        }

    def document(self) -> doc.Document:
        """One line for each question, what is wrong, and the neighbours that were tried."""
        lines = doc.TableBlock(("claimed", "observed", "question"), [line.cells() for line in self.lines], "rrl")
        wrong = [doc.ListItem(one.words, f"{one.neighbour}: {one.detail}", one.question) for one in self.findings]
        tried: list[tuple[doc.TableCell, ...]] = [(words, "") for words in self.neighbours]
        skipped: list[tuple[doc.TableCell, ...]] = [(words, doc.Toned("not tried", "fair")) for words in self.skipped]
        blocks: list[doc.DocumentBlock] = [
            doc.Alert(self.headline, tone="good" if self.is_sound else "bad"),
            doc.Paragraph(_HOW),
            doc.Section("Claimed against observed", [lines]),
            *([doc.Section("What tells neighbours apart", [doc.ItemList(wrong)])] if wrong else []),
            doc.Section("Neighbours", [doc.TableBlock((), [*tried, *skipped])]),
        ]
        return doc.Document(f"A replay of {self.table}", blocks)

    @property
    def headline(self) -> str:
        """The report in a sentence."""
        asked = "1 question" if len(self.lines) == 1 else f"{len(self.lines)} questions"
        tried = "1 neighbour" if len(self.neighbours) == 1 else f"{len(self.neighbours)} neighbours"
        where = f"{asked} to {self.table} and to {tried} of it ({self.relation})"
        if self.is_sound:
            return f"{where}: nothing but noise tells them apart."
        return f"{where}: {len(self.findings)} {'finding' if len(self.findings) == 1 else 'findings'}."


def replay(
    table: Any,
    policy: Table | str | Path,
    questions: Sequence[str],
    *,
    epsilon: Number = 1,
    neighbours: int | None = None,
    seed: int = 0,
    announce: Callable[[str, int, int], None] | None = None,
) -> ReplayReport:
    """Ask ``questions`` about a table and about neighbours of it, and find whatever tells them apart.

    Everything happens in temporary folders, with the budget of the policy; a curator that answers people is not
    touched. ``neighbours`` is how many to try, telling ones first; ``seed`` chooses the others. ``announce`` hears
    what is tried, how many are done and how many there are.
    """
    stated = policy if isinstance(policy, Table) else read_policy(policy)
    if not questions or isinstance(questions, str):
        raise InvalidValue("a replay needs a list of questions", questions or "<none>")
    positive(epsilon, "epsilon")
    if stated.public:
        raise InvalidValue("a public table has no people to protect", stated.name)
    most = _NEIGHBOURS if neighbours is None else integer(neighbours, "neighbours", least=1, most=_MOST_NEIGHBOURS)
    rows = rows_of(table, stated)
    others = neighbours_of(rows, stated, most, experiment(seed))
    worlds = [(other.words, [(other.rows, stated)]) for other in others]
    return replay_worlds([(rows, stated)], worlds, questions, epsilon=epsilon, announce=announce)


def replay_worlds(
    world: World,
    others: Sequence[tuple[str, World]],
    questions: Sequence[str],
    *,
    epsilon: Number = 1,
    announce: Callable[[str, int, int], None] | None = None,
) -> ReplayReport:
    """The same for several tables at once, and neighbours that the caller made, each with words about it."""
    with TemporaryDirectory(prefix="discreet-replay-") as folder:
        base = recorded(Path(folder) / "here", world, questions, epsilon)
        sessions: dict[str, Session] = {}
        skipped = []
        for place, (words, other) in enumerate(others):
            if announce is not None:
                announce(words, place, len(others))
            try:
                sessions[_unlike(words, sessions)] = recorded(Path(folder) / str(place), other, questions, epsilon)
            except DiscreetError as refused:
                skipped.append(f"{words}: {refused}")
    findings = [
        ReplayFinding(found.question, words, found.words, found.detail)
        for words, session in sessions.items()
        for found in compared(base, session)
    ]
    lines = tuple(_line(base, sessions, place) for place in range(len(questions)))
    protected = [policy for _, policy in world if not policy.public]
    names = ", ".join(policy.name for policy in protected)
    relations = " or ".join(sorted({str(policy.neighbours) for policy in protected}))
    return ReplayReport(names, relations, tuple(sessions), lines, tuple(findings), tuple(skipped))


def _unlike(words: str, taken: dict[str, Session]) -> str:
    found, number = words, 2
    while found in taken:
        found, number = f"{words} ({number})", number + 1
    return found


def _line(base: Session, sessions: dict[str, Session], place: int) -> ReplayLine:
    asked = base.asked[place]
    plan = asked.facts.get("plan")
    if asked.refusal is not None or plan is None or plan.price is None:
        return ReplayLine(asked.sql, "", None, None, "", asked.refusal)
    answered = {words: session.asked[place] for words, session in sessions.items()}
    observed = {words: observed_loss(asked, other) for words, other in answered.items() if other.refusal is None}
    worst = max(observed, key=lambda words: observed[words][1], default="")
    claimed, most = observed.get(worst, (get_magnitude(plan.price), 0.0))
    unit = "ε" if isinstance(plan.price, Pure) else "ρ"
    return ReplayLine(asked.sql, unit, float(claimed), most, worst, None)
