"""What a question costs, how far off its answer is and why it is refused do not hang on where the rows are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.engines.spark.engine import SparkEngine
from discreet.errors import QueryRefused
from tests.engines.test_postgres import as_reader, load
from tests.servers.fixtures import postgres_server, postgres_url
from tests.servers.spark import spark_session as spark_session  # noqa: PLC0414
from tests.service.hospital import policy, visits

__all__ = ["postgres_server", "postgres_url"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n, SUM(cost), AVG(age) FROM visits GROUP BY ward ORDER BY n DESC LIMIT 2",
    "SELECT MEDIAN(age), MODE(ward), MAX(cost) FROM visits WHERE ward <> 'surgery'",
    "SELECT date_trunc('month', day) AS month, COUNT(DISTINCT patient_id) FROM visits GROUP BY month",
    "SELECT AVG(n) FROM (SELECT patient_id, LEAST(COUNT(*), 8) AS n FROM visits GROUP BY patient_id)",
    "SELECT * FROM visits",
    "SELECT AVG(agee) FROM visits",
    "SELECT SUM(patient_id) FROM visits",
    "SELECT ward, COUNT(*) FROM visits, visits GROUP BY ward",
]


def loose() -> Table:
    """A policy that states nothing which only an ingest can see."""
    return replace(policy(), columns=tuple(replace(column, nullable=True) for column in policy().columns))


def _told(curator: Curator, question: str) -> object:
    try:
        return curator.explain(question, epsilon="0.1")
    except QueryRefused as refusal:
        return str(refusal)


@pytest.fixture
def in_a_folder(tmp_path: Path) -> Curator:
    curator = Curator(tmp_path / "folder")
    curator.protect(visits(), loose())
    return curator


def test_plans_prices_and_refusals_are_the_same_in_postgres(
    in_a_folder: Curator, tmp_path: Path, postgres_url: str
) -> None:
    load(postgres_url, loose(), visits())
    there = Curator(tmp_path / "there", rows=as_reader(postgres_url))
    there.protect("public.visits", loose())
    assert [_told(there, one) for one in QUESTIONS] == [_told(in_a_folder, one) for one in QUESTIONS]


def test_plans_prices_and_refusals_are_the_same_in_spark(
    in_a_folder: Curator, tmp_path: Path, spark_session: Any
) -> None:
    pq.write_table(visits(), tmp_path / "visits.parquet")
    there = Curator(tmp_path / "there", engine=SparkEngine(tmp_path / "there", session=spark_session))
    there.protect(str(tmp_path / "visits.parquet"), loose())
    assert [_told(there, one) for one in QUESTIONS] == [_told(in_a_folder, one) for one in QUESTIONS]
