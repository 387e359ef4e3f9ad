"""The curators that are asked the same questions: what they need, and how they are asked."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench.environments import interpreter, run_side

__all__ = ["ANSWERERS", "ask", "versions"]

ANSWERERS = {
    "Discreet": (None, "discreet_ask.py"),
    "OpenDP": (["opendp[polars]"], "opendp_ask.py"),
    "Tumult": (["tmlt.analytics"], "tumult_ask.py"),  # needs Java 8, 11 or 17
    "PipelineDP": (["pipeline-dp", "pyarrow"], "pipelinedp_ask.py"),
    "SmartNoise": (["smartnoise-sql", "pyarrow"], "smartnoise_ask.py"),
}


def ask(
    who: str, what: str, file: Path, groups: int, unit: str, rows_per_unit: int, questions: dict[str, int]
) -> dict[str, Any]:
    """The times or the repeated answers of one side, each question as often as it says."""
    table = {
        "file": str(file),
        "rows": pq.read_metadata(file).num_rows,
        "groups": groups,
        "unit": unit,
        "rows_per_unit": rows_per_unit,
    }
    task = {"what": what, "table": table, "questions": questions}
    packages, script = ANSWERERS[who]
    return run_side(packages, script, json.dumps(task))


def versions() -> list[str]:
    """What was measured, by the name it is installed under."""
    found = []
    for packages, _ in ANSWERERS.values():
        name = "discreet" if packages is None else packages[0].partition("[")[0]
        code = f"from importlib.metadata import version; print({name!r}, version({name!r}))"
        found.append(subprocess.run([interpreter(packages), "-c", code], capture_output=True, text=True, check=True))
    return [one.stdout.strip() for one in found]
