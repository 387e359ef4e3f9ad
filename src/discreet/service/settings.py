"""Settings of the service: from a TOML file, from variables named DISCREET_*, and from flags of the command.

A flag wins over a variable, and a variable over the file. The words under each field are its documentation.

What is wrong with a setting is said in one line, with where it came from. Settings that could be read but cannot work
are refused before anything listens.
"""

from __future__ import annotations

import os
import ssl
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from discreet.catalog.names import suggestion
from discreet.errors import InvalidValue, PolicyError, Problem
from discreet.http.one_process import LOOPBACK

__all__ = ["PREFIX", "Settings", "check_certificate", "read_settings", "with_hosts"]


PREFIX = "DISCREET_"
"""What names of variables begin with."""
_LEAST_QUANTUM = 0.001


def _separated_by(mark: str) -> Any:
    """A list may be written as one text, as variables have to be."""
    return BeforeValidator(lambda given: [one for one in given.split(mark) if one] if isinstance(given, str) else given)


def _none_or_some(seconds: float) -> float:
    """A quantum that is none, or long enough to be one."""
    if 0 < seconds < _LEAST_QUANTUM:
        raise ValueError(f"it should be 0, or {_LEAST_QUANTUM:g} at least")
    return seconds


_Words = Annotated[tuple[str, ...], NoDecode, _separated_by(",")]
_Paths = Annotated[tuple[Path, ...], NoDecode, _separated_by(os.pathsep)]


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    folder: Path = Field(Path("curator"), description="The curator's folder: rows, policies, ledger, members.")
    host: str = Field("127.0.0.1", description="The address to listen at.")
    port: int = Field(8000, ge=0, le=65535, description="The port to listen at; 0 takes a free one.")
    console: bool = Field(True, description="Whether the console's pages are served.")
    workers: int = Field(1, ge=1, le=64, description="Processes that answer; pages of the console live in one of them.")
    hosts: _Words = Field(
        (),
        description="Names under which clients reach the service; requests for others are refused. Empty: any name,"
        " or those of this computer where the service listens there alone and no proxy is in front.",
    )
    behind_proxy: _Words = Field(
        (),
        description="Addresses of proxies in front that encrypt; they are trusted about clients' addresses, and cookies"
        " and addresses are those of https. Empty: there is none.",
    )
    certificate_file: Path | None = Field(
        None, description="The TLS certificate, with those that lead to its root; none where a proxy encrypts."
    )
    key_file: Path | None = Field(None, description="The key of the TLS certificate, without a password.")
    shared_answers: bool = Field(
        False,
        description="Whether a question that another analyst asked before is free, which tells that it was asked.",
    )
    release_quantum: Annotated[float, AfterValidator(_none_or_some)] = Field(
        0.0,
        ge=0,
        le=3600,
        description="Answers leave at multiples of this many seconds after the question, 0.001 at least; 0: at once.",
    )
    questions_at_once: int = Field(
        2, ge=1, le=64, description="How many questions read rows at the same time; no member has all of these places."
    )
    longest_run: float = Field(
        600.0,
        ge=1,
        le=86_400,
        description="Seconds after which a run over rows is ended: a failure, which suspends who asked. How long a run"
        " takes depends on the rows, so keep this far above what ordinary questions need.",
    )
    requests_per_minute: int = Field(
        600, ge=1, le=1_000_000, description="How many requests one client may send in a minute."
    )
    largest_body: int = Field(
        1_000_000, ge=1000, le=10**9, description="Bytes of a request that is no upload, at most."
    )
    largest_upload: int = Field(2_000_000_000, ge=1000, le=10**15, description="Bytes of an uploaded table, at most.")
    data_folders: _Paths = Field((), description="Folders whose files owners may protect by path.")
    token_days: float = Field(
        90, ge=1 / 1440, le=3650, description="Days until a new token expires, unless said otherwise."
    )
    shutdown_seconds: int = Field(
        10, ge=1, le=3600, description="How long requests under way may take after the service was told to end."
    )
    head_seconds: float = Field(
        300.0,
        ge=1,
        le=86_400,
        description="Seconds between two looks at whether the signed head of ledger and audit trail has changed, which"
        " is then written into the ledger and sent.",
    )
    close_seconds: float = Field(
        60.0,
        ge=0,
        le=86_400,
        description="Seconds between two looks at whether a period of a table that grows is due, which is then closed;"
        " 0: periods are closed by owners alone.",
    )
    head_folder: Path | None = Field(
        None,
        description="A folder, best one of another host, that gets every signed head as a file; a ledger that is behind"
        " the newest of them is not served.",
    )
    head_url: str | None = Field(
        None, pattern="^https?://", description="An address that gets every signed head as a POST of JSON."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least level of what is logged; at `warning`, requests are not."
    )

    @property
    def encrypted(self) -> bool:
        """Whether principals come by https."""
        return self.certificate_file is not None or bool(self.behind_proxy)

    @model_validator(mode="after")
    def _fit_together(self) -> Settings:
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("certificate_file and key_file go together")
        return self


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
                yield Problem(rule, _spell(name, place), suggestion(name, Settings.model_fields), file=place)


def _spell(name: str, place: str) -> str:
    return PREFIX + name.upper() if place == "environment" else name


def _problem(fault: ErrorDetails, places: Mapping[str, Mapping[str, Any]]) -> Problem:
    """One fault of one setting: the rule, the value, and where it came from."""
    words = fault["msg"].removeprefix("Value error, ")
    if not fault["loc"]:
        return Problem(words)
    name = str(fault["loc"][0])
    place = next(where for where, held in places.items() if name in held)
    about = str(Settings.model_fields[name].description)
    rule = f"{_spell(name, place)}: {words[0].lower()}{words[1:]}"
    return Problem(rule, fault["input"], about[0].lower() + about[1:], file=place)


def check_certificate(settings: Settings) -> None:
    """Refuse a certificate and a key that cannot be read, or do not belong together."""
    certificate, key = settings.certificate_file, settings.key_file
    if certificate is None or key is None:
        return
    for file in (certificate, key):
        if not file.is_file() or not os.access(file, os.R_OK):
            raise InvalidValue("certificate and key must be files that can be read", str(file))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, ValueError):
        rule = "certificate and key must be PEM files that belong together, the key without a password"
        raise InvalidValue(rule, f"<{certificate}, {key}>") from None


def with_hosts(settings: Settings) -> Settings:
    """The settings, where the service answers to the names of this computer alone if nobody else can reach it."""
    if settings.hosts or settings.behind_proxy or settings.host not in LOOPBACK:
        return settings
    return settings.model_copy(update={"hosts": tuple(sorted(LOOPBACK))})
