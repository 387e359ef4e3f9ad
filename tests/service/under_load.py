"""A hospital under load: a crowd asks for more than the budget pays for, and the server is killed in the middle."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
from argon2 import PasswordHasher

from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.verify import verify
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole
from discreet.service.storage import ServiceStore
from tests.service.crowd import Crowd, Seen, ask_again, at_work
from tests.service.serve_command import ServeCommand

__all__ = ["Outcome", "analysts", "charges_in", "founded", "load", "problems_of"]


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    seen: Seen
    seconds: float
    cpu: float
    """Seconds of CPU time of the server."""
    starts: tuple[float, ...]
    """Seconds until the server answered, at the first start and after the crash."""
    changed: list[str]
    """Answers that came back differently when they were asked for again."""


def analysts(number: int) -> list[str]:
    """Names for so many analysts."""
    return [f"analyst{k}" for k in range(number)]


def founded(
    folder: Path, rows: pa.Table, policy: Table, names: list[str], hasher: PasswordHasher | None = None
) -> dict[str, str]:
    """A curator with these rows and members; the tokens of its analysts."""
    curator = Curator(folder)
    curator.protect(rows, policy)
    curator.ledger.close()
    members = Members(ServiceStore(folder), hasher=hasher)
    members.add("owner", MemberRole.OWNER)
    for name in names:
        members.add(name, MemberRole.ANALYST)
    return {name: members.issue(name, label="load", days=1) for name in names}


def load(
    server: ServeCommand,
    crowd: Crowd,
    tokens: dict[str, str],
    *,
    kill_when: Callable[[float], bool],
    processes: int = 1,
) -> Outcome:
    """Let the crowd work and kill the server in the middle; afterwards ask for every answer once more.

    ``kill_when`` is asked again and again, and told how many seconds have passed.
    """
    starts = [server.start()]
    began = time.perf_counter()
    seen = Seen()
    with at_work(crowd, server.address, tokens, processes) as parts:
        while not kill_when(time.perf_counter() - began):
            assert not all(part.done() for part in parts), "they were done before the crash"
            time.sleep(0.01)
        server.kill()
        starts.append(server.start())
        for part in parts:
            seen.add(part.result())
    seconds = time.perf_counter() - began
    cpu = server.cpu_so_far()
    changed = ask_again(server.address, seen.answers)
    server.stop()
    return Outcome(seen, seconds, cpu, tuple(starts), changed)


def charges_in(folder: Path) -> int:
    """How many questions were charged so far, read from the ledger of a server that is at work."""
    ledger = Ledger(folder)
    try:
        return sum("prices" in entry.body for entry in ledger.entries())
    finally:
        ledger.close()


def problems_of(outcome: Outcome, folder: Path, cap: Budget) -> list[str]:
    """Whatever is wrong with a load: responses that must not be, answers that changed, totals that are not exact."""
    found = [*outcome.seen.faults, *outcome.changed]
    report = verify(folder)
    if not report.is_sound:
        found += [f"the ledger: {problem}" for problem in report.problems]
    ledger = Ledger(folder)
    accounts = ledger.accounts()
    ledger.close()
    spent = Fraction(accounts["visits"].allowance.loss(accounts["visits"].spent).epsilon)  # type: ignore[attr-defined]
    prices = {one.charge: one.price for one in outcome.seen.answers}
    if sum(prices.values(), Fraction(0)) != spent:
        found.append(f"answers cost {sum(prices.values(), Fraction(0))}, and the ledger says {spent}")
    if spent > cap.epsilon:
        found.append(f"{spent} was spent of {cap.epsilon}")
    found += [
        f"{name} is overdrawn"
        for name, account in accounts.items()
        if not account.allowance.holds(account.spent, account.spent_pure, account.impure)
    ]
    return found
