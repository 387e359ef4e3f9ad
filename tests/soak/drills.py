"""All drills by name: what each does, at which size, and what it needs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from discreet.privacy.neighbours import Neighbours
from tests.audit.histories import make_history, play
from tests.audit.replayed_fixtures import QUESTIONS, replayed
from tests.curator.auditing import audit
from tests.curator.trials import TRIALS
from tests.full_disk import can_mount
from tests.servers.postgres import binaries
from tests.soak.all_tests import run_all_tests
from tests.soak.cut_connections import ask_through_cuts
from tests.soak.double_spend import spend_together
from tests.soak.every_write import fault_at_every_write
from tests.soak.full_disks import fill_under_curators
from tests.soak.fuzzing import SECONDS, fuzz_everywhere
from tests.soak.killed_asks import kill_curators
from tests.soak.killed_ingests import kill_ingests
from tests.soak.killed_ledger import kill_askers
from tests.soak.limits import press_curators
from tests.soak.losses import Losses
from tests.soak.postgres_faults import freeze_postgres, kill_postgres_at_every_statement, kill_postgres_at_random
from tests.soak.services import faketime, fill_under_services, jump_clocks, kill_services
from tests.soak.steady_asks import ask_steadily
from tests.soak.works import WORKS

__all__ = ["DRILLS", "Drill", "Run"]

TIMES = 5
"""How many times as many answers an audit gets here as in the tests."""
_FREEZE_SECONDS = 5.0


@dataclass(frozen=True)
class Run:
    """One run of a drill."""

    folder: Path
    size: int
    """How much of it: kills, trials, or whatever it counts."""
    seed: int
    tick: Callable[[], None]
    resize: Callable[[int], object]
    """Hears how many ticks there will be, where that is known only then."""


@dataclass(frozen=True)
class Drill:
    """One check that takes long."""

    name: str
    group: str
    about: str
    size: int
    """At full size."""
    work: Callable[[Run], str | Losses]
    missing: Callable[[], str | None] | None = None
    """Says what it needs and is not here."""

    def scaled(self, scale: float) -> int:
        """Its size at a scale; something is always left of it."""
        return max(1, round(self.size * scale))


def _no_mount() -> str | None:
    return None if can_mount() else "mounting a small disk needs root"


def _no_postgres() -> str | None:
    return None if binaries() is not None else "no PostgreSQL here"


def _no_faketime() -> str | None:
    return None if faketime() is not None else "no libfaketime: install it, or name it in FAKETIME_LIBRARY"


def _every_write(run: Run) -> Losses:
    """At full size every write; of less, so many of a hundred."""
    stride = max(1, round(100 / run.size))
    # Faults are acted out, so a disk in memory will do, and forced writes wait for nothing there.
    folder = Path("/dev/shm") / run.folder.name if os.access("/dev/shm", os.W_OK) else run.folder
    return fault_at_every_write(folder, dict.fromkeys(WORKS, stride), run.tick, size=run.resize)


def _every_statement(run: Run) -> Losses:
    stride = max(1, round(100 / run.size))
    return kill_postgres_at_every_statement(run.folder / "curator", stride, run.tick, run.resize)


def _killed_asks(run: Run) -> str:
    at_steps = max(1, run.size * 4 // 5)
    return kill_curators(run.folder, at_steps, max(1, run.size - at_steps), run.tick)


def _killed_ingests(run: Run) -> str:
    at_steps = max(1, run.size * 2 // 3)
    return kill_ingests(run.folder, at_steps, max(1, run.size - at_steps), run.tick)


def _double_spend(run: Run) -> str:
    run.resize(16)
    return spend_together(run.folder, run.size // 16 * 16, 16, max(1, run.size // 100), run.tick)


def _steady(run: Run) -> str:
    run.resize(20)
    return ask_steadily(run.folder, float(run.size), 2000, run.tick)


def _fuzz(run: Run) -> str:
    run.resize(3)
    return fuzz_everywhere(float(run.size), run.tick)


def _replayed(relation: Neighbours, run: Run) -> str:
    report = replayed(relation, QUESTIONS[relation])
    run.tick()
    assert report.is_sound, str(report)
    return report.headline


def _histories(run: Run) -> str:
    """Random histories of tables that grow, each in two worlds that differ in one unit."""
    answered = lossy = 0
    for number in range(run.seed * run.size, (run.seed + 1) * run.size):
        played = play(make_history(number), run.folder)
        assert not played.found, f"history {number}: {played.found[0]}"
        answered += played.answered
        lossy += sum(1 for one in played.losses if one.amount)
        run.tick()
    return f"{run.size:,} histories, {answered:,} answers; the unit lost something in {lossy:,} releases"


def _audited(name: str, run: Run) -> str:
    """One trial of the audit with many more answers."""
    trial, asks, power = TRIALS[name]
    # The δ for keys is divided between all questions that a budget affords: more wards, not more questions.
    more = (trial, asks * run.size) if trial.lists_wards else (replace(trial, wards=trial.wards * run.size), asks)
    run.resize(1)
    found = audit(run.folder, *more)
    run.tick()
    assert power * found.charged <= found.certified <= found.charged, f"{found}"
    return f"proved ε ≥ {found.certified:.3f}, charged {found.charged:.3f}, {found.answers:,} answers"


DRILLS: list[Drill] = [
    Drill("every-write", "faults", "killed, torn, cut off or full at each write of ten works", 100, _every_write),
    Drill(
        "full-disk",
        "faults",
        "curators on a small disk: asked until refused, freed, opened again",
        50,
        lambda run: fill_under_curators(run.folder / "trials", run.size, run.seed, run.tick),
    ),
    Drill(
        "full-disk-service",
        "faults",
        "the same for services, and what they say of being ready",
        10,
        lambda run: fill_under_services(run.folder, run.size, run.seed, run.tick),
        _no_mount,
    ),
    Drill(
        "limits",
        "faults",
        "curators short of descriptors or of memory",
        60,
        lambda run: press_curators(run.folder / "trials", run.size, run.seed, run.tick),
    ),
    Drill(
        "killed-services",
        "faults",
        "kill -9 of workers and services at random while clients ask",
        30,
        lambda run: kill_services(run.folder, run.size, run.seed, run.tick),
    ),
    Drill(
        "clocks",
        "faults",
        "a service whose clock jumps by up to ten days",
        50,
        lambda run: jump_clocks(run.folder, run.size, run.seed, run.tick),
        _no_faketime,
    ),
    Drill(
        "postgres-every-statement",
        "faults",
        "PostgreSQL killed before and after each statement of a question",
        100,
        _every_statement,
        _no_postgres,
    ),
    Drill(
        "postgres-killed",
        "faults",
        "PostgreSQL killed at random while three threads ask",
        30,
        lambda run: kill_postgres_at_random(run.folder / "curator", run.size, run.seed, run.tick),
        _no_postgres,
    ),
    Drill(
        "postgres-frozen",
        "faults",
        f"PostgreSQL frozen for {_FREEZE_SECONDS:g} s while three threads ask",
        10,
        lambda run: freeze_postgres(run.folder / "curator", run.size, _FREEZE_SECONDS, run.tick),
        _no_postgres,
    ),
    Drill(
        "killed-ledger",
        "faults",
        "kill -9 at random while charging",
        80,
        lambda run: kill_askers(run.folder, run.size, run.tick),
    ),
    Drill("killed-asks", "faults", "kill -9 while asking, four of five at chosen steps", 60, _killed_asks),
    Drill("killed-ingests", "faults", "kill -9 while taking in, two of three at chosen steps", 60, _killed_ingests),
    Drill(
        "cut-connections",
        "faults",
        "two servers, each killed again and again, behind proxies that cut connections",
        400,
        lambda run: ask_through_cuts(run.folder, max(1, run.size // 2), max(1, run.size // 40), run.tick),
    ),
    Drill(
        "double-spend", "load", "requests from 16 processes, with budget for one in a hundred", 10_000, _double_spend
    ),
    Drill("steady", "load", "seconds of small questions in one process, 2,000 a minute at least", 600, _steady),
    Drill("fuzz", "privacy", "seconds of random questions on neighbouring databases", round(SECONDS), _fuzz),
    Drill("tests", "privacy", "every test with all of its cases", 1, lambda run: run_all_tests(run.tick)),
    *(
        Drill(
            f"replay-{relation.value}",
            "privacy",
            "every question of the fixtures, to neighbours",
            1,
            partial(_replayed, relation),
        )
        for relation in Neighbours
    ),
    Drill("histories", "privacy", "tables that grow, in two worlds that differ in one unit", 10_000, _histories),
    *(
        Drill(
            f"audit-{name.replace(' ', '-')}",
            "privacy",
            "many times the answers of the tests",
            TIMES,
            partial(_audited, name),
        )
        for name in TRIALS
    ),
]
