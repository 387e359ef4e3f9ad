"""A hospital for each test: founded once, and copied as a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.service.state import ServiceState
from tests.service.hospital import Clients, Hospital, client_of, founded


@pytest.fixture(scope="session")
def first_hospital(tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    """The hospital that all others are copies of; leave it as it is."""
    return founded(tmp_path_factory.mktemp("hospitals") / "first")


@pytest.fixture
def hospital(first_hospital: Hospital, tmp_path: Path) -> Hospital:
    """A hospital of the test's own."""
    folder = tmp_path / "hospital"
    shutil.copytree(first_hospital.folder, folder)
    return Hospital(folder, dict(first_hospital.tokens))


@pytest.fixture
def service(hospital: Hospital) -> Iterator[ServiceState]:
    """The service of that hospital, with settings as they come."""
    service = hospital.service()
    yield service
    service.close()


@pytest.fixture
def tokens(hospital: Hospital) -> dict[str, str]:
    """The tokens by the names of members: owner, ana, ben, auditor."""
    return hospital.tokens


@pytest.fixture
def clients(service: ServiceState, tokens: dict[str, str]) -> Clients:
    """A client for each member, and one for nobody."""
    return Clients(nobody=client_of(service), **{name: client_of(service, token) for name, token in tokens.items()})
