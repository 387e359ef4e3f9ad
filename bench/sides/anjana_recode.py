"""anjana's greedy full-domain recoding of the Adult table; what it releases goes to files, to be measured by others."""

import sys
from pathlib import Path

import pandas as pd
from adult import QUASI, hierarchy_files, table_file
from anjana.anonymity import k_anonymity
from stopwatch import cpu, report

FOLDER, OUTPUT = sys.argv[1], Path(sys.argv[2])
TABLE = pd.read_csv(table_file(FOLDER), sep=";", dtype=str)


def levels(file: Path) -> dict[int, list[str]]:
    return {level: list(column) for level, column in pd.read_csv(file, sep=";", header=None, dtype=str).items()}


HIERARCHIES = {name: levels(file) for name, file in hierarchy_files(FOLDER).items()}


def measured(k: int, percent: float, file: Path) -> dict[str, float]:
    found = []
    taken = cpu(lambda: found.append(k_anonymity(TABLE.copy(), [], QUASI, k, percent, HIERARCHIES)), repeats=1)
    found[-1][QUASI].to_csv(file, index=False)
    return taken


requests = {"k=5, 0 %": (5, 0), "k=5, 2 %": (5, 2), "k=10, 2 %": (10, 2), "k=5, 10 %": (5, 10)}
report({name: measured(*request, OUTPUT / f"{name}.csv") for name, request in requests.items()})
