"""A service whose rows stay on a PostgreSQL server: it opens, warms up, explains and answers as any other."""

from __future__ import annotations

from pathlib import Path

from discreet.catalog.table import Budget
from discreet.curator.curator import Curator
from discreet.engines.postgres.engine import PostgresEngine
from discreet.service.auth.roles import MemberRole
from discreet.service.jobs.jobs import AskRequest
from discreet.service.operations import ask as asking
from discreet.service.server import warm
from discreet.service.settings import Settings
from discreet.service.state import ServiceState
from tests.engines.test_postgres import as_reader, load
from tests.servers.fixtures import postgres_server, postgres_url
from tests.service.hospital import policy, visits
from tests.service.visiting import ANA

__all__ = ["postgres_server", "postgres_url"]


def test_a_service_asks_rows_where_they_are(postgres_url: str, tmp_path: Path) -> None:
    table = policy(analysts={"ana": Budget(1)})
    load(postgres_url, table, visits())
    curator = Curator(tmp_path, rows=as_reader(postgres_url))
    curator.protect("public.visits", table)
    curator.ledger.close()
    service = ServiceState(Settings.model_validate({"folder": tmp_path}))
    service.members.add("ana", MemberRole.ANALYST)
    warm(service)
    assert isinstance(service.curator.engine, PostgresEngine)
    question = AskRequest("SELECT COUNT(DISTINCT patient_id) AS people FROM visits", "0.5")
    assert asking.explain(service, ANA, question).affordable
    found = asking.ask(service, ANA, question, "one").answer.table["people"].to_pylist()[0]
    assert abs(found - 578) < 200  # 0.5-private, so further off once in 10^40
    assert asking.ask(service, ANA, question, "one").answer.table["people"].to_pylist() == [found]
    service.close()
