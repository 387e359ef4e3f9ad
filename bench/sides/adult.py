"""Where the Adult table and its hierarchies are, in the files that ARX ships."""

from __future__ import annotations

from pathlib import Path

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
SENSITIVE = "salary-class"


def table_file(folder: str) -> Path:
    return Path(folder) / "adult.csv"


def hierarchy_files(folder: str) -> dict[str, Path]:
    return {name: Path(folder) / f"adult_hierarchy_{name}.csv" for name in QUASI}
