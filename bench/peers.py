"""The curators that are asked the same questions: what they need, and how they are asked."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench.environments import PeerFailed, interpreter, run_side
from bench.sides.asking import Table

__all__ = ["ANSWERERS", "PEERS", "about", "ask", "versions"]

ANSWERERS = {
    "Discreet": (None, "discreet_ask.py"),
    "OpenDP": (["opendp[polars]"], "opendp_ask.py"),
    "Tumult": (["tmlt.analytics"], "tumult_ask.py"),  # needs Java 8, 11 or 17
    "PipelineDP": (["pipeline-dp", "pyarrow"], "pipelinedp_ask.py"),
    "SmartNoise": (["smartnoise-sql", "pyarrow"], "smartnoise_ask.py"),
}
PEERS = [side for side in ANSWERERS if side != "Discreet"]
DISTRIBUTIONS = {"discreet", "duckdb", "numpy", "polars", "pyspark", "python-dp", "scikit-learn"}
"""What is worth naming beside what was asked for, where an environment has it."""


def about(file: Path, groups: int, unit: str, rows_per_unit: int, **more: Any) -> Table:
    """A table file and what is public about it."""
    return Table(str(file), pq.read_metadata(file).num_rows, groups, unit, rows_per_unit, **more)


def ask(who: str, what: str, table: Table, questions: dict[str, int]) -> dict[str, Any]:
    """The times or the repeated answers of one side, each question as often as it says."""
    packages, script = ANSWERERS[who]
    return run_side(packages, script, json.dumps({"what": what, "table": asdict(table), "questions": questions}))


def versions(environments: list[list[str] | None]) -> list[str]:
    """What was measured, by the name it is installed under; what is not there says why."""
    return list(dict.fromkeys(_versions(packages) for packages in environments)) + _java(environments)


def _versions(packages: list[str] | None) -> str:
    name = "discreet" if packages is None else packages[0].partition("[")[0]
    code = (
        "import json; from importlib.metadata import distributions;"
        "print(json.dumps({d.metadata['Name']: d.version for d in distributions()}))"
    )
    try:
        found = subprocess.run([interpreter(packages), "-c", code], capture_output=True, text=True, check=True)
    except PeerFailed as problem:
        return f"{name} {problem}"
    installed = {_spelled(each): version for each, version in json.loads(found.stdout).items()}
    others = [f"{each} {installed[each]}" for each in sorted(DISTRIBUTIONS - {name}) if each in installed]
    return f"{name} {installed[_spelled(name)]}" + (f" (with {', '.join(others)})" if others else "")


def _spelled(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _java(environments: list[list[str] | None]) -> list[str]:
    """The Java that Spark runs on."""
    if ANSWERERS["Tumult"][0] not in environments:
        return []
    try:
        said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return ["no Java on the path"]
    return ["Java " + said.splitlines()[0].split('"')[1]]
