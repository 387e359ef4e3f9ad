"""``discreet serve``: the demonstration, and refusals in one line before anything listens."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from discreet.catalog.budget import Budget
from discreet.cli.main import app
from discreet.curator.curator import Curator
from discreet.service.app import API
from tests.service.certificates import made_certificate
from tests.service.serving import Serving

runner = CliRunner()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("DISCREET_")]:
        monkeypatch.delenv(name)


def refused(*flags: object, code: int = 2, **variables: str) -> str:
    found = runner.invoke(app, ["serve", *map(str, flags)], env=variables)
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return " ".join(found.output.split())


def test_a_port_that_is_taken_is_refused_and_no_folder_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refused("--folder", tmp_path / "new", "--port", port, "--no-console")
    assert f"got '127.0.0.1:{port}'; another program uses it; pass another --port" in said
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file") in refused("--folder", tmp_path / "file", "--port", 0, "--no-console")


def test_a_ledger_that_is_not_sound_is_not_served(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(pa.table({"x": [1, 2]}), table="t", unit="row", budget=Budget(1))
    curator.ask("SELECT COUNT(*) FROM t", "0.5")
    curator.ledger.close()
    storage = (tmp_path / "ledger.db").read_bytes()
    assert b"COUNT(*)" in storage
    (tmp_path / "ledger.db").write_bytes(storage.replace(b"COUNT(*)", b"COUNT(1)"))
    for flags in ((), ("--workers", 2)):
        assert "the ledger must be sound" in refused("--folder", tmp_path, "--port", 0, "--no-console", *flags, code=1)


def test_a_certificate_without_its_key_is_refused(tmp_path: Path) -> None:
    certificate, _ = made_certificate(tmp_path, "one")
    _, other = made_certificate(tmp_path, "two")
    assert "go together" in refused("--certificate-file", certificate)
    assert "belong together" in refused("--certificate-file", certificate, "--key-file", other)
    assert "files that can be read" in refused("--certificate-file", tmp_path / "none", "--key-file", other)


def test_the_library_of_the_console_is_needed_for_the_console_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nicegui", None)
    assert "this needs nicegui" in refused("--folder", tmp_path / "new", "--port", 0, code=1)
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        assert "another program uses it" in refused("--folder", tmp_path / "new", "--port", taken, "--no-console")


def test_settings_that_are_wrong_are_refused_all_at_once(tmp_path: Path) -> None:
    file = tmp_path / "discreet.toml"
    file.write_text("prot = 1\n")
    said = refused("--config", file, DISCREET_HOTS="a", DISCREET_WORKERS="many")
    assert "did you mean 'port'?" in said
    assert "DISCREET_HOTS" in said
    assert "DISCREET_WORKERS" in said
    assert "did you mean 'port'?" in refused(DISCREET_CONFIG=str(file))


def test_the_demonstration_has_an_owner_and_two_analysts_with_caps_and_is_gone_afterwards() -> None:
    with Serving("--demo", "--no-console", "--host", "0.0.0.0") as serving:
        folder = Path(serving.said.split()[1])
        assert "unencrypted" in serving.line()  # others reach this address
        tokens = dict(re.findall(r"(owner|ana|ben) +(discreet_\w+)", "".join(serving.line() for _ in range(3))))
        assert folder.exists()
        for name, role in (("owner", "owner"), ("ana", "analyst"), ("ben", "analyst")):
            with serving.client(tokens[name]) as client:
                for _ in range(2):  # they last
                    assert client.get(f"{API}/me").json() == {"name": name, "role": role}
        with serving.client(tokens["ana"]) as ana:
            (balances,) = [one for one in ana.get(f"{API}/budget").json() if one["analyst"] == "ana"]
            assert balances["cap"]["amount"] == 1
            sent = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": "0.5"}
            assert ana.post(f"{API}/ask", json=sent).status_code == 200
        assert serving.end()[2] == 0
    assert not folder.exists()


def test_a_demonstration_takes_no_folder_that_holds_something_real(tmp_path: Path) -> None:
    curator = Curator(tmp_path)
    curator.protect(pa.table({"x": [1, 2]}), table="t", unit="row", budget=Budget(1))
    curator.ledger.close()
    assert "a demonstration needs a folder of its own" in refused("--demo", "--folder", tmp_path, "--port", 0)


def test_the_console_is_loaded_without_what_calls_other_servers_which_can_be_loaded_later() -> None:
    program = """
import sys
from discreet.cli.serve import _TO_CALL_OTHERS, _hidden, _require
with _hidden(*_TO_CALL_OTHERS):
    _require("socketio")
_require("nicegui")
print(sorted(set(_TO_CALL_OTHERS) & set(sys.modules)))
import requests
with _hidden("requests"):
    import requests  # what is there already stays
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
