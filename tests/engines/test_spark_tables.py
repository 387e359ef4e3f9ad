"""Tables of the catalog that are nothing but files are read as files, and whoever writes them meanwhile is noticed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.engines.spark import engine as spark_engine
from discreet.engines.spark.engine import SparkEngine
from discreet.engines.spark.tables import find_folder
from tests.engines.test_spark import FULL, LIGHT_ROWS, LONG_AGO, LOTS, MOST, WEIGHTS, asked, lots
from tests.servers.spark import spark_session as spark_session  # noqa: PLC0414

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
ROWS = "(person BIGINT, x BIGINT)"
TABLES = {
    "managed": (f"CREATE TABLE clinic.{{0}} {ROWS} USING parquet", True),
    "commented": ("CREATE TABLE clinic.{0} (person BIGINT COMMENT 'who') USING parquet COMMENT 'visits'", True),
    "elsewhere": (f"CREATE TABLE clinic.{{0}} {ROWS} USING parquet LOCATION '{{1}}/elsewhere'", True),
    "of_text": (f"CREATE TABLE clinic.{{0}} {ROWS} USING csv", False),
    "in_parts": (f"CREATE TABLE clinic.{{0}} {ROWS} USING parquet PARTITIONED BY (x)", False),
    "in_buckets": (f"CREATE TABLE clinic.{{0}} {ROWS} USING parquet CLUSTERED BY (x) INTO 2 BUCKETS", False),
    "with_options": (f"CREATE TABLE clinic.{{0}} {ROWS} USING parquet OPTIONS (mergeSchema 'true')", False),
    "with_lengths": ("CREATE TABLE clinic.{0} (person CHAR(5), x VARCHAR(3)) USING parquet", False),
    "with_defaults": ("CREATE TABLE clinic.{0} (person BIGINT, x BIGINT DEFAULT 5) USING parquet", False),
    "of_a_pattern": (f"CREATE TABLE clinic.{{0}} {ROWS} USING parquet LOCATION '{{1}}/a b'", False),
    "seen": ("CREATE VIEW clinic.{0} AS SELECT 1 AS person", False),
}


@pytest.fixture(autouse=True)
def clinic(spark_session: Any) -> None:
    spark_session.sql("CREATE DATABASE IF NOT EXISTS clinic")


@pytest.mark.parametrize("name", TABLES)
def test_only_a_table_that_is_nothing_but_files_is_one(name: str, tmp_path: Path, spark_session: Any) -> None:
    statement, is_plain = TABLES[name]
    spark_session.sql(statement.format(name, tmp_path))
    assert (find_folder(spark_session, f"clinic.{name}") is not None) is is_plain
    assert find_folder(spark_session, "clinic.nothing") is None


@pytest.mark.parametrize("setting", ["spark.sql.extensions", "spark.sql.catalog.spark_catalog"])
def test_a_session_with_rules_of_its_own_has_no_such_table(setting: str, spark_session: Any) -> None:
    """An extension may hide rows of a table, and would not hide them of its files."""
    spark_session.sql(f"CREATE TABLE IF NOT EXISTS clinic.ruled {ROWS} USING parquet")
    settings = {setting: "com.example.Rules"}
    ruled = SimpleNamespace(conf=settings, sql=spark_session.sql)
    assert find_folder(ruled, "clinic.ruled") is None
    settings.clear()
    assert find_folder(ruled, "clinic.ruled") is not None


def protected(folder: Path, session: Any, name: str) -> SparkEngine:
    file = lots(folder, 1, 2, LONG_AGO)
    session.sql(f"CREATE TABLE clinic.{name} USING parquet LOCATION '{file}'")
    engine = SparkEngine(folder / "c", session=session, owner_log=print)
    engine.take_in(LOTS, f"clinic.{name}")
    return engine


def weights(engine: SparkEngine) -> dict[int, int]:
    return {row["k0"]: row["s"] for row in asked(engine, WEIGHTS)}


LIGHT, HEAVY = 2 * FULL, 200 * (MOST * FULL // 200)


def test_a_table_of_files_at_rest_is_read_twice_whatever_the_owner_has_cached(
    tmp_path: Path, spark_session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with protected(tmp_path, spark_session, "resting") as engine:
        spark_session.sql("CACHE TABLE clinic.resting")
        lots(tmp_path, 2, 1, LONG_AGO + 1)
        looks = watched(monkeypatch, lambda look: None)
        assert weights(engine) == {2: LIGHT, 1: HEAVY}
        assert asked(engine, LIGHT_ROWS) == [{"s": 2}]
        assert looks == [1, 2, 3, 4]  # each time before and after
        assert spark_session.catalog.isCached("clinic.resting")
        spark_session.sql("UNCACHE TABLE clinic.resting")


def test_rows_that_the_owner_has_cached_stay_so(tmp_path: Path, spark_session: Any) -> None:
    """To drop a view is to drop the rows that were cached of the very same question."""
    spark_session.sql(f"CREATE TABLE clinic.kept {ROWS} USING csv")
    spark_session.sql("CACHE TABLE clinic.kept")
    with SparkEngine(tmp_path / "c", session=spark_session, owner_log=print) as engine:
        engine.take_in(LOTS, "clinic.kept")
        assert weights(engine) == {}
    assert spark_session.catalog.isCached("clinic.kept")
    spark_session.sql("UNCACHE TABLE clinic.kept")


def test_a_table_that_is_rewritten_between_two_readings_is_noticed_and_the_answer_thrown_away(
    tmp_path: Path, spark_session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with protected(tmp_path, spark_session, "rewritten") as engine:
        spark_session.sql("REFRESH TABLE clinic.rewritten")
        watched(monkeypatch, lambda look: lots(tmp_path, 2, 1, LONG_AGO + 1) if look == 2 else None)
        assert weights(engine) == {2: LIGHT, 1: HEAVY}


def watched(monkeypatch: pytest.MonkeyPatch, before: Callable[[int], object]) -> list[int]:
    """The looks at files, before each of which something happens."""
    looks, look_at = list[int](), spark_engine.files_at_rest

    def look(*args: Any) -> Any:
        looks.append(len(looks) + 1)
        before(looks[-1])
        return look_at(*args)

    monkeypatch.setattr(spark_engine, "files_at_rest", look)
    return looks
