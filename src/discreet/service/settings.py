"""Settings of the service: from a TOML file, from variables named DISCREET_*, or as they are here.

A variable wins over the file. The words under each field are its documentation.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

__all__ = ["Settings"]


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(env_prefix="DISCREET_", extra="forbid", frozen=True)

    folder: Path = Field(Path("curator"), description="The curator's folder: rows, policies, ledger, members.")
    host: str = Field("127.0.0.1", description="The address to listen at.")
    port: int = Field(8000, ge=0, le=65535, description="The port to listen at; 0 takes a free one.")
    console: bool = Field(True, description="Whether this process serves the console's pages.")
    shared_answers: bool = Field(
        False,
        description="Whether a question that another analyst asked before is free, which tells that it was asked.",
    )
    release_quantum: float = Field(
        0.0,
        ge=0,
        le=3600,
        description="Answers leave at multiples of this many seconds after the question; 0: at once.",
    )
    questions_at_once: int = Field(2, ge=1, le=64, description="How many questions read rows at the same time.")
    requests_per_minute: int = Field(600, ge=1, description="How many requests one visitor may send in a minute.")
    largest_body: int = Field(1_000_000, ge=1000, description="Bytes of a request that is no upload, at most.")
    largest_upload: int = Field(2_000_000_000, ge=1000, description="Bytes of an uploaded table, at most.")
    data_folders: tuple[Path, ...] = Field((), description="Folders whose files owners may protect by path.")
    token_days: float = Field(90, gt=0, le=3650, description="Days until a new token expires, unless said otherwise.")
    certificate_file: Path | None = Field(None, description="The TLS certificate; none where a proxy does TLS.")
    key_file: Path | None = Field(None, description="The key of the TLS certificate.")
