"""The Java of a Spark in this process: one that comes from a package, and one that is lost."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.spark.session import quiet
from discreet.errors import EngineFailure, EngineUnavailable
from tests.engines.contract import CANARY, ROWS
from tests.servers.spark import prepared_java


def in_a_process(program: str, folder: Path, **variables: str | None) -> subprocess.CompletedProcess[str]:
    """Run a program that starts a Spark of its own."""
    known = {
        **os.environ,
        "SPARK_HOME": None,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), str(Path(discreet.__file__).parents[1])]),
        "PYSPARK_SUBMIT_ARGS": "--conf spark.driver.defaultJavaOptions='-XX:TieredStopAtLevel=1' pyspark-shell",
        "SPARK_LOCAL_IP": "127.0.0.1",
        **variables,
    }
    environment = {name: value for name, value in known.items() if value is not None}
    words = [sys.executable, "-W", "ignore", "-c", program]
    return subprocess.run(words, check=False, cwd=folder, env=environment, capture_output=True, text=True)


KILLED = """
import json, os, signal, threading, time
from pathlib import Path
from discreet import Curator
from discreet.engines.spark import session as sessions
from discreet.engines.spark.engine import SparkEngine
from discreet.engines.spark.session import quiet
from discreet.errors import EngineFailure, EngineUnavailable, StoreError, Suspended
from tests.engines.contract import PEOPLE
from tests.servers.spark_connect import SLEEPING, eight_rows, until

heard, failures = [], []
engine = SparkEngine("curator", owner_log=heard.append)
curator, session = Curator("curator", engine=engine), engine._session()
session.sql(f"CREATE VIEW hard AS SELECT * FROM parquet.`{eight_rows(Path.cwd())}` WHERE {SLEEPING}")
curator.protect("hard", PEOPLE)
budgets = [curator.budget()]

def kill():
    until(session.sparkContext.statusTracker().getActiveStageIds)
    time.sleep(1)  # of the four seconds for which rows are read
    os.kill(session.sparkContext._gateway.proc.pid, signal.SIGKILL)

def tried(work, expected):
    try:
        work()
    except expected as failure:
        failures.append([str(failure), failure.__context__ is None])

watcher = threading.Thread(target=kill)
watcher.start()
for expected in (EngineFailure, Suspended):
    tried(lambda: curator.ask("SELECT COUNT(*) AS n FROM people", epsilon=0.5), expected)
    watcher.join()
    budgets.append(curator.budget())
other = SparkEngine("curator", owner_log=heard.append)
tried(lambda: other.run('SELECT COUNT(*) AS n FROM "people"'), EngineUnavailable)
tried(lambda: curator.protect("hard", PEOPLE), StoreError)
with quiet():
    sessions.interrupt(session, "a question that is over")
print(json.dumps({"heard": heard, "failures": failures, "charges": [one != budgets[0] for one in budgets],
                  "again": budgets[1] == budgets[2],
                  "ctrl_c": signal.getsignal(signal.SIGINT) is signal.default_int_handler}))
"""


@pytest.mark.parametrize("is_pinned", ["true", "false"])
@pytest.mark.thorough
def test_a_java_that_is_killed_in_the_middle_of_a_question_is_named_to_the_owner_alone(
    tmp_path: Path, is_pinned: str
) -> None:
    """PySpark talks to Java in two ways: over a connection for each thread, or over one that is free."""
    import pyspark

    prepared_java()
    done = in_a_process(KILLED, tmp_path, PYSPARK_PIN_THREAD=is_pinned)
    found = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
    assert done.returncode == 0, done.stderr[-2000:]
    sentence = "Java must run for as long as the Spark of this process is asked"
    assert found["failures"][0] == [str(EngineFailure()), True]
    assert found["failures"][1][1]
    assert found["failures"][2] == [str(EngineUnavailable()), True]
    ((words, is_alone),) = found["failures"][3:]
    assert (sentence in words, is_alone) == (True, True)
    told = [sentence in words and "\n" not in words for words in found["heard"]]
    assert told == [True, False, True, True], found["heard"]
    assert "is suspended at people" in found["heard"][1]
    assert found["charges"] == [False, True, True]  # rows may have been read
    assert found["ctrl_c"]  # Spark takes it for itself, and hands it back
    assert found["again"]  # and nobody pays to hear that they are suspended
    # Threads of the library behind PySpark say that a connection broke, and nothing about what was asked over it.
    for written in (done.stdout, done.stderr):
        for package in (pyspark, discreet):  # whatever the folders above them are called
            assert f"{Path(str(package.__file__)).parent}/" not in written
        assert CANARY not in written


def test_a_wire_that_breaks_is_told_to_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """The library behind PySpark says so through the root of all loggers, with every error on the way."""
    for guard, is_said in ((quiet, False), (nullcontext, True)):
        with guard():
            with guard():
                pass
            logging.getLogger().error("Exception while sending command: %s", CANARY)
        assert (CANARY in caplog.text) is is_said


ALONE = """
import os, sys
from pathlib import Path
from discreet.engines.spark.engine import SparkEngine
from tests.engines.contract import PEOPLE

def listening(process):
    links = [os.readlink(one) for one in Path(f"/proc/{process}/fd").iterdir()]
    lines = [line.split() for net in ("tcp", "tcp6") for line in Path(f"/proc/net/{net}").read_text().splitlines()]
    return [line[1] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in links]

engine = SparkEngine(Path("curator").absolute())
engine.take_in(PEOPLE, "people.parquet")
places = listening(engine._session().sparkContext._gateway.proc.pid)
os.chdir("/")
print(engine.run('SELECT COUNT(*) AS n FROM "people"').to_pylist(), "JAVA_HOME" in os.environ)
print(len(places) >= 2, [place for place in places if not place.partition(":")[0].endswith("0100007F")])
"""


@pytest.mark.thorough
def test_spark_runs_with_the_java_of_a_package_where_there_is_no_other_and_listens_to_nobody_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are found by where they are, wherever the process goes."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for place in filter(os.path.isdir, os.defpath.split(os.pathsep)):
        for command in Path(place).iterdir():
            if not command.name.startswith("java") and not (commands / command.name).exists():
                (commands / command.name).symlink_to(command)
    pq.write_table(ROWS, tmp_path / "people.parquet")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = in_a_process(ALONE, tmp_path, PATH=str(commands), SPARK_LOCAL_IP=None)
    assert done.stdout == "[{'n': 4}] False\nTrue []\n", done.stderr[-2000:]
