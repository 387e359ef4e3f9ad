"""Settings of the service: from a TOML file, from variables named DISCREET_*, and from flags of the command.

A flag wins over a variable, and a variable over the file. The words under each field are its documentation.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

__all__ = ["PREFIX", "Settings"]

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
        """Whether visitors come by https."""
        return self.certificate_file is not None or bool(self.behind_proxy)

    @model_validator(mode="after")
    def _fit_together(self) -> Settings:
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("certificate_file and key_file go together")
        return self
