"""A hospital to serve: made-up visits under a policy that names two analysts, and the members with their tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb
import httpx
import pyarrow as pa
from argon2 import PasswordHasher

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.curator.curator import Curator
from discreet.service.app import application, guarded
from discreet.service.house import House
from discreet.service.members import Members
from discreet.service.role import Role
from discreet.service.settings import Settings
from discreet.service.store import Store
from tests.service.in_process import InProcess

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Argon2 that takes no time: for tests, which guard nothing."""
WARDS = ("cardiology", "maternity", "neurology", "oncology", "surgery")
MEMBERS = {"owner": Role.OWNER, "ana": Role.ANALYST, "ben": Role.ANALYST, "auditor": Role.AUDITOR}
"""Who is in the house: ana may spend ε = 1, ben ε = 2, all together ε = 3."""
_VISITS = """
    SELECT CAST(hash(i) % 600 AS BIGINT) AS patient_id,
           ['cardiology', 'maternity', 'neurology', 'oncology', 'surgery'][1 + CAST(hash(i * 7) % 5 AS INT)] AS ward,
           CAST(18 + hash(i * 11) % 70 AS BIGINT) AS age,
           round(50 + (hash(i * 13) % 2000) * (hash(i * 17) % 5) / 2.0, 2) AS cost,
           DATE '2025-01-01' + CAST(hash(i * 19) % 365 AS INT) AS day
    FROM range(2000) t(i)
"""


def visits() -> pa.Table:
    """2,000 visits of 600 patients, from a hash of their number."""
    with duckdb.connect() as database:
        return database.sql(_VISITS).to_arrow_table()


def policy(name: str = "visits", analysts: Mapping[str, Budget | None] | None = None) -> Table:
    """The policy of the visits."""
    columns = (
        Column("patient_id", ColumnType.INTEGER),
        Column("ward", ColumnType.TEXT, keys=WARDS, nullable=False),
        Column("age", ColumnType.INTEGER, lower=18, upper=90, nullable=False),
        Column("cost", ColumnType.REAL, lower=0, upper=4000, nullable=False),
        Column("day", ColumnType.DATE, lower=date(2025, 1, 1), upper=date(2025, 12, 31), nullable=False),
    )
    named = {"ana": Budget(1), "ben": Budget(2)} if analysts is None else dict(analysts)
    return Table(name, columns, unit="patient_id", budget=Budget(3), rows_per_unit=8, analysts=named)


@dataclass(frozen=True)
class Hospital:
    """The curator's folder of a hospital, and the tokens of its members."""

    folder: Path
    tokens: dict[str, str]

    def house(self, **settings: object) -> House:
        """The house that serves it, with tokens that are quick to verify."""
        house = House(Settings.model_validate({"folder": self.folder, **settings}))
        house.members = Members(house.store, hasher=CHEAP)
        return house


def founded(folder: Path) -> Hospital:
    """A new hospital in a folder: its visits are protected, and its members have tokens."""
    curator = Curator(folder)
    curator.protect(visits(), policy())
    curator.ledger.close()
    members = Members(Store(folder), hasher=CHEAP)
    for name, role in MEMBERS.items():
        members.add(name, role)
    return Hospital(folder, {name: members.issue(name, label="tests", days=30) for name in MEMBERS})


def client_of(house: House, token: str | None = None) -> httpx.Client:
    """A client of the whole application, which sends this token with every request; it speaks to no network."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    transport = InProcess(guarded(application(house)))
    return httpx.Client(transport=transport, base_url="http://hospital.test", headers=headers)


@dataclass(frozen=True)
class Clients:
    """One client for each member, and one who shows no token."""

    owner: httpx.Client
    ana: httpx.Client
    ben: httpx.Client
    auditor: httpx.Client
    nobody: httpx.Client
