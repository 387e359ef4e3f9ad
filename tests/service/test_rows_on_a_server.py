"""A house whose rows stay on a PostgreSQL server: it opens, warms up, explains and answers as any other."""

from __future__ import annotations

from pathlib import Path

from discreet.catalog.table import Budget
from discreet.curator.curator import Curator
from discreet.engines.postgres.engine import PostgresEngine
from discreet.service import asking
from discreet.service.house import House
from discreet.service.role import Role
from discreet.service.settings import Settings
from discreet.service.warming import warm
from discreet.service.wish import Wish
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
    house = House(Settings.model_validate({"folder": tmp_path}))
    house.members.add("ana", Role.ANALYST)
    warm(house)
    assert isinstance(house.curator.engine, PostgresEngine)
    question = Wish("SELECT COUNT(DISTINCT patient_id) AS people FROM visits", "0.5")
    assert asking.explain(house, ANA, question).affordable
    found = asking.ask(house, ANA, question, "one").answer.table["people"].to_pylist()[0]
    assert abs(found - 578) < 200  # 0.5-private, so further off once in 10^40
    assert asking.ask(house, ANA, question, "one").answer.table["people"].to_pylist() == [found]
    house.close()
