"""Who sends a request."""

from __future__ import annotations

import pytest

from tests.service.hospital import MEMBERS, Clients


@pytest.mark.parametrize("name", MEMBERS)
def test_a_token_stands_for_its_member(clients: Clients, name: str) -> None:
    answer = getattr(clients, name).get("/api/v1/me")
    assert answer.status_code == 200
    assert answer.json() == {"name": name, "role": MEMBERS[name]}
