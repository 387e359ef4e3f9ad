"""Complaints: every rule that a policy breaks, gathered before anything is refused.

A person who mends a policy wants to read all that is wrong at once, so checks go on after the first broken rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from discreet.errors import InvalidInput, PolicyError, Problem

__all__ = ["Complaints", "Path"]


Path = tuple[str | int, ...]
"""The names of the fields that lead to a value."""

Found = TypeVar("Found")


class Complaints:
    """What is wrong so far."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def say(self, path: Path, rule: str, value: object = None, remedy: str = "") -> None:
        """Note one broken rule at ``path``."""
        self.problems.append(Problem(rule, value, remedy, path))

    def checked(self, path: Path, check: Callable[..., Found], *values: object) -> Found | None:
        """What ``check`` makes of the values; None where it refuses them, and the refusal is noted at ``path``."""
        try:
            return check(*values)
        except PolicyError as refused:
            self.problems += [replace(problem, path=path + problem.path) for problem in refused.problems]
        except InvalidInput as refused:
            self.say(path, refused.rule, refused.value, refused.remedy)
        return None

    def refuse_any(self) -> None:
        """Refuse with everything that was noted; pass when there was nothing."""
        if self.problems:
            raise PolicyError(self.problems)
