"""A real Spark in the process of the tests: Java from the PATH where it is new enough, else from a package."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.spark.session import java_home, own_interrupt
from discreet.errors import StoreError

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a Java that lives for a minute: compile once, and collect on one thread."""


def prepared_java() -> None:
    """Let Spark find Java, or say loudly why it cannot run here."""
    try:
        home = java_home()
    except StoreError as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    if home is not None:
        os.environ["JAVA_HOME"] = home


@contextmanager
def opened_session(folder: Path) -> Iterator[Any]:
    """A session on this machine, small and quiet, that keeps its files in ``folder``."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.defaultJavaOptions": QUICK,
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        # The owner's own settings: none of them may change an answer.
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.caseSensitive": "true",
    }
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with own_interrupt():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One session for all tests of a process."""
    prepared_java()
    with opened_session(tmp_path_factory.mktemp("spark")) as session:
        yield session
