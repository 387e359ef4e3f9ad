"""Settings as people gave them: where each came from, and what is wrong with it, in one line without a traceback."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidValue, PolicyError, Problem
from discreet.service.settings import PREFIX, Settings

__all__ = ["read_settings"]

_OTHERS = frozenset({"DISCREET_CURATOR", "DISCREET_CONFIG", "DISCREET_TOKEN"})
"""Variables that commands and clients read themselves."""


def read_settings(
    file: Path | None, flags: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> Settings:
    """The settings of a file, of variables and of flags; all that is wrong with them is said at once.

    ``flags`` holds those that were given, by the names of settings. The ``environment`` is that of the process.
    """
    variables = _variables(os.environ if environment is None else environment)
    places: dict[str, dict[str, Any]] = {"flags": dict(flags), "environment": variables}
    if file is not None:
        places[str(file)] = _in_file(file)
    wrong = list(_unknown(places))
    known = {name: value for held in reversed(places.values()) for name, value in held.items() if _is_known(name)}
    try:
        found = Settings(**known)
    except ValidationError as fault:
        wrong += [_problem(one, places) for one in fault.errors(include_url=False)]
    if wrong:
        raise PolicyError(wrong)
    return found


def _is_known(name: str) -> bool:
    return name in Settings.model_fields


def _variables(environment: Mapping[str, str]) -> dict[str, Any]:
    named = {name: value for name, value in environment.items() if name.upper().startswith(PREFIX)}
    return {name[len(PREFIX) :].lower(): value for name, value in named.items() if name.upper() not in _OTHERS}


def _in_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as fault:
        raise InvalidValue("the settings file must be readable", str(file), fault.strerror or "") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise InvalidValue("the settings file must be TOML", f"<{file}: {fault}>") from None


def _unknown(places: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    for place, held in places.items():
        for name in held:
            if not _is_known(name):
                rule = "there must be a setting of that name"
                yield Problem(rule, _spelled(name, place), suggestion(name, Settings.model_fields), file=place)


def _spelled(name: str, place: str) -> str:
    return PREFIX + name.upper() if place == "environment" else name


def _problem(fault: ErrorDetails, places: Mapping[str, Mapping[str, Any]]) -> Problem:
    """One fault of one setting: the rule, the value, and where it came from."""
    words = fault["msg"].removeprefix("Value error, ")
    if not fault["loc"]:
        return Problem(words)
    name = str(fault["loc"][0])
    place = next(where for where, held in places.items() if name in held)
    about = str(Settings.model_fields[name].description)
    rule = f"{_spelled(name, place)}: {words[0].lower()}{words[1:]}"
    return Problem(rule, fault["input"], about[0].lower() + about[1:], file=place)
