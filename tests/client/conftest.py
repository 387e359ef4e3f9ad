"""A hospital, a real server for it, and a curator behind that server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import discreet
from discreet.client.remote_curator import RemoteCurator
from tests.service.hospital import Hospital, founded
from tests.service.served import free_port, served


@dataclass(frozen=True)
class Served:
    """A hospital behind a real server."""

    hospital: Hospital
    url: str

    def remote(self, name: str = "owner", url: str | None = None, patience: float = 60) -> RemoteCurator:
        return discreet.connect(url or self.url, self.hospital.tokens[name], patience=patience)


@pytest.fixture(scope="session")
def first_hospital(tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    """The hospital that all others are copies of; leave it as it is."""
    return founded(tmp_path_factory.mktemp("hospitals") / "first")


@pytest.fixture
def hospital(first_hospital: Hospital, tmp_path: Path) -> Hospital:
    """A hospital of the test's own."""
    shutil.copytree(first_hospital.folder, tmp_path / "hospital")
    return Hospital(tmp_path / "hospital", dict(first_hospital.tokens))


@pytest.fixture(scope="session")
def there(first_hospital: Hospital, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests, in a process of its own."""
    folder = tmp_path_factory.mktemp("served") / "hospital"
    shutil.copytree(first_hospital.folder, folder)
    hospital, port = Hospital(folder, dict(first_hospital.tokens)), free_port()
    with served(hospital, port):
        yield Served(hospital, f"http://127.0.0.1:{port}")
