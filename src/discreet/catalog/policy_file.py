"""Policy files: one readable YAML file per table, read whole and written whole.

>>> text = '''
... table: visits
... unit: patient_id
... budget: {epsilon: 0.1}
... columns:
...   patient_id: {type: integer}
...   age: {type: integer, lower: 0, upper: 110}
... '''
>>> loads(text).budget.epsilon
Fraction(1, 10)
>>> loads(text.replace("unit:", "unti:"))
Traceback (most recent call last):
    ...
discreet.errors.PolicyError: 2 problems:
- line 2, column 1: a protected table must have the field unit; name the column of the person, or say unit: row
- line 3, column 1: a policy has no such field, got 'unti'; did you mean 'unit'?
"""

from __future__ import annotations

import os
from pathlib import Path

from discreet.books.files import write_whole
from discreet.catalog.catalog import Catalog
from discreet.catalog.policy_reader import Policy, read_text
from discreet.catalog.policy_writer import text_of
from discreet.catalog.table import Table
from discreet.catalog.yaml_tree import LARGEST_FILE
from discreet.errors import PolicyError, Problem

__all__ = ["dumps", "loads", "read", "read_folder", "write"]

_SUFFIXES = (".yaml", ".yml")


def loads(text: str | bytes) -> Table:
    """The table that the text of a policy describes."""
    return read_text(text).table


def dumps(table: Table) -> str:
    """The text of the policy of a table; comments of an earlier text are not kept."""
    return text_of(table)


def read(path: str | os.PathLike[str]) -> Table:
    """The table that a policy file describes."""
    return _policy(Path(path)).table


def write(table: Table, path: str | os.PathLike[str]) -> None:
    """Write the policy of ``table``: the file holds the old text or the new one, never a part."""
    write_whole(Path(path), text_of(table).encode(), mode=0o666)


def read_folder(folder: str | os.PathLike[str]) -> Catalog:
    """The catalog of all policy files in a folder; a refusal lists the problems of every file."""
    policies: list[Policy] = []
    problems: list[Problem] = []
    for path in sorted(p for p in Path(folder).iterdir() if p.suffix in _SUFFIXES and not p.name.startswith(".")):
        try:
            policies.append(_policy(path))
        except PolicyError as refused:
            problems += refused.problems
    if problems:
        raise PolicyError(problems)
    return _together(policies)


def _policy(path: Path) -> Policy:
    with path.open("rb") as file:
        return read_text(file.read(LARGEST_FILE + 1), path.name)


def _together(policies: list[Policy]) -> Catalog:
    """The catalog of policies that are right each by itself; problems between them get their file and line."""
    try:
        return Catalog(policy.table for policy in policies)
    except PolicyError as refused:
        by_table = {policy.table.name: policy for policy in policies}
        raise PolicyError(_placed(problem, by_table) for problem in refused.problems) from None


def _placed(problem: Problem, policies: dict[str, Policy]) -> Problem:
    table, *path = problem.path
    inner = Problem(problem.rule, problem.value, problem.remedy, tuple(path))
    return policies[str(table)].placed(inner)
