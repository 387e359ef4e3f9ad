"""A hospital to serve: made-up visits under a policy that names two analysts, and the members with their tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyarrow as pa
from argon2 import PasswordHasher

from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.demo.hospital import visits as made_up_visits
from discreet.demo.hospital import visits_policy
from discreet.service.app import application, guard_app
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole
from discreet.service.settings import Settings
from discreet.service.state import ServiceState
from discreet.service.storage import ServiceStore
from tests.service.in_process import InProcess

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Argon2 that takes no time: for tests, which guard nothing."""
MEMBERS = {
    "owner": MemberRole.OWNER,
    "ana": MemberRole.ANALYST,
    "ben": MemberRole.ANALYST,
    "auditor": MemberRole.AUDITOR,
    "ward": MemberRole.FEEDER,
}
"""Who is in the service: ana may spend ε = 1, ben ε = 2, all together ε = 3; ward is a program that appends rows."""


def visits() -> pa.Table:
    """2,000 visits of 600 patients, as in the demonstrations."""
    return made_up_visits(2000, 600)


def policy(name: str = "visits", analysts: Mapping[str, Budget | None] | None = None) -> Table:
    """The policy of the visits."""
    return visits_policy({"ana": Budget(1), "ben": Budget(2)} if analysts is None else analysts, name)


@dataclass(frozen=True)
class Hospital:
    """The curator's folder of a hospital, and the tokens of its members."""

    folder: Path
    tokens: dict[str, str]

    def service(self, **settings: object) -> ServiceState:
        """The service that serves it, with tokens that are quick to verify."""
        service = ServiceState(Settings.model_validate({"folder": self.folder, **settings}))
        service.members = Members(service.store, hasher=CHEAP)
        return service


def founded(folder: Path) -> Hospital:
    """A new hospital in a folder: its visits are protected, and its members have tokens."""
    curator = Curator(folder)
    curator.protect(visits(), policy())
    curator.ledger.close()
    members = Members(ServiceStore(folder), hasher=CHEAP)
    for name, role in MEMBERS.items():
        members.add(name, role)
    return Hospital(folder, {name: members.issue(name, label="tests", days=30) for name in MEMBERS})


def client_of(service: ServiceState, token: str | None = None) -> httpx.Client:
    """A client of the whole application, which sends this token with every request; it speaks to no network."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    transport = InProcess(guard_app(application(service)))
    return httpx.Client(transport=transport, base_url="http://hospital.test", headers=headers)


@dataclass(frozen=True)
class Clients:
    """One client for each member, and one who shows no token."""

    owner: httpx.Client
    ana: httpx.Client
    ben: httpx.Client
    auditor: httpx.Client
    ward: httpx.Client
    nobody: httpx.Client
