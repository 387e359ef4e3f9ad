"""The same rows under a second name, and names that look alike: the owner is told, analysts hear nothing of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from discreet.catalog.names import skeleton
from discreet.catalog.policy.read import dumps
from discreet.catalog.table import Table
from discreet.cli.main import app
from discreet.curator.curator import Curator
from discreet.service.state import ServiceState
from tests.service.hospital import Clients, policy, visits

SAME = "has the rows of visits, too"
LOOKS = "looks like visits"
CONFUSABLE = ["vısits", "vіsits", "ｖisits", "vísits", "viѕits", "vi\u0455its"]


@pytest.mark.parametrize("name", CONFUSABLE)
def test_names_that_look_alike_have_one_skeleton(name: str) -> None:
    assert name.casefold() != "visits"
    assert skeleton(name) == skeleton("visits")


@pytest.mark.parametrize("name", ["visit", "visits2", "besuche", "vsits", "визиты"])
def test_names_that_differ_have_others(name: str) -> None:
    assert skeleton(name) != skeleton("visits")


def fewer(name: str) -> Table:
    """A policy that declares a part of the columns."""
    whole = policy(name, {})
    return replace(whole, columns=whole.columns[: len(whole.columns) - 1])


@pytest.mark.parametrize("name", ["stays", *CONFUSABLE])
@pytest.mark.some(2)
def test_an_owner_is_told_of_twins_whatever_the_order_of_rows_and_columns(service: ServiceState, name: str) -> None:
    rows = visits()
    shuffled = rows.take(list(reversed(range(len(rows))))).select(list(reversed(rows.column_names)))
    service.curator.protect(shuffled, policy(name, {}))
    told = service.curator.find_duplicates(name)
    assert any(SAME in one for one in told)
    assert any(LOOKS in one for one in told) == (name != "stays")
    assert any(f"has the rows of {name}, too" in one for one in service.curator.find_duplicates("visits"))


def test_a_part_of_the_columns_is_told_and_other_rows_are_not(service: ServiceState) -> None:
    service.curator.protect(visits(), fewer("stays"))
    assert any(SAME in one for one in service.curator.find_duplicates("stays"))
    service.curator.protect(visits().slice(1), policy("others", {}))
    assert service.curator.find_duplicates("others") == []
    service.curator.protect(visits().slice(0, 0), policy("none", {}))
    service.curator.protect(visits().slice(0, 0), policy("nobody", {}))
    assert service.curator.find_duplicates("none") == []


def test_tables_of_before_are_opened_and_compared_once_they_are_taken_in_again(service: ServiceState) -> None:
    manifest = service.settings.folder / "store" / "manifest.json"
    held = json.loads(manifest.read_text())
    for one in held["tables"]:
        del one["digests"]  # as it was written before
    manifest.write_text(json.dumps(held))
    service.curator.protect(visits(), policy("stays", {}))
    assert service.curator.find_duplicates("stays") == []
    service.curator.protect(visits(), policy("visits"))
    assert any(SAME in one for one in service.curator.find_duplicates("stays"))


def sent(rows: pa.Table, path: Path) -> bytes:
    pq.write_table(rows, path)
    return path.read_bytes()


def test_rest_tells_the_owner_and_nobody_else(clients: Clients, tmp_path: Path) -> None:
    data = sent(visits(), tmp_path / "stays.parquet")
    kind = {"Content-Type": "application/octet-stream"}
    upload = clients.owner.post("/api/v1/uploads", params={"file": "stays.parquet"}, content=data, headers=kind).json()
    body = {"upload": upload["id"], "policy": dumps(policy("vısits"))}
    made = clients.owner.post("/api/v1/tables", json=body)
    assert made.status_code == 201, made.text
    assert [SAME in one for one in made.json()["warnings"]].count(True) == 1
    assert [LOOKS in one for one in made.json()["warnings"]].count(True) == 1
    for path in ("/tables", "/budget", "/ledger"):
        heard = clients.ana.get(f"/api/v1{path}").text
        assert "has the rows" not in heard
        assert "looks like" not in heard
        assert "digest" not in heard


def test_the_command_tells_the_owner(tmp_path: Path) -> None:
    folder = tmp_path / "curator"
    curator = Curator(folder)
    curator.protect(visits(), policy())
    curator.ledger.close()
    sent(visits(), tmp_path / "rows.parquet")
    (tmp_path / "stays.yaml").write_text(dumps(policy("stays")))
    said = CliRunner().invoke(
        app, ["protect", str(tmp_path / "rows.parquet"), str(tmp_path / "stays.yaml"), "--curator", str(folder)]
    )
    assert said.exit_code == 0, said.output
    assert SAME in " ".join(said.output.split())
